// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hits while a handler runs: at the same context level they are missed, and counted exactly;
 * at a deeper level they are full hits.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kprobes-frame.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/tracepoint.h>
#include <trace/events/preemptirq.h>

#include "counted.h"
#include "jumps.h"
#include "../internal.h"

/* The functions that handlers call: one with a breakpoint, one with ftrace's instruction. */
TRAP_TARGET(inner_trap, 1)
TRACED_TARGET(inner_call, 1)
TRAP_TARGET(outer_trap, 1)
TRACED_TARGET(outer_call, 1)

typedef int (*target_fn)(int x);

static target_fn inner;		/* the function that the outer handlers call */
static int inner_result;

/* In one case, threads on both CPUs call this. */
static __always_inline void call_inner(void)
{
	int result = inner(1);

	/* That case does not read the sum. */
	data_race(inner_result += result);
}

static int nest_pre(struct kprobe *p, struct pt_regs *regs)
{
	call_inner();
	return 0;
}
NOKPROBE_SYMBOL(nest_pre);

static void nest_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	call_inner();
}
NOKPROBE_SYMBOL(nest_post);

static void nested_hits_are_missed_and_counted(struct kunit *test)
{
	const target_fn outers[] = { outer_trap, outer_call };
	const target_fn inners[] = { inner_trap, inner_call };
	int o, i, n;

	for (o = 0; o < 2; o++) {
		for (i = 0; i < 2; i++) {
			struct kprobe out = {
				.addr = (void *)outers[o],
				.pre_handler = nest_pre,
				.post_handler = nest_post,
			};
			struct counted a = counted_at(inners[i], true, true);
			struct counted b = counted_at(inners[i], true, false);
			struct counted off = counted_at(inners[i], true, true);

			off.kp.flags = KPROBE_FLAG_DISABLED;
			inner = inners[i];
			inner_result = 0;
			KUNIT_ASSERT_EQ(test, register_kprobe(&out), 0);
			KUNIT_ASSERT_EQ(test, register_kprobe(&a.kp), 0);
			KUNIT_ASSERT_EQ(test, register_kprobe(&b.kp), 0);
			KUNIT_ASSERT_EQ(test, register_kprobe(&off.kp), 0);
			for (n = 0; n < 10; n++)
				KUNIT_EXPECT_EQ(test, outers[o](n), n + 1);
			/* Outside of a handler the call is a hit. */
			KUNIT_EXPECT_EQ(test, inners[i](1), 2);
			/* And now with only one enabled probe. */
			unregister_kprobe(&b.kp);
			KUNIT_EXPECT_EQ(test, outers[o](n), n + 1);
			KUNIT_EXPECT_EQ(test, inners[i](1), 2);
			unregister_kprobe(&off.kp);
			unregister_kprobe(&a.kp);
			unregister_kprobe(&out);

			/* The probed instruction is executed nevertheless. */
			KUNIT_EXPECT_EQ(test, inner_result, 44);
			KUNIT_EXPECT_EQ(test, a.kp.nmissed, 22);
			KUNIT_EXPECT_EQ(test, b.kp.nmissed, 20);
			KUNIT_EXPECT_EQ(test, off.kp.nmissed, 0);
			KUNIT_EXPECT_EQ(test, a.pre, 2);
			KUNIT_EXPECT_EQ(test, a.post, 2);
			KUNIT_EXPECT_EQ(test, b.pre, 1);
			KUNIT_EXPECT_EQ(test, off.pre + off.post, 0);
			KUNIT_EXPECT_EQ(test, out.nmissed, 0);
		}
	}
}

