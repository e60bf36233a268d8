/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_HIT_H
#define _LINUX_KPROBES_HIT_H
/*
 * From a breakpoint to the handlers and back to the text: code that is common to the
 * architectures with a current probe for each context level (HAVE_KPROBE_LEVELS).
 *
 * Steps of a hit; comments here and in the backends refer to these numbers:
 *	1. find the point by the address of the breakpoint
 *	2. take the frame of the interrupted context level, or count a miss
 *	3. pre handlers; if they have changed the path, return along it
 *	4. emulate the instruction, or return into a copy of it: the boosted copy, or the copy
 *	   in the detour if there is a jump or will be one; or
 *	5. with a post handler, return into the copy that has a breakpoint after it
 *	6. second trap: post handlers, return to the next instruction
 *
 * Interrupts are masked from the trap's entry to its return, and from 5 to 6.
 *
 * Only the file of a backend that handles the trap includes this header.  That file defines
 * the functions that are declared here; all of them are inlined, because every instruction
 * makes a hit slower.  In addition, <asm/kprobes.h> has arch_mask_step() and
 * arch_unmask_step(), see <linux/kprobes-arch.h>, and struct arch_specific_insn has
 *	@resume: address to return to after the pre handlers; NULL if the hit also has to
 *		 emulate the instruction or call a post handler
 *	@step:	 a copy of the instruction followed by a breakpoint; NULL if there is none,
 *		 always NULL if the instruction cannot have such a copy
 */
#include <linux/compiler.h>
#include <linux/kprobes-frame.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>

/**
 * arch_run_instruction() - emulate an instruction, or return into its copy
 * @kp: representative of a point whose @resume is NULL
 * @regs: registers at the hit; changed as the instruction changes them, or so that the trap
 *	returns into a copy of the instruction
 *
 * Context: the trap.
 * Return: true if the instruction has been emulated, false if its copy will be executed.
 */
static __always_inline bool arch_run_instruction(struct kprobe *kp, struct pt_regs *regs);

/**
 * arch_path_changed() - a pre handler has changed the path of execution
 * @regs: registers that the trap returns to
 *
 * Removes state from @regs that concerns only the probed instruction.
 *
 * Context: the trap.
 */
static __always_inline void arch_path_changed(struct pt_regs *regs);

/* Size of the instruction, and of its copy in @step.  Context: the trap. */
static __always_inline unsigned int arch_insn_len(struct kprobe *kp);

/* Returns true if the text has a breakpoint at @addr now.  Context: the trap. */
static __always_inline bool arch_is_breakpoint(unsigned long addr);

/**
 * kprobe_run_instruction() - step 4: emulate the probed instruction, or return into its copy
 * @kp: representative
 * @regs: registers at the hit
 *
 * Context: the trap.
 * Return: see arch_run_instruction().
 */
static __always_inline bool kprobe_run_instruction(struct kprobe *kp, struct pt_regs *regs)
{
	kprobe_opcode_t *resume = READ_ONCE(kp->ainsn.resume);

	if (!resume)
		return arch_run_instruction(kp, regs);
	instruction_pointer_set(regs, (unsigned long)resume);
	return false;
}

/*
 * Steps 4 and 5 of a point that may need more than the return to @resume.  Returns true if
 * the copy will trap again; the level stays busy until then: handler -> stepping.
 */
static noinline bool kprobe_run_with_post(struct kprobe *kp, struct kprobe_frame *frame,
					  struct pt_regs *regs)
{
	kprobe_post_handler_t post = READ_ONCE(kp->post_handler);
	/* If the first post handler has just been added, @step may still read as NULL. */
	kprobe_opcode_t *step = READ_ONCE(kp->ainsn.step);

	if (!post || !step) {
		if (kprobe_run_instruction(kp, regs) && post) {	/* 4 */
			/* @regs are no longer those of the breakpoint. */
			frame->regs = NULL;
			post(kp, regs, 0);
		}
		return false;
	}
	/* 5: mask interrupts: their probes must not find the level busy with a step. */
	frame->saved_flags = arch_mask_step(regs);
	instruction_pointer_set(regs, (unsigned long)step);
	frame->stepping = true;
	return true;
}
NOKPROBE_SYMBOL(kprobe_run_with_post);

/**
 * kprobe_full_hit() - steps 2 to 5 in a free level
 * @kp: representative of the point that was hit
 * @frame: frame of the level, which is free
 * @regs: registers at the hit
 *
 * Context: the trap.
 */
