// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: from the breakpoint trap to the handlers and back to the text.
 *
 * Life of a hit, the numbers stand in the code again:
 *	1. find the point by the address before regs->ip
 *	2. take the frame of the interrupted context level, or count a miss
 *	3. pre handlers; if they have changed the path, return along it
 *	4. emulate the instruction, or return into a copy of it: the boosted one, or that
 *	   of the detour, if there is a jump or will be one; or
 *	5. with a post handler, return into the copy that traps behind it
 *	6. second trap: post handlers, return to the next instruction
 *
 * Interrupts are off from the trap's entry to its return, and from 5 to 6.
 * Faults of the copied instruction and of handlers come to
 * kprobe_fault_handler().
 */
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <asm/processor-flags.h>
#include <asm/text-patching.h>

#include "common.h"
#include "detour.h"

static __always_inline void leave_stepping(struct kprobe_frame *frame,
					   struct pt_regs *regs)
{
	regs->flags |= frame->saved_flags;
	frame->saved_flags = 0;
}

/*
 * The instruction itself, when no second trap is needed: what is emulated is
 * done on return, what is copied runs after the trap.  A branch that cannot read
 * its target faults again in the copy, where the fault can be reported.
 *
 * Returns true if the instruction has been carried out.
 */
static __always_inline bool run_instruction(struct kprobe *kp, struct pt_regs *regs)
{
	struct probe_insn *insn = probe_desc(kp);
	kprobe_opcode_t *resume = READ_ONCE(kp->ainsn.resume);

	if (resume) {
		regs->ip = (unsigned long)resume;
		return false;
	}
	if (insn->action == PROBE_EMULATE &&
	    !probe_emulate(insn, regs, (unsigned long)kp->addr))
		return true;
	regs->ip = (unsigned long)kp->ainsn.insn;
	return false;
}

/*
 * 4 and 5 where there is more to do than to return into a copy that goes on by itself.
 * Returns true if the copy will trap again, and the level stays taken until then.
 */
static noinline bool run_with_post(struct kprobe *kp, struct kprobe_frame *frame,
				   struct pt_regs *regs)
{
	kprobe_post_handler_t post = READ_ONCE(kp->post_handler);

	if (!post || probe_desc(kp)->action == PROBE_EMULATE) {
		if (run_instruction(kp, regs) && post)		/* 4 */
			post(kp, regs, 0);
		return false;
	}
	/* 5: an interrupt must not find the level taken by a step. */
	frame->saved_flags = regs->flags & X86_EFLAGS_IF;
	regs->flags &= ~X86_EFLAGS_IF;
	regs->ip = (unsigned long)kp->ainsn.step;
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
			regs->ip = (unsigned long)resume;	/* 4 */
		else if (run_with_post(kp, frame, regs))
			return;
	}
	kprobe_frame_leave(frame);
}

/* 6: the copied instruction has run, the breakpoint behind it has trapped. */
static void step_done(struct kprobe_frame *frame, struct pt_regs *regs)
{
	struct kprobe *kp = frame->kp;
	kprobe_post_handler_t post = READ_ONCE(kp->post_handler);

	frame->regs = NULL;
	frame->phase = KPROBE_PHASE_HANDLER;
	leave_stepping(frame, regs);
	regs->ip = (unsigned long)kp->addr + probe_desc(kp)->len;
	/* The last post handler may have been unregistered meanwhile. */
	if (post)
		post(kp, regs, 0);
	kprobe_frame_leave(frame);
}
NOKPROBE_SYMBOL(step_done);

/* True if @frame's copied instruction ends at @addr. */
static __always_inline bool steps_to(struct kprobe_frame *frame, unsigned long addr)
{
	return frame->phase == KPROBE_PHASE_STEPPING &&
	       addr == (unsigned long)frame->kp->ainsn.step + probe_desc(frame->kp)->len;
}

/*
 * The same of any frame, or NULL: the instruction may have been the one that enters
 * another level, an addition to preempt_count.  The deepest comes first, it is the
 * one that runs.
 */
static __always_inline struct kprobe_frame *stepping_frame(unsigned long addr)
{
	struct kprobe_frame *frames = this_cpu_ptr(&kprobe_cpu)->frames;
	int level;

	for (level = NR_KPROBE_LEVELS - 1; level >= 0; level--) {
		if (steps_to(&frames[level], addr))
			return &frames[level];
	}
	return NULL;
}

/*
 * A hit while a handler of the same level runs.  Should the operand of an emulated
 * branch fault, that is not the handler's fault.
 */
static __always_inline void missed_hit(struct kprobe *kp, struct kprobe_frame *frame,
				       struct pt_regs *regs)
{
	struct kprobe *handle = frame->handle;

	kprobes_inc_nmissed_count(kp);
	frame->handle = NULL;
	barrier();
	run_instruction(kp, regs);
	barrier();
	frame->handle = handle;
}

