// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the optimizer: the time until the text has settled, and the time during
 * which it delays other registrations.
 *
 * The probes that become jumps are not known in advance, and no kernel reports that
 * the optimizer has finished.  So count the jumps again and again.  The text settled
 * at the last change of their number.  A change was the last one if none follows for
 * longer than any pause of an optimizer.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/printk.h>

#include "bench.h"
#include "targets.h"

#define QUIET		(3ULL * NSEC_PER_SEC)
#define PATIENCE	(120ULL * NSEC_PER_SEC)
/*
 * Of the time between two counts, at most so much counts as quiet: the optimizer may
 * have kept this task from running.
 */
#define LONGEST_STEP	(20ULL * NSEC_PER_MSEC)
#define STEP_US		1000

/**
 * struct watch - observation of the jumps in some text
 * @fn:		the function with that entry, NULL for the loaded addresses
 * @jumps:	number of jumps at the last count
 * @begun:	time of the beginning
 * @looked:	time of the last count
 * @changed:	time of the last count with another number, or of the first count
 * @quiet:	time without a change
 */
struct watch {
	int (*fn)(void);
	unsigned int jumps;
	u64 begun, looked, changed, quiet;
};

/* The watch on the loaded addresses. */
static struct watch points_watch;

static unsigned int count_jumps(const struct watch *watch)
{
	if (watch->fn)
		return !!bench_jump((unsigned long)watch->fn);
	return bench_point_jumps();
}

static void watch_begin(struct watch *watch, int (*fn)(void))
{
	*watch = (struct watch) { .fn = fn };
	watch->jumps = count_jumps(watch);
	watch->begun = ktime_get_ns();
}

/* Counts the jumps.  Returns true if another count is needed. */
static bool watching(struct watch *watch)
{
	unsigned int jumps = count_jumps(watch);
	u64 now = ktime_get_ns();

	if (!watch->looked || jumps != watch->jumps) {
		watch->jumps = jumps;
		watch->changed = now;
		watch->quiet = 0;
	} else {
		watch->quiet += min(now - watch->looked, LONGEST_STEP);
	}
	watch->looked = now;
	return watch->quiet < QUIET && now - watch->begun < PATIENCE;
}

static void step(void)
{
	usleep_range(STEP_US, STEP_US + STEP_US / 10);
}

static int watch_end(const struct watch *watch)
{
	if (watch->quiet >= QUIET)
		return 0;
	pr_err("bench: the text has not settled in %llu s; now there are %u jumps\n",
	       PATIENCE / NSEC_PER_SEC, watch->jumps);
	return -ETIME;
}

static int watch_to_the_end(struct watch *watch)
{
	while (watching(watch))
		step();
	return watch_end(watch);
}

int bench_await(int (*fn)(void), enum bench_text text)
{
	struct watch watch;
	int ret;

	if (text == BENCH_AS_IT_IS || !IS_ENABLED(CONFIG_OPTPROBES))
		return 0;
	watch_begin(&watch, fn);
	ret = watch_to_the_end(&watch);
	if (!ret && text == BENCH_JUMP && !watch.jumps) {
		pr_err("bench: the probe at %pS never became a jump\n", fn);
		ret = -ETIME;
	}
	return ret;
}

int bench_await_bare(int (*fn)(void), enum bench_text text)
{
	return bench_await(fn, text == BENCH_AS_IT_IS ? text : BENCH_SETTLED);
}

void bench_mark(void)
{
	watch_begin(&points_watch, NULL);
}

/**
 * bench_settle() - measure the time from the last mark until the text has settled
 * @key: key of the time, and with "_jumps" of the number of jumps
 *
 * A registration sets a mark.
 */
int bench_settle(const char *key)
{
	int ret = watch_to_the_end(&points_watch);

	if (ret)
		return ret;
	bench_report(key, points_watch.changed - points_watch.begun);
	bench_report_part(key, "jumps", points_watch.jumps);
	return 0;
}

int bench_settled_jumps(unsigned int *jumps)
{
	int ret;

	bench_mark();
	ret = watch_to_the_end(&points_watch);
	*jumps = points_watch.jumps;
	return ret;
}

int bench_register_other(u64 *time)
{
	struct kprobe kp = {
		.addr = (kprobe_opcode_t *)bench_inner,
		.flags = KPROBE_FLAG_DISABLED,
	};
	u64 start = ktime_get_ns();
	int ret = register_kprobe(&kp);

	*time = ktime_get_ns() - start;
	if (!ret)
		unregister_kprobe(&kp);
	return ret;
}

/**
 * bench_lock() - measure how long the optimizer delays registrations until the text settles
 * @key: key of the longest time of a registration, and with "_first" of the time of the
 *	first one
 *
 * The registered probe is disabled, so its registration changes no text.
 */
int bench_lock(const char *key)
{
	u64 time, first, longest;
	int ret;

	ret = bench_register_other(&first);
	longest = first;
	while (!ret && watching(&points_watch)) {
		step();
		ret = bench_register_other(&time);
		longest = max(longest, time);
	}
	if (!ret)
		ret = watch_end(&points_watch);
	if (ret)
		return ret;
	bench_report(key, longest);
	bench_report_part(key, "first", first);
	return 0;
}
