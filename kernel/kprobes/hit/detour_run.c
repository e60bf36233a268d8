// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At a hit without a trap: the function for detours of points with a post handler whose
 * instruction can be emulated on saved registers (HAVE_KPROBE_RUN).  Such a detour has no copy
 * of the instruction.  See detour.c.
 */
#include <linux/kprobes-frame.h>
#include <linux/list.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>

#include "../internal.h"

static __always_inline int level_hit(struct kprobe *kp, struct pt_regs *regs)
{
	struct kprobe_frame *frame = kprobe_this_frame();
	kprobe_post_handler_t post;
	int ret;

	if (!kprobe_frame_is_free(frame)) {
		kprobes_inc_nmissed_count(kp);
		kp->ainsn.run(kp->opcode, regs);
		return 0;
	}
	kprobe_frame_enter(frame, kp);
	ret = kprobe_dispatch_pre(kp, regs);
	if (!ret) {
		kp->ainsn.run(kp->opcode, regs);
		/* The last post handler may have been unregistered. */
		post = READ_ONCE(kp->post_handler);
		if (post)
			post(kp, regs, 0);
	}
	kprobe_frame_leave(frame);
	return ret;
}

/* Handles hits outside of plain task context: another level, or an idle CPU. */
static noinline int run_hit_slow(struct kprobe *kp, struct pt_regs *regs)
{
	bool entered;
	int ret;

	preempt_disable_notrace();
	entered = kprobe_rcu_enter();
	ret = level_hit(kp, regs);
	kprobe_rcu_exit(entered);
	preempt_enable_notrace();
	return ret;
}
NOKPROBE_SYMBOL(run_hit_slow);

/* Handles a hit in task context of a point with one probe, the usual case. */
static __always_inline int run_hit_fast(struct kprobe *kp, struct kprobe *probe,
					struct pt_regs *regs)
{
	/* Keep the address of the frame in a register: three calls are between its uses. */
	struct kprobe_frame *frame = raw_cpu_ptr(&kprobe_task_frame);
	kprobe_post_handler_t post;
	int ret;

	OPTIMIZER_HIDE_VAR(frame);
	kprobe_frame_enter(frame, kp);
	ret = probe->call(probe, regs);
	if (unlikely(ret)) {
		kprobe_frame_leave(frame);
		return ret;
	}
	kp->ainsn.run(kp->opcode, regs);
	/* The post handler may have been unregistered. */
	post = READ_ONCE(probe->post_handler);
	if (likely(post))
		post(probe, regs, 0);
	kprobe_frame_leave(frame);
	return 0;
}

/**
 * kprobe_detour_whole() - handle the hit of a detour that has no copy of the instruction
 * @kp: representative of the point
 * @regs: registers at the probed instruction
 *
 * Calls pre handlers, emulates the instruction, and calls post handlers.
 *
 * Context: any that the probed code runs in.
 * Return: non-zero if a handler has changed the path of execution.  The detour then
 * continues at the instruction pointer of @regs instead of after the probed instruction.
 */
int kprobe_detour_whole(struct kprobe *kp, struct pt_regs *regs)
{
	struct kprobe *probe;
	int ret;

	instruction_pointer_set(regs, kprobe_hit_ip(kp));
	if (unlikely(!kprobe_in_free_task()))
		return run_hit_slow(kp, regs);
	preempt_disable_notrace();
	/* Pairs with smp_store_release() in kprobe_point_update_handlers(). */
	probe = READ_ONCE(kprobe_to_point(kp)->lone);
	if (likely(probe != kp))
		ret = run_hit_fast(kp, probe, regs);
	else
		ret = run_hit_slow(kp, regs);
	preempt_enable_notrace();
	return ret;
}
NOKPROBE_SYMBOL(kprobe_detour_whole);
