// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At a hit without a trap: functions that detours call (HAVE_KPROBE_DETOURS).
 *
 * The jump of an optimized probe leads to a detour.  A detour saves the registers, calls one
 * of the functions here, executes copies of the instructions that the jump has replaced, and
 * jumps to the instruction after them.  The architecture writes detours
 * (arch_prepare_optimized_kprobe()).
 *
 * Detours begin with interrupts and preemption as in the probed code.  While handlers run
 * preemption is disabled, and RCU watches.
 */
#include <linux/preempt.h>

#include "notrap.h"

/* Handles hits outside of plain task context: another level, or an idle CPU. */
static noinline int detour_hit_slow(struct kprobe_point *point, struct pt_regs *regs)
{
	bool entered;
	int ret;

	preempt_disable_notrace();
	entered = kprobe_rcu_enter();
	ret = level_hit(point, regs);
	kprobe_rcu_exit(entered);
	preempt_enable_notrace();
	return ret;
}
NOKPROBE_SYMBOL(detour_hit_slow);

/**
 * kprobe_detour_pre() - call the pre handlers of a detour's point
 * @kp: representative of the point
 * @regs: registers at the probed instruction
 *
 * Context: any that the probed code runs in.
 * Return: non-zero if a handler has changed the path of execution.  The detour then
 * continues at the instruction pointer of @regs instead of in the copied instructions.
 */
int kprobe_detour_pre(struct kprobe *kp, struct pt_regs *regs)
{
	struct kprobe_point *point = kprobe_to_point(kp);
	int ret;

	/*
	 * Preemption may still be enabled.  Then this is no handler, and the CPU that this task
	 * runs on is free and watched, whichever that is.  Only where a per-CPU variable is not
	 * read by one instruction may the value be that of a CPU which the task has left.  While a
	 * level is taken, RCU watches.
	 */
	if (unlikely(!kprobe_task_is_free())) {
		if (!KPROBE_CPU_READ_IS_ATOMIC || !kprobe_in_task())
			return detour_hit_slow(point, regs);
		kprobe_count_miss(point);
		return 0;
	}
	if (unlikely(!kprobe_in_watched_task()))
		return detour_hit_slow(point, regs);
	preempt_disable_notrace();
	ret = task_hit(point, regs);
	preempt_enable_notrace();
	return ret;
}
NOKPROBE_SYMBOL(kprobe_detour_pre);

static noinline void other_post(struct kprobe *kp, kprobe_post_handler_t post,
				struct pt_regs *regs)
{
	struct kprobe_frame *frame;
	bool entered;

	preempt_disable_notrace();
	entered = kprobe_rcu_enter();
	frame = kprobe_this_frame();
	if (kprobe_frame_is_free(frame)) {
		kprobe_frame_enter(frame, kp);
		post(kp, regs, 0);
		kprobe_frame_leave(frame);
	}
	kprobe_rcu_exit(entered);
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(other_post);

/**
 * kprobe_detour_post() - call the post handlers of a detour's point
 * @kp: representative of the point
 * @regs: registers after the instruction
 *
 * If the hit was missed, its level is still busy, and its post handlers are not called.
 *
 * Context: any that the probed code runs in.
 */
void kprobe_detour_post(struct kprobe *kp, struct pt_regs *regs)
{
	kprobe_post_handler_t post = READ_ONCE(kp->post_handler);

	/* The last post handler may have been unregistered. */
	if (unlikely(!post))
		return;
	if (unlikely(!kprobe_in_free_task())) {
		other_post(kp, post, regs);
		return;
	}
	preempt_disable_notrace();
	kprobe_task_enter(kp);
	kprobe_dispatch_post(kp, regs, 0);
	kprobe_task_leave();
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(kprobe_detour_post);
