/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_JPROBE_H
#define _LINUX_KPROBES_JPROBE_H
/*
 * HAVE_JPROBES: interface between the core and the architecture's assembly for jprobes.
 *
 * The architecture selects HAVE_KPROBE_LEVELS too.  Its <asm/jprobes.h> has two functions,
 * always inlined because they are used where no probe may be hit:
 *
 *	arch_jprobe_arguments(regs)	returns, at a function's entry, the address of the
 *					arguments that do not fit into registers
 *	arch_stack_end(addr)		returns the end of the stack that contains @addr, or
 *					@addr if it is on no known stack; called with
 *					preemption disabled
 */

/* Number of words of stack arguments that a handler gets. */
#define JPROBE_STACK_WORDS	16

#ifndef __ASSEMBLY__
#include <linux/linkage.h>

struct pt_regs;

/*
 * In assembly: calls @handler with the argument registers of @regs, and with a copy of the
 * first @words words of the arguments on the stack, in an area of JPROBE_STACK_WORDS words.
 * *@frame is its frame pointer while the handler runs, and 0 afterwards.  A jprobe_return()
 * in the handler continues where the handler returns to, with the frame from
 * jprobe_this_frame().
 */
asmlinkage void jprobe_call_handler(void *handler, struct pt_regs *regs,
				    unsigned long words, unsigned long *frame);
asmlinkage unsigned long jprobe_this_frame(unsigned long sp);
#endif

#endif /* _LINUX_KPROBES_JPROBE_H */
