// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls in place of nops: the registers of a task that executes one.
 *
 * Until the system call is made, the nop has not been hit, and the registers can be set back to it;
 * after the system call, they can be set forward to the next instruction. So the addresses in
 * between are never visible: leave.c lists the readers.
 */
#include <linux/pagemap.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>

#include "call.h"

/* Is the instruction at an address of current's text the call in place of a nop? */
static bool is_call_insn(unsigned long ip)
{
	u8 insn[UPROBE_CALL_BYTES - UPROBE_CALL_KEPT];

	return !copy_from_user_nofault(insn, (const void __user *)ip, sizeof(insn)) &&
	       uprobe_call_target(current->mm, insn, ip);
}

/*
 * Takes registers out of a call. @called: the call has pushed its return address. Returns 0 if they
 * are now those at the nop, 1 if those after it; -ENOENT if they are not in a call, or -EFAULT if
 * the stack cannot be read.
 */
static int undo(struct pt_regs *regs, bool *called)
{
	unsigned long ip = instruction_pointer(regs), page = uprobe_call_page(ip);

	*called = page;
	if (page)
		return arch_uprobe_call_undo(regs, ip - page);
	if (!is_call_insn(ip))
		return -ENOENT;
	arch_uprobe_uncall(regs);
	return 0;
}

/* Makes memory present that undo() reads: text, or the stack. */
static void fault_in(struct pt_regs *regs)
{
	unsigned long ip = instruction_pointer(regs);

	fault_in_readable((const void __user *)ip, UPROBE_CALL_BYTES - UPROBE_CALL_KEPT);
	if (uprobe_call_page(ip))
		fault_in_readable((const void __user *)user_stack_pointer(regs), UPROBE_CALL_STACK);
}

/**
 * uprobe_call_ip() - address of a task's next instruction in its own text
 * @regs: user registers of current
 *
 * Context: any, NMI too.
 * Return: the instruction pointer if it is not in a call.
 */
unsigned long uprobe_call_ip(const struct pt_regs *regs)
{
	struct pt_regs undone = *regs;
	bool called;

	undo(&undone, &called);
	return instruction_pointer(&undone);
}

/* Where nothing can fault, a shadow stack cannot be changed. */
static bool can_leave(bool called)
{
	return !called || !arch_uprobe_call_guarded();
}

/**
 * uprobe_call_logical_ip() - address to which uprobe_call_leave() would take a task
 * @regs: user registers of current
 *
 * Context: any, NMI too.
 * Return: the instruction pointer if it is not in a call, or the call cannot be left.
 */
unsigned long uprobe_call_logical_ip(const struct pt_regs *regs)
{
	unsigned long ip = instruction_pointer((struct pt_regs *)regs);
	struct pt_regs undone = *regs;
	bool called;

	if (undo(&undone, &called) < 0 || !can_leave(called))
		return ip;
	return instruction_pointer(&undone);
}

/**
 * uprobe_call_leave() - take current out of a call without a page fault
 * @regs: its user registers
 *
 * Context: task; interrupts on or off.
 * Return: true if the instruction pointer was in a call.
 */
bool uprobe_call_leave(struct pt_regs *regs)
{
	struct pt_regs undone = *regs;
	bool called;
	int ret;

	ret = undo(&undone, &called);
	if (ret >= 0 && can_leave(called))
		*regs = undone;
	return ret != -ENOENT;
}

/**
 * uprobe_call_end() - take current out of a call
 * @regs: its user registers
 * @hit: the nop takes effect: if it has not been hit, its handlers run. Otherwise the registers
 *	are then those at the nop, whose execution is the hit.
 *
 * Context: task, interrupts on, may sleep.
 * Return: true if the task was in a call.
 */
bool uprobe_call_end(struct pt_regs *regs, bool hit)
{
	struct pt_regs undone;
	bool called;
	int ret;

	fault_in(regs);
	undone = *regs;
	ret = undo(&undone, &called);
	if (ret < 0 || (called && arch_uprobe_call_pop()))
		return false;
	*regs = undone;
	if (hit && !ret)
		uprobe_call_hit(regs);
	return true;
}