static void hits_in_busy_sections_are_missed(struct kunit *test)
{
	struct counted trap = counted_at(inner_trap, true, false);
	struct counted call = counted_at(inner_call, true, false);

	KUNIT_ASSERT_EQ(test, register_kprobe(&trap.kp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&call.kp), 0);
	kprobe_busy_begin();
	inner_trap(1);
	inner_call(1);
	kprobe_busy_end();
	inner_trap(1);
	inner_call(1);
	unregister_kprobe(&trap.kp);
	unregister_kprobe(&call.kp);
	KUNIT_EXPECT_EQ(test, trap.kp.nmissed, 1);
	KUNIT_EXPECT_EQ(test, trap.pre, 1);
	KUNIT_EXPECT_EQ(test, call.kp.nmissed, 1);
	KUNIT_EXPECT_EQ(test, call.pre, 1);
}

/* --- Misses on several CPUs at once: the counter loses none ------------------ */

#define MISSES	2000

static struct completion go, done;

static int miss_thread(void *unused)
{
	int i;

	wait_for_completion(&go);
	for (i = 0; i < MISSES; i++)
		outer_trap(i);
	complete(&done);
	return 0;
}

static void misses_on_all_cpus_add_up(struct kunit *test)
{
	struct kprobe out = { .addr = (void *)outer_trap, .pre_handler = nest_pre };
	struct counted in = counted_at(inner_trap, true, false);
	struct task_struct *task;
	int cpu, started = 0;

	inner = inner_trap;
	init_completion(&go);
	init_completion(&done);
	KUNIT_ASSERT_EQ(test, register_kprobe(&out), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&in.kp), 0);
	for_each_online_cpu(cpu) {
		task = kthread_create_on_cpu(miss_thread, NULL, cpu, "kprobe_miss/%u");
		if (!IS_ERR(task)) {
			wake_up_process(task);
			started++;
		}
	}
	complete_all(&go);
	for (cpu = 0; cpu < started; cpu++)
		wait_for_completion(&done);
	unregister_kprobe(&in.kp);
	unregister_kprobe(&out);
	KUNIT_EXPECT_EQ(test, started, num_online_cpus());
	KUNIT_EXPECT_EQ(test, in.kp.nmissed, (unsigned long)started * MISSES);
	KUNIT_EXPECT_EQ(test, in.pre, 0);
}

/* --- Interrupts during a handler ----------------------------------------------- */

#if defined(CONFIG_HAVE_KPROBE_LEVELS) && defined(CONFIG_KPROBES_ON_FTRACE)

static struct {
	struct hrtimer timer;
	struct tasklet_struct tasklet;
	bool use_tasklet;
	int ran;
	int ran_in_handler;
} interrupt;

static void tasklet_body(struct tasklet_struct *unused)
{
	inner_trap(1);
	inner_call(1);
	WRITE_ONCE(interrupt.ran, interrupt.ran + 1);
}

static enum hrtimer_restart timer_body(struct hrtimer *timer)
{
	if (interrupt.use_tasklet) {
		tasklet_schedule(&interrupt.tasklet);
	} else {
		inner_trap(1);
		inner_call(1);
		WRITE_ONCE(interrupt.ran, interrupt.ran + 1);
	}
	return HRTIMER_NORESTART;
}

/* Spins, with interrupts enabled, until an interrupt has run its probed calls. */
static int spin_pre(struct kprobe *p, struct pt_regs *regs)
{
	ktime_t deadline = ktime_add_ms(ktime_get(), 2000);

	hrtimer_start(&interrupt.timer, ms_to_ktime(1), HRTIMER_MODE_REL_HARD);
	while (!READ_ONCE(interrupt.ran) && ktime_before(ktime_get(), deadline))
		cpu_relax();
	interrupt.ran_in_handler = interrupt.ran;
	return 0;
}

