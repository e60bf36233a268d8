/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_ENTRY_H
#define _KPROBES_TESTS_ENTRY_H
/*
 * The address of a probe on a function: after the landing pad of indirect calls.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>

/* Other addresses than those of text, for example NULL, stay as they are. */
static inline void *probe_entry(const void *fn)
{
	OPTIMIZER_HIDE_VAR(fn);
	if (!kernel_text_address((unsigned long)fn))
		return (void *)fn;
	return (void *)fn + arch_landing_pad((unsigned long)fn);
}

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
