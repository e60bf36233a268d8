// SPDX-License-Identifier: GPL-2.0
/*
 * Hits that are lost because an interrupt came while a handler was running.
 *
 * The handler is that of a probe on an entry that ftrace owns, which leaves
 * interrupts on.  It waits there until a timer has called a probed function
 * often enough; every such call must have run that function's handler.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/printk.h>
#include <linux/processor.h>
#include <linux/smp.h>

#include "bench.h"

#define WANTED_CALLS	200
#define TIMER_PERIOD	(100 * NSEC_PER_USEC)
#define PATIENCE	(5ULL * NSEC_PER_SEC)

static bool inside_handler;
static unsigned long calls_inside, lost_inside, inner_hits;

static int inner_pre(struct kprobe *kp, struct pt_regs *regs)
{
	inner_hits++;
	return 0;
}

static enum hrtimer_restart timer_fires(struct hrtimer *timer)
{
	unsigned long before = inner_hits;

	bench_inner();
	if (READ_ONCE(inside_handler)) {
		lost_inside += inner_hits == before;
		WRITE_ONCE(calls_inside, calls_inside + 1);
	}
	hrtimer_forward_now(timer, TIMER_PERIOD);
	return HRTIMER_RESTART;
}

static int wait_for_calls(struct kprobe *kp, struct pt_regs *regs)
{
	u64 end = ktime_get_ns() + PATIENCE;

	WRITE_ONCE(inside_handler, true);
	while (READ_ONCE(calls_inside) < WANTED_CALLS && ktime_get_ns() < end)
		cpu_relax();
	WRITE_ONCE(inside_handler, false);
	return 0;
}

static void run_timer(void)
{
	struct hrtimer timer;

	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer.function = timer_fires;
	/* The timer has to interrupt the handler, not another CPU. */
	get_cpu();
	hrtimer_start(&timer, TIMER_PERIOD, HRTIMER_MODE_REL_PINNED_HARD);
	bench_ftraced();
	put_cpu();
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
}

/**
 * bench_nesting() - how many of WANTED_CALLS hits in interrupts are lost
 */
int bench_nesting(void)
{
	struct kprobe outer = {
		.addr = (kprobe_opcode_t *)bench_ftraced,
		.pre_handler = wait_for_calls,
	};
	struct kprobe inner = {
		.addr = (kprobe_opcode_t *)bench_inner,
		.pre_handler = inner_pre,
	};
	int ret;

	calls_inside = 0;
	lost_inside = 0;
	inner_hits = 0;
	ret = register_kprobe(&inner);
	if (ret)
		return ret;
	ret = register_kprobe(&outer);
	if (ret)
		goto out;
	run_timer();
	unregister_kprobe(&outer);
	if (calls_inside < WANTED_CALLS) {
		pr_err("bench: the timer fired only %lu times in the handler\n",
		       calls_inside);
		ret = -ETIME;
		goto out;
	}
	bench_report("nesting_calls", calls_inside);
	bench_report("nesting_lost", lost_inside);
out:
	unregister_kprobe(&inner);
	return ret;
}
