// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes on data of processes: the refusals that need no process.  Hits are tested by
 * tools/testing/selftests/wprobes/process.sh.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/threads.h>
#include <linux/uaccess.h>
#include <linux/wprobes-task.h>

#include "../user.h"
#include "watched.h"

/* No process has it: the largest is PID_MAX_LIMIT - 1. */
#define NO_PID		(PID_MAX_LIMIT + 1)

static unsigned long word;

static struct wprobe of_process(pid_t pid)
{
	return (struct wprobe) {
		.pid = pid, .addr = (void *)0x10000, .len = sizeof(long), .handler = watched_hit,
	};
}

static enum wprobe_refusal find_place(const struct wprobe *wp, struct wprobe_place *place)
{
	return wprobe_place_find_user(wp, wprobe_addr(wp), place);
}

static void places_have_their_refusal(struct kunit *test)
{
	static const struct {
		struct wprobe wp;
		enum wprobe_refusal refusal;
	} rows[] = {
		{ { .addr = (void *)0x1000, .len = 4 }, WPROBE_REFUSE_NONE },
		{ { .addr = (void *)0x1001, .len = 1 }, WPROBE_REFUSE_NONE },
		{ { .addr = NULL, .len = 4 }, WPROBE_REFUSE_NO_PLACE },
		{ { .symbol_name = "init_task", .len = 4 }, WPROBE_REFUSE_NOT_OF_PROCESS },
		{ { .addr = (void *)0x1000, .len = 4, .flags = WPROBE_FLAG_PERCPU },
		  WPROBE_REFUSE_NOT_OF_PROCESS },
		{ { .addr = (void *)0x1000, .len = 4, .flags = WPROBE_FLAG_MOVABLE },
		  WPROBE_REFUSE_NOT_OF_PROCESS },
		{ { .addr = &word, .len = 4 }, WPROBE_REFUSE_KERNEL },
		{ { .addr = (void *)0x1000, .len = 0 }, WPROBE_REFUSE_BAD_LENGTH },
		{ { .addr = (void *)0x1000, .len = sizeof(long) + 1 }, WPROBE_REFUSE_BAD_LENGTH },
		{ { .addr = (void *)0x1000 + sizeof(long) - 1, .len = 2 },
		  WPROBE_REFUSE_CROSSES_WORD },
		{ { .addr = (void *)0x1000, .len = 4, .type = 8 }, WPROBE_REFUSE_BAD_TYPE },
	};
	struct wprobe_place place;
	struct wprobe wp;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		wp = rows[i].wp;
		wp.handler = watched_hit;
		wp.pid = 1;
		KUNIT_EXPECT_EQ_MSG(test, find_place(&wp, &place), rows[i].refusal, "row %u", i);
		wp.handler = NULL;
		KUNIT_EXPECT_EQ(test, find_place(&wp, &place), WPROBE_REFUSE_NO_HANDLER);
	}
	wp = of_process(1);
	wp.addr = (void *)TASK_SIZE_MAX;
	KUNIT_EXPECT_EQ(test, find_place(&wp, &place), WPROBE_REFUSE_KERNEL);
}

static void refusals_have_their_errno(struct kunit *test)
{
	struct wprobe wp = of_process(NO_PID);

	KUNIT_EXPECT_EQ(test, register_wprobe(&wp), -ESRCH);
	wp = of_process(-1);
	KUNIT_EXPECT_EQ(test, register_wprobe(&wp), -ESRCH);
	/* A kernel thread has no memory. */
	wp = of_process(task_pid_vnr(current));
	KUNIT_EXPECT_EQ(test, register_wprobe(&wp), -EINVAL);
	wp.addr = &word;
	KUNIT_EXPECT_EQ(test, register_wprobe(&wp), -EINVAL);
	KUNIT_EXPECT_EQ(test, enable_wprobe(&wp), -EINVAL);
	KUNIT_EXPECT_EQ(test, disable_wprobe(&wp), -EINVAL);
	unregister_wprobe(&wp);
}

static void a_mixed_batch_is_all_or_nothing(struct kunit *test)
{
	struct watched w = watched_at(&word, sizeof(long));
	struct wprobe wp = of_process(NO_PID);
	struct wprobe *wps[] = { &w.wp, &wp };

	KUNIT_EXPECT_EQ(test, register_wprobes(wps, 2), -ESRCH);
	KUNIT_EXPECT_NULL(test, w.wp.watch);
	KUNIT_EXPECT_NULL(test, wp.watch);
	write_long(&word, 1);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 0);
}

static struct completion unregistered;

static int unregister(void *wp)
{
	unregister_wprobe(wp);
	complete(&unregistered);
	return 0;
}

/*
 * Events on data of the kernel are unregistered under a lock that a fork may take while it waits
 * for the registration of a probe on data of its process.
 */
static void data_of_the_kernel_does_not_wait_for_processes(struct kunit *test)
{
	struct watched w = watched_at(&word, sizeof(long));
	struct task_struct *task;
	unsigned long left = 0;

	init_completion(&unregistered);
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	scoped_guard(mutex, &wprobe_user_mutex) {
		wprobe_users_registered++;
		task = kthread_run(unregister, &w.wp, "wprobes_test");
		if (!IS_ERR(task))
			left = wait_for_completion_timeout(&unregistered, 10 * HZ);
		wprobe_users_registered--;
	}
	KUNIT_EXPECT_FALSE(test, IS_ERR(task));
	if (!IS_ERR(task) && !left)
		wait_for_completion(&unregistered);
	KUNIT_EXPECT_GT(test, left, 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(places_have_their_refusal),
	KUNIT_CASE(refusals_have_their_errno),
	KUNIT_CASE(data_of_the_kernel_does_not_wait_for_processes),
	KUNIT_CASE(a_mixed_batch_is_all_or_nothing),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_user",
	.test_cases = cases,
};
kunit_test_suite(suite);
