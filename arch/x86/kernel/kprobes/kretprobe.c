// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: return probes.
 *
 * At a function's entry the return address is what the stack pointer points to;
 * it is replaced by that of the trampoline (trampoline_32.S, trampoline_64.S).
 * The function's return jumps there, and what the trampoline builds on the stack
 * are the registers at the return, right below the place of the return address:
 * where that stood tells one call from another.
 */
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>

#include "common.h"

/* __switch_to() leaves on another stack than the one it was entered on. */
struct kretprobe_blackpoint kretprobe_blacklist[] = {
	{ .name = "__switch_to" },
	{ }
};

const int kretprobe_blacklist_size = ARRAY_SIZE(kretprobe_blacklist);

/**
 * arch_prepare_kretprobe() - let a call return to the trampoline
 * @ri: gets the return address
 * @regs: registers at the function's entry; the same from a breakpoint and ftrace
 *
 * Context: the hit, preemption disabled.
 */
void arch_prepare_kretprobe(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	kprobe_opcode_t **slot = (kprobe_opcode_t **)regs->sp;

	ri->fp = slot;
	ri->ret_addr = *slot;
	*slot = (kprobe_opcode_t *)__kretprobe_trampoline;
}
NOKPROBE_SYMBOL(arch_prepare_kretprobe);

/**
 * kretprobe_trampoline_callback() - the part of the trampoline that is in C
 * @regs: registers at the return, built by the trampoline
 *
 * Interrupts are as they were; a return is no trap.
 */
__visible void kretprobe_trampoline_callback(struct pt_regs *regs)
{
	preempt_disable_notrace();
	__kretprobe_trampoline_handler(regs, kretprobe_return_slot(regs));
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(kretprobe_trampoline_callback);
