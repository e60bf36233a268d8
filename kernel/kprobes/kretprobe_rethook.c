// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes on top of rethook.
 *
 * rethook keeps the instances, replaces return addresses and finds them again
 * for unwinders; what is left here is the translation between the two sets of
 * callbacks.
 */
#include <linux/kprobes-frame.h>
#include <linux/rethook.h>

#include "internal.h"

/**
 * kretprobe_engine_enter() - pre_handler of every return probe
 * @kp: embedded in the return probe
 * @regs: registers at the function's entry
 *
 * Context: the hit, preemption disabled.
 * Return: 0, the function goes on.
 */
int kretprobe_engine_enter(struct kprobe *kp, struct pt_regs *regs)
{
	struct kretprobe *rp = container_of(kp, struct kretprobe, kp);
	struct kretprobe_instance *ri;
	struct rethook_node *node;

	node = rethook_try_get(rp->rh);
	if (!node) {
		/* Calls on several CPUs miss at once, and the count is exact. */
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

/* The same: rethook's hits are not worth a function for probes without an entry_handler. */
int kretprobe_engine_enter_bare(struct kprobe *kp, struct pt_regs *regs)
{
	return kretprobe_engine_enter(kp, regs);
}
NOKPROBE_SYMBOL(kretprobe_engine_enter_bare);

/* At least this many calls can be in flight if the user does not say. */
#define DEFAULT_MAXACTIVE	10

/* A call has returned; not called once rethook_stop() is seen. */
static void leave(struct rethook_node *node, void *data, unsigned long ret_addr,
		  struct pt_regs *regs)
{
	struct kprobe_frame *frame = kprobe_this_frame();
	struct kretprobe_instance *ri;
	struct kretprobe *rp = data;
	struct kprobe_outer outer;

	if (!rp->handler)
		return;
	ri = container_of(node, struct kretprobe_instance, node);
	outer = kprobe_push_current(frame, &rp->kp);
	rp->handler(ri, regs);
	kprobe_pop_current(frame, outer);
}
NOKPROBE_SYMBOL(leave);

/**
 * kretprobe_engine_alloc() - make the instances of a return probe
 * @rp: the probe; maxactive and data_size are set
 *
 * Context: task, may sleep.
 * Return: 0 or -ENOMEM.
 */
int kretprobe_engine_alloc(struct kretprobe *rp)
{
	struct rethook *rh;

	/* Its pools do not grow, so the user is told what there is. */
	if (rp->maxactive <= 0)
		rp->maxactive = max_t(int, DEFAULT_MAXACTIVE, 2 * num_possible_cpus());
	rh = rethook_alloc(rp, leave,
			   sizeof(struct kretprobe_instance) + rp->data_size,
			   rp->maxactive);
	if (IS_ERR(rh))
		return PTR_ERR(rh);
	rp->rh = rh;
	return 0;
}

/**
 * kretprobe_engine_stop() - begin no more return handlers
 * @rp: the probe; one that has no instances is left alone
 *
 * Context: task.
 */
void kretprobe_engine_stop(struct kretprobe *rp)
{
	if (rp->rh)
		rethook_stop(rp->rh);
}

/**
 * kretprobe_engine_free() - give the instances of stopped probes up
 * @rps: array of pointers to the probes; NULL, and probes that have no instances,
 *	are left alone
 * @num: how many
 *
 * Those of calls in flight are freed when the calls return.
 *
 * Context: task.
 */
void kretprobe_engine_free(struct kretprobe **rps, int num)
{
	int i;

	for (i = 0; i < num; i++) {
		if (!rps[i] || !rps[i]->rh)
			continue;
		rethook_free(rps[i]->rh);
		rps[i]->rh = NULL;
	}
}
