/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TEST_ARM64_TRAPS_H
#define _KPROBES_TEST_ARM64_TRAPS_H

#include <asm/ptrace.h>

static inline void arm64_skip_faulting_instruction(struct pt_regs *regs, unsigned long size)
{
	regs->pc += size;
	regs->pstate &= ~(u64)PSR_BTYPE_MASK;
}

#endif /* _KPROBES_TEST_ARM64_TRAPS_H */
