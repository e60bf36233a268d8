/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ARM64_WPROBES_EMULATE_H
#define _ARM64_WPROBES_EMULATE_H

#include <linux/types.h>

struct pt_regs;

/* emulate.c */
bool wprobe_emulate(struct pt_regs *regs, u32 insn, unsigned long addr);

#endif /* _ARM64_WPROBES_EMULATE_H */
