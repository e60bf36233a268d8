// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reliable stack traces of a task that was preempted in a copy of a probed instruction, in a
 * detour, or in the code that a detour or the trampoline of return probes calls.  Live patching
 * considers a function unused by a task unless the trace shows it.  So the trace must show the
 * probed function and its caller, or must not be reliable.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/sizes.h>
#include <linux/stacktrace.h>
#include <linux/wait.h>

#include "asm_case.h"
#include "counted.h"
#include "optimized.h"
#include "reliable.h"

/* Attempts to take a trace, and the fewest that have to find the task preempted. */
#define TRACES	500
#define FEWEST	(TRACES / 10)
#define BYTES	SZ_64K

/* Set by kprobes_long_fill() while the task is in it, but for its first and last instructions. */
unsigned int kprobes_filling;

/* Nearly all of its time passes in the probed instruction, which can be interrupted. */
asm(ASM_FUNCTION(kprobes_long_fill,
		 "mov %rsi, %rcx\n"
		 "xor %eax, %eax\n"
		 "movl $1, kprobes_filling(%rip)\n"
		 ASM_PLACE(kprobes_long_fill_insn)
		 "rep stosb\n"
		 "nop\nnop\nnop\nnop\n"
		 "movl $0, kprobes_filling(%rip)\n"
		 ASM_RET
		 ASM_PLACE(kprobes_long_fill_end)));

/* --- Preemption at the end of a hit ------------------------------------------------- */

/* The next code that enables preemption lets the competitor run. */
static void let_preempt(void)
{
	set_tsk_need_resched(current);
	set_preempt_need_resched();
}

static int preempted_pre(struct kprobe *kp, struct pt_regs *regs)
{
	let_preempt();
	return 0;
}

static void preempted_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	let_preempt();
}

static int preempted_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	let_preempt();
	return 0;
}

/**
 * struct filler - argument of the task that is traced
 * @begun:	the task is in fill() until it is stopped
 * @memory:	for kprobes_long_fill()
 * @preempt:	preempt the task at the end of the first hit in that function
 */
struct filler {
	struct completion begun;
	void *memory;
	bool preempt;
};

