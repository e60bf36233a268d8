// SPDX-License-Identifier: GPL-2.0
/*
 * What a hit costs: many calls of a probed function with interrupts off, less
 * the same calls of the function as it is.
 *
 * Handlers count.  It is one instruction, and it proves that what has been
 * measured are hits.
 */
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "bench.h"
#include "targets.h"

#define ROUNDS		4096
/* Before the measured calls, so that nothing happens for the first time. */
#define WARM_UP		16
#define MOST_PROBES	32

DEFINE_PLAIN_FUNCTION(bench_plain);
DEFINE_PLAIN_FUNCTION(bench_inner);

unsigned long bench_counted;

/* The probe of "oldest", and what its function costs without it. */
static struct kprobe oldest;
static u64 oldest_bare;

noinline int bench_ftraced(void)
{
	/* Or else the compiler would drop the calls. */
	barrier();
	return 42;
}

int bench_count(struct kprobe *kp, struct pt_regs *regs)
{
	bench_counted++;
	return 0;
}

static void count_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	bench_counted++;
}

static int call_inner(struct kprobe *kp, struct pt_regs *regs)
{
	bench_counted++;
	bench_inner();
	return 0;
}

u64 bench_time_calls(int (*fn)(void))
{
	unsigned long flags;
	u64 start, end;
	int i;

	local_irq_save(flags);
	for (i = 0; i < WARM_UP; i++)
		fn();
	start = ktime_get_ns();
	for (i = 0; i < ROUNDS; i++)
		fn();
	end = ktime_get_ns();
	local_irq_restore(flags);
	return end - start;
}

/* Times calls that must each have run @handlers handlers. */
int bench_time_hits(int (*fn)(void), unsigned int handlers, u64 *time)
{
	unsigned long wanted = (unsigned long)handlers * (ROUNDS + WARM_UP);

	bench_counted = 0;
	*time = bench_time_calls(fn);
	if (bench_counted == wanted)
		return 0;
	pr_err("bench: %lu handlers ran, not %lu\n", bench_counted, wanted);
	return -EIO;
}

void bench_report_hit(const char *key, u64 probed, u64 bare)
{
	bench_report(key, div_u64(probed - bare, ROUNDS));
}

/* @nr probes like @like on one address. */
static int measure(const char *key, int (*fn)(void), const struct kprobe *like,
		   unsigned int nr, unsigned int handlers)
{
	struct kprobe *kps = kcalloc(nr, sizeof(*kps), GFP_KERNEL);
	u64 bare = bench_time_calls(fn), probed;
	unsigned int i;
	int ret = 0;

	if (!kps)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		kps[i] = *like;
		kps[i].addr = (kprobe_opcode_t *)fn;
		ret = register_kprobe(&kps[i]);
		if (ret)
			break;
	}
	if (!ret)
		ret = bench_time_hits(fn, handlers * nr, &probed);
	while (i--)
		unregister_kprobe(&kps[i]);
	kfree(kps);
	if (!ret)
		bench_report_hit(key, probed, bare);
	return ret;
}

/* A handler's call of a function, with and without a probe on that. */
static int measure_missed(void)
{
	struct kprobe outer = {
		.addr = (kprobe_opcode_t *)bench_plain,
		.pre_handler = call_inner,
	};
	struct kprobe inner = {
		.addr = (kprobe_opcode_t *)bench_inner,
		.pre_handler = bench_count,
	};
	u64 bare, probed;
	int ret;

	ret = register_kprobe(&outer);
	if (ret)
		return ret;
	ret = bench_time_hits(bench_plain, 1, &bare);
	if (ret)
		goto out;
	ret = register_kprobe(&inner);
	if (ret)
		goto out;
	ret = bench_time_hits(bench_plain, 1, &probed);
	unregister_kprobe(&inner);
	if (!ret && inner.nmissed != ROUNDS + WARM_UP) {
		pr_err("bench: %lu missed hits were counted, not %u\n",
		       inner.nmissed, ROUNDS + WARM_UP);
		ret = -EIO;
	}
	if (!ret)
		bench_report_hit("hit_missed", probed, bare);
out:
	unregister_kprobe(&outer);
	return ret;
}

/**
 * bench_hits() - hits of every kind, while no other probes are registered
 */
int bench_hits(void)
{
	static const unsigned int many[] = { 2, 8, MOST_PROBES };
	const struct kprobe pre = { .pre_handler = bench_count };
	const struct kprobe both = {
		.pre_handler = bench_count,
		.post_handler = count_post,
	};
	char key[16];
	unsigned int i;
	int ret;

	ret = measure("hit_post", bench_plain, &both, 1, 2);
	if (!ret)
		ret = measure("hit_pre", bench_plain, &pre, 1, 1);
	if (!ret)
		ret = measure("hit_ftrace", bench_ftraced, &pre, 1, 1);
	for (i = 0; !ret && i < ARRAY_SIZE(many); i++) {
		snprintf(key, sizeof(key), "hit_%u", many[i]);
		ret = measure(key, bench_plain, &pre, many[i], 1);
	}
	return ret ?: measure_missed();
}

static int oldest_begin(void)
{
	int ret;

	memset(&oldest, 0, sizeof(oldest));
	oldest.addr = (kprobe_opcode_t *)bench_plain;
	oldest.pre_handler = bench_count;
	oldest_bare = bench_time_calls(bench_plain);
	ret = register_kprobe(&oldest);
	if (ret)
		oldest.pre_handler = NULL;
	return ret;
}

/**
 * bench_oldest() - a hit of a probe that is older than others
 * @what: "begin" registers the probe, "end" unregisters it; anything else
 *	measures it, and is the result's key
 */
int bench_oldest(const char *what)
{
	u64 probed;
	int ret;

	if (!strcmp(what, "begin"))
		return oldest.pre_handler ? -EBUSY : oldest_begin();
	if (!oldest.pre_handler)
		return -EINVAL;
	if (!strcmp(what, "end")) {
		bench_hits_exit();
		return 0;
	}
	ret = bench_time_hits(bench_plain, 1, &probed);
	if (!ret)
		bench_report_hit(what, probed, oldest_bare);
	return ret;
}

void bench_hits_exit(void)
{
	if (!oldest.pre_handler)
		return;
	unregister_kprobe(&oldest);
	oldest.pre_handler = NULL;
}
