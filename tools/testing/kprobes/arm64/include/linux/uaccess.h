/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of the simulated task, implemented by uprobes.c. */
#ifndef _KPROBES_TEST_UACCESS_H
#define _KPROBES_TEST_UACCESS_H

#include <linux/types.h>

#define __user

int test_get_user(void *to, u64 addr, unsigned int size);

#define get_user(to, from)	test_get_user(&(to), (u64)(uintptr_t)(from), sizeof(to))

/* Memory has no tags. */
static inline bool system_supports_mte(void)
{
	return false;
}

#define SET_PSTATE_TCO(ignore)	""

static inline void pagefault_disable(void) { }
static inline void pagefault_enable(void) { }

#endif /* _KPROBES_TEST_UACCESS_H */
