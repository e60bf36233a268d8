// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where blacklisted text begins and ends, to the byte: a function behind another,
 * and the part that the compiler has split off.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>

#include "counted.h"

/* Functions without a gap; the second is blacklisted.  Never executed. */
asmlinkage void kprobes_kunit_before(void);
asmlinkage void kprobes_kunit_black(void);
asmlinkage void kprobes_kunit_white(void);

asm(".pushsection .text\n"
    ".global kprobes_kunit_before\n"
    ".type kprobes_kunit_before, @function\n"
    "kprobes_kunit_before:\n"
    "	nop\n"
    ".size kprobes_kunit_before, . - kprobes_kunit_before\n"
    ".global kprobes_kunit_black\n"
    ".type kprobes_kunit_black, @function\n"
    "kprobes_kunit_black:\n"
    "	nop\n"
    "	nop\n"
    "	nop\n"
    ".size kprobes_kunit_black, . - kprobes_kunit_black\n"
    ".global kprobes_kunit_white\n"
    ".type kprobes_kunit_white, @function\n"
    "kprobes_kunit_white:\n"
    "	nop\n"
    ".size kprobes_kunit_white, . - kprobes_kunit_white\n"
    ".popsection\n");
NOKPROBE_SYMBOL(kprobes_kunit_black);
STACK_FRAME_NON_STANDARD(kprobes_kunit_before);
STACK_FRAME_NON_STANDARD(kprobes_kunit_black);
STACK_FRAME_NON_STANDARD(kprobes_kunit_white);

/*
 * What the compiler splits off a function, for it is unlikely, is found by its
 * name only.
 */
extern char black_cold[] asm("kprobes_kunit_black.cold");
extern char white_cold[] asm("kprobes_kunit_white.cold");

asm(".pushsection .text\n"
    ".type kprobes_kunit_black.cold, @function\n"
    "kprobes_kunit_black.cold:\n"
    "	nop\n"
    ".size kprobes_kunit_black.cold, . - kprobes_kunit_black.cold\n"
    ".type kprobes_kunit_white.cold, @function\n"
    "kprobes_kunit_white.cold:\n"
    "	nop\n"
    ".size kprobes_kunit_white.cold, . - kprobes_kunit_white.cold\n"
    ".popsection\n");

static void to_the_byte(struct kunit *test)
{
	unsigned long black = (unsigned long)kprobes_kunit_black;
	unsigned long white = (unsigned long)kprobes_kunit_white;

	/* To the compiler two functions are never side by side. */
	OPTIMIZER_HIDE_VAR(white);
	KUNIT_ASSERT_EQ(test, white, black + 3);
	KUNIT_EXPECT_FALSE(test, within_kprobe_blacklist(black - 1));
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist(black));
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist(black + 2));
	KUNIT_EXPECT_FALSE(test, within_kprobe_blacklist(white));
}

static void registering_on_both_sides(struct kunit *test)
{
	struct counted last = counted_at((void *)kprobes_kunit_black + 2, true, false);
	struct counted behind = counted_at(kprobes_kunit_white, true, false);
	int ret = register_kprobe(&last.kp);

	KUNIT_EXPECT_EQ(test, ret, -EINVAL);
	if (!ret)
		unregister_kprobe(&last.kp);
	KUNIT_ASSERT_EQ(test, register_kprobe(&behind.kp), 0);
	unregister_kprobe(&behind.kp);
}

static void the_cold_part_of_a_function(struct kunit *test)
{
	struct counted black = counted_at(black_cold, true, false);
	struct counted white = counted_at(white_cold, true, false);
	int ret = register_kprobe(&black.kp);

	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist((unsigned long)black_cold));
	KUNIT_EXPECT_EQ(test, ret, -EINVAL);
	if (!ret)
		unregister_kprobe(&black.kp);
	KUNIT_EXPECT_FALSE(test, within_kprobe_blacklist((unsigned long)white_cold));
	KUNIT_ASSERT_EQ(test, register_kprobe(&white.kp), 0);
	unregister_kprobe(&white.kp);
}

static struct kunit_case blacklist_cases[] = {
	KUNIT_CASE(to_the_byte),
	KUNIT_CASE(registering_on_both_sides),
	KUNIT_CASE(the_cold_part_of_a_function),
	{}
};

static struct kunit_suite blacklist_suite = {
	.name = "kprobes_blacklist",
	.test_cases = blacklist_cases,
};
kunit_test_suite(blacklist_suite);
