// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: one instruction writes two watched words.
 */
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

static struct kunit_case cases[] = {
	KUNIT_CASE(both_words_have_their_change),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_arm64_pair",
	.test_cases = cases,
};
kunit_test_suite(suite);
