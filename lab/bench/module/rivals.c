// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a call of a function that other tracers trace.  Users compare it with a probe at the
 * entry or the return of a function.  The base and ours share these tracers.  User space
 * attaches BPF programs.
 */
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/irqnr.h>
#include <linux/string.h>

#include "bench.h"

static void count_call(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
	bench_counted++;
}

static int measure_ftrace(const char *key, unsigned long flags)
{
	struct ftrace_ops ops = { .func = count_call, .flags = flags };
	u64 bare = bench_time_calls(bench_ftraced), traced;
	int ret;

	ret = ftrace_set_filter_ip(&ops, (unsigned long)bench_ftraced, 0, 0);
	if (ret)
		return ret;
	ret = register_ftrace_function(&ops);
	if (!ret) {
		ret = bench_time_hits(bench_ftraced, 1, &traced);
		unregister_ftrace_function(&ops);
	}
	ftrace_free_filter(&ops);
	if (!ret)
		bench_report_hit(key, traced, bare);
	return ret;
}

static int count_entry(struct fprobe *fp, unsigned long entry, unsigned long ret_ip,
		       struct ftrace_regs *fregs, void *data)
{
	bench_counted++;
	return 0;
}

static void count_exit(struct fprobe *fp, unsigned long entry, unsigned long ret_ip,
		       struct ftrace_regs *fregs, void *data)
{
	bench_counted++;
}

static int measure_fprobe(const char *key, fprobe_entry_cb entry, fprobe_exit_cb exit)
{
	struct fprobe fp = { .entry_handler = entry, .exit_handler = exit };
	u64 bare = bench_time_calls(bench_ftraced), traced;
	unsigned long addr = (unsigned long)bench_ftraced;
	int ret;

	ret = register_fprobe_ips(&fp, &addr, 1);
	if (ret)
		return ret;
	ret = bench_time_hits(bench_ftraced, 1, &traced);
	unregister_fprobe(&fp);
	if (!ret)
		bench_report_hit(key, traced, bare);
	return ret;
}

/* bench_rivals() - measure ftrace's callback, and fprobes */
int bench_rivals(void)
{
	int ret;

	ret = measure_ftrace("rival_ftrace", 0);
	if (!ret)
		ret = measure_ftrace("rival_ftrace_regs", FTRACE_OPS_FL_SAVE_REGS |
				     FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED);
	if (!ret)
		ret = measure_fprobe("rival_fprobe", count_entry, NULL);
	return ret ?: measure_fprobe("rival_fprobe_return", NULL, count_exit);
}

/* A function of the kernel without arguments, which does nothing but read a variable. */
static noinline int call_traced(void)
{
	return irq_get_nr_irqs();
}

/**
 * bench_traced() - measure calls of a kernel function that user space traces
 * @word: "bare" measures the calls without a tracer; any other word is the key of a
 *	measurement, after "bare", with a tracer
 *
 * A BPF program can only trace a function that has type information.  Functions of this module
 * have none.
 */
int bench_traced(const char *word)
{
	static u64 bare;
	u64 time = bench_time_calls(call_traced);

	if (strcmp(word, "bare"))
		bench_report_hit(word, time, bare);
	else
		bare = time;
	return 0;
}
