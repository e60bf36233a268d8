/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _X86_KERNEL_UPROBES_COMMON_H
#define _X86_KERNEL_UPROBES_COMMON_H
/*
 * Declarations that the files of the x86 backend of uprobes share.
 */
#include <linux/ptrace.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>

#include "decide.h"

static inline const struct user_insn *uprobe_desc(const struct arch_uprobe *arch)
{
	return (const struct user_insn *)arch->desc;
}

/* The decoder's mode for arch_uprobe_mode(). */
static inline enum insn_mode uprobe_insn_mode(unsigned int mode)
{
	return IS_ENABLED(CONFIG_X86_64) && !mode ? INSN_MODE_64 : INSN_MODE_32;
}

/* Bytes of an address on the user's stack. */
static inline unsigned int user_word(struct pt_regs *regs)
{
	return user_64bit_mode(regs) ? 8 : 4;
}

/* Reads an address from the user's memory.  Return: 0 or -EFAULT.  Context: may fault. */
static inline int read_user_word(unsigned int width, unsigned long addr, unsigned long *value)
{
	u32 narrow;

	if (width == sizeof(*value))
		return get_user(*value, (unsigned long __user *)addr);
	if (get_user(narrow, (u32 __user *)addr))
		return -EFAULT;
	*value = narrow;
	return 0;
}

/* Writes an address to the user's memory.  Return: 0 or -EFAULT.  Context: may fault. */
static inline int write_user_word(unsigned int width, unsigned long addr, unsigned long value)
{
	if (width == sizeof(value))
		return put_user(value, (unsigned long __user *)addr);
	return put_user((u32)value, (u32 __user *)addr);
}

#endif /* _X86_KERNEL_UPROBES_COMMON_H */
