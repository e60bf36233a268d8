// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sharing registers: probes on the same bytes, on neighbours, and merged watches.
 */
#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>

#include "../internal.h"
#include "watched.h"

static unsigned long words[2 * MANY];

static unsigned int nr_watches(void)
{
	guard(mutex)(&wprobe_mutex);
	return list_count_nodes(&wprobe_watches);
}

static void the_same_bytes_share_a_register(struct kunit *test)
{
	static struct watched w[3 * MANY];
	int i;

	for (i = 0; i < ARRAY_SIZE(w); i++) {
		w[i] = watched_at(&words[0], sizeof(long));
		KUNIT_ASSERT_EQ(test, register_wprobe(&w[i].wp), 0);
	}
	KUNIT_EXPECT_EQ(test, nr_watches(), 1);
	write_long(&words[0], 1);
	for (i = 0; i < ARRAY_SIZE(w); i++)
		KUNIT_EXPECT_EQ(test, hits_of(&w[i]), 1);
	unregister_wprobe(&w[1].wp);
	write_long(&words[0], 1);
	for (i = 0; i < ARRAY_SIZE(w); i++)
		KUNIT_EXPECT_EQ(test, hits_of(&w[i]), i == 1 ? 1 : 2);
	for (i = 0; i < ARRAY_SIZE(w); i++)
		unregister_wprobe(&w[i].wp);
	KUNIT_EXPECT_EQ(test, nr_watches(), 0);
}

/* The core reads the word while it registers, disables and enables other probes on the word. */
static void the_core_reads_without_a_hit(struct kunit *test)
{
	struct watched all = watched_at(&words[0], sizeof(long));
	struct watched other = watched_at(&words[0], sizeof(long));

	all.wp.type = WPROBE_RW;
	KUNIT_ASSERT_EQ(test, register_wprobe(&all.wp), 0);
	READ_ONCE(words[0]);
	KUNIT_EXPECT_EQ(test, hits_of(&all), 1);
	KUNIT_ASSERT_EQ(test, register_wprobe(&other.wp), 0);
	KUNIT_EXPECT_EQ(test, disable_wprobe(&other.wp), 0);
	KUNIT_EXPECT_EQ(test, enable_wprobe(&other.wp), 0);
	unregister_wprobe(&other.wp);
	KUNIT_EXPECT_EQ(test, hits_of(&all), 1);
	KUNIT_EXPECT_EQ(test, all.wp.nmissed, 0);
	unregister_wprobe(&all.wp);
}

/* Fills all registers but @left with probes on words of their own; returns their number. */
static int fill(struct kunit *test, struct watched *w, int left)
{
	int n, i;

	for (n = 0; n < MANY; n++) {
		w[n] = watched_at(&words[2 * n + 2], sizeof(long));
		if (register_wprobe(&w[n].wp))
			break;
	}
	KUNIT_ASSERT_GE(test, n, left);
	for (i = 0; i < left; i++)
		unregister_wprobe(&w[--n].wp);
	return n;
}

static void empty(struct watched *w, int n)
{
	while (n)
		unregister_wprobe(&w[--n].wp);
}

/* Writes a half that the only watch does not have. */
static void write_unwatched(struct kunit *test, struct watched *w, u16 *half, u16 value)
{
	KUNIT_ASSERT_EQ(test, w->wp.watch->range.len, 2);
	WRITE_ONCE(*half, value);
	KUNIT_ASSERT_EQ(test, hits_of(w), 0);
}

