/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TEST_SCHED_H
#define _KPROBES_TEST_SCHED_H

#include <stdbool.h>

/*
 * The only task: whether it has a guarded control stack, whether its processor checks the targets
 * of branches, the signal that was sent to it, with its code, and its state of uprobes.
 */
struct task_struct {
	bool gcs, bti;
	int signal, code;
	struct uprobe_task *utask;
};

extern struct task_struct test_task;

#define current (&test_task)

#endif /* _KPROBES_TEST_SCHED_H */
