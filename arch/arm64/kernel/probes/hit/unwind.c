// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: stack traces through probes.
 *
 * Unwinders follow frame records.  An exception makes one of the interrupted code's frame
 * pointer and instruction pointer, in its struct pt_regs.  What that says of probes:
 *
 * - An address in a slot or a detour stands for the probed instruction.
 * - At a function's entry the caller is in the link register only.
 * - The assembly that detours call, and the return trampoline, begin and end without a
 *   frame record of their own.  There the probed function, or the caller, is in registers.
 */
#include <linux/kprobes.h>
#include <linux/ptrace.h>

#include "../detour.h"

/* Addresses from @begin to in front of @end. */
struct stretch {
	const char *begin, *end;
};

static __always_inline bool is_within(const struct stretch *stretch, unsigned long addr)
{
	return addr >= (unsigned long)stretch->begin && addr < (unsigned long)stretch->end;
}

#ifdef CONFIG_OPTPROBES
/* The link register has the return address in the detour; the stack has the two of the call. */
static const struct stretch entering[] = {
	{ (const char *)kprobe_detour_enter, kprobe_detour_enter_linked },
	{ (const char *)kprobe_detour_enter_whole, kprobe_detour_enter_whole_linked },
	{ (const char *)kprobe_detour_enter_post, kprobe_detour_enter_post_linked },
	{ (const char *)kprobe_detour_enter_return, kprobe_detour_enter_return_linked },
};

/* All registers are those that a handler has left, on the way to another path. */
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
/* The instance of the call is still there. */
static const struct stretch returning = {
	(const char *)__kretprobe_trampoline, kretprobe_trampoline_linked,
};

/* The link register has the return address. */
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

/* Are @regs those of an exception of the kernel, or of a detour, from their own stack? */
static __always_inline bool are_registers(const struct pt_regs *regs)
{
	return regs->sp == (unsigned long)(regs + 1);
}

/* The link register that a detour has put on the stack. */
static __always_inline unsigned long pushed_link(const struct pt_regs *regs)
{
	return ((unsigned long *)regs->sp)[1];
}

/* Is @pc the place of a hit whose handlers run, and are @regs its registers? */
static __always_inline struct kprobe *hit_of(struct pt_regs *regs, unsigned long pc)
{
	struct kprobe *kp = get_kprobe((void *)pc);

	/* This order: nearly all frames of all stack traces have no probe at their place. */
	return kp && kprobe_hit_registers(regs) ? kp : NULL;
}

/*
 * The caller of the function at whose entry @kp is, from registers in its slot or detour that
 * starts at @start; @link is the link register.  After a call the detour has a frame record,
 * and its own address in that register.
 */
static __always_inline unsigned long caller_at_entry(struct kprobe *kp,
						     const struct pt_regs *regs,
						     unsigned long start, unsigned long link)
{
	return kp->ainsn.entry && link - start >= DETOUR_BYTES ? link : 0;
}

/* For an address in a slot or a detour that starts at @start: see kprobe_unwind_hit(). */
static __always_inline unsigned long unwind_copy(struct kprobe *kp, unsigned long start,
						 const struct pt_regs *regs, unsigned long *pc)
{
	unsigned long index = (*pc - start) / AARCH64_INSN_SIZE;

	*pc = arch_slot_original(kp, start, *pc);
	/* Its call makes two records, the second for the caller. */
	if (index == DETOUR_RETURN && kprobe_detour_calls(kp) == KPROBE_DETOUR_CALLS_RETURN)
		return 0;
	return are_registers(regs) ? caller_at_entry(kp, regs, start, regs->regs[30]) : 0;
}

/* For the beginning of what a detour calls: see kprobe_unwind_hit(). */
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
 * kprobe_unwind_hit() - look through a probe in a stack trace
 * @fp: address of a frame record, or of that in registers which a trace begins with
 * @pc: address from the record; changed to the one that it stands for, if it is in a slot,
 *	a detour, what detours call, or the return trampoline
 *
 * At a function's entry the caller has made no frame record for the call yet.  It is in
 * the link register, which is with the other registers that the hit, or an exception in the
 * detour, has saved; detours that save only some make a record for it.
 *
 * Context: any.
 * Return: a return address that comes between this record and the next one, or 0.
 */
unsigned long kprobe_unwind_hit(unsigned long fp, unsigned long *pc)
{
	struct pt_regs *regs = container_of((struct frame_record_meta *)fp, struct pt_regs,
					    stackframe);
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
