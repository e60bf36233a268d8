// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: what happens in detours beside the handlers.
 */
#include <linux/kprobes.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <asm/text-patching.h>

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

/* Where what comes before instruction @i, but the first, begins: a call, or its copy. */
static __always_inline unsigned int mark(const struct optimized_kprobe *op, int i)
{
	const struct arch_optimized_insn *optinsn = &op->optinsn;
	unsigned int begin = i < optinsn->nr ? optinsn->copy[i - 1] : optinsn->end;

	if (i == 1 && kprobe_detour_calls(&op->kp) == KPROBE_DETOUR_CALLS_POST)
		begin -= CALL_INSN_SIZE;
	return begin;
}

static __always_inline unsigned long detour_original(const struct optimized_kprobe *op,
						     unsigned int offset)
{
	const struct arch_optimized_insn *optinsn = &op->optinsn;
	unsigned long addr = (unsigned long)op->kp.addr;
	int i;

	for (i = optinsn->nr; i > 0; i--) {
		if (offset >= DETOUR_COPY + mark(op, i))
			break;
	}
	if (i == optinsn->nr)
		return addr + optinsn->len;
	return addr + (i ? optinsn->original[i - 1] : 0);
}

/**
 * arch_slot_original() - what an address in a slot or a detour stands for
 * @kp: representative of the point whose slot it is
 * @start: of the slot
 * @addr: the address
 *
 * See <linux/kprobes-arch.h>.  Of instructions that are several in a detour only the
 * first has the stack of the original; the others are a push away from it.
 */
unsigned long arch_slot_original(struct kprobe *kp, unsigned long start, unsigned long addr)
{
	struct optimized_kprobe *op = container_of(kp, struct optimized_kprobe, kp);

	if (start == (unsigned long)op->optinsn.insn)
		return detour_original(op, addr - start);
	return (unsigned long)kp->addr + (addr == start ? 0 : probe_desc(kp)->len);
}
NOKPROBE_SYMBOL(arch_slot_original);

/* See <linux/kprobes-arch.h>.  In a detour only the first of the copies is meant. */
bool arch_slot_at_copy(struct kprobe *kp, unsigned long start, unsigned long addr)
{
	struct optimized_kprobe *op = container_of(kp, struct optimized_kprobe, kp);

	return addr - start == (start == (unsigned long)op->optinsn.insn ? DETOUR_COPY : 0);
}
NOKPROBE_SYMBOL(arch_slot_at_copy);
