// SPDX-License-Identifier: GPL-2.0
/*
 * One probe that is hit on several processors at a time.  Two processors make less than
 * twice as many hits as one if they share data in a hit.
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/sched.h>

#include "bench.h"

#define MOST_CPUS	4
#define DURATION	(3ULL * NSEC_PER_SEC)
/* Calls between two reads of the clock, which all processors share. */
#define CALLS_AT_A_TIME	20000

/* Handlers that ran on this processor, and calls and calls per second of its thread. */
static DEFINE_PER_CPU(unsigned long, hits);
static DEFINE_PER_CPU(unsigned long, calls);
static DEFINE_PER_CPU(u64, rate);

static DECLARE_COMPLETION(done);

static int count_here(struct kprobe *kp, struct pt_regs *regs)
{
	this_cpu_inc(hits);
	return 0;
}

static int calling_thread(void *unused)
{
	unsigned long called = 0;
	u64 start = ktime_get_ns(), now;
	int i;

	do {
		for (i = 0; i < CALLS_AT_A_TIME; i++)
			bench_plain();
		called += CALLS_AT_A_TIME;
		cond_resched();
		now = ktime_get_ns();
	} while (now - start < DURATION);
	this_cpu_write(calls, called);
	this_cpu_write(rate, div64_u64((u64)called * NSEC_PER_SEC, now - start));
	kthread_complete_and_exit(&done, 0);
}

/* Runs a calling thread on each of the first @nr processors. */
static int run_threads(unsigned int nr)
{
	struct task_struct *threads[MOST_CPUS];
	unsigned int cpu, i;

	for (cpu = 0; cpu < nr; cpu++) {
		threads[cpu] = kthread_create_on_cpu(calling_thread, NULL, cpu,
						     "bench_call/%u");
		if (IS_ERR(threads[cpu]))
			goto stop;
	}
	for (i = 0; i < nr; i++)
		wake_up_process(threads[i]);
	for (i = 0; i < nr; i++)
		wait_for_completion(&done);
	return 0;
stop:
	/* These threads have not been started. */
	for (i = 0; i < cpu; i++)
		kthread_stop(threads[i]);
	return PTR_ERR(threads[cpu]);
}

/* Returns the sum of hits per second on the first @nr processors. */
static int measure(unsigned int nr, u64 *sum)
{
	unsigned int cpu;
	int ret;

	for (cpu = 0; cpu < nr; cpu++)
		per_cpu(hits, cpu) = 0;
	ret = run_threads(nr);
	*sum = 0;
	for (cpu = 0; !ret && cpu < nr; cpu++) {
		*sum += per_cpu(rate, cpu);
		if (per_cpu(hits, cpu) == per_cpu(calls, cpu))
			continue;
		pr_err("bench: %lu handlers ran on CPU %u, not %lu\n",
		       per_cpu(hits, cpu), cpu, per_cpu(calls, cpu));
		ret = -EIO;
	}
	return ret;
}

/**
 * bench_parallel() - measure hits per second of a jump, on 1, 2, and MOST_CPUS processors
 */
int bench_parallel(void)
{
	struct kprobe kp = {
		.addr = (kprobe_opcode_t *)bench_plain,
		.pre_handler = count_here,
	};
	char key[24];
	unsigned int nr;
	u64 sum;
	int ret;

	if (num_online_cpus() < MOST_CPUS)
		return -EINVAL;
	ret = register_kprobe(&kp);
	if (ret)
		return ret;
	ret = bench_await(bench_plain, BENCH_JUMP);
	for (nr = 1; !ret && nr <= MOST_CPUS; nr *= 2) {
		ret = measure(nr, &sum);
		snprintf(key, sizeof(key), "opt_parallel_%u", nr);
		if (!ret)
			bench_report(key, sum);
	}
	unregister_kprobe(&kp);
	return ret;
}
