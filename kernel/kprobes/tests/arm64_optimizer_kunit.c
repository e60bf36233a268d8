// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jump optimization (arm64): probes that become a branch.  The branch replaces one
 * instruction, so neighbours do not prevent it.
 */
#include <linux/kasan.h>

#include "opt_functions.h"

int kprobes_opt_branches(void);

/* Places inside the function.  A symbol there would end the function. */
#define OPT_LITERAL		((void *)kprobes_opt_branches + 4)
#define OPT_CONDITIONAL		((void *)kprobes_opt_branches + 8)
#define OPT_LINK		((void *)kprobes_opt_branches + 20)

/*
 * A literal load, a conditional branch, and a call whose target is in the link register.
 * The call leads to a landing pad, because some kernels require one.
 */
TEXT_FUNCTION(kprobes_opt_branches,
	      "mov	x9, x30\n"
	      "ldr	w0, 3f\n"
	      "cbnz	w0, 1f\n"
	      "mov	w0, #99\n"
	      "1: adr	x30, 2f\n"
	      "blr	x30\n"
	      "udf	#0\n"
	      "2: hint	#38\n"
	      "mov	x30, x9\n"
	      "ret\n"
	      "3: .word	3\n");

/* A direct call, see kprobes_opt_call(). */
static int call_three(void)
{
	return kprobes_opt_call(kprobes_opt_three);
}

static int call_framed(void)
{
	return kprobes_opt_call(kprobes_opt_framed);
}

static int call_branches(void)
{
	return kprobes_opt_branches();
}

static const struct opt_place places[] = {
	{ "the first", kprobes_opt_three, call_three, "" },
	{ "inside a function", OPT_SECOND, call_three, "" },
	{ "a literal", OPT_LITERAL, call_branches, "" },
	{ "a conditional branch", OPT_CONDITIONAL, call_branches, "" },
	{ "a call by the link register", OPT_LINK, call_branches,
	  "the instruction cannot be re-encoded" },
	{ "a frame is made", kprobes_opt_framed, call_framed, "" },
};

KUNIT_ARRAY_PARAM_DESC(place, places, name);

static void one_instruction(struct kunit *test)
{
	opt_expect_place(test, test->param_value);
}

static void side_by_side(struct kunit *test)
{
	struct counted first = counted_at(kprobes_opt_three, true, false);
	struct counted second = counted_at(OPT_SECOND, true, true);
	struct counted third = counted_at(OPT_THIRD, true, false);
	struct kprobe *all[] = { &first.kp, &second.kp, &third.kp };

	KUNIT_ASSERT_EQ(test, register_kprobes(all, ARRAY_SIZE(all)), 0);
	EXPECT_JUMP(test, &first.kp, true);
	EXPECT_JUMP(test, &second.kp, true);
	EXPECT_JUMP(test, &third.kp, true);
	KUNIT_EXPECT_EQ(test, call_three(), 3);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&second.kp), 0);
	EXPECT_JUMP(test, &first.kp, true);
	EXPECT_JUMP(test, &third.kp, true);
	KUNIT_EXPECT_EQ(test, call_three(), 3);
	unregister_kprobes(all, ARRAY_SIZE(all));
	KUNIT_EXPECT_EQ(test, call_three(), 3);
	KUNIT_EXPECT_EQ(test, first.pre, 2);
	KUNIT_EXPECT_EQ(test, second.pre, 1);
	KUNIT_EXPECT_EQ(test, second.post, 1);
	KUNIT_EXPECT_EQ(test, third.pre, 2);
}

/* Kernels that check tags have tags in pointers; the address of an instruction has none. */
static void addresses_have_no_tag(struct kunit *test)
{
	struct counted c = counted_at(kprobes_opt_framed, true, true);
	struct optimized_kprobe *op;
	struct kprobe *kp;

	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	EXPECT_JUMP(test, &c.kp, true);
	kp = probe_at(c.kp.addr);
	op = container_of(kp, struct optimized_kprobe, kp);
	KUNIT_EXPECT_PTR_EQ(test, kp->ainsn.insn, kasan_reset_tag(kp->ainsn.insn));
	KUNIT_EXPECT_PTR_EQ(test, kp->ainsn.step, kasan_reset_tag(kp->ainsn.step));
	KUNIT_EXPECT_PTR_EQ(test, op->optinsn.insn, kasan_reset_tag(op->optinsn.insn));
	unregister_kprobe(&c.kp);
}

static struct kunit_case optimizer_cases[] = {
	KUNIT_CASE_PARAM(one_instruction, place_gen_params),
	KUNIT_CASE(addresses_have_no_tag),
	KUNIT_CASE(side_by_side),
	{}
};

static struct kunit_suite optimizer_suite = {
	.name = "kprobes_arm64_optimizer",
	.init = opt_init,
	.test_cases = optimizer_cases,
};

kunit_test_suite(optimizer_suite);