/* Neither a full hit nor the end of a step of the level that was interrupted. */
static noinline int handle_rare_trap(struct kprobe *kp, struct kprobe_frame *frame,
				     struct pt_regs *regs)
{
	unsigned long addr = regs->ip - INT3_INSN_SIZE;

	/* A breakpoint on an instruction of ftrace's is not ours. */
	if (kp && !kprobe_ftrace(kp)) {
		missed_hit(kp, frame, regs);
		return 1;
	}
	frame = stepping_frame(addr);
	if (frame) {
		step_done(frame, regs);
		return 1;
	}
	if (*(u8 *)addr != INT3_INSN_OPCODE) {
		/*
		 * Disarmed between the trap and the look-up: what is there now
		 * is the instruction.  Pairs with the text being restored
		 * before the point leaves the table (unregister_kprobes()).
		 */
		regs->ip = addr;
		return 1;
	}
	return 0;
}
NOKPROBE_SYMBOL(handle_rare_trap);

static __always_inline int handle_trap(struct pt_regs *regs)
{
	struct kprobe_frame *frame = kprobe_this_frame();
	struct kprobe *kp;

	if (unlikely(frame->phase == KPROBE_PHASE_STEPPING) &&
	    steps_to(frame, regs->ip - INT3_INSN_SIZE)) {
		step_done(frame, regs);
		return 1;
	}
	kp = get_kprobe((void *)(regs->ip - INT3_INSN_SIZE));	/* 1 */
	if (unlikely(!kp || kprobe_ftrace(kp) || frame->phase != KPROBE_PHASE_IDLE))
		return handle_rare_trap(kp, frame, regs);
	full_hit(kp, frame, regs);
	return 1;
}

/**
 * kprobe_int3_handler() - a breakpoint trap: is it a probe's?
 * @regs: registers at the trap
 *
 * Context: exc_int3(), interrupts off.
 * Return: 1 if it has been dealt with, 0 if it is somebody else's.
 */
int kprobe_int3_handler(struct pt_regs *regs)
{
	int handled;

	if (user_mode(regs))
		return 0;

	kprobe_trap_enter();
	handled = handle_trap(regs);
	kprobe_trap_exit();
	return handled;
}
NOKPROBE_SYMBOL(kprobe_int3_handler);

/*
 * The copy of @kp's instruction, which starts at @slot, has faulted.  Handlers
 * see the address of the original, and run as handlers: probes that they hit are
 * missed.  If none deals with the fault, the instruction starts over from the
 * original: exception tables and oopses know that one, and the fault may sleep,
 * after which the slot may be somebody else's.
 */
static __always_inline bool copy_fault(struct kprobe *kp, struct kprobe_frame *frame,
				       unsigned long slot, struct pt_regs *regs, int trapnr)
{
	bool stepping = frame->phase == KPROBE_PHASE_STEPPING && frame->kp == kp;
	bool handled;

	bool level_free = frame->phase == KPROBE_PHASE_IDLE;

	regs->ip = (unsigned long)kp->addr;
	if (level_free)
		kprobe_frame_enter(frame, kp);
	handled = kprobe_call_fault_handlers(kp, regs, trapnr);
	if (level_free)
		kprobe_frame_leave(frame);
	if (handled && regs->ip == (unsigned long)kp->addr) {
		/* Tried again at once, without anything that could sleep. */
		regs->ip = slot;
		return true;
	}
	if (stepping) {
		leave_stepping(frame, regs);
		kprobe_frame_leave(frame);
	}
	return handled;
}

/* Where the copy of the probed instruction is in a slot of @kp's. */
static __always_inline unsigned long copy_start(struct kprobe *kp, unsigned long slot)
{
	struct optimized_kprobe *op = container_of(kp, struct optimized_kprobe, kp);

	return slot == (unsigned long)op->optinsn.insn ? slot + DETOUR_COPY : slot;
}

/**
 * kprobe_fault_handler() - a fault in kernel code: has a probe to do with it?
 * @regs: registers at the fault
 * @trapnr: X86_TRAP_*
 *
 * Seed: kprobes.txt sections 4.1 (fault handlers), OLS paper sections 3.2, 4.2.
 *
 * Context: the fault, before exception tables are searched; not a breakpoint.
 * Return: 1 if a fault_handler has dealt with it, 0 if the kernel has to.
 */
int kprobe_fault_handler(struct pt_regs *regs, int trapnr)
{
	struct kprobe_frame *frame;
	unsigned long slot = 0;
	struct kprobe *kp;
	bool handled = false;

	preempt_disable_notrace();
	frame = kprobe_this_frame();
	kp = kprobe_slot_owner(regs->ip, &slot);
	if (kp)
		slot = copy_start(kp, slot);
	if (kp && regs->ip == slot)
		handled = copy_fault(kp, frame, slot, regs, trapnr);
	else if (frame->phase == KPROBE_PHASE_HANDLER)
		handled = kprobe_handler_fault(frame, regs, trapnr);
	preempt_enable_no_resched_notrace();
	return handled;
}
NOKPROBE_SYMBOL(kprobe_fault_handler);
