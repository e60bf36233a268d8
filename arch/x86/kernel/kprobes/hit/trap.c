// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: from the breakpoint trap to the handlers and back to the text.
 *
 * <linux/kprobes-hit.h> has the steps of a hit, with the numbers that are used here.  At the
 * trap, regs->ip is the address after the one-byte breakpoint, so the point is looked up by
 * the address before.
 */
#include <linux/kprobes.h>
#include <linux/kprobes-hit.h>
#include <linux/ptrace.h>
#include <asm/text-patching.h>

#include "../common.h"

/**
 * arch_copy_restarts() - may the copy of an instruction be executed after its fault was fixed?
 * @kp: representative of the point
 *
 * Not that of a call: it would return to the copy, whose owner may have gone then.
 *
 * See <linux/kprobes-arch.h>.
 */
bool arch_copy_restarts(struct kprobe *kp)
{
	return probe_desc(kp)->emul != EMUL_CALL_INDIRECT;
}
NOKPROBE_SYMBOL(arch_copy_restarts);

static __always_inline unsigned int arch_insn_len(struct kprobe *kp)
{
	return probe_desc(kp)->len;
}

/* See <linux/kprobes-hit.h>: no flag of x86 applies to one instruction only. */
static __always_inline void arch_path_changed(struct pt_regs *regs) { }

/*
 * Step 4, see <linux/kprobes-hit.h>.  If the emulated branch cannot read its target, execute
 * its copy: the fault there can be handled.
 */
static __always_inline bool arch_run_instruction(struct kprobe *kp, struct pt_regs *regs)
{
	struct probe_insn *insn = probe_desc(kp);
	kprobe_opcode_t *slot;

	if (insn->action == PROBE_EMULATE &&
	    !probe_emulate(insn, regs, (unsigned long)kp->addr))
		return true;
	/*
	 * A new point has no copy yet, and no breakpoint.  An emulator that misses the removal of
	 * an earlier breakpoint comes here nevertheless: execute the text again.
	 */
	slot = READ_ONCE(kp->ainsn.insn);
	regs->ip = (unsigned long)(slot ?: kp->addr);
	return false;
}

/* See <linux/kprobes-hit.h>. */
static __always_inline bool arch_is_breakpoint(unsigned long addr)
{
	return *(u8 *)addr == INT3_INSN_OPCODE;
}

/* Out of line, because the common hit does not need it. */
static noinline void step_done(struct kprobe_frame *frame, struct pt_regs *regs)
{
	kprobe_step_done(frame, regs);				/* 6 */
}
NOKPROBE_SYMBOL(step_done);

/*
 * Handles a trap that is neither a full hit nor the end of a step of the interrupted level.
 * The step may be one of another level.  The last argument of kprobe_rare_hit() is true because
 * the operand of an emulated branch may fault.
 */
static noinline int handle_rare_trap(struct kprobe *kp, struct kprobe_frame *frame,
				     struct pt_regs *regs)
{
	unsigned long addr = regs->ip - INT3_INSN_SIZE;
	struct kprobe_frame *stepping = kp ? NULL : kprobe_stepping_frame(addr);

	if (!stepping)
		return kprobe_rare_hit(kp, frame, regs, addr, true);
	step_done(stepping, regs);
	return 1;
}
NOKPROBE_SYMBOL(handle_rare_trap);

static __always_inline int handle_trap(struct pt_regs *regs)
{
	struct kprobe_frame *frame = kprobe_this_frame();
	struct kprobe *kp;

	if (unlikely(frame->stepping) &&
	    kprobe_steps_to(frame, regs->ip - INT3_INSN_SIZE)) {
		step_done(frame, regs);
		return 1;
	}
	kp = get_kprobe((void *)(regs->ip - INT3_INSN_SIZE));	/* 1 */
	if (unlikely(!kp || kprobe_ftrace(kp) || !kprobe_frame_is_free(frame)))
		return handle_rare_trap(kp, frame, regs);
	kprobe_full_hit(kp, frame, regs);
	return 1;
}

/**
 * kprobe_int3_handler() - handle a breakpoint trap if it belongs to a probe
 * @regs: registers at the trap
 *
 * Context: exc_int3(), interrupts off.
 * Return: 1 if the trap has been handled, 0 if it belongs to other code.
 */
int kprobe_int3_handler(struct pt_regs *regs)
{
	int handled;

	if (user_mode(regs) || !kprobes_in_use())
		return 0;

	kprobe_trap_enter();
	handled = handle_trap(regs);
	kprobe_trap_exit();
	return handled;
}
NOKPROBE_SYMBOL(kprobe_int3_handler);
