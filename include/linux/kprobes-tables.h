/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_TABLES_H
#define _LINUX_KPROBES_TABLES_H
/*
 * Searches in sorted arrays, and in the tables of modules.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>

/**
 * kprobe_lower_bound() - find the end of the first elements that have a property
 * @nr: number of elements; if one has the property, so have those before it
 * @i: name of the variable that has the index of an element in @before
 * @before: an expression that is true if element @i has the property
 *
 * Context: any.
 * Return: the index of the first element without the property; @nr if all have it.
 */
#define kprobe_lower_bound(nr, i, before)				\
({									\
	unsigned int low__ = 0, high__ = (nr);				\
									\
	while (low__ < high__) {					\
		const unsigned int i = low__ + (high__ - low__) / 2;	\
									\
		if (before)						\
			low__ = i + 1;					\
		else							\
			high__ = i;					\
	}								\
	low__;								\
})

/* Returns a field of @mod; @absent in a kernel without modules, where the struct is not defined. */
#ifdef CONFIG_MODULES
#define kprobe_of_mod(mod, field, absent)	((mod)->field)
#else
#define kprobe_of_mod(mod, field, absent)	(absent)
#endif

/**
 * kprobe_module_of() - find the module that has an address in its text
 * @addr: the address
 *
 * Context: task; kprobe_mutex held, for which the removal of the module waits.
 * Return: the module; NULL if there is none.
 */
static inline struct module *kprobe_module_of(unsigned long addr)
{
	guard(rcu)();
	return __module_text_address(addr);
}

#endif /* _LINUX_KPROBES_TABLES_H */
