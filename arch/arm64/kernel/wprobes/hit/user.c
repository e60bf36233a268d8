// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: accesses of user mode to watched data of a process.
 *
 * The kernel disables the watchpoints of user mode, and steps the instruction.  Exclusive accesses
 * cannot be stepped, see exclusive.c.  They are counted as missed, and the watchpoints are paused.
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/uaccess.h>
#include <linux/wprobes.h>
#include <linux/wprobes-arch.h>
#include <asm/esr.h>
#include <asm/ptrace.h>

#include "access.h"
#include "exclusive.h"

/* Reads the instruction that makes the access.  Return: true, or false if it cannot be read. */
static bool read_insn(const struct pt_regs *regs, u32 *insn)
{
	unsigned long state;
	__le32 text;
	long err;

	if (user_mode(regs)) {
		state = arch_wprobe_user_read_begin();
		err = copy_from_user_nofault(&text, (const void __user *)regs->pc, sizeof(text));
		arch_wprobe_user_read_end(state);
	} else {
		err = copy_from_kernel_nofault(&text, (const void *)regs->pc, sizeof(text));
	}
	*insn = le32_to_cpu(text);
	return !err;
}

/* Is it an exclusive access?  Also true if the text cannot be read, so the answer is not known. */
static bool is_exclusive_access(struct pt_regs *regs)
{
	u32 insn;

	/* An exclusive access that was stepped would never succeed. */
	return !read_insn(regs, &insn) || is_exclusive(insn);
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
	/*
	 * The kernel makes no exclusive accesses as user mode.  Those of futex operations are made
	 * as the kernel, and no register of a process matches them.
	 */
	if (!user_mode(regs) || likely(!is_exclusive_access(regs)))
		return 1;
	wprobe_user_missed(wp);
	hw_breakpoint_pause_user_watches();
	wprobe_resume_later();
	return 0;
}

/**
 * wprobe_user_concerns() - does an access concern a watchpoint that was not reported?
 * @wp: the event of a watchpoint
 * @addr: the reported address
 * @esr: syndrome of the exception
 * @regs: registers at the exception
 *
 * The exception reports one address, but the instruction may access more.  For an instruction that
 * reads and writes, it reports a read if another register watches for reads.  If the accessed bytes
 * are not known, only the reported address is compared.
 *
 * Context: do_watchpoint().
 */
bool wprobe_user_concerns(const struct perf_event *wp, unsigned long addr, unsigned long esr,
			  struct pt_regs *regs)
{
	const struct perf_event_attr *attr = &wp->attr;
	struct accessed accessed;
	u32 insn;

	if (!read_insn(regs, &insn))
		return false;
	accessed = find_accessed(regs, insn, addr);
	if (accessed.size == ACCESS_UNKNOWN)
		accessed.size = 1;
	if (accessed.start >= attr->bp_addr + attr->bp_len ||
	    accessed.start + accessed.size <= attr->bp_addr)
		return false;
	if (attr->bp_type & HW_BREAKPOINT_W && (esr & ESR_ELx_WNR || reads_and_writes(insn)))
		return true;
	return attr->bp_type & HW_BREAKPOINT_R && !(esr & ESR_ELx_WNR);
}
