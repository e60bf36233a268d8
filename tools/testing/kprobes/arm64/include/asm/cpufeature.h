/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processor of the simulated task. */
#ifndef _KPROBES_TEST_ARM64_CPUFEATURE_H
#define _KPROBES_TEST_ARM64_CPUFEATURE_H

#include <linux/sched.h>

static inline bool system_supports_bti(void)
{
	return test_task.bti;
}

#endif /* _KPROBES_TEST_ARM64_CPUFEATURE_H */
