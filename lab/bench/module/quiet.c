// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of kernel paths that kprobes takes part in, in a kernel without probes: a fault
 * that the exception table fixes, a breakpoint that is not a probe's, a watchpoint of another
 * user, a switch to another task, and a stack trace.  client.c measures the paths that begin
 * with a system call.
 */
#include <linux/err.h>
#include <linux/hw_breakpoint.h>
#include <linux/kdebug.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>

#include "bench.h"

/* An address in the first pages, which no program maps. */
#define ABSENT		((int __user *)PAGE_SIZE)
#define DEPTH		32
/* The least sample is one that no tick of the clock has interrupted. */
#define SAMPLES		65
#define ROUND_TRIPS	16

/* Returns 1 if a read of an absent page has failed. */
static int fault(void)
{
	int value, ret;

	pagefault_disable();
	ret = __get_user(value, ABSENT);
	pagefault_enable();
	/* The value is 0 then, too. */
	return ret == -EFAULT && !value;
}

static int trace_stack(void)
{
	unsigned long entries[DEPTH];

	return stack_trace_save(entries, DEPTH, 0);
}

/* Measures calls of @fn, which returns 0 if it cannot do its work. */
static int measure(const char *key, int (*fn)(void))
{
	if (!fn())
		return -EIO;
	bench_report_hit(key, bench_time_calls(fn), bench_time_calls(bench_plain));
	return 0;
}

#ifdef CONFIG_X86
static unsigned long breakpoints;

/* Another user of breakpoints: a debugger, for example. */
static int take_breakpoint(struct notifier_block *nb, unsigned long event, void *args)
{
	if (event != DIE_INT3)
		return NOTIFY_DONE;
	breakpoints++;
	return NOTIFY_STOP;
}

static int breakpoint(void)
{
	unsigned long before = breakpoints;

	asm volatile("int3" ::: "memory");
	return breakpoints == before + 1;
}

static int measure_breakpoint(void)
{
	struct notifier_block nb = { .notifier_call = take_breakpoint };
	int ret = register_die_notifier(&nb);

	if (ret)
		return ret;
	ret = measure("quiet_breakpoint", breakpoint);
	unregister_die_notifier(&nb);
	return ret;
}

static unsigned long watched, writes;

static void count_write(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	writes++;
}

/* The emulator may execute some more instructions before the exception. */
static int write_watched(void)
{
	WRITE_ONCE(watched, 1);
	return 1;
}

static int measure_watchpoint(void)
{
	struct perf_event * __percpu *events;
	struct perf_event_attr attr;
	int ret;

	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)&watched;
	attr.bp_len = sizeof(watched);
	attr.bp_type = HW_BREAKPOINT_W;
	events = register_wide_hw_breakpoint(&attr, count_write, NULL);
	if (IS_ERR_PCPU(events))
		return PTR_ERR_PCPU(events);
	ret = measure("quiet_watchpoint", write_watched);
	unregister_wide_hw_breakpoint(events);
	if (!ret && !writes)
		ret = -EIO;
	return ret;
}
#else
/* No module can take a breakpoint of the kernel here, or a watchpoint. */
static int measure_breakpoint(void)
{
	return 0;
}

static int measure_watchpoint(void)
{
	return 0;
}
#endif

/* Wakes the other task, and sleeps until that task does the same. */
static void pass(struct task_struct *other)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	wake_up_process(other);
	schedule();
}

static int pass_back(void *caller)
{
	while (!kthread_should_stop())
		pass(caller);
	return 0;
}

/* Two tasks on one processor take turns. */
static int measure_switch(void)
{
	struct task_struct *partner = kthread_run(pass_back, current, "kprobe_bench");
	u64 start, least = U64_MAX;
	int i, j;

	if (IS_ERR(partner))
		return PTR_ERR(partner);
	for (i = 0; i < SAMPLES; i++) {
		start = ktime_get_ns();
		for (j = 0; j < ROUND_TRIPS; j++)
			pass(partner);
		least = min(least, ktime_get_ns() - start);
	}
	kthread_stop(partner);
	bench_report("quiet_switch", div_u64(least, 2 * ROUND_TRIPS));
	return 0;
}

/**
 * bench_quiet() - measure paths of a kernel that has no probe
 */
int bench_quiet(void)
{
	int ret = measure("quiet_fault", fault);

	if (!ret)
		ret = measure_breakpoint();
	if (!ret)
		ret = measure_watchpoint();
	if (!ret)
		ret = measure_switch();
	return ret ?: measure("quiet_stack", trace_stack);
}
