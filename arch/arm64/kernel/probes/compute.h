/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carrying out, on saved registers, instructions that only compute. */
#ifndef _ARM64_PROBES_COMPUTE_H
#define _ARM64_PROBES_COMPUTE_H

#include <linux/types.h>

struct pt_regs;

/* @insn: the instruction; @regs: registers at it, and on return behind it. */
typedef void (*probe_compute_fn)(u32 insn, struct pt_regs *regs);

probe_compute_fn probe_computer(u32 insn);

#endif /* _ARM64_PROBES_COMPUTE_H */
