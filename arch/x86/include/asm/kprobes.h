/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ASM_X86_KPROBES_H
#define _ASM_X86_KPROBES_H
/*
 * Kprobes on x86: what the core and the trap code need to know.
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

/* The longest instruction and a jump back. */
#define KPROBE_SLOT_SIZE	20

/* What a breakpoint in kernel code adds to kprobe_preempt_count(): see exc_int3(). */
#define KPROBE_TRAP_PREEMPT_COUNT	(NMI_OFFSET + HARDIRQ_OFFSET)

/* Behind a breakpoint, which is what handlers see in any case. */
#define kprobe_hit_ip(kp)	((unsigned long)(kp)->addr + 1)

/* Room of a detour, in instruction units, and what a jump to it covers. */
#define MAX_OPTINSN_SIZE	64
#define MAX_OPTIMIZED_LENGTH	5

extern const int kretprobe_blacklist_size;

/**
 * struct arch_specific_insn - how a probed instruction is carried out
 * @insn:	slot: its copy, then a jump back (the instruction is boosted);
 *		NULL if it is emulated or ftrace's
 * @step:	slot: its copy, then a breakpoint, for post handlers; NULL until
 *		the first of those comes
 * @resume:	where a hit goes on if its handlers leave it alone: @insn, or a copy in
 *		the detour; NULL if there is more to do, emulation or post handlers
 * @desc:	struct probe_insn of the backend
 */
struct arch_specific_insn {
	kprobe_opcode_t *insn;
	kprobe_opcode_t *step;
	kprobe_opcode_t *resume;
	u8 desc[16] __aligned(4);
};

/**
 * struct arch_optimized_insn - a point's detour
 * @insn:	where it runs; NULL if there is none
 * @tail:	the text behind the breakpoint that the jump covers
 * @len:	of the region that is copied
 * @nr:		how many instructions that are
 * @original:	where each but the first begins, from the probed address
 * @copy:	where their copies begin, from that of the first
 * @end:	where nothing is left to be executed of them, likewise
 */
struct arch_optimized_insn {
	kprobe_opcode_t *insn;
	u8 tail[4];
	u8 original[4];
	u8 copy[4];
	u8 end;
	u8 len : 5;
	u8 nr : 3;
};

/* See <linux/kprobes-optimize.h>. */
#define arch_jump_is_one_insn(op)	((op)->optinsn.nr == 1)

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

/* A page fault unmasks by itself what its registers say, when it has asked the probes. */
static inline void arch_unmask_fault(struct pt_regs *regs) { }

unsigned int kprobe_text_pushed(unsigned long addr);
int kprobe_copy_text(void *bytes, unsigned long addr, size_t len);
int kprobe_int3_handler(struct pt_regs *regs);

/* Lets a call whose return address is at @slot return to the trampoline. */
#define arch_prepare_kretprobe_at(ri, slot)				\
do {									\
	kprobe_opcode_t **__slot = (slot);				\
									\
	(ri)->fp = __slot;						\
	(ri)->ret_addr = *__slot;					\
	*__slot = (kprobe_opcode_t *)__kretprobe_trampoline;		\
} while (0)

/*
 * At a function's entry, be it a breakpoint's or ftrace's, the stack pointer points to
 * the return address.  Context: the hit.
 */
#define arch_prepare_kretprobe(ri, regs)				\
	arch_prepare_kretprobe_at(ri, (kprobe_opcode_t **)(regs)->sp)

/* The trampoline builds the registers right below the place of the return address. */
static __always_inline kprobe_opcode_t **kretprobe_return_slot(struct pt_regs *regs)
{
	return (kprobe_opcode_t **)(regs + 1);
}

/* Lets the trampoline return to the caller.  Context: the trampoline. */
#define arch_kretprobe_fixup_return(regs, correct_ret_addr)		\
	(*kretprobe_return_slot(regs) = (correct_ret_addr))

#else /* !CONFIG_KPROBES */

static inline unsigned int kprobe_text_pushed(unsigned long addr)
{
	return 0;
}

/* Text is as it was built.  A macro, because <linux/uaccess.h> includes too much. */
#define kprobe_copy_text(bytes, addr, len)				\
	copy_from_kernel_nofault(bytes, (void *)(addr), len)

#endif /* CONFIG_KPROBES */
#endif /* _ASM_X86_KPROBES_H */
