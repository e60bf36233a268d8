/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ASM_X86_KPROBES_H
#define _ASM_X86_KPROBES_H
/*
 * Kprobes on x86: definitions for the core and for the trap code.
 */
#include <asm-generic/kprobes.h>

#ifdef CONFIG_KPROBES
#include <linux/preempt.h>
#include <linux/types.h>
#include <linux/ptrace.h>
#include <linux/percpu.h>
#include <asm/insn.h>
#include <asm/processor-flags.h>
#include <asm/text-patching.h>

#define __ARCH_WANT_KPROBES_INSN_SLOT

struct pt_regs;
struct kprobe;

typedef u8 kprobe_opcode_t;

/* The longest instruction, and a jump back. */
#define KPROBE_SLOT_SIZE	20

/* The amount that a breakpoint trap adds to kprobe_preempt_count(): see exc_int3(). */
#define KPROBE_TRAP_PREEMPT_COUNT	(NMI_OFFSET + HARDIRQ_OFFSET)

/* Pre handlers see the address after the breakpoint, also if there is none in the text. */
#define kprobe_hit_ip(kp)	((unsigned long)(kp)->addr + 1)

/* Size of a detour in units of kprobe_opcode_t, and bytes of text that a jump covers. */
#define MAX_OPTINSN_SIZE	64
#define MAX_OPTIMIZED_LENGTH	5

/* An instruction reads a per-CPU variable of the CPU that executes it. */
#define KPROBE_CPU_READ_IS_ATOMIC	true

extern const int kretprobe_blacklist_size;

/**
 * struct arch_specific_insn - how a probed instruction is carried out
 * @insn:	slot with the copy and a jump back (the instruction is boosted);
 *		NULL if the instruction is emulated or belongs to ftrace
 * @step:	slot with the copy and a breakpoint, for post handlers; NULL until
 *		the first post handler is registered
 * @resume:	address to return to after the pre handlers: @insn, or the copy in the
 *		detour; NULL if the hit also has to emulate the instruction or call a
 *		post handler
 * @desc:	struct probe_insn of the backend
 */
struct arch_specific_insn {
	kprobe_opcode_t *insn;
	kprobe_opcode_t *step;
	kprobe_opcode_t *resume;
	u8 desc[16] __aligned(4);
};

struct optimized_kprobe;

/**
 * struct arch_optimized_insn - the detour of a point
 * @insn:	address of the detour, which ends with struct detour_data; NULL if there is none
 */
struct arch_optimized_insn {
	kprobe_opcode_t *insn;
};

/* See <linux/kprobes-optimize.h>. */
#define arch_jump_is_one_insn arch_jump_is_one_insn
bool arch_jump_is_one_insn(const struct optimized_kprobe *op);

/* See <linux/kprobes-arch.h>. */
#define arch_copy_restarts arch_copy_restarts
bool arch_copy_restarts(struct kprobe *kp);

#ifdef CONFIG_OPTPROBES
/* See <linux/kprobes-arch.h>. */
#define arch_chosen_target arch_chosen_target
unsigned long arch_chosen_target(struct kprobe *kp, unsigned long addr);
#endif

/* See <linux/kprobes-optimize.h>. */
#define KPROBE_CARRIER_OFFSET	5

/* See <linux/kprobes-arch.h>. */
static __always_inline unsigned long arch_mask_step(struct pt_regs *regs)
{
	unsigned long saved = regs->flags & X86_EFLAGS_IF;

	regs->flags &= ~X86_EFLAGS_IF;
	return saved;
}

static __always_inline void arch_unmask_step(struct pt_regs *regs, unsigned long saved)
{
	regs->flags |= saved;
}

/* The page fault handler enables interrupts as in its registers, after it has called the probes. */
static inline void arch_unmask_fault(struct pt_regs *regs) { }

/* The trap masks only interrupts. */
static inline void arch_unmask_death(void) { }

unsigned int kprobe_text_pushed(unsigned long addr);
int kprobe_copy_text(void *bytes, unsigned long addr, size_t len);
int kprobe_int3_handler(struct pt_regs *regs);

/* Saves the return address at @slot in @ri, and replaces it by that of the trampoline. */
#define arch_prepare_kretprobe_at(ri, slot)				\
do {									\
	kprobe_opcode_t **__slot = (slot);				\
									\
	(ri)->fp = __slot;						\
	(ri)->ret_addr = *__slot;					\
	*__slot = (kprobe_opcode_t *)__kretprobe_trampoline;		\
} while (0)

/*
 * At the entry of a function the stack pointer points to the return address, both at a
 * breakpoint and in ftrace's call.  Context: the hit.
 */
#define arch_prepare_kretprobe(ri, regs)				\
	arch_prepare_kretprobe_at(ri, (kprobe_opcode_t **)(regs)->sp)

/* The trampoline stores the registers directly below the return address. */
static __always_inline kprobe_opcode_t **kretprobe_return_slot(struct pt_regs *regs)
{
	return (kprobe_opcode_t **)(regs + 1);
}

/* Makes the trampoline return to @correct_ret_addr.  Context: the trampoline. */
#define arch_kretprobe_fixup_return(regs, correct_ret_addr)		\
	(*kretprobe_return_slot(regs) = (correct_ret_addr))

#else /* !CONFIG_KPROBES */

static inline unsigned int kprobe_text_pushed(unsigned long addr)
{
	return 0;
}

/* There are no probes in the text.  A macro, because <linux/uaccess.h> includes too much. */
#define kprobe_copy_text(bytes, addr, len)				\
	copy_from_kernel_nofault(bytes, (void *)(addr), len)

#endif /* CONFIG_KPROBES */
#endif /* _ASM_X86_KPROBES_H */
