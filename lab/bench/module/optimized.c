// SPDX-License-Identifier: GPL-2.0
/*
 * What an optimizer does to probes: how long the text takes to settle, and how
 * long others are kept from registering meanwhile.
 *
 * Which probes become jumps is not known beforehand, and no kernel tells when it
 * has finished.  So the jumps are counted again and again.  The text has settled
 * at the last change of their number; that it was the last is known after a while
 * that is longer than any pause that an optimizer makes.
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
 * No longer time without a look at the text counts as quiet: it may be the
 * optimizer that let nobody run.
 */
#define LONGEST_STEP	(20ULL * NSEC_PER_MSEC)
#define STEP_US		1000

/**
 * struct watch - text that is being watched
 * @fn:		the function whose entry it is, NULL for the addresses loaded
 * @jumps:	how many there were at the last look
 * @begun:	when the watch began
 * @looked:	when the last look was
 * @changed:	when the number of jumps was seen to change; else, the first look
 * @quiet:	for how long it has not changed
 */
struct watch {
	int (*fn)(void);
	unsigned int jumps;
	u64 begun, looked, changed, quiet;
};

/* The watch over the addresses loaded. */
static struct watch points_watch;

static unsigned int count_jumps(const struct watch *watch)
{
	if (watch->fn)
		return bench_is_jump((unsigned long)watch->fn);
	return bench_point_jumps();
}

static void watch_begin(struct watch *watch, int (*fn)(void))
{
	*watch = (struct watch) { .fn = fn };
	watch->jumps = count_jumps(watch);
	watch->begun = ktime_get_ns();
}

/* Takes a look.  Whether others are needed. */
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
 * bench_settle() - how long the text takes to settle, from the last mark on
 * @key: what to call the time, and with "_jumps" how many jumps there are then
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
 * bench_lock() - how long others cannot register, from now until the text is settled
 * @key: what to call the longest that one registration takes, and with "_first"
 *	the first one
 *
 * That of a disabled probe: no text is changed for it.
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
