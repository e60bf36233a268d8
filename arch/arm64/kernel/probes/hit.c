// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: from the BRK to the handlers and back to the text.
 *
 * Life of a hit, the numbers stand in the code again:
 *	1. find the point by the address of the BRK
 *	2. take the frame of the interrupted context level, or count a miss
 *	3. pre handlers; if they have changed the path, return along it
 *	4. simulate the instruction, or return into a copy of it: the boosted one, or
 *	   that of the detour, if there is a branch or will be one; or
 *	5. with a post handler, return into the copy that has a BRK behind it
 *	6. second exception: post handlers, return to the next instruction
 *
 * All exceptions but those of faults are masked from the BRK to the return, and from 5
 * to 6.  A copy that has a BRK behind it because the way back is too far for a branch
 * needs no frame: whose it is says its address, and it runs like the original.
 */
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <asm/daifflags.h>
#include <asm/debug-monitors.h>
#include <asm/exception.h>

#include "common.h"
#include "simulate.h"

/* D, A, I and F. */
#define ALL_MASKED	(PSR_D_BIT | PSR_A_BIT | PSR_I_BIT | PSR_F_BIT)

static __always_inline void leave_stepping(struct kprobe_frame *frame,
					   struct pt_regs *regs)
{
	regs->pstate = (regs->pstate & ~ALL_MASKED) | frame->saved_flags;
	frame->saved_flags = 0;
}

/* 4.  Returns true if the instruction has been carried out. */
static __always_inline bool run_instruction(struct kprobe *kp, struct pt_regs *regs)
{
	kprobe_opcode_t *resume = READ_ONCE(kp->ainsn.resume);

	if (!resume && probe_desc(kp)->action == PROBE_SIMULATE) {
		probe_simulate(kp->opcode, probe_desc(kp), regs);
		return true;
	}
	if (!resume)
		resume = kp->ainsn.insn ?: kp->ainsn.step;
	regs->pc = (unsigned long)resume;
	return false;
}

/*
 * 4 and 5 where there is more to do than to return into a copy that goes on by itself.
 * Returns true if the level stays taken until the copy has trapped.
 */
static noinline bool run_with_post(struct kprobe *kp, struct kprobe_frame *frame,
				   struct pt_regs *regs)
{
	kprobe_post_handler_t post = READ_ONCE(kp->post_handler);

	if (!post || probe_desc(kp)->action == PROBE_SIMULATE) {
		if (run_instruction(kp, regs) && post)		/* 4 */
			post(kp, regs, 0);
		return false;
	}
	/* 5: an interrupt must not find the level taken by a step. */
	frame->saved_flags = regs->pstate & ALL_MASKED;
	regs->pstate |= ALL_MASKED;
	regs->pc = (unsigned long)kp->ainsn.step;
	frame->phase = KPROBE_PHASE_STEPPING;
	return true;
}
NOKPROBE_SYMBOL(run_with_post);

static __always_inline void full_hit(struct kprobe *kp, struct kprobe_frame *frame,
				     struct pt_regs *regs)
{
	kprobe_opcode_t *resume;

	kprobe_frame_enter(frame, kp);				/* 2 */
	frame->regs = regs;
	if (likely(!kp->pre_handler(kp, regs))) {		/* 3 */
		/* Once: the optimizer may be changing it. */
		resume = READ_ONCE(kp->ainsn.resume);
		if (likely(resume))
			regs->pc = (unsigned long)resume;	/* 4 */
		else if (run_with_post(kp, frame, regs))
			return;
	}
	kprobe_frame_leave(frame);
}

/* Neither a full hit nor a hit of nothing. */
static noinline int handle_rare_brk(struct kprobe *kp, struct pt_regs *regs)
{
	u32 insn;

	/* A BRK on an instruction of ftrace's is not ours. */
	if (kp && !kprobe_ftrace(kp)) {
		kprobes_inc_nmissed_count(kp);
		run_instruction(kp, regs);
		return DBG_HOOK_HANDLED;
	}
	insn = le32_to_cpu(READ_ONCE(*(__le32 *)regs->pc));
	/*
	 * Disarmed between the exception and the look-up: what is there now is the
	 * instruction.  Pairs with the text being restored before the point leaves the
	 * table (unregister_kprobes()).
	 */
	return insn != BRK64_OPCODE_KPROBES ? DBG_HOOK_HANDLED : DBG_HOOK_ERROR;
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
	full_hit(kp, frame, regs);
	return DBG_HOOK_HANDLED;
}
NOKPROBE_SYMBOL(kprobe_brk_handler);

