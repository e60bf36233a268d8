// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Watch the threads of a process: those that exist, and those that are created later.
 *
 * A thread calls wprobe_add_thread() for a thread that it has created, when the new one is in the
 * list of threads.  A registration publishes its object before it walks over that list.  So the
 * creator finds the object, or the registration finds the thread, or both, and wprobe_user_mutex
 * serializes them.
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/wprobes-task.h>

#include "user.h"
#include "trace.h"

/* The task that reserves a register for a thread, under wprobe_user_mutex. */
static struct task_struct *reserving;

/**
 * wprobe_user_reserving() - does current reserve a register for data of a process?
 *
 * Such a register is not taken from a probe on data of the kernel.
 *
 * Context: task.
 * Return: true if it does.
 */
bool wprobe_user_reserving(void)
{
	return READ_ONCE(reserving) == current;
}

static struct wprobe_thread *find_thread(const struct wprobe_user *user,
					 const struct task_struct *task)
{
	struct wprobe_thread *thread;

	lockdep_assert_held(&wprobe_user_mutex);
	list_for_each_entry(thread, &user->threads, list) {
		if (thread->task == task)
			return thread;
		/* A process may have many threads. */
		cond_resched();
	}
	return NULL;
}

/**
 * wprobe_own_handler() - does current run the handler of a probe?
 * @user: the probe
 *
 * Context: task, may sleep, wprobe_user_mutex held.
 * Return: current's thread, or NULL.
 */
struct wprobe_thread *wprobe_own_handler(const struct wprobe_user *user)
{
	struct wprobe_thread *thread = find_thread(user, current);

	return thread && thread->state == WPROBE_THREAD_RUNNING ? thread : NULL;
}

static struct perf_event *create_event(struct wprobe_thread *thread)
{
	const struct wprobe_watch *watch = &thread->user->watch;
	struct perf_event_attr attr;
	struct perf_event *event;

	hw_breakpoint_init(&attr);
	attr.bp_addr = watch->range.addr;
	attr.bp_len = watch->range.len;
	attr.bp_type = (watch->range.type & WPROBE_READ ? HW_BREAKPOINT_R : 0) |
		       (watch->range.type & WPROBE_WRITE ? HW_BREAKPOINT_W : 0);
	attr.disabled = watch->state != WPROBE_ARMED;
	WRITE_ONCE(reserving, current);
	event = register_user_hw_breakpoint(&attr, wprobe_user_hit, thread, thread->task);
	WRITE_ONCE(reserving, NULL);
	return event;
}

static enum wprobe_refusal refusal_of(const struct perf_event *event)
{
	switch (PTR_ERR_OR_ZERO(event)) {
	case 0:
		return WPROBE_REFUSE_NONE;
	case -ENOSPC:
		return WPROBE_REFUSE_NO_REGISTER;
	case -ENOMEM:
		return WPROBE_REFUSE_NO_MEMORY;
	case -ESRCH:
		return WPROBE_REFUSE_NO_PROCESS;
	default:
		return WPROBE_REFUSE_NOT_WATCHABLE;
	}
}

/**
 * wprobe_thread_add() - watch a thread
 * @user: the probe
 * @task: a thread of its process
 *
 * Context: task, may sleep, wprobe_user_mutex held.
 * Return: %WPROBE_REFUSE_NONE, also if the thread exits; or the reason of the failure.
 */
enum wprobe_refusal wprobe_thread_add(struct wprobe_user *user, struct task_struct *task)
{
	struct wprobe_thread *thread;
	enum wprobe_refusal refusal;

	lockdep_assert_held(&wprobe_user_mutex);
	if (task->flags & (PF_EXITING | PF_USER_WORKER) || READ_ONCE(task->mm) != user->mm)
		return WPROBE_REFUSE_NONE;
	thread = kzalloc(sizeof(*thread), GFP_KERNEL);
	if (!thread)
		return WPROBE_REFUSE_NO_MEMORY;
	thread->user = user;
	thread->task = get_task_struct(task);
	init_task_work(&thread->work, wprobe_user_work);
	/* The thread may run: the first hit can come before the event is known here. */
	thread->event = create_event(thread);
	refusal = refusal_of(thread->event);
	if (refusal) {
		put_task_struct(task);
		kfree(thread);
		return refusal == WPROBE_REFUSE_NO_PROCESS ? WPROBE_REFUSE_NONE : refusal;
	}
	list_add_tail(&thread->list, &user->threads);
	return WPROBE_REFUSE_NONE;
}

/* Returns the threads of a process, with references; NULL if memory is short. */
static struct task_struct **snapshot(struct task_struct *any, unsigned int *nr)
{
	unsigned int room = get_nr_threads(any) + 16, n;
	struct task_struct **tasks, *task;

	for (;; room *= 2) {
		tasks = kvmalloc_array(room, sizeof(*tasks), GFP_KERNEL);
		if (!tasks)
			return NULL;
		n = 0;
		rcu_read_lock();
		for_each_thread(any, task) {
			if (n < room)
				tasks[n] = get_task_struct(task);
			n++;
		}
		rcu_read_unlock();
		*nr = min(n, room);
		if (n <= room)
			return tasks;
		while (*nr)
			put_task_struct(tasks[--*nr]);
		kvfree(tasks);
	}
}

