/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KERNEL_WPROBES_USER_H
#define _KERNEL_WPROBES_USER_H
/*
 * Probes on data of a process: declarations that user.c, user_thread.c and user_hit.c share.
 *
 * A registration has an event of perf for each thread of the process, which loads the register
 * when the thread runs.  At a hit the event queues work of the task, and the handler runs there,
 * before the thread returns to user mode.
 *
 * Locks, outermost first:
 *
 *	wprobe_user_mutex		all objects here
 *	  locks of perf			while an event is created, released, enabled or disabled
 *
 * The first value is read, under mmap_lock, without any of them.
 *
 * Perf takes event_mutex under its locks, so wprobe_user_mutex is not taken under event_mutex.
 * wprobe_mutex is not held together with wprobe_user_mutex.  Handlers may register other probes,
 * so no caller waits for handlers under a lock.
 */
#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/task_work.h>

#include "internal.h"

struct mm_struct;
struct perf_event;
struct perf_sample_data;
struct pid;
struct task_struct;

/**
 * struct wprobe_user - a probe on data of a process
 * @watch:	the range, its state, and its only probe; it has no slot, and is in no other list
 * @list:	links the object into wprobe_users
 * @ending:	it is being unregistered, and only waits for handlers
 * @ended:	then links it into the list of those that are waited for
 * @tgid:	the process
 * @mm:		its memory; hits only compare the pointer
 * @last:	value of the aligned word at the last hit, or when all threads began to watch; hits
 *		replace it
 * @threads:	the watched threads
 * @running:	handlers that run or are queued
 * @removed:	it is unregistered, and its probe is not used any more
 * @self:	the task whose handler of this probe unregisters the probe, or NULL
 * @wp:		then the address of the probe, which the handler may have freed
 * @by_self:	then links the object into by_self of user.c, until the handler has returned
 * @left:	the handler has returned
 * @refs:	references: of the registration, and of tasks that use the object without the lock
 */
struct wprobe_user {
	struct wprobe_watch watch;
	struct list_head list;
	bool ending;
	struct list_head ended;
	struct pid *tgid;
	struct mm_struct *mm;
	unsigned long last;
	struct list_head threads;
	atomic_t running;
	bool removed;
	struct task_struct *self;
	const struct wprobe *wp;
	struct list_head by_self;
	struct completion left;
	refcount_t refs;
};

/**
 * enum wprobe_thread_state - progress of a hit in a thread
 * @WPROBE_THREAD_IDLE:		no hit
 * @WPROBE_THREAD_BEFORE:	the exception before an access has been raised
 * @WPROBE_THREAD_QUEUED:	the work is queued
 * @WPROBE_THREAD_RUNNING:	the handler runs
 * @WPROBE_THREAD_SKIPPED:	the queued work calls no handler
 * @WPROBE_THREAD_CANCELLED:	the queued work calls no handler, but frees the object
 * @NR_WPROBE_THREAD_STATES:	number of the states
 *
 *	IDLE ---> BEFORE ---> QUEUED ---> RUNNING ---> IDLE
 *	                        |
 *	                        +------> SKIPPED ---> IDLE
 *	                                    |
 *	                                    +------> CANCELLED
 *
 * x86 skips BEFORE.  A signal before the access, and work that was removed from the queue, return
 * to IDLE.  The thread itself changes the state; another task only if it has removed the work, and
 * from QUEUED to SKIPPED to CANCELLED.
 *
 * Only set_state() and leave_state() of user_hit.c change it, and check the transition.
 */
enum wprobe_thread_state {
	WPROBE_THREAD_IDLE,
	WPROBE_THREAD_BEFORE,
	WPROBE_THREAD_QUEUED,
	WPROBE_THREAD_RUNNING,
	WPROBE_THREAD_SKIPPED,
	WPROBE_THREAD_CANCELLED,
	NR_WPROBE_THREAD_STATES,
};

/**
 * struct wprobe_thread - a watched thread
 * @user:	the probe
 * @list:	links the object into the threads of @user
 * @task:	the thread, with a reference
 * @event:	watches when the thread runs
 * @work:	calls the handler
 * @state:	progress of a hit
 * @known:	@old and @new have been read
 * @has_before:	@before has been read
 * @ip:		the accessing instruction, from the exception before the access
 * @before:	the aligned word, read in the exception before the access
 * @old:	the aligned word before the access
 * @new:	the same after the access
 */
struct wprobe_thread {
	struct wprobe_user *user;
	struct list_head list;
	struct task_struct *task;
	struct perf_event *event;
	struct callback_head work;
	enum wprobe_thread_state state;
	bool known;
	bool has_before;
	unsigned long ip;
	unsigned long before;
	unsigned long old;
	unsigned long new;
};

extern struct mutex wprobe_user_mutex;
extern struct list_head wprobe_users;

/* The only probe of the object. */
static inline struct wprobe *wprobe_of_user(const struct wprobe_user *user)
{
	return hlist_entry(user->watch.probes.first, struct wprobe, node);
}

/* user.c */
void wprobe_user_left(struct wprobe_user *user);
void wprobe_self_died(void);

/* user_thread.c */
enum wprobe_refusal wprobe_thread_add(struct wprobe_user *user, struct task_struct *task);
enum wprobe_refusal wprobe_threads_add(struct wprobe_user *user, struct task_struct *any);
void wprobe_threads_enable(struct wprobe_user *user, bool enable);
void wprobe_threads_stop(struct wprobe_user *user);
void wprobe_threads_free(struct wprobe_user *user);
void wprobe_thread_free(struct wprobe_thread *thread);
struct wprobe_thread *wprobe_own_handler(const struct wprobe_user *user);

/* user_hit.c */
void wprobe_user_hit(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs);
void wprobe_user_cancel(struct wprobe_thread *thread);
bool wprobe_user_abandon(struct wprobe_thread *thread);
void wprobe_user_died(struct wprobe_thread *thread);

#endif /* _KERNEL_WPROBES_USER_H */
