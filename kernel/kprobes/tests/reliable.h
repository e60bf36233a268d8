/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_RELIABLE_H
#define _KPROBES_TESTS_RELIABLE_H
/*
 * Threads of the suites of reliable stack traces: on one processor, so that one preempts the other.
 */
#include <linux/kthread.h>
#include <linux/sched.h>

/* Preempts the other thread again and again. */
static inline int compete(void *unused)
{
	while (!kthread_should_stop()) {
		cpu_relax();
		cond_resched();
	}
	return 0;
}

/* Returns NULL if that fails; the caller calls kthread_stop_put(). */
static inline struct task_struct *start_on_first_cpu(int (*fn)(void *), void *data)
{
	struct task_struct *task = kthread_create(fn, data, "kprobe_reliable");

	if (IS_ERR(task))
		return NULL;
	kthread_bind(task, 0);
	get_task_struct(task);
	wake_up_process(task);
	return task;
}

#endif /* _KPROBES_TESTS_RELIABLE_H */
