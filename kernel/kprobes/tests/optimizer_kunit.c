// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jump optimization: probes become jumps and breakpoints again, and handlers run at jumps.
 * The architecture decides where a jump is possible: see x86_optimizer_kunit.c and
 * arm64_optimizer_kunit.c.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/stacktrace.h>

#include "opt_functions.h"

/* --- Functions ----------------------------------------------------------------- */

#ifdef CONFIG_X86
#include <asm/asm.h>

/* The region of the first instruction consists of the first two instructions. */
TEXT_FUNCTION(kprobes_opt_three,
	      "xor	%eax, %eax\n"
	      TEXT_PLACE "add	$1, %eax\n"
	      TEXT_PLACE "add	$2, %eax\n"
	      ASM_RET);

/* The first instruction has one byte. */
TEXT_FUNCTION(kprobes_opt_framed,
	      "push	%" _ASM_BX "\n"
	      TEXT_PLACE "mov	$3, %eax\n"
	      "pop	%" _ASM_BX "\n"
	      ASM_RET);

#define FUNCTION_BYTES	9
#define FRAME_BYTES	sizeof(long)

static unsigned long caller_at_entry(struct pt_regs *regs)
{
	return *(unsigned long *)regs->sp;
}

static bool interrupts_on(struct pt_regs *regs)
{
	return !regs_irqs_disabled(regs);
}

/* Returns to the caller, from the entry of a function. */
static void go_back(struct pt_regs *regs)
{
	regs->ip = *(unsigned long *)regs->sp;
	regs->sp += sizeof(long);
}

/* Returns to the caller, after the frame has been set up. */
static void leave_frame(struct pt_regs *regs)
{
	regs->bx = *(unsigned long *)regs->sp;
	regs->sp += sizeof(long);
	go_back(regs);
}
#else
TEXT_FUNCTION(kprobes_opt_three,
	      "mov	w0, #0\n"
	      "add	w0, w0, #1\n"
	      "add	w0, w0, #2\n"
	      "ret\n");

/* The first instruction writes the frame record; after the second, unwinders find it. */
TEXT_FUNCTION(kprobes_opt_framed,
	      "stp	x29, x30, [sp, #-16]!\n"
	      "mov	x29, sp\n"
	      "mov	w0, #3\n"
	      "ldp	x29, x30, [sp], #16\n"
	      "ret\n");

#define FUNCTION_BYTES	20
#define FRAME_BYTES	16

static unsigned long caller_at_entry(struct pt_regs *regs)
{
	return regs->regs[30];
}

static bool interrupts_on(struct pt_regs *regs)
{
	return interrupts_enabled(regs);
}

static void go_back(struct pt_regs *regs)
{
	regs->pc = regs->regs[30];
}

/*
 * The function restores the stack pointer: a return from an exception in the kernel does not
 * change it.
 */
static void leave_frame(struct pt_regs *regs)
{
	regs->pc = (unsigned long)kprobes_opt_framed + 12;
}
#endif

noinline __noclone int kprobes_opt_call(int (*fn)(void))
{
	int ret = fn == kprobes_opt_three ? kprobes_opt_three() : kprobes_opt_framed();

	barrier();
	return ret;
}

static int call(int (*fn)(void))
{
	return kprobes_opt_call(fn);
}

/* --- States ---------------------------------------------------------------------- */

static void a_probe_becomes_a_jump_and_is_unregistered(struct kunit *test)
{
	struct counted c = counted_at(kprobes_opt_three, true, false);
	u8 text[TEXT_BYTES];

	text_save(text, kprobes_opt_three);
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);
	EXPECT_JUMP(test, &c.kp, true);
	KUNIT_EXPECT_STREQ(test, said_at(kprobes_opt_three), "");
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);
	KUNIT_EXPECT_EQ(test, c.pre, 2);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&c.kp), 0);
	EXPECT_TEXT(test, text, kprobes_opt_three);
	EXPECT_JUMP(test, &c.kp, false);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&c.kp), 0);
	EXPECT_JUMP(test, &c.kp, true);
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);
	unregister_kprobe(&c.kp);
	EXPECT_TEXT(test, text, kprobes_opt_three);
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);
	KUNIT_EXPECT_EQ(test, c.pre, 3);
}

