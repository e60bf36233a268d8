// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reliable stack traces of a task that is preempted at the end of a detour (arm64).  No exception
 * interrupts it there.  Its function has no frame record, so its caller is in the link register
 * only.  Live patching considers the caller unused unless the trace shows it, so the trace must
 * not be reliable.
 */
#include <linux/delay.h>
#include <linux/stacktrace.h>

#include "opt_functions.h"
#include "reliable.h"

#define TRACES	300

/* Let the competitor run as soon as the detour enables preemption. */
static int preempt_in_detour(struct kprobe *kp, struct pt_regs *regs)
{
	set_tsk_need_resched(current);
	set_preempt_need_resched();
	return 0;
}

static noinline int call_leaf(void)
{
	int x = kprobes_opt_three();

	KEEP_CALL(x);
	return x;
}

/* Sleeps between the calls if @data is not NULL. */
static int call_again(void *data)
{
	int x;

	while (!kthread_should_stop()) {
		x = call_leaf();
		KEEP_CALL(x);
		if (data)
			usleep_range(50, 100);
		else
			cond_resched();
	}
	return 0;
}

struct traces {
	unsigned int reliable;
	unsigned int unreliable;
	unsigned int without_caller;	/* reliable ones with the probed function */
};

static bool is_in(unsigned long addr, void *function, unsigned long size)
{
	return addr - (unsigned long)function < size;
}

/* Called while the task does not begin or cease to run. */
static int trace(struct task_struct *task, void *data)
{
	struct traces *traces = data;
	unsigned long entries[32];
	bool leaf = false, caller = false;
	int i, nr;

	if (task_curr(task))
		return 0;
	nr = stack_trace_save_tsk_reliable(task, entries, ARRAY_SIZE(entries));
	traces->reliable += nr > 0;
	traces->unreliable += nr < 0;
	for (i = 0; i < nr; i++) {
		leaf |= is_in(entries[i], kprobes_opt_three, 3 * AARCH64_INSN_SIZE);
		caller |= is_in(entries[i], call_leaf, 64);
	}
	traces->without_caller += leaf && !caller;
	return 0;
}

static void take_traces(struct kunit *test, struct traces *traces, bool sleep)
{
	struct task_struct *caller = start_on_first_cpu(call_again, sleep ? traces : NULL);
	struct task_struct *competitor = start_on_first_cpu(compete, NULL);
	int i;

	for (i = 0; caller && competitor && i < TRACES; i++) {
		task_call_func(caller, trace, traces);
		fsleep(200);
	}
	KUNIT_EXPECT_EQ(test, i, TRACES);
	if (caller)
		kthread_stop_put(caller);
	if (competitor)
		kthread_stop_put(competitor);
	kunit_info(test, "%u reliable, %u not\n", traces->reliable, traces->unreliable);
}

/* The second instruction of a function without a frame record. */
static void after_the_entry(struct kunit *test)
{
	struct counted c = counted_at(OPT_SECOND, false, false);
	struct traces traces = {};

	if (!IS_ENABLED(CONFIG_PREEMPTION))
		kunit_skip(test, "nothing is preempted in a detour here");
	c.kp.pre_handler = preempt_in_detour;
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	EXPECT_JUMP(test, &c.kp, true);
	take_traces(test, &traces, false);
	unregister_kprobe(&c.kp);
	KUNIT_EXPECT_GT(test, traces.unreliable, 0);
	KUNIT_EXPECT_EQ(test, traces.without_caller, 0);
}

/* Without this result, the other case would prove nothing. */
static void without_a_probe(struct kunit *test)
{
	struct traces traces = {};

	take_traces(test, &traces, true);
	KUNIT_EXPECT_GT(test, traces.reliable, 0);
}

static struct kunit_case reliable_cases[] = {
	KUNIT_CASE(without_a_probe),
	KUNIT_CASE(after_the_entry),
	{}
};

static struct kunit_suite reliable_suite = {
	.name = "kprobes_arm64_reliable",
	.test_cases = reliable_cases,
};
kunit_test_suite(reliable_suite);
