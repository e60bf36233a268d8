// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: what happens in detours beside the handlers.
 */
#include <linux/kprobes.h>
#include <linux/printk.h>
#include <linux/ptrace.h>

#include "common.h"
#include "detour.h"

/**
 * kprobe_detour_redirect() - a handler has changed the path of execution
 * @regs: registers, built by kprobe_detour_enter() below its return address
 *
 * The path begins with a return to the new instruction pointer.  A stack pointer that
 * has been raised, by taking a return address off the stack for one, moves all of it up.
 * It cannot be lowered: what would have been written there are these registers.
 *
 * Context: the detour.
 * Return: where the registers are now.
 */
__visible struct pt_regs *kprobe_detour_redirect(struct pt_regs *regs)
{
	unsigned long *from = (unsigned long *)(regs + 1);
	unsigned long *to = (unsigned long *)regs->sp - 1;
	unsigned long ip = regs->ip;
	int i;

	if (unlikely(to < from)) {
		pr_err_once("kprobes: a handler has lowered the stack pointer, which is ignored\n");
		to = from;
	}
	/* Downwards, for they overlap. */
	for (i = 0; to != from && i < sizeof(*regs) / sizeof(long); i++)
		WRITE_ONCE(to[-1 - i], from[-1 - i]);
	*to = ip;
	return (struct pt_regs *)to - 1;
}
NOKPROBE_SYMBOL(kprobe_detour_redirect);

/**
 * kprobe_detour_stepped() - the copy of the probed instruction has been executed
 * @ret: address behind it in the detour
 * @regs: registers, built by kprobe_detour_enter_post()
 *
 * Context: the detour.
 */
__visible void kprobe_detour_stepped(unsigned long ret, struct pt_regs *regs)
{
	struct kprobe *kp = *(struct kprobe **)(ret & -DETOUR_SIZE);

	regs->ip = (unsigned long)kp->addr + probe_desc(kp)->len;
	kprobe_detour_post(kp, regs);
}
NOKPROBE_SYMBOL(kprobe_detour_stepped);

/**
 * arch_detour_original() - what an address in a detour stands for
 * @kp: representative of the point that owns the slot in which @addr is
 * @addr: the address
 *
 * Context: any, preemption disabled.
 * Return: the address of the original of the instruction whose copy is there; of the
 * probe, before the first; behind the region, behind the last; or @addr if it is
 * not in a detour.
 */
unsigned long arch_detour_original(struct kprobe *kp, unsigned long addr)
{
	struct arch_optimized_insn *optinsn;
	unsigned long offset;
	int i;

	optinsn = &container_of(kp, struct optimized_kprobe, kp)->optinsn;
	offset = addr - (unsigned long)optinsn->insn;
	if (!optinsn->insn || offset >= DETOUR_SIZE)
		return addr;
	for (i = optinsn->nr - 1; i > 0; i--) {
		if (offset >= DETOUR_COPY + optinsn->copy[i])
			break;
	}
	return (unsigned long)kp->addr + (i > 0 ? optinsn->original[i] : 0);
}
NOKPROBE_SYMBOL(arch_detour_original);