static void the_sysctl(struct kunit *test)
{
	struct counted c = counted_at(kprobes_opt_three, true, false);
	struct counted d = counted_at(kprobes_opt_framed, true, false);

	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	EXPECT_JUMP(test, &c.kp, true);
	kprobe_optimizer_allow(false);
	KUNIT_EXPECT_FALSE(test, is_jump(kprobes_opt_three));
	KUNIT_ASSERT_EQ(test, register_kprobe(&d.kp), 0);
	EXPECT_JUMP(test, &c.kp, false);
	EXPECT_JUMP(test, &d.kp, false);
	KUNIT_EXPECT_STREQ(test, said_at(kprobes_opt_three), "switched off");
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);
	kprobe_optimizer_allow(true);
	EXPECT_JUMP(test, &c.kp, true);
	EXPECT_JUMP(test, &d.kp, true);
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);
	unregister_kprobe(&c.kp);
	unregister_kprobe(&d.kp);
	KUNIT_EXPECT_EQ(test, c.pre, 2);
}

/* Jumps become breakpoints at once: optprobe_queued_unopt() is never true. */
static void jumps_become_breakpoints_at_once(struct kunit *test)
{
	struct counted c = counted_at(kprobes_opt_three, true, false);
	struct kprobe *kp;

	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	EXPECT_JUMP(test, &c.kp, true);
	kp = probe_at(c.kp.addr);
	KUNIT_ASSERT_NOT_NULL(test, kp);
	KUNIT_EXPECT_TRUE(test, kprobe_optimized(kp));
	KUNIT_EXPECT_FALSE(test, optprobe_queued_unopt(&kprobe_to_point(kp)->op));
	kprobe_optimizer_allow(false);
	KUNIT_EXPECT_FALSE(test, optprobe_queued_unopt(&kprobe_to_point(kp)->op));
	KUNIT_EXPECT_FALSE(test, is_jump(c.kp.addr));
	KUNIT_EXPECT_FALSE(test, kprobe_optimized(kp));
	KUNIT_EXPECT_EQ(test, state_at(c.kp.addr), KPROBE_BREAKPOINT);
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);
	KUNIT_EXPECT_EQ(test, c.pre, 1);
	kprobe_optimizer_allow(true);
	unregister_kprobe(&c.kp);
}

/* --- Handlers ---------------------------------------------------------------------- */

static struct pt_regs at_pre, at_post;
static unsigned long caller;

static int copy_pre(struct kprobe *p, struct pt_regs *regs)
{
	at_pre = *regs;
	caller = caller_at_entry(regs);
	return 0;
}

static void copy_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	at_post = *regs;
}

/*
 * The first instructions of the functions: one sets the result, the other moves the stack
 * pointer.
 */
static const struct post_case {
	const char *name;
	int (*fn)(void);
	void *next;
	unsigned int pushed;
} post_cases[] = {
	{ "a register", kprobes_opt_three, OPT_SECOND, 0 },
	{ "the stack pointer", kprobes_opt_framed, OPT_PUSHED, FRAME_BYTES },
};

KUNIT_ARRAY_PARAM_DESC(post, post_cases, name);

/* The first post handler requires a new detour; after the last has left, it stays. */
static void post_handlers_come_and_go(struct kunit *test)
{
	const struct post_case *c = test->param_value;
	struct counted pre = counted_at(c->fn, true, false);
	struct kprobe both = {
		.addr = (void *)c->fn,
		.pre_handler = copy_pre,
		.post_handler = copy_post,
	};

	KUNIT_ASSERT_EQ(test, register_kprobe(&pre.kp), 0);
	EXPECT_JUMP(test, &pre.kp, true);
	memset(&at_post, 0, sizeof(at_post));
	KUNIT_ASSERT_EQ(test, register_kprobe(&both), 0);
	KUNIT_EXPECT_EQ(test, call(c->fn), 3);
	KUNIT_EXPECT_EQ(test, instruction_pointer(&at_post), (unsigned long)c->next);

	EXPECT_JUMP(test, &both, true);
	memset(&at_post, 0, sizeof(at_post));
	KUNIT_EXPECT_EQ(test, call(c->fn), 3);
	KUNIT_EXPECT_EQ(test, instruction_pointer(&at_pre), kprobe_hit_ip(&both));
	KUNIT_EXPECT_EQ(test, instruction_pointer(&at_post), (unsigned long)c->next);
	KUNIT_EXPECT_EQ(test, at_post.sp, at_pre.sp - c->pushed);
	KUNIT_EXPECT_EQ(test, frame_pointer(&at_post), frame_pointer(&at_pre));
	KUNIT_EXPECT_EQ(test, regs_return_value(&at_post),
			c->pushed ? regs_return_value(&at_pre) : 0);
	KUNIT_EXPECT_LT(test, caller - (unsigned long)kprobes_opt_call, 256);
	KUNIT_EXPECT_FALSE(test, user_mode(&at_pre));
	KUNIT_EXPECT_TRUE(test, interrupts_on(&at_pre));

	unregister_kprobe(&both);
	EXPECT_JUMP(test, &pre.kp, true);
	KUNIT_EXPECT_EQ(test, call(c->fn), 3);
	unregister_kprobe(&pre.kp);
	KUNIT_EXPECT_EQ(test, pre.pre, 3);
}

