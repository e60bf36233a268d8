/* SPDX-License-Identifier: GPL-2.0-only */
/* Carrying out, on saved registers, instructions that cannot run elsewhere. */
#ifndef _ARM64_PROBES_SIMULATE_H
#define _ARM64_PROBES_SIMULATE_H

#include <linux/types.h>

struct probe_insn;
struct pt_regs;

/* @insn: the instruction; @regs: registers at it, and on return behind it. */
typedef void (*probe_simulate_fn)(u32 insn, struct pt_regs *regs);

probe_simulate_fn probe_simulator(const struct probe_insn *desc);
void probe_simulate(u32 insn, const struct probe_insn *desc, struct pt_regs *regs);

#endif /* _ARM64_PROBES_SIMULATE_H */
