/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ASM_X86_UPROBES_CALL_H
#define _ASM_X86_UPROBES_CALL_H
/*
 * The registers of a task that makes the system call of the call page: inline in that system call,
 * their only user.  See arch/x86/kernel/uprobes/call.c for the page.
 */
#include <linux/errno.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <asm/uprobes-shadow.h>

/* Offset in the call page of the instruction after the system call. */
#define UPROBE_CALL_MADE	11

/* Bytes below the stack pointer that are the program's. */
#define UPROBE_RED_ZONE		128

/* The words that are on the stack at the system call, in the order of addresses. */
enum {
	UPROBE_WORD_R11,
	UPROBE_WORD_CX,
	UPROBE_WORD_AX,
	UPROBE_WORD_RETURN,
	UPROBE_NR_WORDS,
};

/* Distance of the stack pointer at the system call from that at the nop. */
#define UPROBE_CALL_STACK_SIZE	(UPROBE_NR_WORDS * sizeof(long) + UPROBE_RED_ZONE)

/**
 * struct arch_uprobe_call - a call that has made its system call
 * @stack: the words on the stack
 * @sp: the stack pointer at the nop
 * @ip: address of the instruction after the system call
 */
struct arch_uprobe_call {
	unsigned long stack[UPROBE_NR_WORDS];
	unsigned long sp;
	unsigned long ip;
};

/* Reads the words that are on the stack at the system call.  Returns 0 or -EFAULT. */
static __always_inline int uprobe_read_call(struct arch_uprobe_call *call,
					    const unsigned long __user *stack)
{
	scoped_user_read_access_size(stack, sizeof(call->stack), fault) {
		unsafe_get_user(call->stack[UPROBE_WORD_R11], &stack[UPROBE_WORD_R11], fault);
		unsafe_get_user(call->stack[UPROBE_WORD_CX], &stack[UPROBE_WORD_CX], fault);
		unsafe_get_user(call->stack[UPROBE_WORD_AX], &stack[UPROBE_WORD_AX], fault);
		unsafe_get_user(call->stack[UPROBE_WORD_RETURN], &stack[UPROBE_WORD_RETURN], fault);
	}
	return 0;
fault:
	return -EFAULT;
}

/* Pops the return address, which must be the one on the stack.  Returns 0 or -EFAULT. */
static __always_inline int uprobe_pop_call(unsigned long address)
{
	u64 popped;

	return uprobe_shadow_pop(&popped) || popped != address ? -EFAULT : 0;
}

/**
 * arch_uprobe_call_begin() - set registers back from the system call to the nop
 * @regs: user registers of current
 * @call: filled
 *
 * Context: task, may sleep and fault.
 * Return: 0, or -EFAULT if the stack cannot be read, or the shadow stack differs from it.
 */
static __always_inline int arch_uprobe_call_begin(struct pt_regs *regs,
						  struct arch_uprobe_call *call)
{
	call->sp = regs->sp + UPROBE_CALL_STACK_SIZE;
	call->ip = regs->ip;
	if (uprobe_read_call(call, (const unsigned long __user *)regs->sp))
		return -EFAULT;
	if (uprobe_has_shadow() && uprobe_pop_call(call->stack[UPROBE_WORD_RETURN]))
		return -EFAULT;
	regs->r11 = call->stack[UPROBE_WORD_R11];
	regs->cx = call->stack[UPROBE_WORD_CX];
	regs->ax = call->stack[UPROBE_WORD_AX];
	regs->sp = call->sp;
	regs->ip = call->stack[UPROBE_WORD_RETURN] - UPROBE_CALL_BYTES;
	/* No system call is to be restarted. */
	regs->orig_ax = -1;
	return 0;
}

/**
 * arch_uprobe_call_finish() - set registers from the nop to those with which the task continues
 * @regs: user registers of current, as handlers have left them; the instruction pointer is that of
 *	the nop
 * @call: filled by arch_uprobe_call_begin()
 *
 * If handlers have changed none of the registers that the end of the page restores, the task
 * continues there, by sysret. Otherwise it continues after the nop, by iret; also with a shadow
 * stack, which has no address any more for the return.
 *
 * Context: task.
 */
static __always_inline void arch_uprobe_call_finish(struct pt_regs *regs,
						    const struct arch_uprobe_call *call)
{
	if (uprobe_has_shadow() || regs->sp != call->sp ||
	    regs->ax != call->stack[UPROBE_WORD_AX] ||
	    regs->cx != call->stack[UPROBE_WORD_CX] ||
	    regs->r11 != call->stack[UPROBE_WORD_R11]) {
		regs->ip = call->stack[UPROBE_WORD_RETURN];
		return;
	}
	regs->sp -= UPROBE_CALL_STACK_SIZE;
	regs->ip = call->ip;
	/* The exit code compares them with ip and flags. */
	regs->cx = call->ip;
	regs->r11 = regs->flags;
}

#endif /* _ASM_X86_UPROBES_CALL_H */
