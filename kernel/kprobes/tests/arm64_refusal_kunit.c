// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: places where a hit could not be handled are refused.
 */
#include <kunit/test.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <asm/insn.h>

#include "entry.h"

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
/* ftrace_caller() has no symbol inside. */
#define INSIDE_CALLER	text_at(ftrace_caller, 2 * AARCH64_INSN_SIZE)
#else
#define INSIDE_CALLER	ftrace_call
#endif

#ifdef CONFIG_DYNAMIC_FTRACE
/* The second instruction is not the address of any symbol. */
static void ftraces_trampolines(struct kunit *test)
{
	struct kprobe kp = { .addr = text_at(ftrace_caller, AARCH64_INSN_SIZE) };

	KUNIT_EXPECT_EQ(test, register_kprobe(&kp), -EINVAL);
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist((unsigned long)INSIDE_CALLER));
}
#else
static void ftraces_trampolines(struct kunit *test)
{
	kunit_skip(test, "no function tracer");
}
#endif

#ifdef CONFIG_KRETPROBES
/* A call may power the CPU down. */
static void returns_of_calls_of_firmware(struct kunit *test)
{
	struct kretprobe rp = { .kp.symbol_name = "__arm_smccc_smc" };
	struct kprobe_why why = {};

	KUNIT_EXPECT_EQ(test, register_kretprobe_why(&rp, &why), -EINVAL);
	KUNIT_EXPECT_STREQ(test, why.text, "return probes cannot work there");
}
#else
static void returns_of_calls_of_firmware(struct kunit *test)
{
	kunit_skip(test, "no return probes");
}
#endif

static struct kunit_case cases[] = {
	KUNIT_CASE(ftraces_trampolines),
	KUNIT_CASE(returns_of_calls_of_firmware),
	{}
};

static struct kunit_suite suite = {
	.name = "kprobes_arm64_refusal",
	.test_cases = cases,
};
kunit_test_suite(suite);
