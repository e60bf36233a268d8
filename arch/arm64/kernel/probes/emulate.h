/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Emulate instructions on saved registers. */
#ifndef _ARM64_PROBES_EMULATE_H
#define _ARM64_PROBES_EMULATE_H

#include <linux/types.h>

struct probe_insn;
struct pt_regs;

/* @insn: the instruction; @regs: registers before it; on return, registers after it. */
typedef void (*probe_emulate_fn)(u32 insn, struct pt_regs *regs);

probe_emulate_fn probe_emulator(u32 insn, const struct probe_insn *desc);
void probe_emulate(u32 insn, const struct probe_insn *desc, struct pt_regs *regs);

#endif /* _ARM64_PROBES_EMULATE_H */
