// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: from the BRK to the handlers and back to the text.
 *
 * What happens at a hit, with its numbers, is in <linux/kprobes-hit.h>.  A copy that has
 * a BRK behind it because the way back is too far for a branch needs no frame: whose it
 * is says its address, and it runs like the original.
 */
#include <linux/kprobes.h>
#include <linux/kprobes-hit.h>
#include <linux/ptrace.h>
#include <asm/daifflags.h>
#include <asm/debug-monitors.h>

#include "../common.h"

static __always_inline unsigned int arch_insn_len(struct kprobe *kp)
{
	return AARCH64_INSN_SIZE;
}

/*
 * See <linux/kprobes-hit.h>.  BTYPE tells how the probed instruction was branched to.  Left
 * in PSTATE, the new place would need a landing pad for it.
 */
static __always_inline void arch_path_changed(struct pt_regs *regs)
{
	regs->pstate &= ~(u64)PSR_BTYPE_MASK;
}

/* 4, see <linux/kprobes-hit.h>. */
static __always_inline bool arch_run_instruction(struct kprobe *kp, struct pt_regs *regs)
{
	if (kp->ainsn.run) {
		kp->ainsn.run(kp->opcode, regs);
		/* Most instructions clear it; an exception has kept it. */
		regs->pstate &= ~(u64)PSR_BTYPE_MASK;
		return true;
	}
	regs->pc = (unsigned long)(kp->ainsn.insn ?: kp->ainsn.step);
	return false;
}

/* See <linux/kprobes-hit.h>. */
static __always_inline bool arch_is_breakpoint(unsigned long addr)
{
	return le32_to_cpu(READ_ONCE(*(__le32 *)addr)) == BRK64_OPCODE_KPROBES;
}

/* Not a full hit.  Nothing that is emulated can fault. */
static noinline int handle_rare_brk(struct kprobe *kp, struct pt_regs *regs)
{
	return kprobe_rare_hit(kp, NULL, regs, regs->pc, false) ? DBG_HOOK_HANDLED : DBG_HOOK_ERROR;
}
NOKPROBE_SYMBOL(handle_rare_brk);

/**
 * kprobe_brk_handler() - a BRK with the number of kprobes
 * @regs: registers at the exception
 * @esr: why it was taken
 *
 * Context: el1_brk64(), everything masked.
 * Return: DBG_HOOK_HANDLED if it has been dealt with, DBG_HOOK_ERROR otherwise.
 */
int kprobe_brk_handler(struct pt_regs *regs, unsigned long esr)
{
	struct kprobe_frame *frame = kprobe_this_frame();
	struct kprobe *kp = get_kprobe((void *)regs->pc);		/* 1 */

	if (unlikely(!kp || kprobe_ftrace(kp) || frame->phase != KPROBE_PHASE_IDLE))
		return handle_rare_brk(kp, regs);
	kprobe_full_hit(kp, frame, regs);
	return DBG_HOOK_HANDLED;
}
NOKPROBE_SYMBOL(kprobe_brk_handler);

/**
 * kprobe_ss_brk_handler() - the BRK behind a copy
 * @regs: registers at the exception
 * @esr: why it was taken
 *
 * Context: el1_brk64(), everything masked.
 * Return: as kprobe_brk_handler().
 */
int kprobe_ss_brk_handler(struct pt_regs *regs, unsigned long esr)
{
	struct kprobe_frame *frame = kprobe_stepping_frame(regs->pc);
	unsigned long start = 0;
	struct kprobe *kp;

	if (likely(frame)) {
		kprobe_step_done(frame, regs);
		return DBG_HOOK_HANDLED;
	}
	/* One that needs no frame. */
	kp = kprobe_slot_owner(regs->pc, &start);
	if (!kp || (unsigned long)kp->ainsn.step != start)
		return DBG_HOOK_ERROR;
	regs->pc = (unsigned long)kp->addr + AARCH64_INSN_SIZE;
	return DBG_HOOK_HANDLED;
}
NOKPROBE_SYMBOL(kprobe_ss_brk_handler);

/*
 * See <linux/kprobes-arch.h>.  The exception of the fault has inherited what was masked
 * in the copy.  Nothing takes that back: where interrupts are masked by their priority
 * local_irq_enable() does not touch these masks, and a task that ended here would leave
 * its CPU without interrupts.  There the exception has already unmasked their priority, and
 * only PSTATE still masks them: both have to, before lockdep is told that they are unmasked.
 */
void arch_unmask_fault(struct pt_regs *regs)
{
	local_daif_mask();
	local_daif_inherit(regs);
}
NOKPROBE_SYMBOL(arch_unmask_fault);
