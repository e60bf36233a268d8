/* SPDX-License-Identifier: GPL-2.0-only */
/* Carrying out, on saved registers, instructions that cannot run elsewhere. */
#ifndef _ARM64_PROBES_SIMULATE_H
#define _ARM64_PROBES_SIMULATE_H

#include <linux/types.h>

struct probe_insn;
struct pt_regs;

void probe_simulate(u32 insn, const struct probe_insn *desc, struct pt_regs *regs);

#endif /* _ARM64_PROBES_SIMULATE_H */
