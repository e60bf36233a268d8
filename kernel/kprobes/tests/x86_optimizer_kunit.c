// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jump optimization (x86): what becomes a jump, when, and what handlers can do there.
 */
#include <linux/stacktrace.h>

#include "counted.h"
#include "asm_case.h"
#include "optimized.h"

/* --- Functions ----------------------------------------------------------------- */

int kprobes_opt_three(void);
int kprobes_opt_loop(void);
int kprobes_opt_first_loop(void);
int kprobes_opt_ends(void);
int kprobes_opt_push(void);
int kprobes_opt_call(int (*fn)(void));

/* Inside the first function, where a symbol would end it. */
#define OPT_SECOND	((void *)kprobes_opt_three + 2)
#define OPT_THIRD	((void *)kprobes_opt_three + 5)

/* The region of the first instruction are the first two. */
asm(ASM_FUNCTION(kprobes_opt_three,
		 "xor %eax, %eax\n"
		 "add $1, %eax\n"
		 "add $2, %eax\n"
		 ASM_RET));

/* The second instruction is the target of a branch. */
asm(ASM_FUNCTION(kprobes_opt_loop,
		 "xor %eax, %eax\n"
		 "1: add $1, %eax\n"
		 "cmp $3, %eax\n"
		 "jne 1b\n"
		 ASM_RET));

/* The first one is, which is none of the jump's business. */
asm(ASM_FUNCTION(kprobes_opt_first_loop,
		 "1: or $-1, %eax\n"
		 "mov %eax, %eax\n"
		 "mov $3, %eax\n"
		 "jz 1b\n"
		 ASM_RET));

/* Shorter than a jump, with padding behind it. */
asm(ASM_FUNCTION(kprobes_opt_ends,
		 "push $3\n"
		 "pop " AX "\n"
		 ASM_BARE_RET
		 "int3\nint3\nint3\n")
	ASM_UNCHECKED(kprobes_opt_ends));

/* One byte, and it moves the stack pointer. */
asm(ASM_FUNCTION(kprobes_opt_push,
		 "push " BX "\n"
		 "mov $3, %eax\n"
		 "pop " BX "\n"
		 ASM_RET));

noinline __noclone int kprobes_opt_call(int (*fn)(void))
{
	int ret = fn();

	barrier();
	return ret;
}

static int call(int (*fn)(void))
{
	return kprobes_opt_call(fn);
}

/* --- States ---------------------------------------------------------------------- */

static void a_probe_becomes_a_jump_and_goes(struct kunit *test)
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

/* What can be a jump, and what is said where it cannot. */
static const struct region_case {
	const char *name;
	void *addr;
	int (*fn)(void);
	const char *obstacle;
} region_cases[] = {
	{ "two instructions", kprobes_opt_three, kprobes_opt_three, "" },
	{ "inside a function", OPT_SECOND, kprobes_opt_three, "" },
	{ "a branch to the first", kprobes_opt_first_loop, kprobes_opt_first_loop, "" },
	{ "a branch to the second", kprobes_opt_loop, kprobes_opt_loop,
	  "a branch into the region" },
	{ "padding", kprobes_opt_ends, kprobes_opt_ends, "" },
};

KUNIT_ARRAY_PARAM_DESC(region, region_cases, name);

static void regions(struct kunit *test)
{
	const struct region_case *c = test->param_value;
	struct counted counted = counted_at(c->addr, true, false);

	KUNIT_ASSERT_EQ(test, register_kprobe(&counted.kp), 0);
	EXPECT_JUMP(test, &counted.kp, !*c->obstacle);
	KUNIT_EXPECT_STREQ(test, said_at(c->addr), c->obstacle);
	KUNIT_EXPECT_EQ(test, c->fn(), 3);
	unregister_kprobe(&counted.kp);
	KUNIT_EXPECT_EQ(test, counted.pre, 1);
}

