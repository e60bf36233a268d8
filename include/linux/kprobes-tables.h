/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_TABLES_H
#define _LINUX_KPROBES_TABLES_H
/*
 * Searches in sorted arrays.
 */

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

#endif /* _LINUX_KPROBES_TABLES_H */
