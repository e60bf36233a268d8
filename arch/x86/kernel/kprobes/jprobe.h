/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _X86_KERNEL_KPROBES_JPROBE_H
#define _X86_KERNEL_KPROBES_JPROBE_H
/*
 * What jprobe.c shares with jprobe_32.S and jprobe_64.S.
 */

/* Of the arguments on the stack so many are copied: 64 bytes on i386. */
#define JPROBE_STACK_WORDS	16

#ifndef __ASSEMBLY__
asmlinkage void jprobe_call_handler(void *handler, struct pt_regs *regs,
				    unsigned long words, unsigned long *frame);
asmlinkage unsigned long jprobe_this_frame(unsigned long sp);
#endif

#endif /* _X86_KERNEL_KPROBES_JPROBE_H */