static void neighbours_take_turns(struct kunit *test)
{
	struct counted first = counted_at(kprobes_opt_three, true, false);
	struct counted second = counted_at(OPT_SECOND, true, false);
	struct counted third = counted_at(OPT_THIRD, true, false);

	second.kp.flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, register_kprobe(&first.kp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&second.kp), 0);
	/* Outside of the first one's region. */
	KUNIT_ASSERT_EQ(test, register_kprobe(&third.kp), 0);
	EXPECT_JUMP(test, &first.kp, true);
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);

	KUNIT_EXPECT_EQ(test, enable_kprobe(&second.kp), 0);
	KUNIT_EXPECT_FALSE(test, is_jump(kprobes_opt_three));
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);
	EXPECT_JUMP(test, &first.kp, false);
	KUNIT_EXPECT_STREQ(test, said_at(kprobes_opt_three), "another probe in the region");
	/* The third one is in the second one's. */
	EXPECT_JUMP(test, &second.kp, false);
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);

	unregister_kprobe(&third.kp);
	EXPECT_JUMP(test, &second.kp, true);
	EXPECT_JUMP(test, &first.kp, false);
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);

	KUNIT_EXPECT_EQ(test, disable_kprobe(&second.kp), 0);
	EXPECT_JUMP(test, &first.kp, true);
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);
	unregister_kprobe(&first.kp);
	unregister_kprobe(&second.kp);
	KUNIT_EXPECT_EQ(test, first.pre, 5);
	KUNIT_EXPECT_EQ(test, second.pre, 3);
	KUNIT_EXPECT_EQ(test, third.pre, 3);
}

static void the_knob(struct kunit *test)
{
	struct counted c = counted_at(kprobes_opt_three, true, false);
	struct counted d = counted_at(kprobes_opt_first_loop, true, false);

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

/* --- Handlers ---------------------------------------------------------------------- */

static struct pt_regs at_pre, at_post;
static unsigned long caller;

static int copy_pre(struct kprobe *p, struct pt_regs *regs)
{
	at_pre = *regs;
	caller = *(unsigned long *)regs->sp;
	return 0;
}

static void copy_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	at_post = *regs;
}

/* The detour has to be made anew for the first, and is kept after the last. */
static void post_handlers_come_and_go(struct kunit *test)
{
	struct counted pre = counted_at(kprobes_opt_three, true, false);
	struct kprobe both = {
		.addr = (void *)kprobes_opt_three,
		.pre_handler = copy_pre,
		.post_handler = copy_post,
	};

	KUNIT_ASSERT_EQ(test, register_kprobe(&pre.kp), 0);
	EXPECT_JUMP(test, &pre.kp, true);
	memset(&at_post, 0, sizeof(at_post));
	KUNIT_ASSERT_EQ(test, register_kprobe(&both), 0);
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);
	KUNIT_EXPECT_EQ(test, at_post.ip, (unsigned long)OPT_SECOND);

	EXPECT_JUMP(test, &both, true);
	memset(&at_post, 0, sizeof(at_post));
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);
	KUNIT_EXPECT_EQ(test, at_pre.ip, (unsigned long)kprobes_opt_three + 1);
	KUNIT_EXPECT_EQ(test, at_post.ip, (unsigned long)OPT_SECOND);
	KUNIT_EXPECT_EQ(test, (u32)at_post.ax, 0);
	KUNIT_EXPECT_EQ(test, at_post.sp, at_pre.sp);
	KUNIT_EXPECT_LT(test, caller - (unsigned long)kprobes_opt_call, 256);
	KUNIT_EXPECT_FALSE(test, user_mode(&at_pre));

	unregister_kprobe(&both);
	EXPECT_JUMP(test, &pre.kp, true);
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);
	unregister_kprobe(&pre.kp);
	KUNIT_EXPECT_EQ(test, pre.pre, 3);
}

static int set_ax(struct kprobe *p, struct pt_regs *regs)
{
	regs->ax = 39;
	return 0;
}

static int skip_two(struct kprobe *p, struct pt_regs *regs)
{
	regs->ax = 40;
	regs->ip = (unsigned long)OPT_THIRD;
	return 1;
}

