// SPDX-License-Identifier: GPL-2.0
/*
 * The cost and the misses of return probes, and the cost of jprobes if the kernel has them.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/printk.h>
#include <linux/wait.h>

#include "bench.h"

#define DATA_SIZE	64
#define MOST_RETURNS	1000
#define THREADS		64

static int count_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	bench_counted++;
	return 0;
}

static int count_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	bench_counted++;
	ri->data[0] = 1;
	return 0;
}

static const struct kretprobe plain = { .handler = count_return };
static const struct kretprobe limited = { .handler = count_return, .maxactive = THREADS };
static const struct kretprobe data = {
	.handler = count_return,
	.entry_handler = count_entry,
	.data_size = DATA_SIZE,
};

/* Measures calls of @fn with a copy of the return probe @like, and with @kp if given. */
static int measure(const char *key, int (*fn)(void), const struct kretprobe *like,
		   struct kprobe *kp, unsigned int handlers, enum bench_text text)
{
	struct kretprobe rp = *like;
	u64 bare, probed;
	int ret = bench_await_bare(fn, text);

	if (ret)
		return ret;
	bare = bench_time_calls(fn);
	rp.kp.addr = (kprobe_opcode_t *)fn;
	ret = register_kretprobe(&rp);
	if (ret)
		return ret;
	if (kp) {
		kp->addr = (kprobe_opcode_t *)fn;
		ret = register_kprobe(kp);
	}
	if (!ret) {
		ret = bench_await(fn, text) ?: bench_time_hits(fn, handlers, &probed);
		if (kp)
			unregister_kprobe(kp);
	}
	unregister_kretprobe(&rp);
	if (!ret)
		bench_report_hit(key, probed, bare);
	return ret;
}

#ifdef CONFIG_JPROBES
static int counting_handler(void)
{
	bench_counted++;
	jprobe_return();
	return 0;
}

static int measure_jprobe(void)
{
	struct jprobe jp = {
		.kp.addr = (kprobe_opcode_t *)bench_plain,
		.entry = counting_handler,
	};
	u64 bare = bench_time_calls(bench_plain), probed;
	int ret = register_jprobe(&jp);

	if (ret)
		return ret;
	ret = bench_time_hits(bench_plain, 1, &probed);
	unregister_jprobe(&jp);
	if (!ret)
		bench_report_hit("jprobe", probed, bare);
	return ret;
}
#else
static int measure_jprobe(void)
{
	return 0;
}
#endif

/**
 * bench_returns() - measure return probes of every kind, while no others are registered
 */
int bench_returns(void)
{
	struct kprobe kp = { .pre_handler = bench_count };
	int ret;

	ret = measure("return", bench_plain, &plain, NULL, 1, BENCH_AS_IT_IS);
	if (!ret)
		ret = measure("return_ftrace", bench_ftraced, &plain, NULL, 1,
			      BENCH_AS_IT_IS);
	if (!ret)
		ret = measure("return_maxactive", bench_plain, &limited, NULL, 1,
			      BENCH_AS_IT_IS);
	if (!ret)
		ret = measure("return_data", bench_plain, &data, NULL, 2, BENCH_AS_IT_IS);
	if (!ret)
		ret = measure("return_kprobe", bench_plain, &plain, &kp, 2, BENCH_AS_IT_IS);
	return ret ?: measure_jprobe();
}

/**
 * bench_optimized_returns() - measure return probes whose entry becomes a jump
 */
int bench_optimized_returns(void)
{
	struct kprobe kp = { .pre_handler = bench_count };
	int ret;

	ret = measure("opt_return", bench_plain, &plain, NULL, 1, BENCH_JUMP);
	if (!ret)
		ret = measure("opt_return_entry", bench_ftraced, &plain, NULL, 1, BENCH_SETTLED);
	if (!ret)
		ret = measure("opt_return_maxactive", bench_plain, &limited, NULL, 1,
			      BENCH_JUMP);
	if (!ret)
		ret = measure("opt_return_data", bench_plain, &data, NULL, 2, BENCH_JUMP);
	if (!ret)
		ret = measure("opt_return_kprobe", bench_plain, &plain, &kp, 2, BENCH_JUMP);
	return ret;
}

/* --- Threads that are blocked inside the probed function ------------------------ */

static DECLARE_WAIT_QUEUE_HEAD(gate);
static bool gate_open;
static atomic_t inside, gone;

static noinline int block(void)
{
	atomic_inc(&inside);
	wait_event(gate, READ_ONCE(gate_open));
	return 1;
}

static int blocked_thread(void *unused)
{
	block();
	atomic_inc(&gone);
	return 0;
}

/* Waits until the count is complete, for ten seconds at most. */
static void await(atomic_t *count, int nr)
{
	int i;

	for (i = 0; i < 1000 && atomic_read(count) < nr; i++)
		msleep(10);
}

/**
 * bench_blocked() - count how many of THREADS calls are missed with the default maxactive
 */
int bench_blocked(void)
{
	struct kretprobe rp = {
		.kp.addr = (kprobe_opcode_t *)block,
		.handler = count_return,
	};
	int i, started = 0, ret;

	ret = register_kretprobe(&rp);
	if (ret)
		return ret;
	atomic_set(&inside, 0);
	atomic_set(&gone, 0);
	WRITE_ONCE(gate_open, false);
	for (i = 0; i < THREADS; i++)
		started += !IS_ERR(kthread_run(blocked_thread, NULL, "bench_block/%d", i));
	await(&inside, started);
	WRITE_ONCE(gate_open, true);
	wake_up_all(&gate);
	await(&gone, started);
	unregister_kretprobe(&rp);
	if (started != THREADS || atomic_read(&gone) != started)
		return -EIO;
	bench_report("return_blocked_missed", rp.nmissed);
	return 0;
}

/* --- Memory --------------------------------------------------------------------- */

static struct kretprobe returns[MOST_RETURNS];
static struct kretprobe *return_pointers[MOST_RETURNS];
static unsigned int nr_returns;

/**
 * bench_register_returns() - register a batch of return probes with the default maxactive
 * @nr: number of probes, at the first of the loaded addresses
 * @key: key of the time
 */
int bench_register_returns(unsigned int nr, const char *key)
{
	unsigned int i;
	u64 start;
	int ret;

	if (!key || !nr || nr > MOST_RETURNS || nr_returns || !bench_point(nr - 1))
		return -EINVAL;
	for (i = 0; i < nr; i++) {
		returns[i] = (struct kretprobe) {
			.kp.addr = (kprobe_opcode_t *)bench_point(i),
			.handler = count_return,
		};
		return_pointers[i] = &returns[i];
	}
	start = ktime_get_ns();
	ret = register_kretprobes(return_pointers, nr);
	if (ret)
		return ret;
	nr_returns = nr;
	bench_report(key, ktime_get_ns() - start);
	return 0;
}

void bench_returns_exit(void)
{
	if (nr_returns)
		unregister_kretprobes(return_pointers, nr_returns);
	nr_returns = 0;
}
