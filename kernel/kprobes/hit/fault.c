// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Faults in handlers, and in copies of probed instructions (HAVE_KPROBE_LEVELS).
 *
 * The architecture calls kprobe_fault_handler() before it searches the exception tables.  An
 * instruction that has faulted in a copy restarts at the original, unless a fault_handler
 * fixes the fault.  There are two reasons: exception tables and oopses refer to the original
 * only, and handling the fault may sleep, after which the slot may belong to another probe.
 */
#include <linux/kprobes-frame.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>

#include "../internal.h"

/* Calls the fault_handler of the probe whose handler has faulted (OLS paper, section 4.2). */
static __always_inline bool handler_fault(struct kprobe_frame *frame, struct pt_regs *regs,
					  int trapnr)
{
	struct kprobe *probe = frame->probe;

	return probe && probe->fault_handler &&
	       probe->fault_handler(probe, regs, trapnr);
}

/* Calls the fault_handlers of a point until one of them has fixed the fault. */
static __always_inline bool ask_probes(struct kprobe *kp, struct pt_regs *regs, int trapnr)
{
	struct kprobe *probe;

	for_each_probe_rcu(probe, kprobe_to_point(kp)) {
		if (probe->fault_handler && !kprobe_disabled(probe) &&
		    probe->fault_handler(probe, regs, trapnr))
			return true;
	}
	return false;
}

/*
 * Handles a fault in the copy of @kp's instruction.  The fault_handlers see the address of
 * the original.  While they run, the level is busy, so probes that they hit are missed.
 */
static noinline bool copy_fault(struct kprobe *kp, struct kprobe_frame *frame,
				struct pt_regs *regs, int trapnr)
{
	unsigned long copy = instruction_pointer(regs);
	/* In a handler that a step has called, the other copy of the point may fault. */
	bool stepping = frame->stepping && frame->kp == kp &&
			copy == (unsigned long)kp->ainsn.step;
	bool level_free = kprobe_frame_is_free(frame);
	bool handled;

	instruction_pointer_set(regs, (unsigned long)kp->addr);
	if (level_free)
		kprobe_frame_enter(frame, kp);
	handled = ask_probes(kp, regs, trapnr);
	if (level_free)
		kprobe_frame_leave(frame);
	if (handled && instruction_pointer(regs) == (unsigned long)kp->addr &&
	    arch_copy_restarts(kp)) {
		/* Restart the copy: the slot is still @kp's, because nothing here can sleep. */
		instruction_pointer_set(regs, copy);
		return true;
	}
	if (stepping) {
		arch_unmask_step(regs, frame->saved_flags);
		kprobe_frame_step_ends(frame);
		kprobe_frame_leave(frame);
		arch_unmask_fault(regs);
	}
	if (handled)
		instruction_pointer_set(regs, arch_chosen_target(kp, instruction_pointer(regs)));
	return handled;
}
NOKPROBE_SYMBOL(copy_fault);

/**
 * kprobe_leave_copy() - return to the original of an instruction whose copy was interrupted
 * @regs: registers at the interruption
 *
 * For traps that fix up an instruction before kprobe_fault_handler() is called, as machine
 * checks do.  Does not call fault_handlers.  If the copy was being stepped, frees its level
 * and restores the interrupt masks of the original in @regs.
 *
 * Context: a trap, of any level.
 */
void kprobe_leave_copy(struct pt_regs *regs)
{
	unsigned long start = 0, addr = instruction_pointer(regs);
	struct kprobe_frame *frame;
	struct kprobe *kp;
	int level;

	preempt_disable_notrace();
	kp = kprobe_slot_owner(addr, &start);
	if (!kp || !arch_slot_at_copy(kp, start, addr))
		goto out;
	instruction_pointer_set(regs, (unsigned long)kp->addr);
	if (addr != (unsigned long)kp->ainsn.step)
		goto out;
	/* The trap may count as another level, so search for the deepest frame that is stepping. */
	for (level = NR_KPROBE_LEVELS - 1; level >= 0; level--) {
		frame = &this_cpu_ptr(&kprobe_cpu)->frames[level];
		if (!frame->stepping || frame->kp != kp)
			continue;
		arch_unmask_step(regs, frame->saved_flags);
		kprobe_frame_step_ends(frame);
		kprobe_frame_leave(frame);
		break;
	}
out:
	preempt_enable_no_resched_notrace();
}
NOKPROBE_SYMBOL(kprobe_leave_copy);

/**
 * kprobe_fault_handler() - offer a fault in kernel code to the probes
 * @regs: registers at the fault
 * @trapnr: the architecture's trap number
 *
 * See Documentation/trace/kprobes.rst, Handlers.  Spec: OLS paper sections 3.2, 4.2.
 *
 * Context: the fault, before exception tables are searched; not a breakpoint.
 * Return: 1 if a fault_handler has fixed the fault, 0 if the kernel has to handle it.
 */
int kprobe_fault_handler(struct pt_regs *regs, int trapnr)
{
	unsigned long start = 0, addr = instruction_pointer(regs);
	struct kprobe_frame *frame;
	bool handled = false;
	struct kprobe *kp;

	preempt_disable_notrace();
	frame = kprobe_this_frame();
	kp = kprobe_slot_owner(addr, &start);
	if (kp && arch_slot_at_copy(kp, start, addr))
		handled = copy_fault(kp, frame, regs, trapnr);
	else if (kprobe_frame_in_handler(frame))
		handled = handler_fault(frame, regs, trapnr);
	preempt_enable_no_resched_notrace();
	return handled;
}
NOKPROBE_SYMBOL(kprobe_fault_handler);

static noinline unsigned long text_address(unsigned long addr)
{
	unsigned long start = 0;
	struct kprobe *owner;

	preempt_disable_notrace();
	owner = kprobe_slot_owner(addr, &start);
	if (owner)
		addr = arch_slot_original(owner, start, addr);
	preempt_enable_notrace();
	return addr;
}
NOKPROBE_SYMBOL(text_address);

/**
 * kprobe_text_address() - translate an address in a copy to that of the original instruction
 * @addr: an address that may be in a slot
 *
 * For look-ups in tables of the kernel, which have the original only.
 *
 * Context: any.
 * Return: the address of the original if @addr is in a copy, @addr otherwise.
 */
unsigned long kprobe_text_address(unsigned long addr)
{
	/* The page of a copy that runs is not freed meanwhile. */
	return likely(!kprobe_may_be_copy(addr)) ? addr : text_address(addr);
}
NOKPROBE_SYMBOL(kprobe_text_address);
