// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At a hit: call the handlers of a probepoint.
 *
 * RCU protects the list of probes, because preemption is disabled at a hit.  The list walks
 * do not check that, because lockdep can be probed.
 */
#include <linux/atomic.h>
#include <linux/kprobes-frame.h>

#include "../internal.h"

/**
 * kprobe_call_nothing() - kprobe::call of a probe that has no pre_handler, or that is disabled
 * @probe: the probe
 * @regs: registers at the hit
 *
 * Context: the hit, preemption disabled.
 * Return: 0.
 */
int kprobe_call_nothing(struct kprobe *probe, struct pt_regs *regs)
{
	return 0;
}
NOKPROBE_SYMBOL(kprobe_call_nothing);

/**
 * kprobe_call_noted() - kprobe::call of a probe with a fault_handler
 * @probe: the probe, which is recorded for kprobe_fault_handler() while its pre_handler runs
 * @regs: registers at the hit
 *
 * Context: the hit, preemption disabled.
 * Return: the result of the pre_handler.
 */
int kprobe_call_noted(struct kprobe *probe, struct pt_regs *regs)
{
	int ret;

	kprobe_note_probe(probe);
	ret = probe->pre_handler(probe, regs);
	kprobe_note_probe(NULL);
	return ret;
}
NOKPROBE_SYMBOL(kprobe_call_noted);

static __always_inline void call_post(struct kprobe *probe, struct pt_regs *regs,
				      unsigned long flags)
{
	if (unlikely(probe->fault_handler))
		kprobe_note_probe(probe);
	probe->post_handler(probe, regs, flags);
	if (unlikely(probe->fault_handler))
		kprobe_note_probe(NULL);
}

/**
 * kprobe_dispatch_many() - call the pre_handlers of all probes of a point
 * @kp: representative of the point that was hit
 * @regs: registers at the probed instruction
 *
 * Context, return: see kprobe_dispatch_pre().
 */
int kprobe_dispatch_many(struct kprobe *kp, struct pt_regs *regs)
{
	struct kprobe *probe;
	int ret = 0;

	for_each_probe_rcu(probe, kprobe_to_point(kp)) {
		ret = probe->call(probe, regs);
		if (ret)
			break;
	}
	return ret;
}
NOKPROBE_SYMBOL(kprobe_dispatch_many);

/**
 * kprobe_dispatch_pre() - call the pre handlers; pre_handler of representatives, but not carriers
 * @kp: representative of the point that was hit
 * @regs: registers at the probed instruction
 *
 * Calls the pre_handlers of the probes in the order of registration.  The first that
 * returns non-zero has changed the path of execution, and the rest is not called.
 *
 * Context: the hit, preemption disabled.
 * Return: the non-zero value of that handler, or 0.
 */
int kprobe_dispatch_pre(struct kprobe *kp, struct pt_regs *regs)
{
	/* Pairs with smp_store_release() in kprobe_point_update_handlers(). */
	struct kprobe *lone = READ_ONCE(kprobe_to_point(kp)->lone);

	return lone->call(lone, regs);
}
NOKPROBE_SYMBOL(kprobe_dispatch_pre);

/**
 * kprobe_dispatch_post() - call the post handlers; post_handler of representatives
 * @kp: representative of the point that was hit
 * @regs: registers after the probed instruction
 * @flags: argument for the handlers
 *
 * The list of probes may be empty: a probe leaves the list before the representative
 * loses its post_handler.
 *
 * Context: the hit, preemption disabled.
 */
void kprobe_dispatch_post(struct kprobe *kp, struct pt_regs *regs,
			  unsigned long flags)
{
	struct kprobe_point *point = kprobe_to_point(kp);
	/* Pairs with smp_store_release() in kprobe_point_update_handlers(). */
	struct kprobe *probe = READ_ONCE(point->lone);
	kprobe_post_handler_t post;

	if (likely(probe != kp)) {
		/* A probe that is being added or removed may be called or not. */
		post = READ_ONCE(probe->post_handler);
		if (likely(post))
			post(probe, regs, flags);
		return;
	}
	for_each_probe_rcu(probe, point) {
		if (!probe->post_handler || kprobe_disabled(probe))
			continue;
		call_post(probe, regs, flags);
	}
}
NOKPROBE_SYMBOL(kprobe_dispatch_post);

static __always_inline void count_missed(struct kprobe_point *point)
{
	struct kprobe *probe;

	for_each_probe_rcu(probe, point) {
		if (!kprobe_disabled(probe))
			raw_atomic_long_inc((atomic_long_t *)&probe->nmissed);
	}
}

/**
 * kprobes_inc_nmissed_count() - count a hit whose handlers cannot run
 * @p: representative of the point that was hit
 *
 * The counts are exact.  They are incremented atomically, because one probe can be missed on
 * several CPUs and in several contexts at once.  The operation is raw, because functions of
 * sanitizers can be probed.
 *
 * Context: any, preemption disabled.
 */
void kprobes_inc_nmissed_count(struct kprobe *p)
{
	struct kprobe_point *point = kprobe_to_point(p), *carried;
	/* Pairs with smp_store_release() in kprobe_point_update_handlers(). */
	struct kprobe *lone = READ_ONCE(point->lone);

	if (likely(lone != p)) {
		raw_atomic_long_inc((atomic_long_t *)&lone->nmissed);
		return;
	}
	/* While a site moves to ftrace, both see the call. */
	if (IS_ENABLED(CONFIG_KPROBE_CARRIERS) && p->call == kprobe_dispatch_site &&
	    kprobe_site_is_carried(p))
		return;
	carried = kprobe_point_carried(point);
	if (carried)
		count_missed(carried);
	count_missed(point);
}
NOKPROBE_SYMBOL(kprobes_inc_nmissed_count);

/**
 * dump_kprobe() - print a probe before the kernel panics
 * @kp: representative of a point in an impossible situation
 *
 * Context: any.
 */
void dump_kprobe(struct kprobe *kp)
{
	struct kprobe *probe;

	pr_err("probe at %pS\n", kp->addr);
	for_each_probe_rcu(probe, kprobe_to_point(kp))
		pr_err("  pre %pS, post %pS, flags %#x\n", probe->pre_handler,
		       probe->post_handler, probe->flags);
}
NOKPROBE_SYMBOL(dump_kprobe);
