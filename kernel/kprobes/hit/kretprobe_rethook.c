// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At a hit: entry and return of calls, for return probes on top of rethook.
 */
#include <linux/kprobes-frame.h>
#include <linux/rethook.h>

#include "../internal.h"

/**
 * kretprobe_engine_enter() - pre_handler of every return probe
 * @kp: embedded in the return probe
 * @regs: registers at the function's entry
 *
 * Context: the hit, preemption disabled.
 * Return: 0: execution continues in the function.
 */
int kretprobe_engine_enter(struct kprobe *kp, struct pt_regs *regs)
{
	struct kretprobe *rp = container_of(kp, struct kretprobe, kp);
	struct kretprobe_instance *ri;
	struct rethook_node *node;

	node = rethook_try_get(rp->rh);
	if (!node) {
		/* Atomic: calls may be missed on several CPUs at once, and the count is exact. */
		raw_atomic_inc((atomic_t *)&rp->nmissed);
		return 0;
	}
	ri = container_of(node, struct kretprobe_instance, node);
	if (rp->entry_handler && rp->entry_handler(ri, regs))
		rethook_recycle(node);
	else
		rethook_hook(node, regs, kprobe_ftrace(kp));
	return 0;
}
NOKPROBE_SYMBOL(kretprobe_engine_enter);

/**
 * kretprobe_engine_leave() - callback of rethook when a call returns
 * @node: member of the instance of the call
 * @data: the return probe; not NULL
 * @ret_addr: the return address
 * @regs: registers at the return
 *
 * Not called after rethook_stop() has become visible.
 *
 * Context: the return, preemption disabled.
 */
void kretprobe_engine_leave(struct rethook_node *node, void *data, unsigned long ret_addr,
			    struct pt_regs *regs)
{
	struct kprobe_frame *frame = kprobe_this_frame();
	struct kretprobe_instance *ri;
	struct kretprobe *rp = data;
	struct kprobe *outer;

	if (!rp->handler)
		return;
	ri = container_of(node, struct kretprobe_instance, node);
	outer = kprobe_push_current(frame, &rp->kp);
	rp->handler(ri, regs);
	kprobe_pop_current(frame, outer);
}
NOKPROBE_SYMBOL(kretprobe_engine_leave);
