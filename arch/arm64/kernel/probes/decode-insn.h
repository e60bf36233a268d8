/* SPDX-License-Identifier: GPL-2.0-only */
/* What uprobes ask about an instruction of user space. */
#ifndef _ARM64_PROBES_DECODE_INSN_H
#define _ARM64_PROBES_DECODE_INSN_H

#include <asm/probes.h>

/**
 * enum arm_probe_verdict - what can be done with an instruction of user space
 * @INSN_REJECTED: no uprobe can sit on it
 * @INSN_GOOD_NO_SLOT: &arch_probe_insn.handler carries it out
 * @INSN_GOOD: a copy of it can be stepped
 */
enum arm_probe_verdict {
	INSN_REJECTED,
	INSN_GOOD_NO_SLOT,
	INSN_GOOD,
};

enum arm_probe_verdict arm_probe_decode_insn(probe_opcode_t insn, struct arch_probe_insn *asi);

#endif /* _ARM64_PROBES_DECODE_INSN_H */
