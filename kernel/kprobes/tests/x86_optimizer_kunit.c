// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jump optimization (x86): where a region can become a jump.
 */
#include "asm_case.h"
#include "opt_functions.h"

/* The second instruction is the target of a branch. */
asm(ASM_FUNCTION(kprobes_opt_loop,
		 "xor %eax, %eax\n"
		 "1: add $1, %eax\n"
		 "cmp $3, %eax\n"
		 "jne 1b\n"
		 ASM_RET));

/* The first one is, which is none of the jump's business. */
asm(ASM_FUNCTION(kprobes_opt_first_loop,
		 "1: or $-1, %eax\n"
		 "mov %eax, %eax\n"
		 "mov $3, %eax\n"
		 "jz 1b\n"
		 ASM_RET));

/* Shorter than a jump, with padding behind it. */
asm(ASM_FUNCTION(kprobes_opt_ends,
		 "push $3\n"
		 "pop " AX "\n"
		 ASM_BARE_RET
		 "int3\nint3\nint3\n")
	ASM_UNCHECKED(kprobes_opt_ends));

/* By name, see kprobes_opt_call(). */
static int call_three(void)
{
	return kprobes_opt_call(kprobes_opt_three);
}

static const struct opt_place places[] = {
	{ "two instructions", kprobes_opt_three, call_three, "" },
	{ "inside a function", OPT_SECOND, call_three, "" },
	{ "a branch to the first", kprobes_opt_first_loop, kprobes_opt_first_loop, "" },
	{ "a branch to the second", kprobes_opt_loop, kprobes_opt_loop,
	  "a branch into the region" },
	{ "padding", kprobes_opt_ends, kprobes_opt_ends, "" },
};

KUNIT_ARRAY_PARAM_DESC(place, places, name);

static void regions(struct kunit *test)
{
	opt_expect_place(test, test->param_value);
}

static void neighbours_take_turns(struct kunit *test)
{
	struct counted first = counted_at(kprobes_opt_three, true, false);
	struct counted second = counted_at(OPT_SECOND, true, false);
	struct counted third = counted_at(OPT_THIRD, true, false);

	second.kp.flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, register_kprobe(&first.kp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&second.kp), 0);
	/* Outside of the first one's region. */
	KUNIT_ASSERT_EQ(test, register_kprobe(&third.kp), 0);
	EXPECT_JUMP(test, &first.kp, true);
	KUNIT_EXPECT_EQ(test, call_three(), 3);

	KUNIT_EXPECT_EQ(test, enable_kprobe(&second.kp), 0);
	KUNIT_EXPECT_FALSE(test, is_jump(kprobes_opt_three));
	KUNIT_EXPECT_EQ(test, call_three(), 3);
	EXPECT_JUMP(test, &first.kp, false);
	KUNIT_EXPECT_STREQ(test, said_at(kprobes_opt_three), "another probe in the region");
	/* The third one is in the second one's. */
	EXPECT_JUMP(test, &second.kp, false);
	KUNIT_EXPECT_EQ(test, call_three(), 3);

	unregister_kprobe(&third.kp);
	EXPECT_JUMP(test, &second.kp, true);
	EXPECT_JUMP(test, &first.kp, false);
	KUNIT_EXPECT_EQ(test, call_three(), 3);

	KUNIT_EXPECT_EQ(test, disable_kprobe(&second.kp), 0);
	EXPECT_JUMP(test, &first.kp, true);
	KUNIT_EXPECT_EQ(test, call_three(), 3);
	unregister_kprobe(&first.kp);
	unregister_kprobe(&second.kp);
	KUNIT_EXPECT_EQ(test, first.pre, 5);
	KUNIT_EXPECT_EQ(test, second.pre, 3);
	KUNIT_EXPECT_EQ(test, third.pre, 3);
}

static struct kunit_case optimizer_cases[] = {
	KUNIT_CASE_PARAM(regions, place_gen_params),
	KUNIT_CASE(neighbours_take_turns),
	{}
};

static struct kunit_suite optimizer_suite = {
	.name = "kprobes_x86_optimizer",
	.init = opt_init,
	.test_cases = optimizer_cases,
};

kunit_test_suite(optimizer_suite);
