// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: accesses of user mode to watched data of a process.
 *
 * The kernel disables the watchpoints of user mode, and steps the instruction.  Exclusive accesses
 * cannot be stepped, see exclusive.c.  They are counted as missed, and the watchpoints are paused.
 */
#include <linux/uaccess.h>
#include <linux/wprobes.h>
#include <linux/wprobes-arch.h>
#include <asm/ptrace.h>

#include "exclusive.h"

/* Is it an exclusive access?  In text that cannot be read, any may be. */
static bool is_exclusive_access(struct pt_regs *regs)
{
	const void __user *text = (const void __user *)instruction_pointer(regs);
	__le32 insn;

	/* An exclusive access that was stepped would never succeed. */
	return copy_from_user_nofault(&insn, text, sizeof(insn)) ||
	       is_exclusive(le32_to_cpu(insn));
}

/**
 * wprobe_user_watchpoint() - an instruction is about to access watched data of a process
 * @wp: the event of the watchpoint
 * @regs: registers at the exception
 *
 * Context: do_watchpoint().
 * Return: 1 if the access is a hit, and has to be stepped; 0 if it is missed.
 */
int wprobe_user_watchpoint(struct perf_event *wp, struct pt_regs *regs)
{
	/* The kernel makes no exclusive accesses as user mode. */
	if (!user_mode(regs) || likely(!is_exclusive_access(regs)))
		return 1;
	wprobe_user_missed(wp);
	hw_breakpoint_pause_user_watches();
	wprobe_resume_later();
	return 0;
}
