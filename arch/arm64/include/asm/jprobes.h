/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ASM_ARM64_JPROBES_H
#define _ASM_ARM64_JPROBES_H
/*
 * Jprobes on arm64: stacks, and arguments on them.
 */
#include <linux/compiler.h>
#include <asm/ptrace.h>
#include <asm/stacktrace.h>

/* See <linux/kprobes-jprobe.h>.  No return address precedes them: it is in a register. */
static __always_inline unsigned long arch_jprobe_arguments(const struct pt_regs *regs)
{
	return regs->sp;
}

/* See <linux/kprobes-jprobe.h>.  Handles the stack of the task and that of interrupts. */
static __always_inline unsigned long arch_stack_end(unsigned long addr)
{
	struct stack_info task = stackinfo_get_task(current), irq = stackinfo_get_irq();

	if (stackinfo_on_stack(&task, addr, 1))
		return task.high;
	return stackinfo_on_stack(&irq, addr, 1) ? irq.high : addr;
}

#endif /* _ASM_ARM64_JPROBES_H */
