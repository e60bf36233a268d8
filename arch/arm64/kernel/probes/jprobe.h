/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ARM64_PROBES_JPROBE_H
#define _ARM64_PROBES_JPROBE_H

/* How much of the caller's stack a handler sees: what does not fit into registers. */
#define JPROBE_STACK_WORDS	16

#ifndef __ASSEMBLY__
#include <linux/linkage.h>

struct pt_regs;

asmlinkage void jprobe_call_handler(void *handler, struct pt_regs *regs,
				    unsigned long words, unsigned long *frame);
asmlinkage unsigned long jprobe_this_frame(unsigned long sp);
#endif

#endif /* _ARM64_PROBES_JPROBE_H */
