/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ASM_X86_JPROBES_H
#define _ASM_X86_JPROBES_H
/*
 * Jprobes on x86: stacks, and arguments on them.
 */
#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/sched/task_stack.h>
#include <asm/processor.h>
#include <asm/ptrace.h>
#include <asm/stacktrace.h>

/* See <linux/kprobes-jprobe.h>.  The arguments follow the return address. */
static __always_inline unsigned long arch_jprobe_arguments(const struct pt_regs *regs)
{
	return regs->sp + sizeof(long);
}

#ifdef CONFIG_X86_64
/* See <linux/kprobes-jprobe.h>. */
static __always_inline unsigned long arch_stack_end(unsigned long addr)
{
	struct stack_info info;

	if (get_stack_info_noinstr((unsigned long *)addr, current, &info))
		return (unsigned long)info.end;
	return addr;
}
#else
/*
 * See <linux/kprobes-jprobe.h>.  32-bit kernels have no noinstr variant of get_stack_info(), but
 * all stacks on which C code runs have the same size.
 */
static __always_inline unsigned long arch_stack_end(unsigned long addr)
{
	unsigned long begin[] = {
		(unsigned long)task_stack_page(current),
		(unsigned long)__this_cpu_read(hardirq_stack_ptr),
		(unsigned long)__this_cpu_read(softirq_stack_ptr),
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(begin); i++) {
		if (addr - begin[i] < THREAD_SIZE)
			return begin[i] + THREAD_SIZE;
	}
	return addr;
}
#endif

#endif /* _ASM_X86_JPROBES_H */
