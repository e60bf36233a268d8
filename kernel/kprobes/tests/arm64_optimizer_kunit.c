// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jump optimization (arm64): what becomes a branch, when, and what handlers can do there.
 * A branch takes the place of one instruction, so there are no neighbours in its way.
 */
#include <linux/stacktrace.h>

#include "asm_text.h"
#include "counted.h"
#include "optimized.h"

/* --- Functions ----------------------------------------------------------------- */

int kprobes_opt_three(void);
int kprobes_opt_branches(void);
int kprobes_opt_framed(void);
int kprobes_opt_call(int (*fn)(void));

/* Inside the functions, where a symbol would end them. */
#define OPT_SECOND		((void *)kprobes_opt_three + 4)
#define OPT_THIRD		((void *)kprobes_opt_three + 8)
#define OPT_LITERAL		((void *)kprobes_opt_branches + 4)
#define OPT_CONDITIONAL		((void *)kprobes_opt_branches + 8)
#define OPT_LINK		((void *)kprobes_opt_branches + 20)
#define OPT_INSIDE		((void *)kprobes_opt_framed + 8)

TEXT_FUNCTION(kprobes_opt_three,
	      "mov	w0, #0\n"
	      "add	w0, w0, #1\n"
	      "add	w0, w0, #2\n"
	      "ret\n");

/*
 * A literal load, a conditional branch, a call whose target is in the link register; it
 * leads to a landing pad, for kernels that want one.
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

/* With a frame, so that it stands in stack traces by itself. */
TEXT_FUNCTION(kprobes_opt_framed,
	      "stp	x29, x30, [sp, #-16]!\n"
	      "mov	x29, sp\n"
	      "mov	w0, #3\n"
	      "ldp	x29, x30, [sp], #16\n"
	      "ret\n");

/*
 * Calls by name: the functions have no landing pads, which would be what is at their
 * addresses.
 */
noinline __noclone int kprobes_opt_call(int (*fn)(void))
{
	int ret;

	if (fn == kprobes_opt_three)
		ret = kprobes_opt_three();
	else if (fn == kprobes_opt_branches)
		ret = kprobes_opt_branches();
	else
		ret = kprobes_opt_framed();
	barrier();
	return ret;
}

static int call(int (*fn)(void))
{
	return kprobes_opt_call(fn);
}

static void a_probe_becomes_a_branch_and_goes(struct kunit *test)
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

/* What can be a branch, and what is said where it cannot. */
static const struct place {
	const char *name;
	void *addr;
	int (*fn)(void);
	const char *obstacle;
} places[] = {
	{ "the first", kprobes_opt_three, kprobes_opt_three, "" },
	{ "inside a function", OPT_SECOND, kprobes_opt_three, "" },
	{ "a literal", OPT_LITERAL, kprobes_opt_branches, "" },
	{ "a conditional branch", OPT_CONDITIONAL, kprobes_opt_branches, "" },
	{ "a call by the link register", OPT_LINK, kprobes_opt_branches,
	  "the instruction cannot be re-encoded" },
	{ "a frame is made", kprobes_opt_framed, kprobes_opt_framed, "" },
};

KUNIT_ARRAY_PARAM_DESC(place, places, name);

static void one_instruction(struct kunit *test)
{
	const struct place *p = test->param_value;
	struct counted counted = counted_at(p->addr, true, false);

	KUNIT_ASSERT_EQ(test, register_kprobe(&counted.kp), 0);
	EXPECT_JUMP(test, &counted.kp, !*p->obstacle);
	KUNIT_EXPECT_STREQ(test, said_at(p->addr), p->obstacle);
	KUNIT_EXPECT_EQ(test, call(p->fn), 3);
	unregister_kprobe(&counted.kp);
	KUNIT_EXPECT_EQ(test, counted.pre, 1);
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
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&second.kp), 0);
	EXPECT_JUMP(test, &first.kp, true);
	EXPECT_JUMP(test, &third.kp, true);
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);
	unregister_kprobes(all, ARRAY_SIZE(all));
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_three), 3);
	KUNIT_EXPECT_EQ(test, first.pre, 2);
	KUNIT_EXPECT_EQ(test, second.pre, 1);
	KUNIT_EXPECT_EQ(test, second.post, 1);
	KUNIT_EXPECT_EQ(test, third.pre, 2);
}

static void the_knob(struct kunit *test)
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

/* --- Handlers ---------------------------------------------------------------------- */

static struct pt_regs at_pre, at_post;

static int copy_pre(struct kprobe *p, struct pt_regs *regs)
{
	at_pre = *regs;
	return 0;
}

static void copy_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	at_post = *regs;
}

