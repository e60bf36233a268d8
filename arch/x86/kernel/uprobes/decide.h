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
 * uprobe_is_copied_branch() - is an instruction a branch that a slot can have?
 * @user: from uprobe_decide(), not refused
 *
 * The emulator knows all branches, too.
 *
 * Context: any; pure.
 * Return: false for branches that push the address of the next instruction, and for those that
 * have only a short displacement.
 */
static inline bool uprobe_is_copied_branch(const struct user_insn *user)
{
	switch (user->insn.emul) {
	case EMUL_JMP:
	case EMUL_JCC:
	case EMUL_RET:
	case EMUL_JMP_INDIRECT:
		return true;
	default:
		return false;
	}
}

/**
 * uprobe_has_copy() - can a slot carry out an instruction?
 * @user: from uprobe_decide(), not refused
 *
 * Context: any; pure.
 * Return: true if it can, false if the instruction is emulated.
 */
static inline bool uprobe_has_copy(const struct user_insn *user)
{
	return user->insn.action != PROBE_EMULATE || uprobe_is_copied_branch(user);
}

/**
 * uprobe_emulator() - index of the function that emulates an instruction
 * @mode: mode in which it runs
 * @emul: its operation
 *
 * Those of 64-bit mode come after the others.
 *
 * Context: any; pure.
 */
static inline u8 uprobe_emulator(enum insn_mode mode, enum probe_emul emul)
{
	return emul + (mode == INSN_MODE_64 ? NR_EMUL : 0);
}

#endif /* _X86_UPROBES_DECIDE_H */