/*
 * The frame that steps @kp's instruction, or NULL.  The instruction may have been the one
 * that enters another level, an addition to preempt_count.  The deepest comes first, it
 * is the one that runs.
 */
static __always_inline struct kprobe_frame *stepping_frame(struct kprobe *kp)
{
	struct kprobe_frame *frames = this_cpu_ptr(&kprobe_cpu)->frames;
	int level;

	for (level = NR_KPROBE_LEVELS - 1; level >= 0; level--) {
		if (frames[level].phase == KPROBE_PHASE_STEPPING && frames[level].kp == kp)
			return &frames[level];
	}
	return NULL;
}

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
	kprobe_post_handler_t post;
	struct kprobe_frame *frame;
	unsigned long start = 0;
	struct kprobe *kp;

	kp = kprobe_slot_owner(regs->pc, &start);
	if (!kp || (unsigned long)kp->ainsn.step != start)
		return DBG_HOOK_ERROR;
	regs->pc = (unsigned long)kp->addr + AARCH64_INSN_SIZE;
	frame = stepping_frame(kp);
	if (!frame)
		return DBG_HOOK_HANDLED;
	/* 6 */
	frame->regs = NULL;
	frame->phase = KPROBE_PHASE_HANDLER;
	leave_stepping(frame, regs);
	/* The last post handler may have been unregistered meanwhile. */
	post = READ_ONCE(kp->post_handler);
	if (post)
		post(kp, regs, 0);
	kprobe_frame_leave(frame);
	return DBG_HOOK_HANDLED;
}
NOKPROBE_SYMBOL(kprobe_ss_brk_handler);

/*
 * The copy of @kp's instruction has faulted.  Handlers see the address of the original,
 * and run as handlers: probes that they hit are missed.  If none deals with the fault,
 * the instruction starts over from the original: exception tables and oopses know that
 * one, and the fault may sleep, after which the slot may be somebody else's.
 */
static __always_inline bool copy_fault(struct kprobe *kp, struct kprobe_frame *frame,
				       struct pt_regs *regs, unsigned int esr)
{
	bool stepping = frame->phase == KPROBE_PHASE_STEPPING && frame->kp == kp;
	bool level_free = frame->phase == KPROBE_PHASE_IDLE;
	unsigned long copy = regs->pc;
	bool handled;

	regs->pc = (unsigned long)kp->addr;
	if (level_free)
		kprobe_frame_enter(frame, kp);
	handled = kprobe_call_fault_handlers(kp, regs, esr);
	if (level_free)
		kprobe_frame_leave(frame);
	if (handled && regs->pc == (unsigned long)kp->addr) {
		/* Tried again at once, without anything that could sleep. */
		regs->pc = copy;
		return true;
	}
	if (stepping) {
		leave_stepping(frame, regs);
		kprobe_frame_leave(frame);
	}
	return handled;
}

/* Is @addr that of the copied instruction in the slot or detour at @start? */
static __always_inline bool at_copy(struct kprobe *kp, unsigned long start,
				    unsigned long addr)
{
	struct arch_optimized_insn *optinsn;
	unsigned int word = (addr - start) / AARCH64_INSN_SIZE;

	optinsn = &container_of(kp, struct optimized_kprobe, kp)->optinsn;
	if (start != (unsigned long)optinsn->insn)
		return !word;
	return word >= optinsn->copy && word < optinsn->end;
}

/**
 * kprobe_fault_handler() - a fault in kernel code: has a probe to do with it?
 * @regs: registers at the fault
 * @esr: why it was taken: what fault handlers get for a trap number
 *
 * Seed: kprobes.txt sections 4.1 (fault handlers), OLS paper sections 3.2, 4.2.
 *
 * Context: the fault, before exception tables are searched; not a BRK.
 * Return: 1 if a fault_handler has dealt with it, 0 if the kernel has to.
 */
int kprobe_fault_handler(struct pt_regs *regs, int esr)
{
	struct kprobe_frame *frame;
	unsigned long start = 0;
	struct kprobe *kp;
	bool handled = false;

	preempt_disable_notrace();
	frame = kprobe_this_frame();
	kp = kprobe_slot_owner(regs->pc, &start);
	if (kp && at_copy(kp, start, regs->pc))
		handled = copy_fault(kp, frame, regs, esr);
	else if (frame->phase == KPROBE_PHASE_HANDLER)
		handled = kprobe_handler_fault(frame, regs, esr);
	preempt_enable_no_resched_notrace();
	return handled;
}
NOKPROBE_SYMBOL(kprobe_fault_handler);
