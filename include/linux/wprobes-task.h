/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_WPROBES_TASK_H
#define _LINUX_WPROBES_TASK_H
/*
 * Watchpoint probes on data of processes: functions that fork, exec and exit call.
 */
#include <linux/compiler.h>

struct task_struct;

#ifdef CONFIG_WPROBES

extern unsigned int wprobe_users_registered;
void wprobe_add_thread(struct task_struct *task);
void wprobe_leave_process(void);
void wprobe_handler_died(void);

/* A process or a thread has been created; it is in the list of threads, and has not run. */
static inline void wprobe_task_created(struct task_struct *task)
{
	/* Pairs with kick_all_cpus_sync() in publish() of kernel/wprobes/user.c. */
	if (unlikely(READ_ONCE(wprobe_users_registered)))
		wprobe_add_thread(task);
}

/* current has replaced its memory, or has PF_EXITING set. */
static inline void wprobe_task_left(void)
{
	/* Pairs with kick_all_cpus_sync() in publish() of kernel/wprobes/user.c. */
	if (unlikely(READ_ONCE(wprobe_users_registered)))
		wprobe_leave_process();
}

#else

static inline void wprobe_task_created(struct task_struct *task) { }
static inline void wprobe_task_left(void) { }
static inline void wprobe_handler_died(void) { }

#endif

#endif /* _LINUX_WPROBES_TASK_H */
