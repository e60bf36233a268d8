/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decide how a probed instruction of user space is carried out, and write its slot.
 *
 * All functions declared here are pure: the input is bytes and addresses, the output a decision
 * or bytes.  No globals, no allocation, no locks, any context.  The files that implement them
 * build in the kernel, 32 and 64 bit, and on any build host (tools/testing/kprobes).
 */
#ifndef _X86_UPROBES_DECIDE_H
#define _X86_UPROBES_DECIDE_H

#include <linux/types.h>

#include "../kprobes/classify.h"

/* Bytes of a slot, and offset of its second copy; as in <linux/uprobes-arch.h>. */
#define USER_SLOT_SIZE		64
#define USER_SLOT_HELD		32

/**
 * struct user_insn - how a probed instruction of user space is carried out
 * @insn: from the classifier of kprobes; the action is %PROBE_COPY, %PROBE_REBASE or
 *	%PROBE_EMULATE if the instruction is not refused
 * @segment: emulated branch: %INAT_SEG_REG_FS or %INAT_SEG_REG_GS if the operand is in that
 *	segment, else %INAT_SEG_REG_IGNORE
 * @syscall: the copy enters the kernel as a system call
 */
struct user_insn {
	struct probe_insn insn;
	u8 segment;
	bool syscall;
};

int uprobe_decide(const u8 *bytes, size_t avail, enum insn_mode mode, struct user_insn *out);
int uprobe_write_slot(const struct user_insn *user, const u8 *bytes, enum insn_mode mode,
		      u64 vaddr, u64 slot, u8 *out);

/**
 * uprobe_needs_slot() - is an instruction carried out by a copy?
 * @user: from uprobe_decide(), not refused
 *
 * Context: any; pure.
 * Return: true if it is, false if it is emulated.
 */
static inline bool uprobe_needs_slot(const struct user_insn *user)
{
	return user->insn.action != PROBE_EMULATE;
}

#endif /* _X86_UPROBES_DECIDE_H */
