/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_ENTRY_H
#define _KPROBES_TESTS_ENTRY_H
/*
 * The address of a probe on a function: after the landing pad of indirect calls.
 */
#include <linux/compiler.h>
#include <linux/types.h>

#ifdef CONFIG_X86_KERNEL_IBT
#include <linux/uaccess.h>
#include <asm/ibt.h>

static inline void *probe_entry(const void *fn)
{
	u32 insn;

	OPTIMIZER_HIDE_VAR(fn);
	if (get_kernel_nofault(insn, (const u32 *)fn) || !is_endbr(insn))
		return (void *)fn;
	return (void *)fn + ENDBR_INSN_SIZE;
}
#else
static inline void *probe_entry(const void *fn)
{
	return (void *)fn;
}
#endif

/*
 * @offset from @fn, as an address that objtool does not take for the target of an indirect
 * branch.
 */
static inline void *text_at(const void *fn, long offset)
{
	OPTIMIZER_HIDE_VAR(fn);
	return (void *)fn + offset;
}

#endif /* _KPROBES_TESTS_ENTRY_H */
