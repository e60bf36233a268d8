// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parts of PSTATE that a hit must keep, or must not (arm64): how the probed instruction was
 * branched to (BTYPE).
 */
#include <kunit/test.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <asm/cpufeature.h>

#include "asm_text.h"
#include "optimized.h"

/* Return 5, and from OTHER_END on, 7.  The first begins with what an indirect branch wants. */
int kprobes_pstate_landing(void);
TEXT_FUNCTION(kprobes_pstate_landing,
	      "hint	#25\n"		/* paciasp */
	      "mov	w0, #5\n"
	      "hint	#29\n"		/* autiasp */
	      "ret\n"
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

static noinline int call_by_pointer(int (*fn)(void))
{
	OPTIMIZER_HIDE_VAR(fn);
	return fn();
}

/* With BTI the new place would have to be a landing pad, had the exception kept BTYPE. */
static void changed_path_needs_no_landing_pad(struct kunit *test)
{
	/* Static: where the case fails, the thread oopses and leaves the probe registered. */
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
		kprobe_optimizer_flush();
		KUNIT_EXPECT_EQ(test, call_by_pointer(kprobes_pstate_landing), 7);
	}
	unregister_kprobe(&kp);
	KUNIT_EXPECT_EQ(test, changes, 2);
	KUNIT_EXPECT_EQ(test, call_by_pointer(kprobes_pstate_landing), 5);
	kprobe_optimizer_allow(before);
}

static struct kunit_case pstate_cases[] = {
	KUNIT_CASE(changed_path_needs_no_landing_pad),
	{}
};

static struct kunit_suite pstate_suite = {
	.name = "kprobes_arm64_pstate",
	.test_cases = pstate_cases,
};

kunit_test_suite(pstate_suite);