/* A change before the second registration is not one of the next hit, on the other half. */
static void a_wider_watch_reports_no_old_changes(struct kunit *test)
{
	static struct watched fillers[MANY];
	struct watched halves[2];
	u16 *half = (u16 *)&words[0];
	int n, i;

	words[0] = 0;
	n = fill(test, fillers, 1);
	for (i = 0; i < 2; i++) {
		halves[i] = watched_at(&half[i], 2);
		halves[i].wp.flags = WPROBE_FLAG_CHANGED;
		KUNIT_ASSERT_EQ(test, register_wprobe(&halves[i].wp), 0);
		if (!i)
			write_unwatched(test, &halves[0], &half[1], 5);
	}
	KUNIT_ASSERT_PTR_EQ(test, halves[0].wp.watch, halves[1].wp.watch);
	WRITE_ONCE(half[0], 1);
	KUNIT_EXPECT_EQ(test, hits_of(&halves[0]), 1);
	KUNIT_EXPECT_EQ(test, hits_of(&halves[1]), 0);
	WRITE_ONCE(half[1], 6);
	KUNIT_EXPECT_EQ(test, hits_of(&halves[1]), 1);
	KUNIT_EXPECT_EQ(test, halves[1].old, 5);
	unregister_wprobe(&halves[0].wp);
	unregister_wprobe(&halves[1].wp);
	empty(fillers, n);
}

/* Two halves of words[0], told apart by their changes. */
static void neighbours_share_the_last_register(struct kunit *test)
{
	static struct watched fillers[MANY];
	struct watched halves[2];
	u16 *half = (u16 *)&words[0];
	int n, i, round;

	words[0] = 0;
	n = fill(test, fillers, 1);
	for (i = 0; i < 2; i++) {
		halves[i] = watched_at(&half[i], 2);
		halves[i].wp.flags = WPROBE_FLAG_CHANGED;
		KUNIT_ASSERT_EQ(test, register_wprobe(&halves[i].wp), 0);
	}
	KUNIT_EXPECT_PTR_EQ(test, halves[0].wp.watch, halves[1].wp.watch);
	KUNIT_EXPECT_EQ(test, halves[0].wp.watch->range.len, 4);
	for (round = 1; round <= 3; round++) {
		WRITE_ONCE(half[0], 10 * round);
		KUNIT_EXPECT_EQ(test, hits_of(&halves[0]), round);
		KUNIT_EXPECT_EQ(test, hits_of(&halves[1]), round - 1);
		WRITE_ONCE(half[1], 10 * round + 1);
		KUNIT_EXPECT_EQ(test, hits_of(&halves[0]), round);
		KUNIT_EXPECT_EQ(test, hits_of(&halves[1]), round);
		KUNIT_EXPECT_EQ(test, halves[0].new, 10 * round);
		KUNIT_EXPECT_EQ(test, halves[1].new, 10 * round + 1);
	}
	/* The register watches no more than the remaining probe needs. */
	unregister_wprobe(&halves[0].wp);
	KUNIT_EXPECT_EQ(test, halves[1].wp.watch->range.len, 2);
	WRITE_ONCE(half[0], 99);
	WRITE_ONCE(half[1], 99);
	KUNIT_EXPECT_EQ(test, hits_of(&halves[0]), 3);
	KUNIT_EXPECT_EQ(test, hits_of(&halves[1]), 4);
	KUNIT_EXPECT_EQ(test, halves[1].old, 31);
	unregister_wprobe(&halves[1].wp);
	empty(fillers, n);
}

/* Two halves of words[0], told apart by the accessed address: they are hit by equal values, too. */
static void plain_neighbours_share_the_last_register(struct kunit *test)
{
	static struct watched fillers[MANY];
	struct watched halves[2];
	u16 *half = (u16 *)&words[0];
	int n, i, round;

	if (!WPROBE_KNOWS_ACCESS)
		kunit_skip(test, "the processor does not report the accessed bytes");
	words[0] = 0;
	n = fill(test, fillers, 1);
	for (i = 0; i < 2; i++) {
		halves[i] = watched_at(&half[i], 2);
		KUNIT_ASSERT_EQ(test, register_wprobe(&halves[i].wp), 0);
	}
	KUNIT_EXPECT_PTR_EQ(test, halves[0].wp.watch, halves[1].wp.watch);
	KUNIT_EXPECT_EQ(test, halves[0].wp.watch->range.len, 4);
	for (round = 1; round <= 3; round++) {
		WRITE_ONCE(half[0], 7);
		KUNIT_EXPECT_EQ(test, hits_of(&halves[0]), round);
		KUNIT_EXPECT_EQ(test, hits_of(&halves[1]), round - 1);
		WRITE_ONCE(half[1], 9);
		KUNIT_EXPECT_EQ(test, hits_of(&halves[0]), round);
		KUNIT_EXPECT_EQ(test, hits_of(&halves[1]), round);
	}
	/* A write of both halves is a hit of both, and each probe has its own bytes. */
	write_int((u32 *)half, 0x00050005);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, hits_of(&halves[i]), 4);
		KUNIT_EXPECT_EQ(test, halves[i].old, i ? 9 : 7);
		KUNIT_EXPECT_EQ(test, halves[i].new, 5);
		KUNIT_EXPECT_EQ(test, halves[i].wp.nmissed, 0);
	}
	/* The rest of the word is not watched. */
	WRITE_ONCE(half[2], 1);
	KUNIT_EXPECT_EQ(test, hits_of(&halves[0]) + hits_of(&halves[1]), 8);
	unregister_wprobe(&halves[0].wp);
	unregister_wprobe(&halves[1].wp);
	empty(fillers, n);
}

