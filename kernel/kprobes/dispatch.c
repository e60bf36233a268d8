// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From a probepoint that was hit to the handlers of its handles.
 *
 * Runs in traps.  The list of handles is read under RCU, for preemption is
 * disabled there; that is not checked, since lockdep can be probed too.
 */
#include <linux/atomic.h>
#include <linux/rculist.h>

#include "internal.h"

/**
 * kprobe_dispatch_pre() - pre_handler of every representative
 * @kp: representative of the point that was hit
 * @regs: registers at the probed instruction
 *
 * Calls the handles' in the order of registration.  The first that returns
 * non-zero has changed the path of execution, and the rest is not called.
 *
 * Context: the hit, preemption disabled.
 * Return: what that handler returned, or 0.
 */
int kprobe_dispatch_pre(struct kprobe *kp, struct pt_regs *regs)
{
	struct kprobe_point *point = kprobe_to_point(kp);
	struct kprobe **running = kprobe_running_handle();
	struct kprobe *handle;
	int ret = 0;

	list_for_each_entry_rcu(handle, &point->handles, list, true) {
		if (!handle->pre_handler || kprobe_disabled(handle))
			continue;
		*running = handle;
		ret = handle->pre_handler(handle, regs);
		if (ret)
			break;
	}
	*running = NULL;
	return ret;
}
NOKPROBE_SYMBOL(kprobe_dispatch_pre);

/**
 * kprobe_dispatch_post() - post_handler of representatives that need one
 * @kp: representative of the point that was hit
 * @regs: registers after the probed instruction
 * @flags: passed on
 *
 * Context: the hit, preemption disabled.
 */
void kprobe_dispatch_post(struct kprobe *kp, struct pt_regs *regs,
			  unsigned long flags)
{
	struct kprobe_point *point = kprobe_to_point(kp);
	struct kprobe **running = kprobe_running_handle();
	struct kprobe *handle;

	list_for_each_entry_rcu(handle, &point->handles, list, true) {
		if (!handle->post_handler || kprobe_disabled(handle))
			continue;
		*running = handle;
		handle->post_handler(handle, regs, flags);
	}
	*running = NULL;
}
NOKPROBE_SYMBOL(kprobe_dispatch_post);

/**
 * kprobes_inc_nmissed_count() - a hit's handlers could not be run
 * @p: representative of the point that was hit
 *
 * Counts are exact, hence atomic: misses of one probe happen on several CPUs
 * and in several contexts at once.  Raw: sanitizers are no place to go to from
 * a trap.
 *
 * Context: any, preemption disabled.
 */
void kprobes_inc_nmissed_count(struct kprobe *p)
{
	struct kprobe *handle;

	list_for_each_entry_rcu(handle, &kprobe_to_point(p)->handles, list, true) {
		if (!kprobe_disabled(handle))
			raw_atomic_long_inc((atomic_long_t *)&handle->nmissed);
	}
}
NOKPROBE_SYMBOL(kprobes_inc_nmissed_count);

/**
 * get_kprobe() - what is probed at an address
 * @addr: address of the instruction
 *
 * Context: any, preemption disabled.
 * Return: the point's representative, or NULL.
 */
struct kprobe *get_kprobe(void *addr)
{
	struct kprobe_point *point = kprobe_table_find((unsigned long)addr);

	return point ? &point->kp : NULL;
}
NOKPROBE_SYMBOL(get_kprobe);

/**
 * dump_kprobe() - say what a probe is before the kernel gives up
 * @kp: representative of a point in an impossible situation
 *
 * Context: any.
 */
void dump_kprobe(struct kprobe *kp)
{
	struct kprobe *handle;

	pr_err("probe at %pS\n", kp->addr);
	list_for_each_entry_rcu(handle, &kprobe_to_point(kp)->handles, list, true)
		pr_err("  pre %pS, post %pS, flags %#x\n", handle->pre_handler,
		       handle->post_handler, handle->flags);
}
NOKPROBE_SYMBOL(dump_kprobe);
