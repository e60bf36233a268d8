// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perf gets registers that probes use, and the probes come back.
 */
#include <linux/delay.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#include "../internal.h"
#include "watched.h"

static unsigned long words[2 * MANY], perf_words[MANY];
static atomic_t perf_hits;

static void perf_hit(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	atomic_inc(&perf_hits);
}

/* Events are on CPU 0 only, and take a register of all CPUs from probes nevertheless. */
static struct perf_event *perf_watch(int i)
{
	struct perf_event_attr attr;

	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)&perf_words[i];
	attr.bp_len = HW_BREAKPOINT_LEN_4;
	attr.bp_type = HW_BREAKPOINT_W;
	return perf_event_create_kernel_counter(&attr, 0, NULL, perf_hit, NULL);
}

static int register_many(struct watched *w)
{
	int n;

	for (n = 0; n < MANY; n++) {
		w[n] = watched_at(&words[2 * n], sizeof(long));
		if (register_wprobe(&w[n].wp))
			break;
	}
	return n;
}

static int count_parked(struct watched *w, int n)
{
	int i, parked = 0;

	for (i = 0; i < n; i++)
		parked += !!(READ_ONCE(w[i].wp.flags) & WPROBE_FLAG_PARKED);
	return parked;
}

/* Waits until that number of probes is parked. */
static void expect_parked(struct kunit *test, struct watched *w, int n, int parked)
{
	int tries;

	for (tries = 0; tries < 200 && count_parked(w, n) > parked; tries++)
		msleep(20);
	/* The worker that gives registers back holds the mutex until the CPUs have loaded them. */
	scoped_guard(mutex, &wprobe_mutex)
		KUNIT_EXPECT_EQ(test, count_parked(w, n), parked);
}

static void perf_gets_registers_of_the_youngest(struct kunit *test)
{
	struct watched *w = kunit_kcalloc(test, MANY, sizeof(*w), GFP_KERNEL);
	struct perf_event *event[2];
	int n, i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	n = register_many(w);
	KUNIT_ASSERT_GE(test, n, 2);
	for (i = 0; i < 2; i++) {
		event[i] = perf_watch(i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(event[i]));
		KUNIT_EXPECT_EQ(test, count_parked(w, n), i + 1);
		KUNIT_EXPECT_TRUE(test, w[n - 1 - i].wp.flags & WPROBE_FLAG_PARKED);
	}
	for (i = 0; i < n; i++)
		write_long(&words[2 * i], i);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, hits_of(&w[i]), i < n - 2);

	/* New probes get nothing while others are parked. */
	KUNIT_EXPECT_EQ(test, register_wprobe(&w[n].wp), -ENOSPC);

	/* The oldest parked probe is the first to come back. */
	for (i = 0; i < 2; i++) {
		perf_event_release_kernel(event[i]);
		expect_parked(test, w, n, 1 - i);
		KUNIT_EXPECT_FALSE(test, w[n - 2 + i].wp.flags & WPROBE_FLAG_PARKED);
	}
	for (i = 0; i < n; i++) {
		write_long(&words[2 * i], i);
		KUNIT_EXPECT_EQ(test, hits_of(&w[i]), i < n - 2 ? 2 : 1);
		unregister_wprobe(&w[i].wp);
	}
}

static void parked_probes_can_be_unregistered(struct kunit *test)
{
	struct watched *w = kunit_kcalloc(test, MANY, sizeof(*w), GFP_KERNEL);
	struct perf_event *event;
	int n, i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	n = register_many(w);
	KUNIT_ASSERT_GE(test, n, 2);
	event = perf_watch(0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(event));
	KUNIT_EXPECT_EQ(test, count_parked(w, n), 1);
	KUNIT_EXPECT_EQ(test, disable_wprobe(&w[n - 1].wp), 0);
	KUNIT_EXPECT_EQ(test, enable_wprobe(&w[n - 1].wp), 0);
	/* A released register of a probe goes to the parked one. */
	unregister_wprobe(&w[0].wp);
	KUNIT_EXPECT_EQ(test, count_parked(w, n), 0);
	perf_event_release_kernel(event);
	event = perf_watch(0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(event));
	for (i = 1; i < n; i++)
		unregister_wprobe(&w[i].wp);
	perf_event_release_kernel(event);
	KUNIT_EXPECT_EQ(test, register_many(w), n);
	while (n)
		unregister_wprobe(&w[--n].wp);
}

/* The youngest probe is parked, and watches the new address when it gets its register back. */
static void a_parked_probe_is_retargeted(struct kunit *test)
{
	struct watched *w = kunit_kcalloc(test, MANY, sizeof(*w), GFP_KERNEL);
	struct watched *last;
	unsigned long *from, *to;
	struct perf_event *event;
	int n;

	KUNIT_ASSERT_NOT_NULL(test, w);
	n = register_many(w);
	KUNIT_ASSERT_GE(test, n, 1);
	last = &w[n - 1];
	from = &words[2 * (n - 1)];
	to = from + 1;
	unregister_wprobe(&last->wp);
	last->wp.flags = WPROBE_FLAG_MOVABLE;
	KUNIT_ASSERT_EQ(test, register_wprobe(&last->wp), 0);
	event = perf_watch(0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(event));
	KUNIT_EXPECT_TRUE(test, last->wp.flags & WPROBE_FLAG_PARKED);
	*to = 3;
	KUNIT_EXPECT_EQ(test, wprobe_retarget(&last->wp, to), 0);
	write_long(from, 1);
	write_long(to, 4);
	KUNIT_EXPECT_EQ(test, hits_of(last), 0);
	perf_event_release_kernel(event);
	expect_parked(test, w, n, 0);
	write_long(from, 2);
	KUNIT_EXPECT_EQ(test, hits_of(last), 0);
	write_long(to, 5);
	KUNIT_EXPECT_EQ(test, hits_of(last), 1);
	KUNIT_EXPECT_EQ(test, last->old, 4);
	KUNIT_EXPECT_EQ(test, last->new, 5);
	expect_hit_of_all_cpus(test, last, to);
	KUNIT_EXPECT_EQ(test, last->wp.nmissed, 0);
	while (n)
		unregister_wprobe(&w[--n].wp);
}

static void write_perf_word(void *unused)
{
	write_long(&perf_words[0], 1);
}

/* Both users of the registers get their hits. */
static void perf_and_probes_are_told_apart(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));
	struct perf_event *event = perf_watch(0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(event));
	atomic_set(&perf_hits, 0);
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	KUNIT_EXPECT_FALSE(test, w.wp.flags & WPROBE_FLAG_PARKED);
	write_long(&words[0], 1);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&perf_hits), 0);
	/* On arm64 no write completes for which perf calls a handler of the kernel. */
	if (!IS_ENABLED(CONFIG_ARM64)) {
		smp_call_function_single(0, write_perf_word, NULL, true);
		KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&perf_hits), 1);
	}
	perf_event_release_kernel(event);
	write_long(&words[0], 1);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 2);
	unregister_wprobe(&w.wp);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(perf_gets_registers_of_the_youngest),
	KUNIT_CASE(parked_probes_can_be_unregistered),
	KUNIT_CASE(a_parked_probe_is_retargeted),
	KUNIT_CASE(perf_and_probes_are_told_apart),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_yield",
	.test_cases = cases,
};
kunit_test_suite(suite);
