/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ASM_ARM64_KPROBES_H
#define _ASM_ARM64_KPROBES_H
/*
 * Kprobes on arm64: definitions for the core and for the exception code.
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

/* A copy, followed by the branch back or by a BRK. */
#define KPROBE_SLOT_SIZE	(2 * AARCH64_INSN_SIZE)

/* A BRK does not count as an interrupt in preempt_count(): see debug_exception_enter(). */
#define KPROBE_TRAP_PREEMPT_COUNT	0

/* The exception of a BRK has the address of the BRK. */
#define kprobe_hit_ip(kp)	((unsigned long)(kp)->addr)

/* Size of a detour in instructions, and bytes of text that a branch to it covers. */
#define MAX_OPTINSN_SIZE	16
#define MAX_OPTIMIZED_LENGTH	AARCH64_INSN_SIZE

extern const int kretprobe_blacklist_size;

/**
 * struct arch_specific_insn - how a probed instruction is carried out
 * @insn:	slot with the copy and a branch back (the instruction is boosted), or a BRK if a
 *		branch does not reach back; NULL if the instruction is emulated
 * @step:	slot with the copy and a BRK, for post handlers; NULL until there is one, and if
 *		there is @run
 * @resume:	address to return to after the pre handlers: @insn; NULL if the hit also
 *		has to emulate the instruction or to call a post handler
 * @run:	emulates the instruction on saved registers; NULL if it needs a copy
 * @entry:	true for the first instruction of a function, or the one after its BTI
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
 * struct arch_optimized_insn - the detour of a point
 * @insn:	address of the detour; NULL if there is none
 * @copy:	index of the first word of the copy of the instruction
 * @end:	index of the word after the copy
 */
struct arch_optimized_insn {
	kprobe_opcode_t *insn;
	u8 copy;
	u8 end;
};

/* Not D: watchpoints see the accesses of copies. */
#define KPROBE_STEP_MASKS	(PSR_A_BIT | PSR_I_BIT | PSR_F_BIT)

/* See <linux/kprobes-arch.h>: masks all exceptions except faults and debug exceptions. */
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
void arch_unmask_death(void);
unsigned long kprobe_unwind_hit(unsigned long fp, unsigned long *pc);
unsigned long kprobe_unwind_start(const struct pt_regs *regs, unsigned long *pc);

/*
 * Saves the return address at @slot in @ri, and replaces it by that of the trampoline.  The word
 * before @slot is the caller's frame pointer, as in struct pt_regs.  It identifies the call,
 * because unwinders have it.
 */
#define arch_prepare_kretprobe_at(ri, slot)				\
do {									\
	kprobe_opcode_t **__slot = (slot);				\
									\
	(ri)->fp = __slot[-1];						\
	(ri)->ret_addr = *__slot;					\
	*__slot = (kprobe_opcode_t *)__kretprobe_trampoline;		\
} while (0)

/* At the entry of a function the return address is in the link register.  Context: the hit. */
#define arch_prepare_kretprobe(ri, regs)				\
	arch_prepare_kretprobe_at(ri, (kprobe_opcode_t **)&(regs)->regs[30])

/*
 * The trampoline returns to the address in the link register.  Its frame record must have that
 * address, too, before the instance is freed in which unwinders find it otherwise.
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

static inline unsigned long kprobe_unwind_start(const struct pt_regs *regs, unsigned long *pc)
{
	return 0;
}
#endif /* CONFIG_KPROBES */

/* Declared without CONFIG_KPROBES, too: the callers test IS_ENABLED(CONFIG_KPROBES). */
int kprobe_brk_handler(struct pt_regs *regs, unsigned long esr);
int kprobe_ss_brk_handler(struct pt_regs *regs, unsigned long esr);
int kprobe_leave_brk_handler(struct pt_regs *regs, unsigned long esr);

#endif /* _ASM_ARM64_KPROBES_H */
