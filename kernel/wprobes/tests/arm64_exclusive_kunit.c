// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: loops of exclusive accesses to watched memory end, their accesses are missed, and the CPU
 * watches again afterwards.  The loops are in assembly, because kernels do not execute
 * store-exclusives on processors with the atomic instructions of LSE.  A load-exclusive that waits
 * for a store is a hit.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>

#include "../internal.h"
#include "watched.h"

static unsigned long words[2] __aligned(16);

/* Defines a function that adds one by a load and a store of these names. */
#define ADD_ONE(name, load, store)							\
static noinline void name(unsigned long *at)						\
{											\
	unsigned long value;								\
	u32 failed;									\
											\
	asm volatile("1:	" load "	%0, %2\n"				\
		     "	add	%0, %0, #1\n"						\
		     "	" store "	%w1, %0, %2\n"				\
		     "	cbnz	%w1, 1b"						\
		     : "=&r" (value), "=&r" (failed), "+Q" (*at) : : "memory");		\
}

ADD_ONE(add_one, "ldxr", "stxr")
ADD_ONE(add_one_ordered, "ldaxr", "stlxr")

static noinline void add_one_to_pair(unsigned long *at)
{
	unsigned long low, high;
	u32 failed;

	asm volatile("1:	ldxp	%0, %1, %3\n"
		     "	add	%0, %0, #1\n"
		     "	stxp	%w2, %0, %1, %3\n"
		     "	cbnz	%w2, 1b"
		     : "=&r" (low), "=&r" (high), "=&r" (failed), "+Q" (*at) : : "memory");
}

static void (*const ways[])(unsigned long *) = { add_one, add_one_ordered, add_one_to_pair };

static void loops_end(struct kunit *test, enum wprobe_type type)
{
	struct watched w = watched_at(&words[0], sizeof(long));
	unsigned long wanted = 0;
	unsigned int way, i;
	int before;

	w.wp.type = type;
	words[0] = 0;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	for (way = 0; way < ARRAY_SIZE(ways); way++) {
		/* The registers are loaded, also if the last loop has paused them. */
		msleep(50);
		before = w.wp.nmissed;
		for (i = 0; i < 1000; i++)
			ways[way](&words[0]);
		wanted += 1000;
		KUNIT_EXPECT_GT(test, (int)w.wp.nmissed, before);
		KUNIT_EXPECT_EQ(test, READ_ONCE_NOCHECK(words[0]), wanted);
	}
	unregister_wprobe(&w.wp);
}

static void loops_of_watched_writes_end(struct kunit *test)
{
	loops_end(test, WPROBE_WRITE);
}

static void loops_of_watched_reads_and_writes_end(struct kunit *test)
{
	loops_end(test, WPROBE_RW);
}

/* The registers are loaded again by ticks, also in the middle of sequences. */
static void loops_end_across_ticks(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));
	unsigned long end = jiffies + HZ / 2, n;

	w.wp.type = WPROBE_RW;
	words[0] = 0;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	for (n = 0; time_before(jiffies, end); n++)
		add_one(&words[0]);
	unregister_wprobe(&w.wp);
	KUNIT_EXPECT_EQ(test, words[0], n);
	/* More than one pause; a processor of QEMU need not see each tick. */
	KUNIT_EXPECT_GT(test, (int)w.wp.nmissed, 2);
}

static void the_cpu_watches_again(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));
	struct watched other = watched_at(&words[1], sizeof(long));

	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	KUNIT_ASSERT_EQ(test, register_wprobe(&other.wp), 0);
	words[0] = 0;
	atomic_set(&w.hits, 0);
	add_one(&words[0]);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 0);
	msleep(50);
	write_long(&words[0], 7);
	write_long(&words[1], 8);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	KUNIT_EXPECT_EQ(test, w.old, 1);
	KUNIT_EXPECT_EQ(test, w.new, 7);
	KUNIT_EXPECT_EQ(test, hits_of(&other), 1);
	unregister_wprobe(&w.wp);
	unregister_wprobe(&other.wp);
}

/* The load-exclusive of smp_cond_load_relaxed() is stepped, and the CPU goes on watching. */
static void loads_that_wait_are_hits(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));
	struct watched other = watched_at(&words[1], sizeof(long));
	int i;

	w.wp.type = WPROBE_RW;
	words[0] = 3;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	KUNIT_ASSERT_EQ(test, register_wprobe(&other.wp), 0);
	preempt_disable();
	for (i = 1; i <= 10; i++) {
		__cmpwait_relaxed(&words[0], 3);
		write_long(&words[1], i);
	}
	preempt_enable();
	KUNIT_EXPECT_EQ(test, hits_of(&w), 10);
	KUNIT_EXPECT_EQ(test, (int)w.wp.nmissed, 0);
	KUNIT_EXPECT_EQ(test, w.new, 3);
	KUNIT_EXPECT_EQ(test, hits_of(&other), 10);
	KUNIT_EXPECT_EQ(test, other.new, 10);
	unregister_wprobe(&w.wp);
	unregister_wprobe(&other.wp);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(loops_of_watched_writes_end),
	KUNIT_CASE(loops_of_watched_reads_and_writes_end),
	KUNIT_CASE(loops_end_across_ticks),
	KUNIT_CASE(the_cpu_watches_again),
	KUNIT_CASE(loads_that_wait_are_hits),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_arm64_exclusive",
	.test_cases = cases,
};
kunit_test_suite(suite);
