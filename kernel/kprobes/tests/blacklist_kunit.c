// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exact limits of blacklisted text: a function right after another, and the part of a function
 * that the compiler has split off.
 */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <asm/sections.h>

#include "../internal.h"
#include "asm_text.h"
#include "counted.h"

#define BLACK_BYTES	(3 * NOP_BYTES)

/* Functions without a gap between them; the second is blacklisted.  Never executed. */
asmlinkage void kprobes_kunit_before(void);
asmlinkage void kprobes_kunit_black(void);
asmlinkage void kprobes_kunit_white(void);

TEXT_FUNCTION(kprobes_kunit_before, "nop\n");
TEXT_NEXT_FUNCTION(kprobes_kunit_black, "nop\nnop\nnop\n");
TEXT_NEXT_FUNCTION(kprobes_kunit_white, "nop\nnop\n");
NOKPROBE_SYMBOL(kprobes_kunit_black);
STACK_FRAME_NON_STANDARD(kprobes_kunit_before);
STACK_FRAME_NON_STANDARD(kprobes_kunit_black);
STACK_FRAME_NON_STANDARD(kprobes_kunit_white);

/*
 * The compiler splits unlikely code off a function.  Only its name shows the function to
 * which it belongs.
 */
extern char black_cold[] asm("kprobes_kunit_black.cold");
extern char white_cold[] asm("kprobes_kunit_white.cold");

/* On arm64 the last word of a function may be taken for the type hash of the next one. */
TEXT_FUNCTION(kprobes_kunit_black.cold, "nop\nnop\n");
TEXT_FUNCTION(kprobes_kunit_white.cold, "nop\nnop\n");

static void ranges_are_exact_to_the_byte(struct kunit *test)
{
	unsigned long black = (unsigned long)kprobes_kunit_black;
	unsigned long white = (unsigned long)kprobes_kunit_white;

	/* The compiler assumes that two functions are never adjacent. */
	OPTIMIZER_HIDE_VAR(white);
	OPTIMIZER_HIDE_VAR(black);
	KUNIT_ASSERT_EQ(test, white, black + BLACK_BYTES);
	KUNIT_EXPECT_FALSE(test, within_kprobe_blacklist(black - 1));
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist(black));
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist(black + BLACK_BYTES - 1));
	KUNIT_EXPECT_FALSE(test, within_kprobe_blacklist(white));
}

static void registering_on_both_sides(struct kunit *test)
{
	struct counted last = counted_at(text_at(kprobes_kunit_black, 2 * NOP_BYTES), true, false);
	struct counted after = counted_at(kprobes_kunit_white, true, false);
	int ret = register_kprobe(&last.kp);

	KUNIT_EXPECT_EQ(test, ret, -EINVAL);
	if (!ret)
		unregister_kprobe(&last.kp);
	KUNIT_ASSERT_EQ(test, register_kprobe(&after.kp), 0);
	unregister_kprobe(&after.kp);
}

static void expect_verdict(struct kunit *test, char *addr, int verdict)
{
	struct counted probe = counted_at(addr, true, false);
	int ret = register_kprobe(&probe.kp);

	KUNIT_EXPECT_EQ(test, within_kprobe_blacklist((unsigned long)addr), verdict != 0);
	KUNIT_EXPECT_EQ(test, ret, verdict);
	if (!ret)
		unregister_kprobe(&probe.kp);
}

static void the_cold_part_of_a_function(struct kunit *test)
{
	expect_verdict(test, black_cold, -EINVAL);
	expect_verdict(test, white_cold, 0);
}

struct names {
	struct kunit *test;
	unsigned int compared;
	unsigned int black;
};

/* kallsyms has several names for some addresses; a probe is checked with the first one. */
static int compare_verdicts(void *data, const char *unused, unsigned long addr)
{
	struct names *names = data;
	char name[KSYM_NAME_LEN];
	enum kprobe_name found;
	unsigned long offset;

	if (!__is_kernel_text(addr) || lookup_symbol_name(addr, name))
		return 0;
	KUNIT_EXPECT_TRUE(names->test, kprobe_symbol_find(addr, &offset, &found));
	KUNIT_EXPECT_EQ(names->test, offset, 0);
	names->compared++;
	names->black += found == KPROBE_NAME_BLACK;
	if (found == kprobe_name_verdict(name, true))
		return 0;
	KUNIT_FAIL(names->test, "%s has another verdict after all names have been read", name);
	return -EINVAL;
}

static void all_names_read_at_once(struct kunit *test)
{
	struct names names = { .test = test };

	kprobe_names_read_all();
	kallsyms_on_each_symbol(compare_verdicts, &names);
	kunit_info(test, "%u names, %u of them forbid probes", names.compared, names.black);
	KUNIT_EXPECT_GT(test, names.compared, 1000);
	KUNIT_EXPECT_GE(test, names.black, 1);
}

#ifdef CONFIG_MODULES
static void a_module_needs_its_blacklist(struct kunit *test)
{
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mod);
	/* No machine has memory for so many ranges. */
	mod->num_kprobe_blacklist = INT_MAX;
	mutex_lock(&kprobe_mutex);
	KUNIT_EXPECT_EQ(test, kprobe_blacklist_add_module(mod), -ENOMEM);
	mutex_unlock(&kprobe_mutex);
	ranges_are_exact_to_the_byte(test);
}
#endif

static struct kunit_case blacklist_cases[] = {
	KUNIT_CASE(ranges_are_exact_to_the_byte),
	KUNIT_CASE(registering_on_both_sides),
	KUNIT_CASE(the_cold_part_of_a_function),
	KUNIT_CASE_SLOW(all_names_read_at_once),
#ifdef CONFIG_MODULES
	KUNIT_CASE(a_module_needs_its_blacklist),
#endif
	{}
};

static struct kunit_suite blacklist_suite = {
	.name = "kprobes_blacklist",
	.test_cases = blacklist_cases,
};
kunit_test_suite(blacklist_suite);
