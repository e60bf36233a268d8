/* SPDX-License-Identifier: GPL-2.0-only */
/* Types that kprobes and uprobes share. */
#ifndef _ASM_ARM64_PROBES_H
#define _ASM_ARM64_PROBES_H

#include <linux/types.h>

struct pt_regs;

/* An instruction in the byte order of the CPU, which can differ from that of the text. */
typedef u32 probe_opcode_t;

/* Emulates the instruction @opcode at @addr, which is also regs->pc, and sets the new regs->pc. */
typedef void (probes_handler_t)(u32 opcode, long addr, struct pt_regs *regs);

/**
 * struct arch_probe_insn - a uprobe's information about its instruction
 * @handler: emulates the instruction if no copy is executed; else unused
 * @emulate: likewise, for a task without a guarded control stack; leaves BTYPE as it is.  NULL if
 *	@handler has to be called in every task
 * @btype: BTYPE after the instruction, if there is @emulate
 */
struct arch_probe_insn {
	probes_handler_t *handler;
	void (*emulate)(u32 insn, struct pt_regs *regs);
	u64 btype;
};

#endif /* _ASM_ARM64_PROBES_H */