/* About ten seconds, 100 us or more at a time. */
#define MAX_SLEEPS	50000

static int call_until_stopped(void *unused)
{
	while (!kthread_should_stop()) {
		call(kprobes_opt_three);
		cond_resched();
	}
	return 0;
}

/* Registers @both on the jump of @pre while another thread hits it. */
static void register_both(struct kunit *test, struct counted *pre, struct counted *both)
{
	struct task_struct *thread = kthread_run(call_until_stopped, NULL, "kprobes_calls");
	int err, i;

	if (IS_ERR(thread)) {
		KUNIT_FAIL(test, "no thread");
		return;
	}
	for (i = 0; !READ_ONCE(pre->pre) && i < MAX_SLEEPS; i++)
		fsleep(100);
	err = register_kprobe(&both->kp);
	KUNIT_EXPECT_EQ(test, err, 0);
	for (i = 0; !READ_ONCE(both->post) && i < MAX_SLEEPS; i++)
		fsleep(100);
	kthread_stop(thread);
	KUNIT_EXPECT_GT(test, pre->pre, 0);
	KUNIT_EXPECT_GT(test, both->post, 0);
}

/* If the pre handler of a new probe is called, its post handler is called, too. */
static void post_handlers_come_while_hit(struct kunit *test)
{
	int i;

	if (IS_ENABLED(CONFIG_ARM64))
		kunit_skip(test, "QEMU may go on executing a branch that has been replaced");
	for (i = 0; i < 20; i++) {
		struct counted pre = counted_at(kprobes_opt_three, true, false);
		struct counted both = counted_at(kprobes_opt_three, true, true);

		KUNIT_EXPECT_EQ(test, register_kprobe(&pre.kp), 0);
		EXPECT_JUMP(test, &pre.kp, true);
		register_both(test, &pre, &both);
		/* One hit may be in the old detour, before its handlers. */
		KUNIT_EXPECT_LE(test, both.pre - both.post, 1);
		unregister_kprobe(&both.kp);
		unregister_kprobe(&pre.kp);
	}
}

static int set_result(struct kprobe *p, struct pt_regs *regs)
{
	regs_set_return_value(regs, 39);
	return 0;
}

static int skip_one(struct kprobe *p, struct pt_regs *regs)
{
	regs_set_return_value(regs, 40);
	instruction_pointer_set(regs, (unsigned long)OPT_SECOND);
	return 1;
}

static int skip_two(struct kprobe *p, struct pt_regs *regs)
{
	regs_set_return_value(regs, 40);
	instruction_pointer_set(regs, (unsigned long)OPT_THIRD);
	return 1;
}

static int return_at_once(struct kprobe *p, struct pt_regs *regs)
{
	regs_set_return_value(regs, 77);
	go_back(regs);
	return 1;
}

static int return_from_frame(struct kprobe *p, struct pt_regs *regs)
{
	regs_set_return_value(regs, 78);
	leave_frame(regs);
	return 1;
}

/* Handlers that change registers, and the result of the function in that case. */
static const struct path_case {
	const char *name;
	kprobe_pre_handler_t pre;
	void *addr;
	int (*fn)(void);
	int result, later;
} path_cases[] = {
	{ "a register", set_result, OPT_SECOND, kprobes_opt_three, 42, 2 },
	{ "the next instruction", skip_one, kprobes_opt_three, kprobes_opt_three, 43, 0 },
	{ "the instruction pointer", skip_two, kprobes_opt_three, kprobes_opt_three, 42, 0 },
	{ "back to the caller", return_at_once, kprobes_opt_three, kprobes_opt_three, 77, 0 },
	{ "out of a frame", return_from_frame, OPT_FRAMED, kprobes_opt_framed, 78, 0 },
};

KUNIT_ARRAY_PARAM_DESC(path, path_cases, name);

