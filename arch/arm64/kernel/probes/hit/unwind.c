// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: stack traces through probes.
 *
 * Unwinders follow frame records.  The struct pt_regs of an exception has a frame record with
 * the frame pointer and the instruction pointer of the interrupted code.  With probes, there are
 * three special cases:
 *
 * - An address in a slot or a detour has to be translated to that of the probed instruction.
 * - At the entry of a function, the caller is in the link register only.
 * - The assembly that detours call, and the return trampoline, begin and end without a
 *   frame record of their own.  There the probed function, or the caller, is in registers.
 */
#include <linux/kprobes.h>
#include <linux/ptrace.h>

#include "../detour.h"

/* The addresses from @begin up to, but not including, @end. */
struct stretch {
	const char *begin, *end;
};

static __always_inline bool is_within(const struct stretch *stretch, unsigned long addr)
{
	return addr >= (unsigned long)stretch->begin && addr < (unsigned long)stretch->end;
}

#ifdef CONFIG_OPTPROBES
/*
 * Beginning of the assembly that detours call: the link register has the return address in the
 * detour; x29 and x30 of the probed code are on the stack.
 */
static const struct stretch entering[] = {
	{ (const char *)kprobe_detour_enter, kprobe_detour_enter_linked },
	{ (const char *)kprobe_detour_enter_whole, kprobe_detour_enter_whole_linked },
	{ (const char *)kprobe_detour_enter_post, kprobe_detour_enter_post_linked },
	{ (const char *)kprobe_detour_enter_return, kprobe_detour_enter_return_linked },
};

/* End of that assembly on a changed path: all registers are as a handler has set them. */
static const struct stretch leaving[] = {
	{ kprobe_detour_returning, kprobe_detour_returned },
	{ kprobe_detour_leaving, kprobe_detour_elsewhere + AARCH64_INSN_SIZE },
};

static __always_inline bool is_entering(unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(entering); i++) {
		if (is_within(&entering[i], addr))
			return true;
	}
	return false;
}

static __always_inline bool is_leaving(unsigned long addr)
{
	return is_within(&leaving[0], addr) || is_within(&leaving[1], addr);
}
#else
static __always_inline bool is_entering(unsigned long addr)
{
	return false;
}

static __always_inline bool is_leaving(unsigned long addr)
{
	return false;
}
#endif

#ifdef CONFIG_KRETPROBES
/* Beginning of the trampoline: the instance of the call still has the return address. */
static const struct stretch returning = {
	(const char *)__kretprobe_trampoline, kretprobe_trampoline_linked,
};

/* End of the trampoline: the link register has the return address. */
static const struct stretch returned = {
	kretprobe_trampoline_unlinked, kretprobe_trampoline_end,
};

static __always_inline unsigned long from_trampoline(const struct pt_regs *regs,
						     unsigned long pc)
{
	if (is_within(&returning, pc))
		return (unsigned long)kretprobe_trampoline_addr();
	return is_within(&returned, pc) ? regs->regs[30] : pc;
}
#else
static __always_inline unsigned long from_trampoline(const struct pt_regs *regs,
						     unsigned long pc)
{
	return pc;
}
#endif

/* Were @regs saved by an exception in the kernel, or by a detour, on the stack in use? */
static __always_inline bool are_registers(const struct pt_regs *regs)
{
	return regs->sp == (unsigned long)(regs + 1);
}

/* Returns the link register that a detour has stored on the stack. */
static __always_inline unsigned long pushed_link(const struct pt_regs *regs)
{
	return ((unsigned long *)regs->sp)[1];
}

/* Returns the point at @pc if its handlers are running, and @regs are the registers of that hit. */
static __always_inline struct kprobe *hit_of(struct pt_regs *regs, unsigned long pc)
{
	struct kprobe *kp = get_kprobe((void *)pc);

	/* Test the point first, because nearly all frames in stack traces have no probe. */
	return kp && kprobe_hit_registers(regs) ? kp : NULL;
}

/*
 * Returns the caller if @kp is at the entry of a function, else 0.  @regs are in the slot or
 * detour of @kp that starts at @start; @link is the link register.  After a call in the detour
 * the link register has an address in the detour; then there is a frame record.
 */
