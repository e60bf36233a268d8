// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All CPUs: those that are online, and those that come online later; writes at the same time.
 */
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/kthread.h>

#include "../internal.h"
#include "watched.h"

static unsigned long word, other_word;

static void write_word(void *value)
{
	write_long(&word, (unsigned long)value);
	write_long(&other_word, (unsigned long)value);
}

static void write_on(int cpu, unsigned long value)
{
	smp_call_function_single(cpu, write_word, (void *)value, true);
}

static void every_cpu_watches(struct kunit *test)
{
	struct watched w = watched_at(&word, sizeof(long));
	int cpu, n = 0;

	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	for_each_online_cpu(cpu) {
		write_on(cpu, cpu + 1);
		KUNIT_EXPECT_EQ(test, hits_of(&w), ++n);
		KUNIT_EXPECT_EQ(test, w.cpu, cpu);
	}
	unregister_wprobe(&w.wp);
	for_each_online_cpu(cpu)
		write_on(cpu, cpu + 1);
	KUNIT_EXPECT_EQ(test, hits_of(&w), n);
}

#ifdef CONFIG_HOTPLUG_CPU
static void cpus_that_come_online_watch(struct kunit *test)
{
	struct watched w = watched_at(&word, sizeof(long));
	struct watched late = watched_at(&other_word, sizeof(long));
	int cpu = cpumask_last(cpu_online_mask), ret;

	if (!cpu)
		kunit_skip(test, "one CPU");
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	ret = remove_cpu(cpu);
	if (ret) {
		unregister_wprobe(&w.wp);
		kunit_skip(test, "the CPU does not go offline: %d", ret);
	}
	/* Registered while the CPU is offline. */
	KUNIT_EXPECT_EQ(test, register_wprobe(&late.wp), 0);
	KUNIT_ASSERT_EQ(test, add_cpu(cpu), 0);
	write_on(cpu, 5);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	KUNIT_EXPECT_EQ(test, hits_of(&late), 1);
	KUNIT_EXPECT_EQ(test, w.cpu, cpu);
	/* Unregistered while the CPU is offline. */
	KUNIT_ASSERT_EQ(test, remove_cpu(cpu), 0);
	unregister_wprobe(&late.wp);
	KUNIT_ASSERT_EQ(test, add_cpu(cpu), 0);
	write_on(cpu, 6);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 2);
	KUNIT_EXPECT_EQ(test, hits_of(&late), 1);
	unregister_wprobe(&w.wp);
}
#else
static void cpus_that_come_online_watch(struct kunit *test)
{
	kunit_skip(test, "CPUs do not come online");
}
#endif

/* --- Writes of all CPUs at the same time: none is lost ------------------------ */

#define WRITES	1000

static struct completion done;

static int writer(void *unused)
{
	int i;

	for (i = 0; i < WRITES; i++)
		write_long(&word, i);
	complete(&done);
	return 0;
}

static void no_write_is_lost(struct kunit *test)
{
	struct watched w = watched_at(&word, sizeof(long));
	struct task_struct *task;
	int cpu, started = 0, i;

	init_completion(&done);
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	for_each_online_cpu(cpu) {
		task = kthread_create_on_cpu(writer, NULL, cpu, "wprobe_writer/%u");
		if (IS_ERR(task))
			continue;
		wake_up_process(task);
		started++;
	}
	for (i = 0; i < started; i++)
		wait_for_completion(&done);
	unregister_wprobe(&w.wp);
	KUNIT_EXPECT_EQ(test, started, num_online_cpus());
	KUNIT_EXPECT_EQ(test, hits_of(&w), started * WRITES);
	KUNIT_EXPECT_EQ(test, w.wp.nmissed, 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(every_cpu_watches),
	KUNIT_CASE(cpus_that_come_online_watch),
	KUNIT_CASE(no_write_is_lost),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_cpus",
	.test_cases = cases,
};
kunit_test_suite(suite);
