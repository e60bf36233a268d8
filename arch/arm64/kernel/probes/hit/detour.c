// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: C functions for detours, and translation of addresses in slots and detours.
 */
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <asm/debug-monitors.h>

#include "../common.h"
#include "../detour.h"

/* The bits of PSTATE that a detour saves and a handler may change: flags and masks. */
#define CHOSEN_PSTATE	(PSR_N_BIT | PSR_Z_BIT | PSR_C_BIT | PSR_V_BIT |	\
			 PSR_D_BIT | PSR_A_BIT | PSR_I_BIT | PSR_F_BIT)

static_assert(offsetof(struct pt_regs, orig_x0) == offsetof(struct pt_regs, pstate) + 8);

/**
 * kprobe_leave_brk_handler() - leave a detour on the path that a handler has chosen
 * @regs: registers of the BRK in kprobe_detour_enter(): as the handler has set them, except
 *	the instruction pointer and the masks
 * @esr: syndrome of the exception
 *
 * If a handler has changed the stack pointer, that is ignored, as in any exception of the
 * kernel.
 *
 * Context: el1_brk64(), all exceptions masked.
 * Return: DBG_HOOK_HANDLED; DBG_HOOK_ERROR if the exception is not from that BRK.
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
 * kprobe_detour_stepped() - call the post handlers after the copy of the probed instruction
 * @ret: return address in the detour
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
 * arch_slot_original() - translate an address in a slot or a detour to the original
 * @kp: representative of the point that owns the slot
 * @start: address of the slot
 * @addr: address in the slot
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
