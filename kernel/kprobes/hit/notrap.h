/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KERNEL_KPROBES_HIT_NOTRAP_H
#define _KERNEL_KPROBES_HIT_NOTRAP_H
/*
 * At a hit without a trap: call the handlers of a point.  Detours (detour.c) and ftrace's
 * callback (ftrace.c) use these functions, with preemption disabled.
 */
#include <linux/kprobes-frame.h>
#include <linux/ptrace.h>

#include "../internal.h"

/* Handles a hit at any context level.  RCU watches. */
static __always_inline int level_hit(struct kprobe_point *point, struct pt_regs *regs)
{
	struct kprobe_frame *frame = kprobe_this_frame();
	struct kprobe *lone;
	int ret;

	if (!kprobe_frame_is_free(frame)) {
		kprobe_count_miss(point);
		return 0;
	}
	/* Pairs with smp_store_release() in kprobe_point_update_handlers(). */
	lone = READ_ONCE(point->lone);
	kprobe_frame_enter(frame, lone);
	instruction_pointer_set(regs, kprobe_hit_ip(lone));
	ret = lone->call(lone, regs);
	kprobe_frame_leave(frame);
	return ret;
}

/* Handles a hit, as nearly all are, in a free level of task context. */
static __always_inline int task_hit(struct kprobe_point *point, struct pt_regs *regs)
{
	struct kprobe *lone;
	int ret;

	/* Pairs with smp_store_release() in kprobe_point_update_handlers(). */
	lone = READ_ONCE(point->lone);
	kprobe_task_enter(lone);
	instruction_pointer_set(regs, kprobe_hit_ip(lone));
	ret = lone->call(lone, regs);
	kprobe_task_leave();
	return ret;
}

#endif /* _KERNEL_KPROBES_HIT_NOTRAP_H */
