// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a hit: the time of many calls of a probed function with interrupts off,
 * minus that of the same calls without a probe.
 *
 * Handlers, where there are any, count their calls.  That is one instruction, and it proves that
 * each call was a hit.
 *
 * User space switches optimization.  Before jumps are measured, wait until they are in
 * the text.
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
/* Calls before the measured ones, so that none of these is a first call. */
#define WARM_UP		16
#define MOST_PROBES	32

DEFINE_PLAIN_FUNCTION(bench_plain);
DEFINE_PLAIN_FUNCTION(bench_inner);

unsigned long bench_counted;

/* The probe of "oldest", and the cost of its function without a probe. */
static struct kprobe oldest;
static u64 oldest_bare;

noinline int bench_ftraced(void)
{
	/* Without this the compiler would remove the calls. */
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

/* Measures calls, each of which must run @handlers handlers. */
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

/* Measures @nr copies of the probe @like at one address. */
static int measure(const char *key, int (*fn)(void), const struct kprobe *like,
		   unsigned int nr, unsigned int handlers, enum bench_text text)
{
	struct kprobe *kps;
	u64 bare, probed;
	unsigned int i;
	int ret = bench_await_bare(fn, text);

	if (ret)
		return ret;
	kps = kcalloc(nr, sizeof(*kps), GFP_KERNEL);
	if (!kps)
		return -ENOMEM;
	bare = bench_time_calls(fn);
	for (i = 0; i < nr; i++) {
		kps[i] = *like;
		kps[i].addr = (kprobe_opcode_t *)fn;
		ret = register_kprobe(&kps[i]);
		if (ret)
			break;
	}
	if (!ret)
		ret = bench_await(fn, text);
	if (!ret)
		ret = bench_time_hits(fn, handlers * nr, &probed);
	while (i--)
		unregister_kprobe(&kps[i]);
	kfree(kps);
	if (!ret)
		bench_report_hit(key, probed, bare);
	return ret;
}

/* Measures a handler's call of a function, with and without a probe on the function. */
static int measure_missed(const char *key, enum bench_text text)
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
	ret = bench_await(bench_plain, text);
	if (!ret)
		ret = bench_time_hits(bench_plain, 1, &bare);
	if (ret)
		goto out;
	ret = register_kprobe(&inner);
	if (ret)
		goto out;
	ret = bench_await(bench_inner, text);
	if (!ret)
		ret = bench_time_hits(bench_plain, 1, &probed);
	unregister_kprobe(&inner);
	if (!ret && inner.nmissed != ROUNDS + WARM_UP) {
		pr_err("bench: %lu missed hits were counted, not %u\n",
		       inner.nmissed, ROUNDS + WARM_UP);
		ret = -EIO;
	}
	if (!ret)
		bench_report_hit(key, probed, bare);
out:
	unregister_kprobe(&outer);
	return ret;
}

static const struct kprobe none;
static const struct kprobe pre = { .pre_handler = bench_count };
static const struct kprobe both = {
	.pre_handler = bench_count,
	.post_handler = count_post,
};

/* Measures many probes at one address; @prefix and their number are the key. */
static int measure_many(const char *prefix, unsigned int nr, enum bench_text text)
{
	char key[16];

	snprintf(key, sizeof(key), "%s_%u", prefix, nr);
	return measure(key, bench_plain, &pre, nr, 1, text);
}

/**
 * bench_hits() - measure hits of every kind, while no other probes are registered
 */
int bench_hits(void)
{
	static const unsigned int many[] = { 2, 8, MOST_PROBES };
	unsigned int i;
	int ret;

	ret = measure("hit_post", bench_plain, &both, 1, 2, BENCH_AS_IT_IS);
	if (!ret)
		ret = measure("hit_pre", bench_plain, &pre, 1, 1, BENCH_AS_IT_IS);
	if (!ret)
		ret = measure("hit_none", bench_plain, &none, 1, 0, BENCH_AS_IT_IS);
	if (!ret)
		ret = measure("hit_ftrace", bench_ftraced, &pre, 1, 1, BENCH_AS_IT_IS);
	for (i = 0; !ret && i < ARRAY_SIZE(many); i++)
		ret = measure_many("hit", many[i], BENCH_AS_IT_IS);
	return ret ?: measure_missed("hit_missed", BENCH_AS_IT_IS);
}

/**
 * bench_optimized_hits() - measure hits of probes that have become jumps
 *
 * Not every implementation makes a jump of a probe that has a post_handler.
 */
int bench_optimized_hits(void)
{
	int ret;

	ret = measure("opt_post", bench_plain, &both, 1, 2, BENCH_SETTLED);
	if (!ret)
		ret = measure("opt_pre", bench_plain, &pre, 1, 1, BENCH_JUMP);
	if (!ret)
		ret = measure("opt_none", bench_plain, &none, 1, 0, BENCH_JUMP);
	/* The jump may be after ftrace's instruction, where this does not look for it. */
	if (!ret)
		ret = measure("opt_entry", bench_ftraced, &pre, 1, 1, BENCH_SETTLED);
	if (!ret)
		ret = measure_many("opt", 8, BENCH_JUMP);
	if (!ret)
		ret = measure_many("opt", MOST_PROBES, BENCH_JUMP);
	return ret ?: measure_missed("opt_missed", BENCH_JUMP);
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
 * bench_oldest() - measure a hit of a probe that is older than others
 * @word: "begin" registers the probe, "end" unregisters it; any other word is the key of
 *	a measurement
 */
int bench_oldest(const char *word)
{
	u64 probed;
	int ret;

	if (!strcmp(word, "begin"))
		return oldest.pre_handler ? -EBUSY : oldest_begin();
	if (!oldest.pre_handler)
		return -EINVAL;
	if (!strcmp(word, "end")) {
		bench_hits_exit();
		return 0;
	}
	ret = bench_time_hits(bench_plain, 1, &probed);
	if (!ret)
		bench_report_hit(word, probed, oldest_bare);
	return ret;
}

void bench_hits_exit(void)
{
	if (!oldest.pre_handler)
		return;
	unregister_kprobe(&oldest);
	oldest.pre_handler = NULL;
}
