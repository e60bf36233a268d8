// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: from the BRK to the handlers and back to the text.
 *
 * <linux/kprobes-hit.h> has the steps of a hit, with the numbers that are used here.  If a
 * branch does not reach back from @insn, a BRK follows the copy.  That BRK needs no frame: its
 * address identifies the owner, and the copy runs like the original.
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
 * See <linux/kprobes-hit.h>.  BTYPE is the kind of the branch to the probed instruction.  If it
 * stayed in PSTATE, the new place would need a landing pad for that kind.
 */
static __always_inline void arch_path_changed(struct pt_regs *regs)
{
	regs->pstate &= ~(u64)PSR_BTYPE_MASK;
}

/* Step 4, see <linux/kprobes-hit.h>. */
static __always_inline bool arch_run_instruction(struct kprobe *kp, struct pt_regs *regs)
{
	if (kp->ainsn.run) {
		kp->ainsn.run(kp->opcode, regs);
		/* Most instructions clear BTYPE, but the exception has preserved it. */
		regs->pstate &= ~(u64)PSR_BTYPE_MASK;
		return true;
	}
	regs->pc = (unsigned long)kp->ainsn.insn;
	return false;
}

/* See <linux/kprobes-hit.h>. */
static __always_inline bool arch_is_breakpoint(unsigned long addr)
{
	return le32_to_cpu(READ_ONCE(*(__le32 *)addr)) == BRK64_OPCODE_KPROBES;
}

/*
 * Handles a BRK that is not a full hit.  The last argument of kprobe_rare_hit() is false because
 * no emulated instruction can fault.
 */
static noinline int handle_rare_brk(struct kprobe *kp, struct pt_regs *regs)
{
	return kprobe_rare_hit(kp, NULL, regs, regs->pc, false) ? DBG_HOOK_HANDLED : DBG_HOOK_ERROR;
}
NOKPROBE_SYMBOL(handle_rare_brk);

/**
 * kprobe_brk_handler() - handle a BRK with the immediate of kprobes
 * @regs: registers at the exception
 * @esr: syndrome of the exception
 *
 * Context: el1_brk64(), all exceptions masked.
 * Return: DBG_HOOK_HANDLED if the BRK has been handled, DBG_HOOK_ERROR otherwise.
 */
int kprobe_brk_handler(struct pt_regs *regs, unsigned long esr)
{
	struct kprobe_frame *frame = kprobe_this_frame();
	struct kprobe *kp = get_kprobe((void *)regs->pc);		/* 1 */

	if (unlikely(!kp || kprobe_ftrace(kp) || !kprobe_frame_is_free(frame)))
		return handle_rare_brk(kp, regs);
	kprobe_full_hit(kp, frame, regs);
	return DBG_HOOK_HANDLED;
}
NOKPROBE_SYMBOL(kprobe_brk_handler);

/**
 * kprobe_ss_brk_handler() - handle the BRK after a copy
 * @regs: registers at the exception
 * @esr: syndrome of the exception
 *
 * Context: el1_brk64(), all exceptions masked.
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
	/* A copy from which a branch does not reach back has no frame. */
	kp = kprobe_slot_owner(regs->pc, &start);
	if (!kp || (unsigned long)kp->ainsn.insn != start)
		return DBG_HOOK_ERROR;
	regs->pc = (unsigned long)kp->addr + AARCH64_INSN_SIZE;
	return DBG_HOOK_HANDLED;
}
NOKPROBE_SYMBOL(kprobe_ss_brk_handler);

/*
 * See <linux/kprobes-arch.h>.  The exception of the fault has inherited the masks of the copy,
 * and no other code clears them: if interrupts are masked by their priority, local_irq_enable()
 * does not change the masks in PSTATE, and a task that ended here would leave its CPU without
 * interrupts.  In that configuration the exception has already unmasked the priority, and only
 * PSTATE masks interrupts.  So mask them in both ways first, before local_daif_inherit()
 * reports to lockdep that they are unmasked.
 */
void arch_unmask_fault(struct pt_regs *regs)
{
	local_daif_mask();
	local_daif_inherit(regs);
}
NOKPROBE_SYMBOL(arch_unmask_fault);

/*
 * See <linux/kprobes-arch.h>.  The BRK has masked all exceptions in PSTATE; a detour has not.  The
 * next task on this CPU may be a kernel thread, or the idle task, which keeps that.  If interrupts
 * are masked by their priority, local_irq_enable() would then not let any of them through.
 */
void arch_unmask_death(void)
{
	if (!(read_sysreg(daif) & PSR_A_BIT))
		return;
	local_daif_mask();
	local_daif_restore(DAIF_PROCCTX_NOIRQ);
}
