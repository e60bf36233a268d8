/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_ATTEMPT_H
#define _KPROBES_TESTS_ATTEMPT_H
/*
 * A call in another task, for tests of locks: does the call wait for a lock of the test?
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

/* Time in jiffies for a call that does not have to wait, in addition to four usual times. */
#define ATTEMPT_TIME	(HZ / 2)

/**
 * struct attempt - a call in another task
 * @fn:		the function
 * @data:	its argument
 * @usual:	time in jiffies that it takes if it does not have to wait
 * @begun:	the task is about to call it
 * @done:	the call has returned
 * @ret:	its result
 * @task:	the task
 */
struct attempt {
	int (*fn)(void *data);
	void *data;
	unsigned long usual;
	struct completion begun, done;
	int ret;
	struct task_struct *task;
};

static inline int attempt_thread(void *data)
{
	struct attempt *a = data;

	complete(&a->begun);
	a->ret = a->fn(a->data);
	complete(&a->done);
	return 0;
}

/* Creates the task, which waits for attempt_start(). */
static inline void attempt_prepare(struct kunit *test, struct attempt *a, int (*fn)(void *data),
				   void *data)
{
	a->fn = fn;
	a->data = data;
	init_completion(&a->begun);
	init_completion(&a->done);
	a->task = kthread_create(attempt_thread, a, "kprobes-attempt");
	KUNIT_ASSERT_FALSE(test, IS_ERR(a->task));
	get_task_struct(a->task);
}

/* Makes the call in the current task, which does not hold the lock, and measures its time. */
static inline void attempt_measure(struct attempt *a)
{
	unsigned long start = jiffies;

	a->fn(a->data);
	a->usual = jiffies - start;
}

/* Begins the call, of which attempt_end() waits for the end. */
static inline void attempt_start(struct attempt *a)
{
	wake_up_process(a->task);
	wait_for_completion(&a->begun);
}

/*
 * Returns true if the call sleeps, and does not return in several times the time that
 * attempt_measure() has measured: a call that is only slow does not wait.
 */
static inline bool attempt_waits(struct attempt *a)
{
	/* Count it again for attempt_end(). */
	if (wait_for_completion_timeout(&a->done, ATTEMPT_TIME + 4 * a->usual)) {
		complete(&a->done);
		return false;
	}
	return !task_is_running(a->task);
}

/* Waits for the end of the call, and returns its result. */
static inline int attempt_end(struct attempt *a)
{
	wait_for_completion(&a->done);
	kthread_stop_put(a->task);
	return a->ret;
}

#endif /* _KPROBES_TESTS_ATTEMPT_H */
