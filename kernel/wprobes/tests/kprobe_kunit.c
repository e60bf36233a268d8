// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Accesses in a handler of a kprobe.  On arm64, debug exceptions are masked after a breakpoint, so
 * that such an access is not seen; a jump does not mask them.
 */
#include <linux/kprobes.h>

#include "../../kprobes/tests/jumps.h"
#include "watched.h"

static unsigned long word;

static int write_word(struct kprobe *kp, struct pt_regs *regs)
{
	write_long(&word, 2);
	return 0;
}

/* Not traced, so that ftrace does not call the handler.  There is room for a jump. */
static notrace noinline void probed_here(void)
{
	asm volatile("nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop");
}

/* The access is made in any case, and the next one of other code is a hit again. */
static void access_in_a_handler(struct kunit *test, bool jump, int hits)
{
	struct kprobe kp = { .addr = (void *)probed_here, .pre_handler = write_word };
	struct watched w = watched_at(&word, sizeof(long));
	bool before = allow_jumps(jump);

	word = 1;
	KUNIT_EXPECT_EQ(test, register_wprobe(&w.wp), 0);
	KUNIT_EXPECT_EQ(test, register_kprobe(&kp), 0);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, kprobe_optimized(&kp), jump);
	probed_here();
	KUNIT_EXPECT_EQ(test, word, 2);
	KUNIT_EXPECT_EQ(test, hits_of(&w), hits);
	write_long(&word, 3);
	KUNIT_EXPECT_EQ(test, hits_of(&w), hits + 1);
	KUNIT_EXPECT_EQ(test, w.new, 3);
	KUNIT_EXPECT_EQ(test, w.wp.nmissed, 0);
	unregister_kprobe(&kp);
	unregister_wprobe(&w.wp);
	allow_jumps(before);
}

static void in_a_handler_of_a_breakpoint(struct kunit *test)
{
	access_in_a_handler(test, false, IS_ENABLED(CONFIG_ARM64) ? 0 : 1);
}

static void in_a_handler_of_a_jump(struct kunit *test)
{
	if (!DETOURS)
		kunit_skip(test, "no jumps");
	access_in_a_handler(test, true, 1);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(in_a_handler_of_a_breakpoint),
	KUNIT_CASE(in_a_handler_of_a_jump),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_kprobe",
	.test_cases = cases,
};
kunit_test_suite(suite);
