/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_JPROBE_H
#define _LINUX_KPROBES_JPROBE_H
/*
 * HAVE_JPROBES: what the core and the architecture's assembly know of jprobes.
 *
 * The architecture selects HAVE_KPROBE_LEVELS too, and <asm/jprobes.h> has, inline, for
 * any place where no probe may be hit
 *
 *	arch_jprobe_arguments(regs)	where the arguments are, at a function's entry,
 *					that do not fit into registers
 *	arch_stack_end(addr)		where the stack ends that @addr is on; @addr if
 *					that is not known; preemption is disabled
 */

/* How many words of them a handler sees. */
#define JPROBE_STACK_WORDS	16

#ifndef __ASSEMBLY__
#include <linux/linkage.h>

struct pt_regs;

/*
 * In assembly: calls @handler with the registers of @regs, and with a copy of that many
 * @words of its arguments on the stack, where there is room for JPROBE_STACK_WORDS.
 * Keeps its frame pointer in *@frame meanwhile, and leaves 0 there.  A jprobe_return() in
 * the handler goes on where that returns, with the frame that jprobe_this_frame() finds.
 */
asmlinkage void jprobe_call_handler(void *handler, struct pt_regs *regs,
				    unsigned long words, unsigned long *frame);
asmlinkage unsigned long jprobe_this_frame(unsigned long sp);
#endif

#endif /* _LINUX_KPROBES_JPROBE_H */