static noinline int fill(void *data)
{
	struct filler *filler = data;

	complete(&filler->begun);
	while (!kthread_should_stop()) {
		if (filler->preempt)
			let_preempt();
		kprobes_long_fill(filler->memory, BYTES);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

/* --- Traces ------------------------------------------------------------------------- */

/**
 * struct traces - numbers of traces
 * @reliable:	reliable ones
 * @unreliable:	the others
 * @of_hits:	reliable ones in which a detour has called the core
 * @of_returns:	reliable ones in which the trampoline of return probes has called the core
 * @refused_hits: unreliable ones in which a detour has called the core
 * @with_function: reliable ones with the probed function
 * @in_copy:	reliable ones with the address of a copy or of a detour
 * @without_function: reliable ones without the probed function, while the task is in it
 * @without_caller: reliable ones without the caller of that function
 */
struct traces {
	unsigned int reliable;
	unsigned int unreliable;
	unsigned int of_hits;
	unsigned int of_returns;
	unsigned int refused_hits;
	unsigned int with_function;
	unsigned int in_copy;
	unsigned int without_function;
	unsigned int without_caller;
};

/*
 * A trace; @nr is 0 if the task was running.  An unreliable trace ends before the first address
 * that is not reliable.  A zero follows the last address.
 */
struct sample {
	unsigned long entries[32];
	unsigned int filling;
	int nr;
};

/* Called while the task does not begin or cease to run. */
static int trace(struct task_struct *task, void *data)
{
	struct sample *s = data;

	s->nr = 0;
	if (task_curr(task))
		return 0;
	memset(s->entries, 0, sizeof(s->entries));
	s->filling = kprobes_filling;
	s->nr = stack_trace_save_tsk_reliable(task, s->entries, ARRAY_SIZE(s->entries));
	return 0;
}

static bool is_in(unsigned long addr, void *function)
{
	unsigned long size, offset;

	return kallsyms_lookup_size_offset(addr, &size, &offset) &&
	       addr - offset == (unsigned long)function;
}

static bool is_in_long_fill(unsigned long addr)
{
	return addr >= (unsigned long)kprobes_long_fill &&
	       addr < (unsigned long)kprobes_long_fill_end;
}

static bool is_in_hit(unsigned long addr)
{
	return is_in(addr, kprobe_detour_pre) || is_in(addr, kprobe_detour_post) ||
	       is_in(addr, kprobe_detour_return);
}

static void judge(const struct sample *s, struct traces *traces)
{
	bool hit = false, returns = false, copy = false, function = false, caller = false;
	unsigned long addr;
	int i;

	if (!s->nr)
		return;
	for (i = 0; i < ARRAY_SIZE(s->entries) && s->entries[i]; i++) {
		addr = s->entries[i];
		hit |= is_in_hit(addr);
		returns |= is_in(addr, kretprobe_return);
		copy |= kprobe_text_address(addr) != addr;
		/* The caller follows. */
		function |= !caller && is_in_long_fill(addr);
		caller |= is_in(addr, fill);
	}
	if (s->nr < 0) {
		traces->unreliable++;
		traces->refused_hits += hit;
		return;
	}
	traces->reliable++;
	traces->of_hits += hit;
	traces->of_returns += returns;
	traces->with_function += function;
	traces->in_copy += copy;
	traces->without_function += (hit || s->filling) && !function;
	traces->without_caller += !caller;
}

static void take_traces(struct kunit *test, bool preempt, struct traces *traces)
{
	struct sample *sample = kunit_kmalloc(test, sizeof(*sample), GFP_KERNEL);
	struct filler arg = {
		.begun = COMPLETION_INITIALIZER_ONSTACK(arg.begun),
		.memory = kunit_kmalloc(test, BYTES, GFP_KERNEL),
		.preempt = preempt,
	};
	struct task_struct *filler, *competitor;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, sample);
	KUNIT_ASSERT_NOT_NULL(test, arg.memory);
	filler = start_on_first_cpu(fill, &arg);
	competitor = start_on_first_cpu(compete, NULL);
	if (filler)
		wait_for_completion(&arg.begun);
	for (i = 0; filler && competitor && i < TRACES; i++) {
		task_call_func(filler, trace, sample);
		judge(sample, traces);
		fsleep(200);
	}
	KUNIT_EXPECT_EQ(test, i, TRACES);
	if (filler)
		kthread_stop_put(filler);
	if (competitor)
		kthread_stop_put(competitor);
	kunit_info(test, "%u reliable: %u with the function, %u at a hit, %u at a return\n",
		   traces->reliable, traces->with_function, traces->of_hits, traces->of_returns);
	kunit_info(test, "%u not reliable: %u at a hit\n", traces->unreliable,
		   traces->refused_hits);
	KUNIT_EXPECT_GE(test, traces->reliable + traces->unreliable, FEWEST);
	KUNIT_EXPECT_EQ(test, traces->in_copy, 0);
	KUNIT_EXPECT_EQ(test, traces->without_function, 0);
	KUNIT_EXPECT_EQ(test, traces->without_caller, 0);
}

/* --- Cases -------------------------------------------------------------------------- */

/* Without this result, the other cases would prove nothing. */
static void without_a_probe(struct kunit *test)
{
	struct traces traces = {};

	take_traces(test, false, &traces);
	/* Elsewhere, a task that an interrupt has preempted has no reliable trace. */
	if (preempt_model_preemptible() && IS_ENABLED(CONFIG_UNWINDER_ORC))
		KUNIT_EXPECT_GT(test, traces.with_function, 0);
	else
		KUNIT_EXPECT_GT(test, traces.reliable, 0);
}

/**
 * struct reliable_case - a probe on the instruction that fills the memory
 * @name:	for messages
 * @jump:	with a jump
 * @pre:	pre handler
 * @post:	post handler
 */
struct reliable_case {
	const char *name;
	bool jump;
	kprobe_pre_handler_t pre;
	kprobe_post_handler_t post;
};

static const struct reliable_case reliable_cases[] = {
	{ "in a copy", false, counted_pre, NULL },
	{ "in a detour", true, counted_pre, NULL },
	{ "in a detour with a post handler", true, counted_pre, counted_post },
	{ "after the pre handler", true, preempted_pre, NULL },
	{ "after the pre handler, with a post handler", true, preempted_pre, counted_post },
	{ "after the post handler", true, counted_pre, preempted_post },
};

KUNIT_ARRAY_PARAM_DESC(reliable, reliable_cases, name);

static void preempted_at_a_hit(struct kunit *test)
{
	const struct reliable_case *c = test->param_value;
	struct counted probe = counted_at(kprobes_long_fill_insn, true, false);
	struct traces traces = {};
	bool before;

	if (!IS_ENABLED(CONFIG_PREEMPTION))
		kunit_skip(test, "nothing is preempted in a copy here");
	before = kprobe_optimization_allowed;
	kprobe_optimizer_allow(c->jump);
	probe.kp.pre_handler = c->pre;
	probe.kp.post_handler = c->post;
	KUNIT_ASSERT_EQ(test, register_kprobe(&probe.kp), 0);
	EXPECT_JUMP(test, &probe.kp, c->jump);
	take_traces(test, false, &traces);
	unregister_kprobe(&probe.kp);
	kprobe_optimizer_allow(before);
	if (IS_ENABLED(CONFIG_UNWINDER_ORC) &&
	    (c->pre == preempted_pre || c->post == preempted_post))
		KUNIT_EXPECT_GT(test, traces.of_hits, 0);
	else
		KUNIT_EXPECT_GT(test, traces.unreliable, 0);
}

/* The return address of the probed function is that of the trampoline. */
static void take_traces_of_calls(struct kunit *test, kretprobe_handler_t handler, bool preempt,
				 struct traces *traces)
{
	struct kretprobe rp = {
		.kp.addr = probe_entry(kprobes_long_fill),
		.handler = handler,
	};
	bool before = kprobe_optimization_allowed;

	if (!IS_ENABLED(CONFIG_PREEMPTION))
		kunit_skip(test, "nothing is preempted in a detour here");
	kprobe_optimizer_allow(true);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	EXPECT_JUMP(test, &rp.kp, true);
	take_traces(test, preempt, traces);
	unregister_kretprobe(&rp);
	kprobe_optimizer_allow(before);
}

/* Unwinders do not find the return address of a call of a task that is preempted. */
static void before_a_return(struct kunit *test)
{
	struct traces traces = {};

	take_traces_of_calls(test, NULL, false, &traces);
	KUNIT_EXPECT_GT(test, traces.unreliable, 0);
}

/* A detour that calls only a return probe does not save the registers. */
static void at_the_entry_of_a_call(struct kunit *test)
{
	struct traces traces = {};

	take_traces_of_calls(test, NULL, true, &traces);
	if (IS_ENABLED(CONFIG_UNWINDER_ORC))
		KUNIT_EXPECT_GT(test, traces.refused_hits, 0);
	else
		KUNIT_EXPECT_GT(test, traces.unreliable, 0);
}

static void after_a_return(struct kunit *test)
{
	struct traces traces = {};

	take_traces_of_calls(test, preempted_return, false, &traces);
	if (IS_ENABLED(CONFIG_UNWINDER_ORC))
		KUNIT_EXPECT_GT(test, traces.of_returns, 0);
	else
		KUNIT_EXPECT_GT(test, traces.unreliable, 0);
}

static struct kunit_case reliable_kunit_cases[] = {
	KUNIT_CASE(without_a_probe),
	KUNIT_CASE_PARAM(preempted_at_a_hit, reliable_gen_params),
	KUNIT_CASE(before_a_return),
	KUNIT_CASE(at_the_entry_of_a_call),
	KUNIT_CASE(after_a_return),
	{}
};

static struct kunit_suite reliable_suite = {
	.name = "kprobes_x86_reliable",
	.test_cases = reliable_kunit_cases,
};
kunit_test_suite(reliable_suite);