/* The detour has to be made anew for the first, and is kept after the last. */
static void post_handlers_come_and_go(struct kunit *test)
{
	struct counted pre = counted_at(kprobes_opt_framed, true, false);
	struct kprobe both = {
		.addr = (void *)kprobes_opt_framed,
		.pre_handler = copy_pre,
		.post_handler = copy_post,
	};

	KUNIT_ASSERT_EQ(test, register_kprobe(&pre.kp), 0);
	EXPECT_JUMP(test, &pre.kp, true);
	memset(&at_post, 0, sizeof(at_post));
	KUNIT_ASSERT_EQ(test, register_kprobe(&both), 0);
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_framed), 3);
	KUNIT_EXPECT_EQ(test, at_post.pc, (unsigned long)kprobes_opt_framed + 4);

	EXPECT_JUMP(test, &both, true);
	memset(&at_post, 0, sizeof(at_post));
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_framed), 3);
	KUNIT_EXPECT_EQ(test, at_pre.pc, (unsigned long)kprobes_opt_framed);
	KUNIT_EXPECT_EQ(test, at_post.pc, (unsigned long)kprobes_opt_framed + 4);
	KUNIT_EXPECT_EQ(test, at_post.sp, at_pre.sp - 16);
	KUNIT_EXPECT_EQ(test, at_post.regs[29], at_pre.regs[29]);
	KUNIT_EXPECT_LT(test, at_pre.regs[30] - (unsigned long)kprobes_opt_call, 256);
	KUNIT_EXPECT_FALSE(test, user_mode(&at_pre));
	KUNIT_EXPECT_FALSE(test, at_pre.pstate & PSR_I_BIT);

	unregister_kprobe(&both);
	EXPECT_JUMP(test, &pre.kp, true);
	KUNIT_EXPECT_EQ(test, call(kprobes_opt_framed), 3);
	unregister_kprobe(&pre.kp);
	KUNIT_EXPECT_EQ(test, pre.pre, 3);
}

static int set_x0(struct kprobe *p, struct pt_regs *regs)
{
	regs->regs[0] = 39;
	return 0;
}

static int skip_two(struct kprobe *p, struct pt_regs *regs)
{
	regs->regs[0] = 40;
	regs->pc = (unsigned long)OPT_THIRD;
	return 1;
}

static int return_at_once(struct kprobe *p, struct pt_regs *regs)
{
	regs->regs[0] = 77;
	regs->pc = regs->regs[30];
	return 1;
}

/* From behind the frame's making: to the end, and the stack pointer with it. */
static int leave_frame(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long *record = (unsigned long *)regs->sp;

	regs->regs[0] = 78;
	regs->regs[29] = record[0];
	regs->regs[30] = record[1];
	regs->sp += 16;
	regs->pc = regs->regs[30];
	return 1;
}

/* Handlers that change registers, and what the function returns then. */
static const struct path_case {
	const char *name;
	kprobe_pre_handler_t pre;
	void *addr;
	int (*fn)(void);
	int result, later;
} path_cases[] = {
	{ "a register", set_x0, OPT_SECOND, kprobes_opt_three, 42, 2 },
	{ "the program counter", skip_two, kprobes_opt_three, kprobes_opt_three, 42, 0 },
	{ "back to the caller", return_at_once, kprobes_opt_three, kprobes_opt_three, 77, 0 },
	{ "the stack pointer", leave_frame, OPT_INSIDE, kprobes_opt_framed, 78, 0 },
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

/* The probed function stands in the trace, and its caller behind it. */
static bool trace_is_whole(int (*fn)(void))
{
	unsigned int i;

	for (i = 0; i < nr_trace && !traced_within(i, fn, 20); i++)
		;
	return traced_within(i + 1, kprobes_opt_call, 256);
}

static void expect_whole_trace(struct kunit *test, int (*fn)(void), struct kprobe kp, bool jump)
{
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	EXPECT_JUMP(test, &kp, jump);
	nr_trace = 0;
	KUNIT_EXPECT_EQ(test, call(fn), 3);
	KUNIT_EXPECT_TRUE_MSG(test, trace_is_whole(fn), "%pS", kp.addr);
	unregister_kprobe(&kp);
}

/* Before a function has made its frame record, and behind that. */
static void expect_whole_traces(struct kunit *test, bool jump)
{
	struct kprobe pre = { .pre_handler = trace_pre };
	struct kprobe post = { .post_handler = trace_post };

	pre.addr = (void *)kprobes_opt_three;
	expect_whole_trace(test, kprobes_opt_three, pre, jump);
	pre.addr = (void *)kprobes_opt_framed;
	expect_whole_trace(test, kprobes_opt_framed, pre, jump);
	pre.addr = OPT_INSIDE;
	expect_whole_trace(test, kprobes_opt_framed, pre, jump);
	post.addr = OPT_INSIDE;
	expect_whole_trace(test, kprobes_opt_framed, post, jump);
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

static int optimizer_init(struct kunit *test)
{
	if (!kprobe_optimization_allowed)
		kunit_skip(test, "debug.kprobes-optimization is off");
	return 0;
}

static struct kunit_case optimizer_cases[] = {
	KUNIT_CASE(a_probe_becomes_a_branch_and_goes),
	KUNIT_CASE_PARAM(one_instruction, place_gen_params),
	KUNIT_CASE(side_by_side),
	KUNIT_CASE(the_knob),
	KUNIT_CASE(post_handlers_come_and_go),
	KUNIT_CASE_PARAM(handlers_change_the_path, path_gen_params),
	KUNIT_CASE(traces_lead_through_the_detour),
	KUNIT_CASE(traces_lead_through_the_breakpoint),
	{}
};

static struct kunit_suite optimizer_suite = {
	.name = "kprobes_arm64_optimizer",
	.init = optimizer_init,
	.test_cases = optimizer_cases,
};

kunit_test_suite(optimizer_suite);