static __always_inline void kprobe_full_hit(struct kprobe *kp, struct kprobe_frame *frame,
					    struct pt_regs *regs)
{
	kprobe_opcode_t *resume;

	kprobe_frame_enter(frame, kp);					/* 2 */
	frame->regs = regs;
	if (likely(!kp->pre_handler(kp, regs))) {			/* 3 */
		/* Read once: the optimizer may be changing it. */
		resume = READ_ONCE(kp->ainsn.resume);
		if (likely(resume))
			instruction_pointer_set(regs, (unsigned long)resume);	/* 4 */
		else if (kprobe_run_with_post(kp, frame, regs))
			return;
	} else {
		arch_path_changed(regs);
		instruction_pointer_set(regs,
					arch_chosen_target(kp, instruction_pointer(regs)));
	}
	kprobe_frame_leave(frame);
}

/**
 * kprobe_rare_hit() - handle a breakpoint that is neither a full hit nor the end of a step
 * @kp: representative of the point at the breakpoint, or NULL
 * @frame: frame of the level
 * @regs: registers at the hit
 * @addr: address of the breakpoint
 * @faults: a constant: true if kprobe_run_instruction() may fault
 *
 * Context: the trap.
 * Return: false if the breakpoint does not belong to a probe, for instance if it is on an
 * instruction that ftrace owns.
 */
static __always_inline bool kprobe_rare_hit(struct kprobe *kp, struct kprobe_frame *frame,
					    struct pt_regs *regs, unsigned long addr,
					    const bool faults)
{
	struct kprobe *probe;

	if (!kp || kprobe_ftrace(kp)) {
		if (arch_is_breakpoint(addr))
			return false;
		/*
		 * The point was disarmed between the trap and the look-up, and the text has
		 * the instruction again: execute it.  Pairs with unregister_kprobes(), which
		 * restores the text before the point leaves the table.
		 */
		instruction_pointer_set(regs, addr);
		return true;
	}
	/*
	 * A handler of the same level is running.  A fault of this instruction must not be
	 * offered to that handler's fault_handler.
	 */
	kprobes_inc_nmissed_count(kp);
	if (faults) {
		probe = frame->probe;
		frame->probe = NULL;
		barrier();
	}
	kprobe_run_instruction(kp, regs);
	if (faults) {
		barrier();
		frame->probe = probe;
	}
	return true;
}

/**
 * kprobe_steps_to() - does the copy that a frame is stepping end at an address?
 * @frame: any frame of this CPU
 * @addr: address of a breakpoint
 *
 * Context: the trap.
 * Return: true if the frame is stepping and its copy ends at @addr.
 */
static __always_inline bool kprobe_steps_to(struct kprobe_frame *frame, unsigned long addr)
{
	struct kprobe *kp = frame->kp;

	return frame->stepping &&
	       addr == (unsigned long)kp->ainsn.step + arch_insn_len(kp);
}

/**
 * kprobe_stepping_frame() - find the frame whose stepped copy ends at an address
 * @addr: address of a breakpoint
 *
 * The stepped instruction may itself have changed the context level (an addition to
 * preempt_count), so search the frames of all levels, the deepest first: it is the one that
 * was being executed.
 *
 * Context: the trap.
 * Return: the frame, or NULL.
 */
static __always_inline struct kprobe_frame *kprobe_stepping_frame(unsigned long addr)
{
	struct kprobe_frame *frames = this_cpu_ptr(&kprobe_cpu)->frames;
	int level;

	for (level = NR_KPROBE_LEVELS - 1; level >= 0; level--) {
		if (kprobe_steps_to(&frames[level], addr))
			return &frames[level];
	}
	return NULL;
}

/**
 * kprobe_step_done() - step 6: the breakpoint after a copied instruction has trapped
 * @frame: frame of the step
 * @regs: registers at that trap
 *
 * Stepping -> handler, and after the post handlers handler -> free.
 *
 * Context: the trap.
 */
static __always_inline void kprobe_step_done(struct kprobe_frame *frame, struct pt_regs *regs)
{
	struct kprobe *kp = frame->kp;
	kprobe_post_handler_t post = READ_ONCE(kp->post_handler);

	frame->regs = NULL;
	kprobe_frame_step_ends(frame);
	arch_unmask_step(regs, frame->saved_flags);
	instruction_pointer_set(regs, (unsigned long)kp->addr + arch_insn_len(kp));
	/* The last post handler may have been unregistered since the first trap. */
	if (post)
		post(kp, regs, 0);
	kprobe_frame_leave(frame);
}

#endif /* _LINUX_KPROBES_HIT_H */
