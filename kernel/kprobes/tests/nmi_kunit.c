// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hits in NMIs: full hits while handlers of a task run, and misses while a handler of an NMI
 * runs.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "counted.h"
#include "jumps.h"
#include "nmi.h"

#define DEADLINE_US	(2 * USEC_PER_SEC)

TRAP_TARGET(nmi_trap, 1)
TRACED_TARGET(nmi_traced, 1)
TRAP_TARGET(nested_trap, 1)
TRAP_TARGET(task_trap, 1)
TRACED_TARGET(task_traced, 1)

static int nmis, expected_cpu = -1, sum;

static bool nmi_body(void)
{
	if (READ_ONCE(expected_cpu) != raw_smp_processor_id())
		return false;
	WRITE_ONCE(expected_cpu, -1);
	sum = nmi_trap(1) + nmi_traced(1);
	WRITE_ONCE(nmis, nmis + 1);
	return true;
}

/* Sends an NMI to this CPU.  If this CPU takes it at once, waits until it has been handled. */
static void nmi_here(void)
{
	int before, wait = DEADLINE_US;

	preempt_disable();
	before = READ_ONCE(nmis);
	WRITE_ONCE(expected_cpu, raw_smp_processor_id());
	kprobes_nmi_raise();
	while (kprobes_nmi_comes_now() && READ_ONCE(nmis) == before && wait--)
		udelay(1);
	preempt_enable();
}

static int send_pre(struct kprobe *kp, struct pt_regs *regs)
{
	nmi_here();
	return 0;
}

static void send_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	nmi_here();
}

static int nest_pre(struct kprobe *kp, struct pt_regs *regs)
{
	counted_pre(kp, regs);
	nested_trap(1);
	return 0;
}

static void hits_in_an_nmi(struct kunit *test, struct kprobe *out, int (*site)(int), int times,
			   bool jump)
{
	struct counted trap = counted_at(nmi_trap, true, true);
	struct counted traced = counted_at(nmi_traced, true, true);
	struct counted nested = counted_at(nested_trap, true, true);
	struct kprobe *kps[] = { &trap.kp, &traced.kp, &nested.kp };

	nmis = 0;
	sum = 0;
	trap.kp.pre_handler = nest_pre;
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, 3), 0);
	if (out)
		KUNIT_EXPECT_EQ(test, register_kprobe(out), 0);
	wait_for_kprobe_optimizer();
	if (out)
		KUNIT_EXPECT_EQ(test, kprobe_optimized(out), jump);
	if (site)
		KUNIT_EXPECT_EQ(test, site(1), 2);
	else
		nmi_here();
	WRITE_ONCE(expected_cpu, -1);
	if (out)
		unregister_kprobe(out);
	unregister_kprobes(kps, 3);

	KUNIT_EXPECT_EQ(test, nmis, times);
	KUNIT_EXPECT_EQ(test, sum, 4);
	KUNIT_EXPECT_EQ(test, trap.pre, times);
	KUNIT_EXPECT_EQ(test, trap.post, times);
	KUNIT_EXPECT_EQ(test, traced.pre, times);
	KUNIT_EXPECT_EQ(test, traced.post, times);
	KUNIT_EXPECT_EQ(test, trap.kp.nmissed, 0UL);
	KUNIT_EXPECT_EQ(test, traced.kp.nmissed, 0UL);
	KUNIT_EXPECT_EQ(test, nested.pre, 0);
	KUNIT_EXPECT_EQ(test, nested.kp.nmissed, (unsigned long)times);
}

static void in_an_nmi(struct kunit *test)
{
	hits_in_an_nmi(test, NULL, NULL, 1, false);
}

/*
 * Each of the two handlers sends an NMI.  If NMIs are masked during a trap, both are one NMI
 * at the end of the trap.
 */
static void in_handlers(struct kunit *test, int (*site)(int), bool trap, bool jump)
{
	struct kprobe kp = {
		.addr = (void *)site, .pre_handler = send_pre, .post_handler = send_post,
	};

	hits_in_an_nmi(test, &kp, site, trap && !kprobes_nmi_in_traps ? 1 : 2, jump);
}

static void in_an_nmi_in_a_breakpoint_handler(struct kunit *test)
{
	bool before = allow_jumps(false);

	in_handlers(test, task_trap, true, false);
	allow_jumps(before);
}

static void in_an_nmi_in_a_handler_of_a_detour(struct kunit *test)
{
	bool before;

	if (!DETOURS)
		kunit_skip(test, "there are no detours");
	before = allow_jumps(true);
	in_handlers(test, task_traced, false, true);
	allow_jumps(before);
}

static void in_an_nmi_in_a_handler_of_ftrace(struct kunit *test)
{
	bool before;

	if (!IS_ENABLED(CONFIG_KPROBES_ON_FTRACE))
		kunit_skip(test, "ftrace calls no handlers");
	before = allow_jumps(false);
	in_handlers(test, task_traced, false, false);
	allow_jumps(before);
}

static int nmi_test_init(struct kunit *test)
{
	int ret = set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));

	return ret ?: kprobes_nmi_init(test, nmi_body);
}

static struct kunit_case nmi_cases[] = {
	KUNIT_CASE(in_an_nmi),
	KUNIT_CASE(in_an_nmi_in_a_handler_of_a_detour),
	KUNIT_CASE(in_an_nmi_in_a_handler_of_ftrace),
	KUNIT_CASE(in_an_nmi_in_a_breakpoint_handler),
	{}
};

static struct kunit_suite nmi_suite = {
	.name = "kprobes_nmi",
	.init = nmi_test_init,
	.exit = kprobes_nmi_exit,
	.test_cases = nmi_cases,
};

kunit_test_suite(nmi_suite);
