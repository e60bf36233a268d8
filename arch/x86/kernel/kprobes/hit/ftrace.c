// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: ftrace's callback for probes on the call that ftrace owns at the entry of a function.
 */
#include <linux/ftrace.h>
#include <linux/kprobes.h>

/**
 * kprobe_ftrace_handler() - ftrace's callback for probed functions
 * @ip: address of ftrace's instruction
 * @parent_ip: address in the caller of the function
 * @ops: the one of the core's two ftrace_ops whose callback this is
 * @fregs: registers; all are saved, because both ftrace_ops have FTRACE_OPS_FL_SAVE_REGS
 *
 * Context: any context of a traced function; preemption may be enabled.
 */
void kprobe_ftrace_handler(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	/* ftrace cannot remove its calls any more, but disarmed probes must not fire. */
	if (likely(!kprobe_ftrace_disabled))
		kprobe_ftrace_hit(ip, &arch_ftrace_regs(fregs)->regs);
}
NOKPROBE_SYMBOL(kprobe_ftrace_handler);
