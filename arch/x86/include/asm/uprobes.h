/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ASM_X86_UPROBES_H
#define _ASM_X86_UPROBES_H
/*
 * Uprobes on x86: definitions for the engine; <linux/uprobes-arch.h> has the contract.
 */
#include <linux/types.h>

typedef u8 uprobe_opcode_t;

#define UPROBE_SWBP_INSN	0xcc
#define UPROBE_SWBP_INSN_SIZE	1
#define MAX_UINSN_BYTES		16

/* A nop that a call can replace, and the offset of its bytes that stay those of the call. */
#define UPROBE_CALL_BYTES	10
#define UPROBE_CALL_KEPT	5

/* 64-bit kernels also have processes with 32-bit code. */
#ifdef CONFIG_X86_64
#define UPROBE_MODES		2
#else
#define UPROBE_MODES		1
#endif

struct pt_regs;
struct uprobe_fault;

void arch_uprobe_set_fault(const struct uprobe_fault *fault);
#define arch_uprobe_set_fault	arch_uprobe_set_fault

/**
 * struct arch_uprobe - decision about an instruction in one mode
 * @insn: the original bytes
 * @len: length of the instruction
 * @mode: enum insn_mode
 * @emulator: index of the function that emulates it, if it can be emulated
 * @base: if it is a call whose memory operand has only a base and a displacement, one more than the
 *	offset of the base in struct pt_regs; else 0
 * @desc: struct user_insn of the backend
 */
struct arch_uprobe {
	u8 insn[MAX_UINSN_BYTES];
	u8 len;
	u8 mode;
	u8 emulator;
	u8 base;
	u8 desc[20] __aligned(4);
};

#define arch_uprobe_insn_len(arch)	((arch)->len)

/* Offset in the trampoline's page of the breakpoint to which 32-bit functions return. */
#define URETPROBE_TRAP_OFFSET	32

#ifdef CONFIG_X86_64
#define arch_uretprobe_entry(trampoline, mode) \
	((trampoline) + ((mode) ? URETPROBE_TRAP_OFFSET : 0))

bool arch_uretprobe_called(unsigned long offset);
#define arch_uretprobe_called arch_uretprobe_called
#endif

#ifdef CONFIG_UPROBES
bool is_uprobe_at_func_entry(struct pt_regs *regs);
#else
static inline bool is_uprobe_at_func_entry(struct pt_regs *regs)
{
	return false;
}
#endif

#endif /* _ASM_X86_UPROBES_H */
