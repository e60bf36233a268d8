// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbols in /proc/kallsyms for executable memory that belongs to probes, so
 * that profilers and stack traces have a name for it.
 */
#include <linux/kallsyms.h>

#include "internal.h"

#ifdef __ARCH_WANT_KPROBES_INSN_SLOT
/* Slots, and, where there are any, detours. */
static struct kprobe_insn_cache *const caches[] = {
	&kprobe_insn_slots,
#ifdef CONFIG_OPTPROBES
	&kprobe_optinsn_slots,
#endif
};

static int cached(char *sym, char *type, unsigned long *value, unsigned int *symnum)
{
	int i, ret = -ERANGE;

	for (i = 0; ret && i < ARRAY_SIZE(caches); i++)
		ret = kprobe_cache_get_kallsym(caches[i], symnum, value, type, sym);
	return ret;
}
#else
/* No slots, no symbols of any. */
static int cached(char *sym, char *type, unsigned long *value, unsigned int *symnum)
{
	return -ERANGE;
}
#endif

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
	int ret = cached(sym, type, value, &symnum);

	return ret ? arch_kprobe_get_kallsym(&symnum, value, type, sym) : 0;
}

int __weak arch_kprobe_get_kallsym(unsigned int *symnum, unsigned long *value,
				   char *type, char *sym)
{
	return -ERANGE;
}
