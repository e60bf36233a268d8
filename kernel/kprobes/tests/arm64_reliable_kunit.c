// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reliable stack traces (arm64).  Live patching considers a function unused unless the trace shows
 * it.  So the trace must not be reliable:
 *
 *   - if a task is preempted at the end of a detour.  No exception interrupts it there.  Its
 *     function has no frame record, so its caller is in the link register only.
 *   - if the return address of a call has been replaced, and is not known.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kprobes.h>
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

/* --- Return probes ------------------------------------------------------------------ */

static bool entered;

static int note_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	WRITE_ONCE(entered, true);
	return 0;
}

static noinline notrace __noclone int sleep_in_call(struct completion *end)
{
	int x = 1;

	wait_for_completion(end);
	KEEP_CALL(x);
	return x;
}

static noinline int call_sleeper(void *end)
{
	int x = sleep_in_call(end);

	KEEP_CALL(x);
	return x;
}

/**
 * struct sleeper_traces - traces of a task that sleeps in a probed call
 * @known:	length, or errno, of the trace
 * @caller:	this trace has the caller
 * @unknown:	the same as @known, if the task's list does not have the call
 */
struct sleeper_traces {
	int known;
	bool caller;
	int unknown;
};

/* Called while the task does not begin or cease to run. */
static int trace_sleeper(struct task_struct *task, void *data)
{
	struct llist_node *calls = task->kretprobe_instances.first;
	struct sleeper_traces *traces = data;
	unsigned long entries[32];
	int i;

	if (!READ_ONCE(entered) || task_curr(task) || task_is_running(task))
		return -EAGAIN;
	traces->known = stack_trace_save_tsk_reliable(task, entries, ARRAY_SIZE(entries));
	for (i = 0; i < traces->known; i++)
		traces->caller |= is_in(entries[i], call_sleeper, 64);
	/* Only the task itself uses the list. */
	task->kretprobe_instances.first = NULL;
	traces->unknown = stack_trace_save_tsk_reliable(task, entries, ARRAY_SIZE(entries));
	task->kretprobe_instances.first = calls;
	return 0;
}

static void an_unknown_return_address(struct kunit *test)
{
	struct kretprobe rp = {
		.kp.addr = (void *)sleep_in_call,
		.entry_handler = note_entry,
	};
	DECLARE_COMPLETION_ONSTACK(end);
	struct sleeper_traces traces = {};
	struct task_struct *task;
	int i, ret = -EAGAIN;

	WRITE_ONCE(entered, false);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	task = start_on_first_cpu(call_sleeper, &end);
	for (i = 0; task && i < 3000 && ret == -EAGAIN; i++) {
		ret = task_call_func(task, trace_sleeper, &traces);
		msleep(20);
	}
	complete(&end);
	if (task)
		kthread_stop_put(task);
	unregister_kretprobe(&rp);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_GT(test, traces.known, 0);
	KUNIT_EXPECT_TRUE(test, traces.caller);
	KUNIT_EXPECT_EQ(test, traces.unknown, -EINVAL);
}

static struct kunit_case reliable_cases[] = {
	KUNIT_CASE(without_a_probe),
	KUNIT_CASE(after_the_entry),
	KUNIT_CASE(an_unknown_return_address),
	{}
};

static struct kunit_suite reliable_suite = {
	.name = "kprobes_arm64_reliable",
	.test_cases = reliable_cases,
};
kunit_test_suite(reliable_suite);
