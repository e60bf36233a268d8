// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parts of PSTATE that a hit must preserve, or must change (arm64): whether memory tags are
 * checked (TCO), and the kind of branch that led to the probed instruction (BTYPE).
 */
#include <kunit/test.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <asm/cpufeature.h>

#include "asm_text.h"
#include "optimized.h"

/* Return 5; 7 if entered at OTHER_END.  The first function begins with a landing pad. */
int kprobes_pstate_landing(void);
int kprobes_pstate_plain(void);
TEXT_FUNCTION(kprobes_pstate_landing,
	      "hint	#25\n"		/* paciasp */
	      "mov	w0, #5\n"
	      "hint	#29\n"		/* autiasp */
	      "ret\n"
	      "mov	w0, #7\n"
	      "ret\n");
TEXT_FUNCTION(kprobes_pstate_plain,
	      "mov	w0, #5\n"
	      "ret\n"
	      "nop\n"
	      "nop\n"
	      "mov	w0, #7\n"
	      "ret\n");

#define OTHER_END(fn)	((unsigned long)(fn) + 16)

/* --- A changed path ----------------------------------------------------------------- */

static unsigned int changes;

static int go_elsewhere(struct kprobe *kp, struct pt_regs *regs)
{
	changes++;
	instruction_pointer_set(regs, OTHER_END(kp->addr));
	return 1;
}

/* Assembly has no type hash: the call is not checked for one. */
static noinline __nocfi int call_by_pointer(int (*fn)(void))
{
	OPTIMIZER_HIDE_VAR(fn);
	return fn();
}

/* Direct calls, because there is no landing pad. */
static int call_plain(void)
{
	return kprobes_pstate_plain();
}

/* If the exception kept BTYPE, the new address would have to be a landing pad with BTI. */
static void changed_path_needs_no_landing_pad(struct kunit *test)
{
	/* Static: if the case fails, the thread oopses and leaves the probe registered. */
	static struct kprobe kp;
	bool before = kprobe_optimization_allowed;
	int jump;

	kp = (struct kprobe) {
		.addr = (void *)kprobes_pstate_landing, .pre_handler = go_elsewhere,
	};
	changes = 0;
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	for (jump = 0; jump < 2; jump++) {
		kprobe_optimizer_allow(jump);
		wait_for_kprobe_optimizer();
		KUNIT_EXPECT_EQ(test, call_by_pointer(kprobes_pstate_landing), 7);
	}
	unregister_kprobe(&kp);
	KUNIT_EXPECT_EQ(test, changes, 2);
	KUNIT_EXPECT_EQ(test, call_by_pointer(kprobes_pstate_landing), 5);
	kprobe_optimizer_allow(before);
}

/* --- Tag checks ---------------------------------------------------------------------- */

/* PSTATE.TCO as a system register; the bit is the same as in PSTATE. */
#define SYS_TCO		sys_reg(3, 3, 4, 2, 7)

static struct {
	unsigned int calls;
	unsigned int was_off;	/* in the saved PSTATE */
} seen;

/* Enables the checks, as a task that is scheduled in at the end of the hit could do. */
static void see(struct pt_regs *regs)
{
	seen.calls++;
	seen.was_off += !!(regs->pstate & PSR_TCO_BIT);
	asm volatile(SET_PSTATE_TCO(0));
}

static int see_pre(struct kprobe *kp, struct pt_regs *regs)
{
	see(regs);
	return 0;
}

static int see_and_go(struct kprobe *kp, struct pt_regs *regs)
{
	see(regs);
	return go_elsewhere(kp, regs);
}

static int see_and_skip(struct kprobe *kp, struct pt_regs *regs)
{
	see(regs);
	regs->regs[0] = 7;
	instruction_pointer_set(regs, regs->regs[30]);
	return 1;
}

static void see_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	see(regs);
}

static int see_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	see(regs);
	return 0;
}

static const struct tco_case {
	const char *name;
	kprobe_pre_handler_t pre;
	kprobe_post_handler_t post;
	kretprobe_handler_t entry, ret;
	unsigned int calls;
	int result;
} tco_cases[] = {
	{ "pre handler", .pre = see_pre, .calls = 1, .result = 5 },
	{ "post handler", .pre = see_pre, .post = see_post, .calls = 2, .result = 5 },
	{ "changed path", .pre = see_and_go, .calls = 1, .result = 7 },
	{ "skipped function", .pre = see_and_skip, .calls = 1, .result = 7 },
	{ "return handler", .ret = see_return, .calls = 1, .result = 5 },
	{ "entry handler", .entry = see_return, .ret = see_return, .calls = 2, .result = 5 },
};

KUNIT_ARRAY_PARAM_DESC(tco, tco_cases, name);

/* Returns the result of the function.  @off: are checks off after the call? */
static int call_with(bool tco, bool *off)
{
	int ret;

	if (tco)
		asm volatile(SET_PSTATE_TCO(1));
	else
		asm volatile(SET_PSTATE_TCO(0));
	ret = call_plain();
	*off = read_sysreg_s(SYS_TCO);
	asm volatile(SET_PSTATE_TCO(0));
	return ret;
}

static void tag_checks_stay_off(struct kunit *test)
{
	const struct tco_case *c = test->param_value;
	struct kretprobe rp = {
		.kp.addr = (void *)kprobes_pstate_plain, .entry_handler = c->entry,
		.handler = c->ret,
	};
	struct kprobe kp = {
		.addr = (void *)kprobes_pstate_plain, .pre_handler = c->pre,
		.post_handler = c->post,
	};
	bool before = kprobe_optimization_allowed;
	int jump, tco;
	bool off;

	if (!system_supports_mte())
		kunit_skip(test, "memory has no tags");
	KUNIT_ASSERT_EQ(test, c->ret ? register_kretprobe(&rp) : register_kprobe(&kp), 0);
	for (jump = 0; jump < 2; jump++) {
		kprobe_optimizer_allow(jump);
		EXPECT_JUMP(test, c->ret ? &rp.kp : &kp, jump);
		for (tco = 0; tco < 2; tco++) {
			memset(&seen, 0, sizeof(seen));
			KUNIT_EXPECT_EQ(test, call_with(tco, &off), c->result);
			KUNIT_EXPECT_EQ_MSG(test, off, tco, "jump %d", jump);
			KUNIT_EXPECT_EQ_MSG(test, seen.calls, c->calls, "jump %d", jump);
			KUNIT_EXPECT_EQ_MSG(test, seen.was_off, tco ? c->calls : 0,
					    "jump %d", jump);
		}
	}
	if (c->ret)
		unregister_kretprobe(&rp);
	else
		unregister_kprobe(&kp);
	kprobe_optimizer_allow(before);
}

static struct kunit_case pstate_cases[] = {
	KUNIT_CASE(changed_path_needs_no_landing_pad),
	KUNIT_CASE_PARAM(tag_checks_stay_off, tco_gen_params),
	{}
};

static struct kunit_suite pstate_suite = {
	.name = "kprobes_arm64_pstate",
	.test_cases = pstate_cases,
};

kunit_test_suite(pstate_suite);
