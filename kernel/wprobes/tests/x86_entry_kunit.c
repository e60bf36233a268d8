// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: data that the entry of a debug exception uses, before it disables the registers, is refused.
 */
#include <asm/cpu_entry_area.h>
#include <asm/nospec-branch.h>

#include "watched.h"

/* A read of the entry would be a hit in each exception of a hit. */
static void refused(struct kunit *test, void *addr, u32 flags)
{
	struct watched w = watched_at(addr, 4);

	w.wp.type = WPROBE_RW;
	w.wp.flags = flags;
	KUNIT_EXPECT_EQ(test, register_wprobe(&w.wp), -EINVAL);
	unregister_wprobe(&w.wp);
}

static void refused_everywhere(struct kunit *test, void __percpu *variable)
{
	int cpu;

	refused(test, (__force void *)variable, WPROBE_FLAG_PERCPU);
	for_each_possible_cpu(cpu)
		refused(test, per_cpu_ptr(variable, cpu), 0);
}

static void the_value_of_spec_ctrl_is_refused(struct kunit *test)
{
	refused_everywhere(test, &x86_spec_ctrl_current);
	/* The upper half. */
	refused_everywhere(test, (u32 __percpu *)&x86_spec_ctrl_current + 1);
}

#ifdef CONFIG_MITIGATION_CALL_DEPTH_TRACKING
static void the_depth_of_calls_is_refused(struct kunit *test)
{
	refused_everywhere(test, &__x86_call_depth);
}
#else
static void the_depth_of_calls_is_refused(struct kunit *test)
{
	kunit_skip(test, "the kernel does not track the depth of calls");
}
#endif

static void the_top_of_the_stack_is_refused(struct kunit *test)
{
	refused_everywhere(test, &cpu_current_top_of_stack);
}

#ifdef CONFIG_SMP
/* An NMI may come before the registers are disabled, and its entry reads these. */
static void data_of_an_nmi_is_refused(struct kunit *test)
{
	refused_everywhere(test, &cpu_number);
	refused(test, (void *)cpu_online_mask, 0);
}
#else
static void data_of_an_nmi_is_refused(struct kunit *test)
{
	kunit_skip(test, "the entry of an NMI reads no variable that others can name");
}
#endif

#ifdef CONFIG_DEBUG_PREEMPT
static void data_of_a_check_is_refused(struct kunit *test)
{
	refused_everywhere(test, &__preempt_count);
}
#else
static void data_of_a_check_is_refused(struct kunit *test)
{
	kunit_skip(test, "accesses to variables of a CPU are not checked");
}
#endif

#ifdef CONFIG_X86_32
static void the_entry_area_is_refused(struct kunit *test)
{
	refused_everywhere(test, &cpu_entry_area);
}
#else
static void the_entry_area_is_refused(struct kunit *test)
{
	kunit_skip(test, "the entry finds it without a variable");
}
#endif

static struct kunit_case cases[] = {
	KUNIT_CASE(the_value_of_spec_ctrl_is_refused),
	KUNIT_CASE(the_depth_of_calls_is_refused),
	KUNIT_CASE(the_top_of_the_stack_is_refused),
	KUNIT_CASE(data_of_an_nmi_is_refused),
	KUNIT_CASE(data_of_a_check_is_refused),
	KUNIT_CASE(the_entry_area_is_refused),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_x86_entry",
	.test_cases = cases,
};
kunit_test_suite(suite);
