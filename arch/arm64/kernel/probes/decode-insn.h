/* SPDX-License-Identifier: GPL-2.0-only */
/* The classifier's verdicts on instructions of user space, for uprobes. */
#ifndef _ARM64_PROBES_DECODE_INSN_H
#define _ARM64_PROBES_DECODE_INSN_H

#include <asm/probes.h>

/**
 * enum arm_probe_verdict - how a probed instruction of user space is carried out
 * @INSN_REJECTED: it cannot be probed
 * @INSN_GOOD_NO_SLOT: &arch_probe_insn.handler emulates it
 * @INSN_GOOD_BRANCH: likewise; or a copy of it takes effect, which continues at its target
 * @INSN_GOOD_CALL: likewise, if the task has no guarded control stack
 * @INSN_GOOD: a copy of it takes effect
 * @INSN_GOOD_SYSCALL: likewise, and the kernel is entered after the copy
 */
enum arm_probe_verdict {
	INSN_REJECTED,
	INSN_GOOD_NO_SLOT,
	INSN_GOOD_BRANCH,
	INSN_GOOD_CALL,
	INSN_GOOD,
	INSN_GOOD_SYSCALL,
};

enum arm_probe_verdict arm_probe_decode_insn(probe_opcode_t insn, struct arch_probe_insn *asi);

/* uprobe-literal.c */
void uprobe_load_literal(u32 opcode, long addr, struct pt_regs *regs);

#endif /* _ARM64_PROBES_DECODE_INSN_H */