static void watches_are_merged_for_another(struct kunit *test)
{
	static struct watched fillers[MANY];
	struct watched halves[2], other = watched_at(&words[1], sizeof(long));
	u16 *half = (u16 *)&words[0];
	int n, i;

	words[0] = 0;
	n = fill(test, fillers, 2);
	for (i = 0; i < 2; i++) {
		halves[i] = watched_at(&half[i], 2);
		halves[i].wp.flags = WPROBE_FLAG_CHANGED;
		KUNIT_ASSERT_EQ(test, register_wprobe(&halves[i].wp), 0);
	}
	KUNIT_EXPECT_PTR_NE(test, halves[0].wp.watch, halves[1].wp.watch);
	/* The watch that stays has not seen this change. */
	WRITE_ONCE(half[1], 7);
	KUNIT_EXPECT_EQ(test, hits_of(&halves[1]), 1);
	KUNIT_ASSERT_EQ(test, register_wprobe(&other.wp), 0);
	KUNIT_EXPECT_PTR_EQ(test, halves[0].wp.watch, halves[1].wp.watch);
	WRITE_ONCE(half[0], 5);
	KUNIT_EXPECT_EQ(test, hits_of(&halves[0]), 1);
	KUNIT_EXPECT_EQ(test, hits_of(&halves[1]), 1);
	WRITE_ONCE(half[1], 1);
	write_long(&words[1], 1);
	WRITE_ONCE(half[0], 1);
	WRITE_ONCE(half[0], 2);
	KUNIT_EXPECT_EQ(test, hits_of(&other), 1);
	KUNIT_EXPECT_EQ(test, hits_of(&halves[0]), 3);
	KUNIT_EXPECT_EQ(test, hits_of(&halves[1]), 2);
	unregister_wprobe(&other.wp);
	unregister_wprobe(&halves[1].wp);
	unregister_wprobe(&halves[0].wp);
	empty(fillers, n);
	KUNIT_EXPECT_EQ(test, nr_watches(), 0);
}

/*
 * Each write of the other CPU changes the second half.  The flags are no bool: with UBSAN, gcc 12
 * reads a bool of READ_ONCE() only once, before the loop.
 */
static struct {
	u16 *half;
	int writes;
	int meanwhile;	/* while watches were merged, in all rounds */
	int begun;
	int stop;
} writer;

static int write_changes(void *unused)
{
	while (!READ_ONCE(writer.stop)) {
		WRITE_ONCE(*writer.half, *writer.half + 1);
		WRITE_ONCE(writer.writes, writer.writes + 1);
		WRITE_ONCE(writer.begun, 1);
	}
	return 0;
}

/* Lets another CPU change the second half while two watches are merged; returns its writes. */
static int merge_meanwhile(struct kunit *test, struct watched *other)
{
	struct task_struct *task;
	int i, before;

	writer.writes = 0;
	writer.begun = 0;
	writer.stop = 0;
	task = kthread_create(write_changes, NULL, "wprobes_writer");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	get_task_struct(task);
	kthread_bind(task, cpumask_last(cpu_online_mask));
	wake_up_process(task);
	while (!READ_ONCE(writer.begun))
		cond_resched();
	before = READ_ONCE(writer.writes);
	KUNIT_EXPECT_EQ(test, register_wprobe(&other->wp), 0);
	writer.meanwhile += READ_ONCE(writer.writes) - before;
	for (i = 0; i < 100; i++)
		WRITE_ONCE(writer.half[-1], i);
	WRITE_ONCE(writer.stop, 1);
	kthread_stop(task);
	put_task_struct(task);
	return writer.writes;
}

