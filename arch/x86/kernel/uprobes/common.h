/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _X86_KERNEL_UPROBES_COMMON_H
#define _X86_KERNEL_UPROBES_COMMON_H
/*
 * Declarations that the files of the x86 backend of uprobes share.
 */
#include <linux/ptrace.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <asm/uprobes-shadow.h>

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

/* emulate.c */
void uprobe_set_call_base(struct arch_uprobe *arch);

/* Reads an address from the user's memory.  Return: 0 or -EFAULT.  Context: may fault. */
static __always_inline int read_user_word(unsigned int width, unsigned long addr,
					  unsigned long *value)
{
	unsigned long __user *word = (unsigned long __user *)addr;
	u32 __user *half = (u32 __user *)addr;
	u32 narrow;

	if (width == sizeof(*value)) {
		scoped_user_read_access(word, fault)
			unsafe_get_user(*value, word, fault);
		return 0;
	}
	scoped_user_read_access(half, fault)
		unsafe_get_user(narrow, half, fault);
	*value = narrow;
	return 0;
fault:
	return -EFAULT;
}

/* Writes an address to the user's memory.  Return: 0 or -EFAULT.  Context: may fault. */
static __always_inline int write_user_word(unsigned int width, unsigned long addr,
					   unsigned long value)
{
	unsigned long __user *word = (unsigned long __user *)addr;
	u32 __user *half = (u32 __user *)addr;

	if (width == sizeof(value)) {
		scoped_user_write_access(word, fault)
			unsafe_put_user(value, word, fault);
		return 0;
	}
	scoped_user_write_access(half, fault)
		unsafe_put_user((u32)value, half, fault);
	return 0;
fault:
	return -EFAULT;
}

/*
 * Writes an address to the user's memory, after reading the one that is there.  Return: 0 or
 * -EFAULT.  Context: may fault.
 */
static __always_inline int exchange_user_word(unsigned int width, unsigned long addr,
					      unsigned long value, unsigned long *old)
{
	unsigned long __user *word = (unsigned long __user *)addr;
	u32 __user *half = (u32 __user *)addr;
	u32 narrow;

	if (width == sizeof(value)) {
		scoped_user_rw_access(word, fault) {
			unsafe_get_user(*old, word, fault);
			unsafe_put_user(value, word, fault);
		}
		return 0;
	}
	scoped_user_rw_access(half, fault) {
		unsafe_get_user(narrow, half, fault);
		unsafe_put_user((u32)value, half, fault);
	}
	*old = narrow;
	return 0;
fault:
	return -EFAULT;
}

#endif /* _X86_KERNEL_UPROBES_COMMON_H */
