/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guarded control stack of the simulated task, implemented by uprobes.c. */
#ifndef _KPROBES_TEST_ARM64_GCS_H
#define _KPROBES_TEST_ARM64_GCS_H

#include <linux/sched.h>
#include <linux/types.h>

static inline bool task_gcs_el0_enabled(struct task_struct *task)
{
	return task->gcs;
}

void push_user_gcs(unsigned long val, int *err);
u64 pop_user_gcs(int *err);

#endif /* _KPROBES_TEST_ARM64_GCS_H */
