// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: one instruction writes two words.  The kernel steps it.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>

#include "../internal.h"
#include "watched.h"

static unsigned long words[2] __aligned(16);

static noinline void write_pair(unsigned long first, unsigned long second)
{
	asm volatile("stp %1, %2, %0" : "=Q" (words) : "r" (first), "r" (second));
}

static void read_second(struct wprobe *wp, struct pt_regs *regs, unsigned long old,
			unsigned long new)
{
	watched_hit(wp, regs, old, new);
	read_long(&words[1]);
}

/* The access of the first handler does not replace the value before that of the instruction. */
static void both_words_have_their_change(struct kunit *test)
{
	struct watched first = watched_at(&words[0], sizeof(long));
	struct watched second = watched_at(&words[1], sizeof(long));

	words[0] = 1;
	words[1] = 2;
	first.wp.handler = read_second;
	second.wp.type = WPROBE_RW;
	second.wp.flags = WPROBE_FLAG_CHANGED;
	KUNIT_ASSERT_EQ(test, register_wprobe(&first.wp), 0);
	KUNIT_ASSERT_EQ(test, register_wprobe(&second.wp), 0);
	write_pair(3, 4);
	KUNIT_EXPECT_EQ(test, hits_of(&first), 1);
	KUNIT_EXPECT_EQ(test, hits_of(&second), 1);
	KUNIT_EXPECT_EQ(test, second.old, 2);
	KUNIT_EXPECT_EQ(test, second.new, 4);
	unregister_wprobe(&second.wp);
	unregister_wprobe(&first.wp);
}

/* --- Interrupts write, too ------------------------------------------------------- */

#define PERIOD_US	100
#define INTERRUPTS	2000

static unsigned long stores_of_interrupts;

/* The next interrupt comes so long after this one that the interrupted code goes on. */
static enum hrtimer_restart write_in_interrupt(struct hrtimer *timer)
{
	write_pair(++stores_of_interrupts, 0);
	if (stores_of_interrupts == INTERRUPTS)
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ktime_add_us(ktime_get(), PERIOD_US));
	return HRTIMER_RESTART;
}

/* While the registers are disabled for the step, no interrupt makes an access that is not seen. */
static void a_step_loses_no_access_of_interrupts(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));
	unsigned long stores = 0;
	struct hrtimer timer;

	stores_of_interrupts = 0;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	hrtimer_setup_on_stack(&timer, write_in_interrupt, CLOCK_MONOTONIC,
			       HRTIMER_MODE_REL_PINNED_HARD);
	/* The interrupts come to the CPU of the task. */
	migrate_disable();
	hrtimer_start(&timer, us_to_ktime(PERIOD_US), HRTIMER_MODE_REL_PINNED_HARD);
	for (; hrtimer_active(&timer); stores++)
		write_pair(stores, 1);
	migrate_enable();
	destroy_hrtimer_on_stack(&timer);
	unregister_wprobe(&w.wp);
	KUNIT_EXPECT_EQ(test, stores_of_interrupts, INTERRUPTS);
	KUNIT_EXPECT_GT(test, stores, 0);
	KUNIT_EXPECT_EQ(test, hits_of(&w), stores + INTERRUPTS);
	KUNIT_EXPECT_EQ(test, w.wp.nmissed, 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(both_words_have_their_change),
	KUNIT_CASE(a_step_loses_no_access_of_interrupts),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_arm64_pair",
	.test_cases = cases,
};
kunit_test_suite(suite);