static void interrupt_in_a_handler(struct kunit *test, bool use_tasklet)
{
	struct kprobe out = { .addr = (void *)outer_call, .pre_handler = spin_pre };
	struct counted trap = counted_at(inner_trap, true, true);
	struct counted call = counted_at(inner_call, true, false);

	interrupt.use_tasklet = use_tasklet;
	interrupt.ran = 0;
	interrupt.ran_in_handler = 0;
	hrtimer_setup(&interrupt.timer, timer_body, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	tasklet_setup(&interrupt.tasklet, tasklet_body);

	KUNIT_ASSERT_EQ(test, register_kprobe(&out), 0);
	/* In a trap, the handler would run with interrupts disabled. */
	wait_for_kprobe_optimizer();
	if (!kprobe_optimized(&out) && !kprobe_ftrace(&out)) {
		unregister_kprobe(&out);
		kunit_skip(test, "the probe needs a trap");
	}
	KUNIT_ASSERT_EQ(test, register_kprobe(&trap.kp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&call.kp), 0);
	outer_call(1);
	hrtimer_cancel(&interrupt.timer);
	tasklet_kill(&interrupt.tasklet);
	unregister_kprobe(&call.kp);
	unregister_kprobe(&trap.kp);
	unregister_kprobe(&out);

	KUNIT_EXPECT_EQ(test, interrupt.ran_in_handler, 1);
	KUNIT_EXPECT_EQ(test, trap.pre, 1);
	KUNIT_EXPECT_EQ(test, trap.post, 1);
	KUNIT_EXPECT_EQ(test, trap.kp.nmissed, 0);
	KUNIT_EXPECT_EQ(test, call.pre, 1);
	KUNIT_EXPECT_EQ(test, call.kp.nmissed, 0);
}

static void a_hard_interrupt_in_a_handler_is_a_full_hit(struct kunit *test)
{
	interrupt_in_a_handler(test, false);
}

static void a_softirq_in_a_handler_is_a_full_hit(struct kunit *test)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "softirqs are tasks here and cannot interrupt a handler");
	interrupt_in_a_handler(test, true);
}
#endif

/*
 * A probe leaves its point before the representative loses its post_handler, so a hit may
 * find an empty list.  Then it must read nothing but the point, and call no handler.
 */
static atomic_t strays;

static void stray_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	atomic_inc(&strays);
}

static void a_post_handler_unregistered_during_the_hit(struct kunit *test)
{
	const size_t probe = offsetof(struct kprobe_point, probes) -
			     offsetof(struct kprobe, node);
	struct kprobe_point *point;
	struct kprobe *stray;

	/* A list head that is mistaken for a probe would lead here. */
	point = kunit_kzalloc(test, sizeof(*point) + sizeof(*stray), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, point);
	stray = (void *)point + probe;
	stray->post_handler = stray_post;
	stray->flags = 0;
	point->lone = &point->kp;
	atomic_set(&strays, 0);
	preempt_disable();
	kprobe_dispatch_post(&point->kp, NULL, 0);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, atomic_read(&strays), 0);
}

#ifdef CONFIG_HAVE_KPROBE_LEVELS
/* A return probe's handler runs in a free level, and in the handler of another probe. */
static void the_current_probe_is_restored(struct kunit *test)
{
	struct kprobe_frame frame = {};
	struct kprobe returning = {}, entering = {}, *outer;

	outer = kprobe_push_current(&frame, &returning);
	KUNIT_EXPECT_PTR_EQ(test, frame.kp, &returning);
	kprobe_pop_current(&frame, outer);
	KUNIT_EXPECT_TRUE(test, kprobe_frame_is_free(&frame));

	kprobe_frame_enter(&frame, &entering);
	outer = kprobe_push_current(&frame, &returning);
	KUNIT_EXPECT_PTR_EQ(test, frame.kp, &returning);
	kprobe_pop_current(&frame, outer);
	KUNIT_EXPECT_PTR_EQ(test, frame.kp, &entering);
}

/*
 * A hit without a trap does not set the registers of its frame, so these may be those of an
 * earlier trap.  Other registers may be at the same address of the stack now.
 */