static __always_inline unsigned long caller_at_entry(struct kprobe *kp,
						     const struct pt_regs *regs,
						     unsigned long start, unsigned long link)
{
	return kp->ainsn.entry && link - start >= DETOUR_BYTES ? link : 0;
}

/* kprobe_unwind_hit() for an address in a slot or a detour that starts at @start. */
static __always_inline unsigned long unwind_copy(struct kprobe *kp, unsigned long start,
						 const struct pt_regs *regs, unsigned long *pc)
{
	unsigned long index = (*pc - start) / AARCH64_INSN_SIZE;

	*pc = arch_slot_original(kp, start, *pc);
	/* The call in this detour makes two records, the second one for the caller. */
	if (index == DETOUR_RETURN && kprobe_detour_calls(kp) == KPROBE_DETOUR_CALLS_RETURN)
		return 0;
	return are_registers(regs) ? caller_at_entry(kp, regs, start, regs->regs[30]) : 0;
}

/* kprobe_unwind_hit() for the beginning of the assembly that detours call. */
static __always_inline unsigned long unwind_entering(const struct pt_regs *regs,
						     unsigned long *pc)
{
	unsigned long start = 0;
	struct kprobe *kp;

	if (!are_registers(regs))
		return 0;
	kp = kprobe_slot_owner(regs->regs[30], &start);
	if (!kp)
		return 0;
	*pc = arch_slot_original(kp, start, regs->regs[30]);
	return caller_at_entry(kp, regs, start, pushed_link(regs));
}

/**
 * kprobe_unwind_hit() - translate an address of a probe in a stack trace
 * @fp: address of a frame record, or of the record in the registers where a trace begins
 * @pc: address from the record; changed to the original address if it is in a slot, a detour,
 *	the assembly that detours call, or the return trampoline
 *
 * At the entry of a function there is no frame record for the call yet.  The caller is in the
 * link register, which the hit, or an exception in the detour, has saved with the other
 * registers.  Detours that save only some registers make a frame record for the caller.
 *
 * Context: any.
 * Return: a return address that comes between this record and the next one, or 0.
 */
unsigned long kprobe_unwind_hit(unsigned long fp, unsigned long *pc)
{
	struct pt_regs *regs = container_of((void *)fp, struct pt_regs, stackframe);
	unsigned long start = 0, caller = 0;
	struct kprobe *kp;

	preempt_disable_notrace();
	kp = kprobe_slot_owner(*pc, &start);
	if (kp) {
		caller = unwind_copy(kp, start, regs, pc);
	} else if (is_entering(*pc)) {
		caller = unwind_entering(regs, pc);
	} else if (is_leaving(*pc)) {
		caller = are_registers(regs) ? regs->regs[30] : 0;
	} else {
		*pc = from_trampoline(regs, *pc);
		kp = hit_of(regs, *pc);
		if (kp && kp->ainsn.entry)
			caller = regs->regs[30];
	}
	preempt_enable_notrace();
	return caller;
}
NOKPROBE_SYMBOL(kprobe_unwind_hit);

/**
 * kprobe_unwind_start() - translate the address where a stack trace of registers begins
 * @regs: the registers
 * @pc: their instruction pointer; changed as by kprobe_unwind_hit()
 *
 * Unlike a frame record, @regs are known to be registers.  So at the entry of a function the link
 * register has the caller, also if a detour has saved @regs and made a frame record for itself.
 *
 * Context: any.
 * Return: the caller of the function at whose entry @regs were saved, or 0.
 */
unsigned long kprobe_unwind_start(const struct pt_regs *regs, unsigned long *pc)
{
	unsigned long caller;
	struct kprobe *kp;

	preempt_disable_notrace();
	kp = get_kprobe((void *)*pc);
	if (kp && kp->ainsn.entry)
		caller = regs->regs[30];
	else
		caller = kprobe_unwind_hit((unsigned long)&regs->stackframe, pc);
	preempt_enable_notrace();
	return caller;
}
NOKPROBE_SYMBOL(kprobe_unwind_start);
