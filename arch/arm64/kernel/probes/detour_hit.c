// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: what happens in detours beside the handlers.
 */
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <asm/debug-monitors.h>

#include "common.h"
#include "detour.h"

/* What a handler may change of PSTATE, and what the detour has: flags and masks. */
#define CHOSEN_PSTATE	(PSR_N_BIT | PSR_Z_BIT | PSR_C_BIT | PSR_V_BIT |	\
			 PSR_D_BIT | PSR_A_BIT | PSR_I_BIT | PSR_F_BIT)

static_assert(offsetof(struct pt_regs, orig_x0) == offsetof(struct pt_regs, pstate) + 8);

/**
 * kprobe_leave_brk_handler() - a handler has changed the path of execution
 * @regs: registers of the BRK in kprobe_detour_enter(), which are those that the handler
 *	has left, but for the instruction pointer and the masks
 * @esr: why the exception was taken
 *
 * A stack pointer that a handler has changed is ignored, as in any exception of the
 * kernel.
 *
 * Context: el1_brk64(), everything masked.
 * Return: DBG_HOOK_HANDLED; DBG_HOOK_ERROR if it is not that BRK.
 */
int kprobe_leave_brk_handler(struct pt_regs *regs, unsigned long esr)
{
	if (regs->pc != (unsigned long)kprobe_detour_elsewhere)
		return DBG_HOOK_ERROR;
	/* S_CHOSEN_PC and S_CHOSEN_PSTATE. */
	regs->pc = regs->sdei_ttbr1;
	regs->pstate = (regs->pstate & ~CHOSEN_PSTATE) | (regs->orig_x0 & CHOSEN_PSTATE);
	return DBG_HOOK_HANDLED;
}
NOKPROBE_SYMBOL(kprobe_leave_brk_handler);

/**
 * kprobe_detour_stepped() - the copy of the probed instruction has been executed
 * @ret: address behind the call in the detour
 * @regs: registers, built by kprobe_detour_enter_post()
 *
 * Context: the detour.
 */
__visible void kprobe_detour_stepped(unsigned long ret, struct pt_regs *regs)
{
	struct kprobe *kp = *(struct kprobe **)(ret & -DETOUR_BYTES);

	regs->pc = (unsigned long)kp->addr + AARCH64_INSN_SIZE;
	kprobe_detour_post(kp, regs);
}
NOKPROBE_SYMBOL(kprobe_detour_stepped);

/**
 * arch_slot_original() - what an address in a slot or a detour stands for
 * @kp: representative of the point whose slot it is
 * @start: of the slot
 * @addr: the address
 *
 * See <linux/kprobes-arch.h>.
 */
unsigned long arch_slot_original(struct kprobe *kp, unsigned long start, unsigned long addr)
{
	struct optimized_kprobe *op = container_of(kp, struct optimized_kprobe, kp);
	unsigned int end = start == (unsigned long)op->optinsn.insn ? op->optinsn.end : 1;

	return (unsigned long)kp->addr +
	       ((addr - start) / AARCH64_INSN_SIZE < end ? 0 : AARCH64_INSN_SIZE);
}
NOKPROBE_SYMBOL(arch_slot_original);

/* See <linux/kprobes-arch.h>. */
bool arch_slot_at_copy(struct kprobe *kp, unsigned long start, unsigned long addr)
{
	struct arch_optimized_insn *optinsn;
	unsigned int word = (addr - start) / AARCH64_INSN_SIZE;

	optinsn = &container_of(kp, struct optimized_kprobe, kp)->optinsn;
	if (start != (unsigned long)optinsn->insn)
		return !word;
	return word >= optinsn->copy && word < optinsn->end;
}
NOKPROBE_SYMBOL(arch_slot_at_copy);

/* Is the frame record at @fp in registers of a hit that is being handled, @pc its place? */
static __always_inline struct kprobe *hit_of_record(unsigned long fp, unsigned long pc)
{
	struct pt_regs *regs = container_of((u64 (*)[2])fp, struct pt_regs, stackframe);
	struct kprobe *kp = get_kprobe((void *)pc);

	/* This order: nearly all frames of all stack traces have no probe at their place. */
	return kp && kprobe_hit_registers(regs) ? kp : NULL;
}

/**
 * kprobe_unwind_hit() - what a stack trace finds where a probe has been hit
 * @fp: frame record that it has come to
 * @pc: from that record; if it is in a copy or a detour, replaced by what that stands for
 *
 * At a function's entry the caller has made no frame record for the call yet.  It is in
 * the link register, which is with the other registers that the hit has saved; detours that
 * save only some make a record for it.
 *
 * Context: any.
 * Return: the return address of the function at whose entry the hit was; 0 if it was
 * elsewhere, or there is none.
 */
unsigned long kprobe_unwind_hit(unsigned long fp, unsigned long *pc)
{
	struct pt_regs *regs = container_of((u64 (*)[2])fp, struct pt_regs, stackframe);
	unsigned long start = 0, caller = 0;
	struct optimized_kprobe *op;
	struct kprobe *kp;

	preempt_disable_notrace();
	kp = kprobe_slot_owner(*pc, &start);
	if (kp) {
		op = container_of(kp, struct optimized_kprobe, kp);
		*pc = arch_slot_original(kp, start, *pc);
		if (start != (unsigned long)op->optinsn.insn ||
		    kprobe_detour_calls(kp) == KPROBE_DETOUR_CALLS_RETURN)
			kp = NULL;
	} else {
		kp = hit_of_record(fp, *pc);
	}
	if (kp && kp->ainsn.entry)
		caller = regs->regs[30];
	preempt_enable_notrace();
	return caller;
}
NOKPROBE_SYMBOL(kprobe_unwind_hit);
