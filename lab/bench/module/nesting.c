// SPDX-License-Identifier: GPL-2.0
/*
 * Count hits that are lost because an interrupt arrives while a handler is running.
 *
 * The handler runs with interrupts on: it is that of a probe on an entry that
 * ftrace owns, of a probe that has become a jump, or of a return probe.
 * It waits until a timer has called a probed function often enough; every
 * such call must run all handlers of that function.
 *
 * In some kernels probes on such entries are breakpoints, none becomes a jump, and the
 * handler runs with interrupts off.  No hit can be lost there.
 */
#include <linux/hrtimer.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/printk.h>
#include <linux/processor.h>
#include <linux/smp.h>

#include "bench.h"

#define WANTED_CALLS	200
#define TIMER_PERIOD	(100 * NSEC_PER_USEC)
#define PATIENCE	(5ULL * NSEC_PER_SEC)

static bool inside_handler, interrupts_off;
static unsigned long calls_inside, lost_inside, inner_hits;

/* Number of handlers that a call of the inner function runs. */
static unsigned int inner_handlers;

static int inner_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	inner_hits++;
	return 0;
}

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
		lost_inside += inner_hits != before + inner_handlers;
		WRITE_ONCE(calls_inside, calls_inside + 1);
	}
	hrtimer_forward_now(timer, TIMER_PERIOD);
	return HRTIMER_RESTART;
}

static void wait_for_calls(void)
{
	u64 end = ktime_get_ns() + PATIENCE;

	if (!IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) && irqs_disabled()) {
		interrupts_off = true;
		return;
	}
	WRITE_ONCE(inside_handler, true);
	while (READ_ONCE(calls_inside) < WANTED_CALLS && ktime_get_ns() < end)
		cpu_relax();
	WRITE_ONCE(inside_handler, false);
}

static int wait_at_hit(struct kprobe *kp, struct pt_regs *regs)
{
	wait_for_calls();
	return 0;
}

static int wait_at_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	wait_for_calls();
	return 0;
}

static void run_timer(int (*outer)(void))
{
	struct hrtimer timer;

	hrtimer_setup_on_stack(&timer, timer_fires, CLOCK_MONOTONIC,
			       HRTIMER_MODE_REL_PINNED_HARD);
	/* Keep the timer on this CPU, where it has to interrupt the handler. */
	get_cpu();
	hrtimer_start(&timer, TIMER_PERIOD, HRTIMER_MODE_REL_PINNED_HARD);
	outer();
	put_cpu();
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
}

static int report_lost(const char *key)
{
	if (interrupts_off) {
		pr_info("bench: note: %s: no interrupt can come\n", key);
	} else if (calls_inside < WANTED_CALLS) {
		pr_err("bench: the timer fired only %lu times in the handler\n",
		       calls_inside);
		return -ETIME;
	}
	bench_report(key, lost_inside);
	return 0;
}

/*
 * Call a function while the handler of the probe on @outer runs.  The kprobe of that
 * function, and its return probe if there is one, must get each call.
 */
static int measure(const char *key, int (*outer)(void), struct kretprobe *inner_return,
		   enum bench_text text)
{
	struct kprobe inner = {
		.addr = (kprobe_opcode_t *)bench_inner,
		.pre_handler = inner_pre,
	};
	int ret;

	calls_inside = 0;
	lost_inside = 0;
	inner_hits = 0;
	interrupts_off = false;
	inner_handlers = inner_return ? 2 : 1;
	ret = register_kprobe(&inner);
	if (ret)
		return ret;
	if (inner_return)
		ret = register_kretprobe(inner_return);
	if (!ret) {
		ret = bench_await(outer, text) ?: bench_await(bench_inner, text);
		if (!ret)
			run_timer(outer);
		if (inner_return)
			unregister_kretprobe(inner_return);
	}
	unregister_kprobe(&inner);
	return ret ?: report_lost(key);
}

/**
 * bench_nesting() - count how many of WANTED_CALLS hits in interrupts are lost
 */
int bench_nesting(void)
{
	struct kprobe outer = {
		.addr = (kprobe_opcode_t *)bench_ftraced,
		.pre_handler = wait_at_hit,
	};
	int ret = register_kprobe(&outer);

	if (ret)
		return ret;
	ret = measure("nesting_lost", bench_ftraced, NULL, BENCH_AS_IT_IS);
	unregister_kprobe(&outer);
	return ret;
}

/**
 * bench_optimized_nesting() - the same with jumps for both probes
 */
int bench_optimized_nesting(void)
{
	struct kprobe outer = {
		.addr = (kprobe_opcode_t *)bench_plain,
		.pre_handler = wait_at_hit,
	};
	int ret = register_kprobe(&outer);

	if (ret)
		return ret;
	ret = measure("opt_nesting_lost", bench_plain, NULL, BENCH_JUMP);
	unregister_kprobe(&outer);
	return ret;
}

/**
 * bench_return_nesting() - the same while a return handler runs
 *
 * A call of the inner function is lost if its kprobe or its return probe is.
 */
int bench_return_nesting(void)
{
	struct kretprobe outer = {
		.kp.addr = (kprobe_opcode_t *)bench_ftraced,
		.handler = wait_at_return,
	};
	struct kretprobe inner_return = {
		.kp.addr = (kprobe_opcode_t *)bench_inner,
		.handler = inner_returned,
	};
	int ret = register_kretprobe(&outer);

	if (ret)
		return ret;
	ret = measure("return_nesting_lost", bench_ftraced, &inner_return, BENCH_AS_IT_IS);
	unregister_kretprobe(&outer);
	return ret;
}