/*
 * Number of merges in each of two cases.  If one of 67 merges loses or repeats a change, both
 * cases pass in one of 20 runs.
 */
#define MERGES	100

/* Merges two halves, the first of which may be disabled, while the second one changes. */
static void merge_often(struct kunit *test, u32 flags)
{
	static struct watched fillers[MANY];
	struct watched halves[2], other;
	int n, i, round;

	if (num_online_cpus() < 2)
		kunit_skip(test, "one CPU");
	n = fill(test, fillers, 2);
	writer.meanwhile = 0;
	for (round = 0; round < MERGES; round++) {
		words[0] = 0;
		writer.half = (u16 *)&words[0] + 1;
		other = watched_at(&words[1], sizeof(long));
		for (i = 0; i < 2; i++) {
			halves[i] = watched_at(&writer.half[i - 1], 2);
			halves[i].wp.flags = WPROBE_FLAG_CHANGED | (i ? 0 : flags);
			KUNIT_ASSERT_EQ(test, register_wprobe(&halves[i].wp), 0);
		}
		KUNIT_EXPECT_EQ(test, merge_meanwhile(test, &other), hits_of(&halves[1]));
		KUNIT_EXPECT_PTR_EQ(test, halves[0].wp.watch, halves[1].wp.watch);
		/* The first half was 0. */
		KUNIT_EXPECT_EQ(test, hits_of(&halves[0]), flags ? 0 : 99);
		KUNIT_EXPECT_EQ(test, halves[1].wp.nmissed, 0);
		unregister_wprobe(&other.wp);
		unregister_wprobe(&halves[1].wp);
		unregister_wprobe(&halves[0].wp);
	}
	empty(fillers, n);
	KUNIT_EXPECT_GT(test, writer.meanwhile, 0);
}

static void a_merge_loses_and_repeats_no_change(struct kunit *test)
{
	merge_often(test, 0);
}

static void a_merge_with_a_disabled_probe_loses_no_change(struct kunit *test)
{
	merge_often(test, WPROBE_FLAG_DISABLED);
}

static void probes_that_cannot_be_told_apart_do_not_share(struct kunit *test)
{
	static struct watched fillers[MANY];
	struct watched halves[2];
	u16 *half = (u16 *)&words[0];
	int n, i;

	if (WPROBE_KNOWS_ACCESS)
		kunit_skip(test, "the processor reports the accessed bytes");
	n = fill(test, fillers, 1);
	for (i = 0; i < 2; i++)
		halves[i] = watched_at(&half[i], 2);
	KUNIT_EXPECT_EQ(test, register_wprobe(&halves[0].wp), 0);
	halves[1].wp.flags = WPROBE_FLAG_CHANGED;
	KUNIT_EXPECT_EQ(test, register_wprobe(&halves[1].wp), -ENOSPC);
	unregister_wprobe(&halves[0].wp);
	empty(fillers, n);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(the_same_bytes_share_a_register),
	KUNIT_CASE(the_core_reads_without_a_hit),
	KUNIT_CASE(a_wider_watch_reports_no_old_changes),
	KUNIT_CASE(neighbours_share_the_last_register),
	KUNIT_CASE(plain_neighbours_share_the_last_register),
	KUNIT_CASE(watches_are_merged_for_another),
	KUNIT_CASE_SLOW(a_merge_loses_and_repeats_no_change),
	KUNIT_CASE_SLOW(a_merge_with_a_disabled_probe_loses_no_change),
	KUNIT_CASE(probes_that_cannot_be_told_apart_do_not_share),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_share",
	.test_cases = cases,
};
kunit_test_suite(suite);
