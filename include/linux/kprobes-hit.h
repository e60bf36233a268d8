/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_HIT_H
#define _LINUX_KPROBES_HIT_H
/*
 * From a breakpoint to the handlers and back to the text: what architectures that keep a
 * current probe for each context level (HAVE_KPROBE_LEVELS) have in common.
 *
 * Life of a hit, the numbers stand in the code again, here and in the backends:
 *	1. find the point by the address of the breakpoint
 *	2. take the frame of the interrupted context level, or count a miss
 *	3. pre handlers; if they have changed the path, return along it
 *	4. carry the instruction out, or return into a copy of it: the boosted one, or that
 *	   of the detour, if there is a jump or will be one; or
 *	5. with a post handler, return into the copy that traps behind it
 *	6. second trap: post handlers, return to the next instruction
 *
 * Interrupts are masked from the trap's entry to its return, and from 5 to 6.
 *
 * Included by the one file of a backend that handles the trap, and by nothing else.  That
 * file defines the functions that are declared here; all of them are inlined, for a hit
 * is paid for by the instruction.  Beside these, <asm/kprobes.h> has arch_mask_step() and
 * arch_unmask_step(), see <linux/kprobes-arch.h>, and struct arch_specific_insn has
 *	@resume: where a hit goes on if its handlers leave it alone, and that is all there
 *		 is to be done; NULL otherwise
 *	@step:	 a copy of the instruction with a breakpoint behind it; NULL if there is
 *		 none, and always if there is none to be made
 */
#include <linux/compiler.h>
#include <linux/kprobes-frame.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>

/**
 * arch_run_instruction() - what a hit does that has no place to resume at
 * @kp: representative
 * @regs: registers at the hit; changed to what the instruction makes of them, or so that
 *	the trap returns into a copy of it
 *
 * Context: the trap.
 * Return: true if the instruction has been carried out, false if its copy will do that.
 */
static __always_inline bool arch_run_instruction(struct kprobe *kp, struct pt_regs *regs);

/**
 * arch_path_changed() - a pre handler has changed the path of execution
 * @regs: registers that the trap returns to
 *
 * Takes out of @regs the state that only concerns the probed instruction.
 *
 * Context: the trap.
 */
static __always_inline void arch_path_changed(struct pt_regs *regs);

/* Bytes of the instruction, and of its copy in @kp's step.  Context: the trap. */
static __always_inline unsigned int arch_insn_len(struct kprobe *kp);

/* Is there a breakpoint at @addr now?  Context: the trap. */
static __always_inline bool arch_is_breakpoint(unsigned long addr);

/**
 * kprobe_run_instruction() - 4: carry out the probed instruction
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
 * 4 and 5 where there is more to do than to return into a copy that goes on by itself.
 * Returns true if the copy will trap again, and the level stays taken until then:
 * HANDLER -> STEPPING.
 */
static noinline bool kprobe_run_with_post(struct kprobe *kp, struct kprobe_frame *frame,
					  struct pt_regs *regs)
{
	kprobe_post_handler_t post = READ_ONCE(kp->post_handler);
	/* A first post handler may have come in between, and the copy not be seen yet. */
	kprobe_opcode_t *step = READ_ONCE(kp->ainsn.step);

	if (!post || !step) {
		if (kprobe_run_instruction(kp, regs) && post) {	/* 4 */
			/* They are no longer those of the breakpoint. */
			frame->regs = NULL;
			post(kp, regs, 0);
		}
		return false;
	}
	/* 5: an interrupt must not find the level taken by a step. */
	frame->saved_flags = arch_mask_step(regs);
	instruction_pointer_set(regs, (unsigned long)step);
	frame->phase = KPROBE_PHASE_STEPPING;
	return true;
}
NOKPROBE_SYMBOL(kprobe_run_with_post);

/**
 * kprobe_full_hit() - 2 to 5, in a level that is free
 * @kp: representative of the point that was hit
 * @frame: of the level, in KPROBE_PHASE_IDLE
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
		/* Once: the optimizer may be changing it. */
		resume = READ_ONCE(kp->ainsn.resume);
		if (likely(resume))
			instruction_pointer_set(regs, (unsigned long)resume);	/* 4 */
		else if (kprobe_run_with_post(kp, frame, regs))
			return;
	} else {
		arch_path_changed(regs);
	}
	kprobe_frame_leave(frame);
}

/**
 * kprobe_rare_hit() - a breakpoint that is neither a full hit nor the end of a step
 * @kp: representative of the point there, NULL if there is none
 * @frame: of the level
 * @regs: registers at the hit
 * @addr: of the breakpoint
 * @faults: a constant: may carrying the instruction out fault?
 *
 * Context: the trap.
 * Return: false if the breakpoint is somebody else's, as is one on an instruction of ftrace's.
 */
static __always_inline bool kprobe_rare_hit(struct kprobe *kp, struct kprobe_frame *frame,
					    struct pt_regs *regs, unsigned long addr,
					    const bool faults)
{
	struct kprobe *handle;

	if (!kp || kprobe_ftrace(kp)) {
		if (arch_is_breakpoint(addr))
			return false;
		/*
		 * Disarmed between the trap and the look-up: what is there now is the
		 * instruction.  Pairs with the text being restored before the point leaves
		 * the table (unregister_kprobes()).
		 */
		instruction_pointer_set(regs, addr);
		return true;
	}
	/* A hit while a handler of the same level runs, whose fault this one's is not. */
	kprobes_inc_nmissed_count(kp);
	if (faults) {
		handle = frame->handle;
		frame->handle = NULL;
		barrier();
	}
	kprobe_run_instruction(kp, regs);
	if (faults) {
		barrier();
		frame->handle = handle;
	}
	return true;
}

/**
 * kprobe_steps_to() - does a frame's copied instruction end at an address?
 * @frame: any of this CPU
 * @addr: of a breakpoint
 *
 * Context: the trap.
 * Return: true if it does, and is being executed.
 */
static __always_inline bool kprobe_steps_to(struct kprobe_frame *frame, unsigned long addr)
{
	struct kprobe *kp = frame->kp;

	return frame->phase == KPROBE_PHASE_STEPPING &&
	       addr == (unsigned long)kp->ainsn.step + arch_insn_len(kp);
}

/**
 * kprobe_stepping_frame() - whose copied instruction ends at an address?
 * @addr: of a breakpoint
 *
 * The instruction may have been the one that enters another level, an addition to
 * preempt_count: any frame may be it.  The deepest comes first, it is the one that runs.
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
 * kprobe_step_done() - 6: a copied instruction has run, the breakpoint behind it has trapped
 * @frame: its frame
 * @regs: registers at that trap
 *
 * STEPPING -> HANDLER, and after the post handlers -> IDLE.
 *
 * Context: the trap.
 */
static __always_inline void kprobe_step_done(struct kprobe_frame *frame, struct pt_regs *regs)
{
	struct kprobe *kp = frame->kp;
	kprobe_post_handler_t post = READ_ONCE(kp->post_handler);

	frame->regs = NULL;
	frame->phase = KPROBE_PHASE_HANDLER;
	arch_unmask_step(regs, frame->saved_flags);
	instruction_pointer_set(regs, (unsigned long)kp->addr + arch_insn_len(kp));
	/* The last post handler may have been unregistered meanwhile. */
	if (post)
		post(kp, regs, 0);
	kprobe_frame_leave(frame);
}

#endif /* _LINUX_KPROBES_HIT_H */