/**
 * wprobe_threads_add() - watch all threads of a process
 * @user: the probe, which is in wprobe_users
 * @any: a thread of the process
 *
 * Context: task, may sleep, wprobe_user_mutex held.
 * Return: %WPROBE_REFUSE_NONE, or the reason of the failure; then some threads may be watched.
 */
enum wprobe_refusal wprobe_threads_add(struct wprobe_user *user, struct task_struct *any)
{
	enum wprobe_refusal refusal = WPROBE_REFUSE_NONE;
	struct task_struct **tasks;
	unsigned int i, nr;

	tasks = snapshot(any, &nr);
	if (!tasks)
		return WPROBE_REFUSE_NO_MEMORY;
	for (i = 0; i < nr; i++) {
		refusal = refusal ?: wprobe_thread_add(user, tasks[i]);
		put_task_struct(tasks[i]);
	}
	kvfree(tasks);
	if (!refusal && list_empty(&user->threads))
		return WPROBE_REFUSE_NO_PROCESS;
	return refusal;
}

/**
 * wprobe_threads_enable() - enable or disable the events of all threads
 * @user: the probe
 * @enable: enable
 *
 * Context: task, may sleep, wprobe_user_mutex held.
 */
void wprobe_threads_enable(struct wprobe_user *user, bool enable)
{
	struct wprobe_thread *thread;

	lockdep_assert_held(&wprobe_user_mutex);
	list_for_each_entry(thread, &user->threads, list) {
		if (enable) {
			perf_event_enable(thread->event);
			continue;
		}
		perf_event_disable(thread->event);
		wprobe_user_cancel(thread);
	}
}

/* Returns true if work of the thread will free its object. */
static bool stop(struct wprobe_thread *thread)
{
	unregister_hw_breakpoint(thread->event);
	wprobe_user_cancel(thread);
	/* First: the work may free the object as soon as it is abandoned. */
	list_del_init(&thread->list);
	if (wprobe_user_abandon(thread))
		return true;
	list_add(&thread->list, &thread->user->threads);
	return false;
}

/**
 * wprobe_thread_free() - free the object of a thread
 * @thread: its event is released, and its work is not queued
 *
 * Context: task.
 */
void wprobe_thread_free(struct wprobe_thread *thread)
{
	list_del(&thread->list);
	put_task_struct(thread->task);
	kfree(thread);
}

/**
 * wprobe_threads_stop() - release the registers of all threads
 * @user: the probe
 *
 * Handlers that run continue.
 *
 * Context: task, may sleep, wprobe_user_mutex held.
 */
void wprobe_threads_stop(struct wprobe_user *user)
{
	struct wprobe_thread *thread, *next;

	list_for_each_entry_safe(thread, next, &user->threads, list)
		stop(thread);
}

/**
 * wprobe_threads_free() - free the objects of all threads
 * @user: the probe, whose threads have been stopped, and whose handlers do not run
 *
 * Context: task, may sleep.
 */
void wprobe_threads_free(struct wprobe_user *user)
{
	struct wprobe_thread *thread, *next;

	list_for_each_entry_safe(thread, next, &user->threads, list)
		wprobe_thread_free(thread);
}

/**
 * wprobe_add_thread() - current has created a process or a thread
 * @task: it has not run
 *
 * New threads of a watched process are watched.  New processes are not.
 *
 * Context: task, may sleep.
 */
void wprobe_add_thread(struct task_struct *task)
{
	enum wprobe_refusal refusal;
	struct wprobe_user *user;

	/* CPU hotplug may wait for kthreadd, and the holder of the mutex for CPU hotplug. */
	if (task->flags & PF_KTHREAD)
		return;
	guard(mutex)(&wprobe_user_mutex);
	list_for_each_entry(user, &wprobe_users, list) {
		cond_resched();
		if (user->tgid != task_tgid(task) || find_thread(user, task) ||
		    user->ending || user->watch.state == WPROBE_GONE)
			continue;
		refusal = wprobe_thread_add(user, task);
		if (refusal)
			wprobe_refuse(user->watch.range.addr, refusal);
	}
}

/**
 * wprobe_leave_process() - stop watching current, which has left the watched memory
 *
 * It exits, or has executed another program.  If it was the last thread with the memory, the
 * probes on it are gone.
 *
 * Context: task, may sleep.
 */
void wprobe_leave_process(void)
{
	struct wprobe_thread *thread;
	struct wprobe_user *user;

	/* See wprobe_add_thread(). */
	if (current->flags & PF_KTHREAD)
		return;
	if (current->flags & PF_EXITING)
		wprobe_self_died();
	guard(mutex)(&wprobe_user_mutex);
	list_for_each_entry(user, &wprobe_users, list) {
		cond_resched();
		if (!(current->flags & PF_EXITING) && user->mm == current->mm)
			continue;
		thread = find_thread(user, current);
		if (!thread)
			continue;
		if (current->flags & PF_EXITING)
			wprobe_user_died(thread);
		if (user->ending) {
			wprobe_user_cancel(thread);
			continue;
		}
		if (!stop(thread))
			wprobe_thread_free(thread);
		if (list_empty(&user->threads))
			wprobe_watch_set_state(&user->watch, WPROBE_GONE);
	}
}
