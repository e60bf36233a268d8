/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers of the simulated machine, and the bits of its PSTATE, on any host. */
#ifndef _KPROBES_TEST_ARM64_PTRACE_H
#define _KPROBES_TEST_ARM64_PTRACE_H

#include <linux/types.h>
#include "../../../../../../arch/arm64/include/uapi/asm/ptrace.h"

struct pt_regs {
	u64 regs[31];
	u64 sp;
	u64 pc;
	u64 pstate;
};

#endif /* _KPROBES_TEST_ARM64_PTRACE_H */
