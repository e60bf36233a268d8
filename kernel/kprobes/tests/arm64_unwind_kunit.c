// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stack traces of code that is interrupted in the middle of a probe (arm64): in a slot, in
 * a detour, in the functions that detours call, or in the return trampoline.  The trace has
 * the probed function and its caller.
 *
 * The registers of the exception are constructed, with the address of each instruction in
 * turn.
 */
#include <linux/ptrace.h>
#include <linux/stacktrace.h>

#include "opt_functions.h"
#include "../../../arch/arm64/kernel/probes/detour.h"

#define CALLER		0x1234UL

/* The registers that an exception saves, and the pair that a detour has pushed before. */
static struct {
	struct pt_regs regs;
	unsigned long pair[2];
} stack;

static unsigned long ip;

/*
 * An exception at @pc with @link in the link register.  Returns the caller that is found,
 * and sets ip.
 */
static unsigned long interrupt(unsigned long pc, unsigned long link)
{
	memset(&stack, 0, sizeof(stack));
	stack.regs.sp = (unsigned long)stack.pair;
	stack.regs.pc = pc;
	stack.regs.regs[30] = link;
	stack.regs.stackframe.record.lr = pc;
	stack.pair[1] = CALLER;
	ip = pc;
	return kprobe_unwind_hit((unsigned long)&stack.regs.stackframe, &ip);
}

static kprobe_opcode_t *detour_of(void *addr)
{
	struct kprobe_point *point;

	guard(mutex)(&kprobe_mutex);
	point = kprobe_table_find((unsigned long)addr);
	return point ? point->op.optinsn.insn : NULL;
}

/* An interrupt in the copy of the first instruction, or before it; the caller is found, too. */
static void expect_probed(struct kunit *test, const struct counted *c, unsigned long pc,
			  unsigned long link)
{
	unsigned long caller = interrupt(pc, link);

	KUNIT_EXPECT_EQ_MSG(test, ip, (unsigned long)c->kp.addr, "at %pS", (void *)pc);
	KUNIT_EXPECT_EQ_MSG(test, caller, CALLER, "at %pS", (void *)pc);
}

static void in_a_slot(struct kunit *test)
{
	struct counted c = counted_at(kprobes_opt_framed, true, true);
	struct kprobe *kp;

	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	kp = probe_at(c.kp.addr);
	KUNIT_EXPECT_NOT_NULL(test, kp->ainsn.insn);
	KUNIT_EXPECT_NOT_NULL(test, kp->ainsn.step);
	if (kp->ainsn.insn)
		expect_probed(test, &c, (unsigned long)kp->ainsn.insn, CALLER);
	if (kp->ainsn.step)
		expect_probed(test, &c, (unsigned long)kp->ainsn.step, CALLER);
	unregister_kprobe(&c.kp);
}

/* In the detour, and in its callee from @enter up to @linked, where a frame record exists. */
static void expect_in_detour(struct kunit *test, const struct counted *c,
			     const char *enter, const char *linked)
{
	kprobe_opcode_t *detour = detour_of(c->kp.addr);
	unsigned long back;
	const char *pc;

	KUNIT_ASSERT_NOT_NULL(test, detour);
	back = (unsigned long)(detour + DETOUR_RETURN);
	expect_probed(test, c, (unsigned long)(detour + DETOUR_CODE), CALLER);
	expect_probed(test, c, (unsigned long)(detour + DETOUR_CODE + 1), CALLER);
	for (pc = enter; pc < linked; pc += AARCH64_INSN_SIZE)
		expect_probed(test, c, (unsigned long)pc, back);
	/* The frame record exists now and leads to the caller. */
	KUNIT_EXPECT_EQ(test, interrupt(back, back), 0);
	KUNIT_EXPECT_EQ(test, ip, (unsigned long)c->kp.addr);
}

static void in_a_detour(struct kunit *test)
{
	struct counted c = counted_at(kprobes_opt_framed, true, false);

	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	EXPECT_JUMP(test, &c.kp, true);
	expect_in_detour(test, &c, (const char *)kprobe_detour_enter, kprobe_detour_enter_linked);
	unregister_kprobe(&c.kp);
}

