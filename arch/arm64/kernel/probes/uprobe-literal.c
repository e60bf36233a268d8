// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads of literals that have a uprobe are emulated, from the user's memory. A copy would have the
 * literal's address in the register that it loads, and a signal could show that.
 */
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <asm/ptrace.h>

#include "decode-insn.h"
#include "fields.h"

/* To the next instruction. arch_uprobe_emulate() ends the step of a debugger. */
static void advance(struct pt_regs *regs)
{
	regs->pc += A64_LEN;
	regs->pstate &= ~(u64)PSR_BTYPE_MASK;
}

/* Loads a literal of @size bytes.  A fault has no effect on registers. */
static bool get_literal(unsigned long literal, unsigned int size, u64 *value)
{
	u32 word;

	if (size == sizeof(*value))
		return !get_user(*value, (u64 __user *)literal);
	if (get_user(word, (u32 __user *)literal))
		return false;
	*value = word;
	return true;
}

/*
 * Loads without comparing tags of memory, as the load of the program, whose address depends on the
 * ip.  A page that is not there is loaded by uprobe_emulate_faulting(): the flag that ignores tags
 * must not be set when the task sleeps.
 */
static bool load_user(unsigned long literal, unsigned int size, u64 *value)
{
	bool done;

	pagefault_disable();
	if (system_supports_mte())
		asm volatile(SET_PSTATE_TCO(1));
	done = get_literal(literal, size, value);
	if (system_supports_mte())
		asm volatile(SET_PSTATE_TCO(0));
	pagefault_enable();
	return done;
}

/**
 * uprobe_load_literal() - emulate ldr or ldrsw of a literal into a general register
 * @opcode: the instruction
 * @addr: its address
 * @regs: user registers
 *
 * If the literal cannot be read, the fault is in &uprobe_task.fault.
 *
 * Context: a hit.
 */
void uprobe_load_literal(u32 opcode, long addr, struct pt_regs *regs)
{
	unsigned long literal = a64_target19(opcode, addr);
	bool is_signed = a64_literal_is_signed(opcode);
	unsigned int size = !is_signed && a64_literal_is_64(opcode) ? 8 : 4;
	u32 reg = a64_reg0(opcode);
	u64 value;

	if (!load_user(literal, size, &value)) {
		current->utask->fault = (struct uprobe_fault) { .addr = literal, .len = size };
		return;
	}
	if (reg != A64_ZR)
		regs->regs[reg] = is_signed ? (u64)(s32)value : value;
	advance(regs);
}
