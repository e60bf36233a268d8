/* SPDX-License-Identifier: GPL-2.0-only */
/* Types that kprobes and uprobes share. */
#ifndef _ASM_ARM64_PROBES_H
#define _ASM_ARM64_PROBES_H

#include <linux/types.h>

struct pt_regs;

/* An instruction in the byte order of the CPU, which need not be that of text. */
typedef u32 probe_opcode_t;

/* Carries out an instruction; its address is regs->pc too, which it moves on. */
typedef void (probes_handler_t)(u32 opcode, long addr, struct pt_regs *regs);

/**
 * struct arch_probe_insn - what a uprobe keeps about its instruction
 * @handler: carries it out, if it cannot be stepped; else unused
 */
struct arch_probe_insn {
	probes_handler_t *handler;
};

#endif /* _ASM_ARM64_PROBES_H */