static void handlers_change_the_path(struct kunit *test)
{
	const struct path_case *c = test->param_value;
	struct kprobe kp = { .addr = c->addr, .pre_handler = c->pre };
	struct counted later = counted_at(c->addr, true, false);

	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&later.kp), 0);
	KUNIT_EXPECT_EQ(test, call(c->fn), c->result);
	EXPECT_JUMP(test, &kp, true);
	KUNIT_EXPECT_EQ(test, call(c->fn), c->result);
	unregister_kprobe(&kp);
	unregister_kprobe(&later.kp);
	KUNIT_EXPECT_EQ(test, later.pre, c->later);
	KUNIT_EXPECT_EQ(test, call(c->fn), 3);
}

/* --- Stack traces ------------------------------------------------------------------- */

#define MAX_ENTRIES	32

static unsigned long trace[MAX_ENTRIES];
static unsigned int nr_trace;

static int trace_pre(struct kprobe *p, struct pt_regs *regs)
{
	nr_trace = stack_trace_save(trace, MAX_ENTRIES, 0);
	return 0;
}

static void trace_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	trace_pre(p, regs);
}

static bool traced_within(unsigned int i, void *fn, unsigned long size)
{
	return i < nr_trace && trace[i] - (unsigned long)fn < size;
}

/*
 * The trace has the probed function, followed by its caller.  On x86, before a function has
 * set up its frame, frame pointers lead to the caller's caller.
 */
static bool trace_is_whole(int (*fn)(void))
{
	unsigned int i;

	for (i = 0; i < nr_trace && !traced_within(i, fn, FUNCTION_BYTES); i++)
		;
	if (IS_ENABLED(CONFIG_X86) && !IS_ENABLED(CONFIG_UNWINDER_ORC))
		return i + 1 < nr_trace;
	return traced_within(i + 1, kprobes_opt_call, 256);
}

static void expect_whole_trace(struct kunit *test, int (*fn)(void), void *addr, bool post,
			       bool jump)
{
	struct kprobe kp = {
		.addr = addr,
		.pre_handler = post ? NULL : trace_pre,
		.post_handler = post ? trace_post : NULL,
	};

	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	EXPECT_JUMP(test, &kp, jump);
	nr_trace = 0;
	KUNIT_EXPECT_EQ(test, call(fn), 3);
	KUNIT_EXPECT_TRUE_MSG(test, trace_is_whole(fn), "%pS", addr);
	unregister_kprobe(&kp);
}

/*
 * Before and after a function has set up its frame.  If unwinders use frame records only, a
 * function that has executed just one instruction has none.
 */
static void expect_whole_traces(struct kunit *test, bool jump)
{
	expect_whole_trace(test, kprobes_opt_three, kprobes_opt_three, false, jump);
	expect_whole_trace(test, kprobes_opt_framed, kprobes_opt_framed, false, jump);
	expect_whole_trace(test, kprobes_opt_framed, OPT_FRAMED, false, jump);
	expect_whole_trace(test, kprobes_opt_framed, OPT_FRAMED, true, jump);
	if (IS_ENABLED(CONFIG_X86)) {
		expect_whole_trace(test, kprobes_opt_three, kprobes_opt_three, true, jump);
		expect_whole_trace(test, kprobes_opt_framed, kprobes_opt_framed, true, jump);
	}
}

static void traces_lead_through_the_detour(struct kunit *test)
{
	expect_whole_traces(test, true);
}

static void traces_lead_through_the_breakpoint(struct kunit *test)
{
	kprobe_optimizer_allow(false);
	expect_whole_traces(test, false);
	kprobe_optimizer_allow(true);
}

static struct kunit_case optimizer_cases[] = {
	KUNIT_CASE(a_probe_becomes_a_jump_and_is_unregistered),
	KUNIT_CASE(the_sysctl),
	KUNIT_CASE(jumps_become_breakpoints_at_once),
	KUNIT_CASE_PARAM(post_handlers_come_and_go, post_gen_params),
	KUNIT_CASE(post_handlers_come_while_hit),
	KUNIT_CASE_PARAM(handlers_change_the_path, path_gen_params),
	KUNIT_CASE(traces_lead_through_the_detour),
	KUNIT_CASE(traces_lead_through_the_breakpoint),
	{}
};

static struct kunit_suite optimizer_suite = {
	.name = "kprobes_optimizer",
	.init = opt_init,
	.test_cases = optimizer_cases,
};

kunit_test_suite(optimizer_suite);