static int return_at_once(struct kprobe *p, struct pt_regs *regs)
{
	regs->ax = 77;
	regs->ip = *(unsigned long *)regs->sp;
	regs->sp += sizeof(long);
	return 1;
}

/* Handlers that change registers, and what the function returns then. */
static const struct path_case {
	const char *name;
	kprobe_pre_handler_t pre;
	void *addr;
	int result;
} path_cases[] = {
	{ "a register", set_ax, OPT_SECOND, 42 },
	{ "the instruction pointer", skip_two, kprobes_opt_three, 42 },
	{ "the stack pointer", return_at_once, kprobes_opt_three, 77 },
};

KUNIT_ARRAY_PARAM_DESC(path, path_cases, name);

static void handlers_change_the_path(struct kunit *test)
{
	const struct path_case *c = test->param_value;
	struct kprobe kp = { .addr = c->addr, .pre_handler = c->pre };
	struct counted later = counted_at(c->addr, true, false);

	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&later.kp), 0);
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), c->result);
	EXPECT_JUMP(test, &kp, true);
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), c->result);
	unregister_kprobe(&kp);
	unregister_kprobe(&later.kp);
	KUNIT_EXPECT_EQ(test, later.pre, c->pre == set_ax ? 2 : 0);
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);
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
 * The probed function stands in the trace, and its caller behind it.  Before a function
 * has made its frame, frame pointers lead to the caller's caller.
 */
static bool trace_is_whole(void *fn)
{
	unsigned int i;

	for (i = 0; i < nr_trace && !traced_within(i, fn, 9); i++)
		;
	if (!IS_ENABLED(CONFIG_UNWINDER_ORC))
		return i + 1 < nr_trace;
	return traced_within(i + 1, kprobes_opt_call, 256);
}

static void expect_whole_trace(struct kunit *test, int (*fn)(void), struct kprobe kp,
			       bool jump)
{
	kp.addr = (void *)fn;
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	EXPECT_JUMP(test, &kp, jump);
	nr_trace = 0;
	KUNIT_EXPECT_EQ(test, call(fn), 3);
	KUNIT_EXPECT_TRUE(test, trace_is_whole(fn));
	unregister_kprobe(&kp);
}

static void expect_whole_traces(struct kunit *test, int (*fn)(void), bool jump)
{
	expect_whole_trace(test, fn, (struct kprobe) { .pre_handler = trace_pre }, jump);
	expect_whole_trace(test, fn, (struct kprobe) { .post_handler = trace_post }, jump);
}

/* The second function begins with a push: behind that the stack is another one. */
static void traces_lead_through_the_detour(struct kunit *test)
{
	expect_whole_traces(test, kprobes_opt_three, true);
	expect_whole_traces(test, kprobes_opt_push, true);
}

static void traces_lead_through_the_breakpoint(struct kunit *test)
{
	kprobe_optimizer_allow(false);
	expect_whole_traces(test, kprobes_opt_three, false);
	expect_whole_traces(test, kprobes_opt_push, false);
	kprobe_optimizer_allow(true);
}

static int optimizer_init(struct kunit *test)
{
	if (!kprobe_optimization_allowed)
		kunit_skip(test, "debug.kprobes-optimization is off");
	return 0;
}

static struct kunit_case optimizer_cases[] = {
	KUNIT_CASE(a_probe_becomes_a_jump_and_goes),
	KUNIT_CASE_PARAM(regions, region_gen_params),
	KUNIT_CASE(neighbours_take_turns),
	KUNIT_CASE(the_knob),
	KUNIT_CASE(post_handlers_come_and_go),
	KUNIT_CASE_PARAM(handlers_change_the_path, path_gen_params),
	KUNIT_CASE(traces_lead_through_the_detour),
	KUNIT_CASE(traces_lead_through_the_breakpoint),
	{}
};

static struct kunit_suite optimizer_suite = {
	.name = "kprobes_x86_optimizer",
	.init = optimizer_init,
	.test_cases = optimizer_cases,
};

kunit_test_suite(optimizer_suite);
