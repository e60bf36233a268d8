/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ASM_ARM64_KPROBES_H
#define _ASM_ARM64_KPROBES_H
/*
 * Kprobes on arm64: what the core and the exception code need to know.
 */
#include <asm-generic/kprobes.h>

struct pt_regs;

#ifdef CONFIG_KPROBES
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/types.h>
#include <asm/insn.h>
#include <asm/probes.h>

#define __ARCH_WANT_KPROBES_INSN_SLOT

struct kprobe;

typedef u32 kprobe_opcode_t;

#define MAX_INSN_SIZE	1

/* A copy, and the branch back or the BRK behind it. */
#define KPROBE_SLOT_SIZE	(2 * AARCH64_INSN_SIZE)

/* BRK does not count as an interrupt in preempt_count(): see debug_exception_enter(). */
#define KPROBE_TRAP_PREEMPT_COUNT	0

/* BRK is reported at its own address. */
#define kprobe_hit_ip(kp)	((unsigned long)(kp)->addr)

/* Room of a detour, in instructions, and what a branch to it covers. */
#define MAX_OPTINSN_SIZE	16
#define MAX_OPTIMIZED_LENGTH	AARCH64_INSN_SIZE

/* Nothing is left on another stack than it was entered on; cpu_switch_to() cannot be probed. */
#define kretprobe_blacklist_size	0

/**
 * struct arch_specific_insn - how a probed instruction is carried out
 * @insn:	slot: its copy, then a branch back (the instruction is boosted); NULL if
 *		it is emulated, or the way back is too far
 * @step:	slot: its copy, then a BRK, for post handlers and for what cannot be
 *		boosted; NULL until it is needed, and if there is @run
 * @resume:	where a hit goes on if its handlers leave it alone: @insn, or the copy in
 *		the detour; NULL if there is more to do
 * @run:	carries it out on saved registers; NULL if only a copy can
 * @entry:	it is the first of a function
 * @desc:	struct probe_insn of the backend
 */
struct arch_specific_insn {
	kprobe_opcode_t *insn;
	kprobe_opcode_t *step;
	kprobe_opcode_t *resume;
	void (*run)(u32 insn, struct pt_regs *regs);
	bool entry;
	u8 desc[8] __aligned(4);
};

/**
 * struct arch_optimized_insn - a point's detour
 * @insn:	where it runs; NULL if there is none
 * @copy:	index of the word where the copy of the instruction begins
 * @end:	of the one behind it
 */
struct arch_optimized_insn {
	kprobe_opcode_t *insn;
	u8 copy;
	u8 end;
};

/* D, A, I and F. */
#define KPROBE_STEP_MASKS	(PSR_D_BIT | PSR_A_BIT | PSR_I_BIT | PSR_F_BIT)

/* See <linux/kprobes-arch.h>: all exceptions but those of faults. */
static __always_inline unsigned long arch_mask_step(struct pt_regs *regs)
{
	unsigned long saved = regs->pstate & KPROBE_STEP_MASKS;

	regs->pstate |= KPROBE_STEP_MASKS;
	return saved;
}

static __always_inline void arch_unmask_step(struct pt_regs *regs, unsigned long saved)
{
	regs->pstate = (regs->pstate & ~KPROBE_STEP_MASKS) | saved;
}

void arch_unmask_fault(struct pt_regs *regs);
unsigned long kprobe_unwind_hit(unsigned long fp, unsigned long *pc);

/*
 * Lets a call whose return address is at @slot, with the caller's frame pointer in front
 * of it as in struct pt_regs, return to the trampoline.  What tells one call from
 * another is the frame pointer of its caller: that is what unwinders know.
 */
#define arch_prepare_kretprobe_at(ri, slot)				\
do {									\
	kprobe_opcode_t **__slot = (slot);				\
									\
	(ri)->fp = __slot[-1];						\
	(ri)->ret_addr = *__slot;					\
	*__slot = (kprobe_opcode_t *)__kretprobe_trampoline;		\
} while (0)

/* At a function's entry the return address is in the link register.  Context: the hit. */
#define arch_prepare_kretprobe(ri, regs)				\
	arch_prepare_kretprobe_at(ri, (kprobe_opcode_t **)&(regs)->regs[30])

/*
 * The trampoline returns to the address in the link register.  Its frame record has to show
 * that address, too, before the instance is gone that unwinders would find it in.
 * Context: the trampoline.
 */
#define arch_kretprobe_fixup_return(_regs, correct_ret_addr)		\
do {									\
	(_regs)->regs[30] = (unsigned long)(correct_ret_addr);		\
	WRITE_ONCE((_regs)->stackframe.record.lr, (_regs)->regs[30]);		\
} while (0)

#else
static inline unsigned long kprobe_unwind_hit(unsigned long fp, unsigned long *pc)
{
	return 0;
}
#endif /* CONFIG_KPROBES */

/* Also without kprobes: their callers ask IS_ENABLED(). */
int kprobe_brk_handler(struct pt_regs *regs, unsigned long esr);
int kprobe_ss_brk_handler(struct pt_regs *regs, unsigned long esr);
int kprobe_leave_brk_handler(struct pt_regs *regs, unsigned long esr);

#endif /* _ASM_ARM64_KPROBES_H */