static void registers_of_an_earlier_hit(struct kunit *test)
{
	struct kprobe kp = { .addr = (void *)inner_trap };
	bool stale, own, others, afterwards;
	struct pt_regs regs = {}, other = {};
	struct kprobe_frame *frame;

	preempt_disable();
	frame = kprobe_this_frame();
	frame->regs = &regs;
	kprobe_frame_enter(frame, &kp);
	instruction_pointer_set(&regs, (unsigned long)outer_trap);
	stale = kprobe_hit_registers(&regs);
	instruction_pointer_set(&regs, kprobe_hit_ip(&kp));
	own = kprobe_hit_registers(&regs);
	instruction_pointer_set(&other, kprobe_hit_ip(&kp));
	others = kprobe_hit_registers(&other);
	kprobe_frame_leave(frame);
	afterwards = kprobe_hit_registers(&regs);
	frame->regs = NULL;
	preempt_enable();
	KUNIT_EXPECT_FALSE(test, stale);
	KUNIT_EXPECT_TRUE(test, own);
	KUNIT_EXPECT_FALSE(test, others);
	KUNIT_EXPECT_FALSE(test, afterwards);
}
#endif

#if defined(CONFIG_PROVE_LOCKING) && defined(CONFIG_PREEMPTIRQ_TRACEPOINTS)
#define MAX_CHANGES	20

static struct task_struct *in_lockdep;
static int traced_changes;

/* Without an end, the hits would use up the stack. */
static notrace void hit_when_traced(void *data, unsigned long ip, unsigned long parent_ip)
{
	if (READ_ONCE(in_lockdep) == current && traced_changes++ < MAX_CHANGES)
		inner_trap(1);
}
NOKPROBE_SYMBOL(hit_when_traced);

/*
 * In the middle of lockdep, the exception of a breakpoint finds interrupts enabled, and cannot
 * change that.  At its end the change is traced, and the tracer hits another breakpoint.
 */
static void a_change_of_interrupts_is_traced_once(struct kunit *test)
{
	struct counted out = counted_at(outer_trap, true, false);
	struct counted in = counted_at(inner_trap, true, false);
	bool jumps = allow_jumps(false);
	unsigned long flags;

	traced_changes = 0;
	KUNIT_ASSERT_EQ(test, register_kprobe(&out.kp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&in.kp), 0);
	KUNIT_ASSERT_EQ(test, register_trace_irq_enable(hit_when_traced, NULL), 0);
	raw_local_irq_save(flags);
	this_cpu_inc(lockdep_recursion);
	WRITE_ONCE(in_lockdep, current);
	outer_trap(1);
	WRITE_ONCE(in_lockdep, NULL);
	this_cpu_dec(lockdep_recursion);
	raw_local_irq_restore(flags);
	unregister_trace_irq_enable(hit_when_traced, NULL);
	tracepoint_synchronize_unregister();
	unregister_kprobe(&in.kp);
	unregister_kprobe(&out.kp);
	allow_jumps(jumps);
	KUNIT_EXPECT_EQ(test, out.pre, 1);
	KUNIT_EXPECT_EQ(test, traced_changes, 1);
	KUNIT_EXPECT_EQ(test, in.pre, 1);
}
#endif

static struct kunit_case nesting_cases[] = {
	KUNIT_CASE(nested_hits_are_missed_and_counted),
	KUNIT_CASE(hits_in_busy_sections_are_missed),
	KUNIT_CASE(misses_on_all_cpus_add_up),
	KUNIT_CASE(a_post_handler_unregistered_during_the_hit),
#if defined(CONFIG_PROVE_LOCKING) && defined(CONFIG_PREEMPTIRQ_TRACEPOINTS)
	KUNIT_CASE(a_change_of_interrupts_is_traced_once),
#endif
#ifdef CONFIG_HAVE_KPROBE_LEVELS
	KUNIT_CASE(the_current_probe_is_restored),
	KUNIT_CASE(registers_of_an_earlier_hit),
#endif
#if defined(CONFIG_HAVE_KPROBE_LEVELS) && defined(CONFIG_KPROBES_ON_FTRACE)
	KUNIT_CASE(a_hard_interrupt_in_a_handler_is_a_full_hit),
	KUNIT_CASE(a_softirq_in_a_handler_is_a_full_hit),
#endif
	{}
};

static struct kunit_suite nesting_suite = {
	.name = "kprobes_nesting",
	.test_cases = nesting_cases,
};
kunit_test_suite(nesting_suite);
