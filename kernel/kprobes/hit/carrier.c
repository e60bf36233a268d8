// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At a hit of a carrier: call the probes on ftrace's instruction before it (../carrier.c).
 *
 * Handlers see the registers of a hit at the address of their probe.
 */
#include <linux/kprobes-frame.h>
#include <linux/ptrace.h>

#include "../internal.h"

/**
 * kprobe_carrier_is_next() - does a handler of a carried probe continue at the carrier?
 * @kp: representative of the point that was hit
 * @addr: address at which the handler continues
 *
 * The hit of the carrier was that of ftrace's instruction.  So its own instruction comes next, not
 * another hit.
 *
 * Context: the hit, or the end of a detour.
 */
bool kprobe_carrier_is_next(struct kprobe *kp, unsigned long addr)
{
	return addr == (unsigned long)kp->addr && kprobe_point_carries(kprobe_to_point(kp));
}
NOKPROBE_SYMBOL(kprobe_carrier_is_next);

/**
 * kprobe_dispatch_carrier() - pre_handler of the representatives of carriers
 * @kp: representative of the point that was hit
 * @regs: registers at the hit
 *
 * Context, return: see kprobe_dispatch_pre().
 */
int kprobe_dispatch_carrier(struct kprobe *kp, struct pt_regs *regs)
{
	/* Pairs with smp_store_release() in kprobe_point_update_handlers(). */
	struct kprobe *lone = READ_ONCE(kprobe_to_point(kp)->lone);
	struct kprobe_frame *frame = kprobe_this_frame();
	int ret;

	frame->kp = lone;
	instruction_pointer_set(regs, kprobe_hit_ip(lone));
	ret = lone->call(lone, regs);
	frame->kp = kp;
	return ret && !kprobe_carrier_is_next(kp, instruction_pointer(regs));
}
NOKPROBE_SYMBOL(kprobe_dispatch_carrier);

/* Calls the probes that a carrier carries.  Leaves @regs unchanged if it returns 0. */
static __always_inline int dispatch_carried(struct kprobe *kp, struct kprobe_point *site,
					    struct pt_regs *regs)
{
	struct kprobe_frame *frame = kprobe_this_frame();
	int ret;

	frame->kp = &site->kp;
	instruction_pointer_set(regs, kprobe_hit_ip(&site->kp));
	ret = kprobe_dispatch_many(&site->kp, regs);
	frame->kp = kp;
	ret = ret && instruction_pointer(regs) != (unsigned long)kp->addr;
	if (!ret)
		instruction_pointer_set(regs, kprobe_hit_ip(kp));
	return ret;
}

/**
 * kprobe_dispatch_site() - kprobe::call of representatives that a carrier serves
 * @kp: representative of the point on ftrace's instruction
 * @regs: registers at the hit
 *
 * Is called while both ftrace and the carrier are armed.  The role of the carrier decides which of
 * them calls the probes, so that one store moves them from the one to the other.
 *
 * Context, return: see kprobe_dispatch_pre().
 */
int kprobe_dispatch_site(struct kprobe *kp, struct pt_regs *regs)
{
	return kprobe_site_is_carried(kp) ? 0 : kprobe_dispatch_many(kp, regs);
}
NOKPROBE_SYMBOL(kprobe_dispatch_site);

/**
 * kprobe_site_is_carried() - does a carrier call the probes of a site?
 * @kp: representative of the point on ftrace's instruction
 *
 * Context: any, preemption disabled.
 * Return: true if a call of the function is a hit, or a missed one, of the carrier.
 */
bool kprobe_site_is_carried(struct kprobe *kp)
{
	unsigned long addr = kprobe_point_addr(kprobe_to_point(kp)) + KPROBE_CARRIER_OFFSET;
	struct kprobe_point *carrier = kprobe_table_find(addr);

	return carrier && kprobe_point_carried(carrier);
}
NOKPROBE_SYMBOL(kprobe_site_is_carried);

/**
 * kprobe_dispatch_both() - kprobe::call of the representatives of carriers
 * @kp: representative of the carrier that was hit
 * @regs: registers at the hit
 *
 * Calls the carried probes first, then those of the carrier.
 *
 * Context, return: see kprobe_dispatch_pre().
 */
int kprobe_dispatch_both(struct kprobe *kp, struct pt_regs *regs)
{
	struct kprobe_point *site = kprobe_point_carried(kprobe_to_point(kp));
	int ret = 0;

	if (site)
		ret = dispatch_carried(kp, site, regs);
	return ret ?: kprobe_dispatch_many(kp, regs);
}
NOKPROBE_SYMBOL(kprobe_dispatch_both);