static void in_a_detour_without_a_copy(struct kunit *test)
{
	struct counted c = counted_at(kprobes_opt_three, true, true);

	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	EXPECT_JUMP(test, &c.kp, true);
	expect_in_detour(test, &c, (const char *)kprobe_detour_enter_whole,
			 kprobe_detour_enter_whole_linked);
	unregister_kprobe(&c.kp);
}

static int see_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static void in_a_detour_of_a_return_probe(struct kunit *test)
{
	struct kretprobe rp = { .kp.addr = (void *)kprobes_opt_framed, .handler = see_return };
	struct counted c = counted_at(kprobes_opt_framed, false, false);

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	EXPECT_JUMP(test, &rp.kp, true);
	expect_in_detour(test, &c, (const char *)kprobe_detour_enter_return,
			 kprobe_detour_enter_return_linked);
	unregister_kretprobe(&rp);
}

static void in_the_trampoline(struct kunit *test)
{
	const char *pc;

	/* The real address is in the instance. */
	for (pc = (const char *)__kretprobe_trampoline; pc < kretprobe_trampoline_linked;
	     pc += AARCH64_INSN_SIZE) {
		KUNIT_EXPECT_EQ(test, interrupt((unsigned long)pc, 0), 0);
		KUNIT_EXPECT_TRUE_MSG(test, is_kretprobe_trampoline(ip), "at %pS", pc);
	}
	/* The instance has been released, and the real address is in the link register. */
	for (pc = kretprobe_trampoline_unlinked; pc < kretprobe_trampoline_end;
	     pc += AARCH64_INSN_SIZE) {
		KUNIT_EXPECT_EQ(test, interrupt((unsigned long)pc, CALLER), 0);
		KUNIT_EXPECT_EQ_MSG(test, ip, CALLER, "at %pS", pc);
	}
}

/* --- The trampoline's own record ------------------------------------------------------ */

static unsigned long recorded, real;

static int look(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	recorded = regs->stackframe.record.lr;
	real = get_kretprobe_retaddr(ri);
	return 0;
}

/*
 * After the instance has been released, the trampoline may be preempted before it returns.
 * So its record must have the real address before that.
 */
static void record_has_the_return_address(struct kunit *test)
{
	struct kretprobe rp = { .kp.addr = (void *)kprobes_opt_three, .handler = look };

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	recorded = 0;
	KUNIT_EXPECT_EQ(test, kprobes_opt_call(kprobes_opt_three), 3);
	KUNIT_EXPECT_NE(test, recorded, 0);
	KUNIT_EXPECT_EQ(test, recorded, real);
	unregister_kretprobe(&rp);
}

/* --- Traces that begin with registers --------------------------------------------------- */

static unsigned long trace[16];
static unsigned int nr_trace;

static int trace_pre(struct kprobe *kp, struct pt_regs *regs)
{
	nr_trace = stack_trace_save_regs(regs, trace, ARRAY_SIZE(trace), 0);
	real = regs->regs[30];
	return 0;
}

static void registers_of_a_hit(struct kunit *test)
{
	struct kprobe kp = { .addr = (void *)kprobes_opt_three, .pre_handler = trace_pre };
	bool before = kprobe_optimization_allowed;

	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	kprobe_optimizer_allow(false);
	wait_for_kprobe_optimizer();
	nr_trace = 0;
	KUNIT_EXPECT_EQ(test, kprobes_opt_call(kprobes_opt_three), 3);
	KUNIT_EXPECT_GT(test, nr_trace, 2U);
	KUNIT_EXPECT_EQ(test, trace[0], (unsigned long)kp.addr);
	KUNIT_EXPECT_EQ(test, trace[1], ptrauth_strip_kernel_insn_pac(real));
	unregister_kprobe(&kp);
	kprobe_optimizer_allow(before);
}

static struct kunit_case unwind_cases[] = {
	KUNIT_CASE(in_a_slot),
	KUNIT_CASE(in_a_detour),
	KUNIT_CASE(in_a_detour_without_a_copy),
	KUNIT_CASE(in_a_detour_of_a_return_probe),
	KUNIT_CASE(in_the_trampoline),
	KUNIT_CASE(record_has_the_return_address),
	KUNIT_CASE(registers_of_a_hit),
	{}
};

static struct kunit_suite unwind_suite = {
	.name = "kprobes_arm64_unwind",
	.init = opt_init,
	.test_cases = unwind_cases,
};

kunit_test_suite(unwind_suite);
