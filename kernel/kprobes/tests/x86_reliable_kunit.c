// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reliable stack traces of a task that was preempted in a copy of a probed instruction, or in
 * a detour.  Live patching considers a function unused by a task unless the trace shows it.
 * So the trace must show the function, or must not be reliable.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/sizes.h>
#include <linux/stacktrace.h>
#include <linux/wait.h>

#include "asm_case.h"
#include "counted.h"
#include "optimized.h"
#include "reliable.h"

#define TRACES	500
#define BYTES	SZ_64K

void kprobes_long_fill(void *to, unsigned long bytes);
extern char kprobes_long_fill_insn[];

/* Nearly all of its time passes in the probed instruction, which can be interrupted. */
asm(ASM_FUNCTION(kprobes_long_fill,
		 "mov %rsi, %rcx\n"
		 "xor %eax, %eax\n"
		 ASM_PLACE(kprobes_long_fill_insn)
		 "rep stosb\n"
		 "nop\nnop\nnop\nnop\n"
		 ASM_RET));

static int fill(void *memory)
{
	while (!kthread_should_stop()) {
		kprobes_long_fill(memory, BYTES);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

struct traces {
	unsigned int reliable;
	unsigned int unreliable;
	unsigned int in_copy;
};

/* Called while the task cannot run. */
static int trace(struct task_struct *task, void *data)
{
	struct traces *traces = data;
	unsigned long entries[32];
	int i, nr;

	nr = stack_trace_save_tsk_reliable(task, entries, ARRAY_SIZE(entries));
	traces->reliable += nr > 0;
	traces->unreliable += nr < 0;
	for (i = 0; i < nr; i++)
		traces->in_copy += kprobe_text_address(entries[i]) != entries[i];
	return 0;
}

static void take_traces(struct kunit *test, struct traces *traces)
{
	void *memory = kunit_kmalloc(test, BYTES, GFP_KERNEL);
	struct task_struct *filler, *competitor;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, memory);
	filler = start_on_first_cpu(fill, memory);
	competitor = start_on_first_cpu(compete, NULL);
	for (i = 0; filler && competitor && i < TRACES; i++) {
		task_call_func(filler, trace, traces);
		fsleep(200);
	}
	KUNIT_EXPECT_EQ(test, i, TRACES);
	if (filler)
		kthread_stop_put(filler);
	if (competitor)
		kthread_stop_put(competitor);
	kunit_info(test, "%u reliable, %u not\n", traces->reliable, traces->unreliable);
}

static void expect_no_copy_in_traces(struct kunit *test, bool jump)
{
	struct counted c = counted_at(kprobes_long_fill_insn, true, false);
	struct traces traces = {};
	bool before;

	if (!IS_ENABLED(CONFIG_PREEMPTION))
		kunit_skip(test, "nothing is preempted in a copy here");
	before = kprobe_optimization_allowed;
	kprobe_optimizer_allow(jump);
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	EXPECT_JUMP(test, &c.kp, jump);
	take_traces(test, &traces);
	unregister_kprobe(&c.kp);
	kprobe_optimizer_allow(before);
	KUNIT_EXPECT_GT(test, traces.unreliable, 0);
	KUNIT_EXPECT_EQ(test, traces.in_copy, 0);
}

/* Without this result, the other cases would prove nothing. */
static void without_a_probe(struct kunit *test)
{
	struct traces traces = {};

	take_traces(test, &traces);
	KUNIT_EXPECT_GT(test, traces.reliable, 0);
	KUNIT_EXPECT_EQ(test, traces.in_copy, 0);
}

static void preempted_in_a_copy(struct kunit *test)
{
	expect_no_copy_in_traces(test, false);
}

static void in_a_detour(struct kunit *test)
{
	expect_no_copy_in_traces(test, true);
}

static struct kunit_case reliable_cases[] = {
	KUNIT_CASE(without_a_probe),
	KUNIT_CASE(preempted_in_a_copy),
	KUNIT_CASE(in_a_detour),
	{}
};

static struct kunit_suite reliable_suite = {
	.name = "kprobes_x86_reliable",
	.test_cases = reliable_cases,
};
kunit_test_suite(reliable_suite);
