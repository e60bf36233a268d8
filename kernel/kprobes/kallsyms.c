// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbols in /proc/kallsyms for executable memory that belongs to probes, so
 * that profilers and stack traces have a name for it.
 */
#include <linux/kallsyms.h>

#include "internal.h"

/**
 * kprobe_get_kallsym() - symbol number @symnum of the probes' memory
 * @symnum: which, from 0
 * @value: set to its address
 * @type: set to its type
 * @sym: set to its name, KSYM_NAME_LEN bytes
 *
 * Context: task.
 * Return: 0, or -ERANGE if there are no more.
 */
int kprobe_get_kallsym(unsigned int symnum, unsigned long *value, char *type,
		       char *sym)
{
	int ret = kprobe_slots_get_kallsym(&symnum, value, type, sym);

	return ret ? arch_kprobe_get_kallsym(&symnum, value, type, sym) : 0;
}

int __weak arch_kprobe_get_kallsym(unsigned int *symnum, unsigned long *value,
				   char *type, char *sym)
{
	return -ERANGE;
}
