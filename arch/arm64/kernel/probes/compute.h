/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carrying out, on saved registers, instructions that only compute. */
#ifndef _ARM64_PROBES_COMPUTE_H
#define _ARM64_PROBES_COMPUTE_H

#include <linux/types.h>

struct pt_regs;

/**
 * enum probe_computation - what probe_compute() knows how to do
 * @COMPUTE_NONE: nothing
 * @COMPUTE_MOVN: movn
 * @COMPUTE_MOVZ: movz
 * @COMPUTE_MOVK: movk
 * @COMPUTE_ADD_SUB_IMM: add, adds, sub, subs of a constant; cmp, cmn
 * @COMPUTE_ADD_SUB_REG: the same of a register that is neither shifted nor extended
 * @COMPUTE_LOGICAL_REG: and, bic, orr, orn, eor, eon, ands, bics of a register that is not
 *	shifted; mov, mvn, tst
 * @COMPUTE_BITFIELD: ubfm, sbfm: shifts by a constant, extracts, extensions
 * @NR_COMPUTATIONS: number of the above
 */
enum probe_computation {
	COMPUTE_NONE,
	COMPUTE_MOVN,
	COMPUTE_MOVZ,
	COMPUTE_MOVK,
	COMPUTE_ADD_SUB_IMM,
	COMPUTE_ADD_SUB_REG,
	COMPUTE_LOGICAL_REG,
	COMPUTE_BITFIELD,
	NR_COMPUTATIONS
};

enum probe_computation probe_computation(u32 insn);
void probe_compute(u32 insn, enum probe_computation computation, struct pt_regs *regs);

#endif /* _ARM64_PROBES_COMPUTE_H */
