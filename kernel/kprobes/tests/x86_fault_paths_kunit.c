// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every kind of instruction that can fault, every way to deal with the fault,
 * with and without a post handler, interrupts on and off (x86).
 *
 * An instruction that has faulted and was not retried has not been executed:
 * post handlers are not called for it.
 */
#include <kunit/test.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/trapnr.h>

#include "counted.h"
#include "asm_case.h"

/* What the functions return: after a fix-up, skipped, repaired. */
#define FIXED		77
#define SKIPPED		33
#define GOOD		20

/* Flags of the cases: what a good argument is. */
#define POINTER		0
#define DIVISOR		1
#define BRANCH		2

/*
 * The argument goes to cx; a bad one faults.  The row's instruction has an
 * exception table entry.
 */
#define FAULT_CASE(name, flags, before, insn)				\
	ASM_CASE(kprobes_fault_path_cases, name, flags,			\
		 "mov " ARG ", " CX "\n" before, insn, "",		\
		 ASM_RET						\
		 ASM_PLACE(name##_fixup)				\
		 "mov $77, %eax\n"					\
		 ASM_RET						\
		 _ASM_EXTABLE(name##_insn, name##_fixup))

ASM_TABLE_BEGIN(kprobes_fault_path_cases);

asm(ASM_FUNCTION(kprobes_fault_callee, "mov $20, %eax\n" ASM_RET));

FAULT_CASE(kprobes_fault_load, POINTER, "", "mov (" CX "), " AX "\n");
FAULT_CASE(kprobes_fault_add, POINTER, "xor %eax, %eax\n", "add (" CX "), " AX "\n");
FAULT_CASE(kprobes_fault_divide, DIVISOR,
	   "mov $100, %eax\nxor %edx, %edx\n", "div %ecx\n");
FAULT_CASE(kprobes_fault_call, BRANCH, "",
	   ANNOTATE_RETPOLINE_SAFE "call *(" CX ")\n");
FAULT_CASE(kprobes_fault_jump, BRANCH, "",
	   ANNOTATE_RETPOLINE_SAFE "jmp *(" CX ")\nint3\n");

ASM_TABLE_END(kprobes_fault_path_cases);

/* No exception table entry: only a fault handler can save it. */
asm(ASM_FUNCTION(kprobes_fault_bare,
		 ASM_PLACE(kprobes_fault_bare_insn)
		 "mov (" ARG "), " AX "\n"
		 ASM_PLACE(kprobes_fault_bare_next)
		 ASM_RET)
	ASM_UNCHECKED(kprobes_fault_bare));

static unsigned long good_value = GOOD;
static void *good_target = kprobes_fault_callee;

/* --- Bad arguments ----------------------------------------------------------- */

static unsigned long guard_page;

enum bad {
	BAD_UNMAPPED,		/* a kernel address without a page */
	BAD_NON_CANONICAL,
	BAD_NULL,		/* what a structure pointer of NULL gives */
	NR_BAD,
};

static const char * const bad_names[] = { "unmapped", "non-canonical", "null" };

static bool bad_applies(const struct asm_case *c, enum bad bad)
{
	return bad != BAD_NON_CANONICAL || IS_ENABLED(CONFIG_X86_64) || c->flags == DIVISOR;
}

static unsigned long bad_argument(const struct asm_case *c, enum bad bad)
{
	if (c->flags == DIVISOR)
		return 0;
	if (bad == BAD_UNMAPPED)
		return guard_page;
	return bad == BAD_NULL ? 0x10 : 0xdeadUL << (BITS_PER_LONG - 16);
}

static int expected_trap(const struct asm_case *c, enum bad bad)
{
	if (c->flags == DIVISOR)
		return X86_TRAP_DE;
	return bad == BAD_NON_CANONICAL ? X86_TRAP_GP : X86_TRAP_PF;
}

static unsigned long good_argument(const struct asm_case *c)
{
	if (c->flags == DIVISOR)
		return 5;
	return (unsigned long)(c->flags == BRANCH ? (void *)&good_target : &good_value);
}

/* --- The probe ----------------------------------------------------------------- */

enum answer {
	LEAVE_IT,
	SKIP_IT,
	REPAIR_IT,
	NR_ANSWERS,
};

static const char * const answer_names[] = { "left", "skipped", "repaired" };

struct faulty {
	struct kprobe kp;
	enum answer answer;
	unsigned long next, good;	/* for the answers */
	unsigned int pre, post, faults;
	int trapnr;
	unsigned long ip, post_ip;
	unsigned long (*in_pre)(unsigned long arg);
	unsigned long (*in_post)(unsigned long arg);
	unsigned long arg, result;
};

static struct faulty *to_faulty(struct kprobe *kp)
{
	return container_of(kp, struct faulty, kp);
}

static __nocfi int faulty_pre(struct kprobe *kp, struct pt_regs *regs)
{
	struct faulty *f = to_faulty(kp);

	f->pre++;
	if (f->in_pre)
		f->result = f->in_pre(f->arg);
	return 0;
}

static __nocfi void faulty_post(struct kprobe *kp, struct pt_regs *regs,
				unsigned long flags)
{
	struct faulty *f = to_faulty(kp);

	f->post++;
	f->post_ip = regs->ip;
	if (f->in_post)
		f->result = f->in_post(f->arg);
}

static int faulty_fault(struct kprobe *kp, struct pt_regs *regs, int trapnr)
{
	struct faulty *f = to_faulty(kp);

	f->faults++;
	f->trapnr = trapnr;
	f->ip = regs->ip;
	if (f->answer == LEAVE_IT)
		return 0;
	if (f->answer == SKIP_IT) {
		regs->ax = SKIPPED;
		regs->ip = f->next;
	} else {
		regs->cx = f->good;
	}
	return 1;
}

static struct faulty faulty_at(void *addr, bool post)
{
	return (struct faulty) {
		.kp.addr = addr,
		.kp.pre_handler = faulty_pre,
		.kp.post_handler = post ? faulty_post : NULL,
		.kp.fault_handler = faulty_fault,
	};
}

static bool nothing_runs(void)
{
	bool idle;

	preempt_disable();
	idle = !kprobe_running();
	preempt_enable();
	return idle;
}

/* --- Faults of the instruction ------------------------------------------------- */

static const unsigned long expected_results[NR_ANSWERS] = { FIXED, SKIPPED, GOOD };

static void one_fault(struct kunit *test, const struct asm_case *c, enum bad bad,
		      struct faulty *f, bool irqs_off)
{
	unsigned int posts = f->kp.post_handler && f->answer == REPAIR_IT;
	unsigned long flags = 0, result, arg = bad_argument(c, bad);
	bool changed;

	/* Without help nothing in user space is for the kernel to read. */
	if (f->answer == LEAVE_IT && bad == BAD_NULL && c->flags != DIVISOR)
		return;
	f->pre = f->post = f->faults = 0;
	f->ip = f->trapnr = -1;
	if (irqs_off)
		local_irq_save(flags);
	result = asm_case_call(c, arg);
	changed = irqs_disabled() != irqs_off;
	if (irqs_off)
		local_irq_restore(flags);

#define EXPECT(left, right)						\
	KUNIT_EXPECT_EQ_MSG(test, (unsigned long)(left), (unsigned long)(right), \
			    "%s, %s, %s, post %d, irqs off %d", c->name, bad_names[bad], \
			    answer_names[f->answer], !!f->kp.post_handler, irqs_off)
	EXPECT(result, expected_results[f->answer]);
	EXPECT(changed, false);
	EXPECT(f->pre, 1);
	/* A branch is retried in a copy that does not come back to the probe. */
	if (c->flags != BRANCH || f->answer != REPAIR_IT)
		EXPECT(f->post, posts);
	EXPECT(f->faults, 1);
	EXPECT(f->trapnr, expected_trap(c, bad));
	EXPECT(f->ip, c->insn);
	EXPECT(nothing_runs(), true);
	EXPECT(asm_case_call(c, good_argument(c)), GOOD);
	EXPECT(f->pre, 2);
	EXPECT(f->kp.nmissed, 0);
#undef EXPECT
}

static void all_faults(struct kunit *test, bool post)
{
	const struct asm_case *c;
	enum bad bad;

	for_each_asm_case(c, kprobes_fault_path_cases) {
		struct faulty f = faulty_at(c->insn, post);

		KUNIT_ASSERT_EQ(test, asm_case_call(c, good_argument(c)), GOOD);
		KUNIT_ASSERT_EQ(test, asm_case_call(c, bad_argument(c, BAD_UNMAPPED)), FIXED);
		f.next = (unsigned long)c->next;
		f.good = good_argument(c);
		KUNIT_ASSERT_EQ_MSG(test, register_kprobe(&f.kp), 0, "%s", c->name);
		for (bad = 0; bad < NR_BAD; bad++) {
			if (!bad_applies(c, bad))
				continue;
			for (f.answer = 0; f.answer < NR_ANSWERS; f.answer++) {
				one_fault(test, c, bad, &f, false);
				one_fault(test, c, bad, &f, true);
			}
		}
		unregister_kprobe(&f.kp);
	}
}

static void boosted_or_emulated(struct kunit *test)
{
	all_faults(test, false);
}

static void stepped_or_emulated(struct kunit *test)
{
	all_faults(test, true);
}

/* --- Faults in handlers --------------------------------------------------------- */

static noinline __noclone int traced_site(int x)
{
	KEEP_CALL(x);
	return x + 1;
}

static noinline __noclone notrace int trap_site(int x)
{
	KEEP_CALL(x);
	return x + 1;
}

static int (*const sites[])(int x) = { trap_site, traced_site };

static void an_unprotected_access_is_skipped(struct kunit *test)
{
	int i, post;

	for (i = 0; i < 2 * ARRAY_SIZE(sites); i++) {
		int (*site)(int x) = sites[i / 2];
		struct faulty f = faulty_at(site, true);

		post = i & 1;
		f.arg = guard_page;
		f.answer = SKIP_IT;
		f.next = (unsigned long)kprobes_fault_bare_next;
		if (post)
			f.in_post = kprobes_fault_bare;
		else
			f.in_pre = kprobes_fault_bare;
		KUNIT_ASSERT_EQ(test, register_kprobe(&f.kp), 0);
		KUNIT_EXPECT_EQ(test, site(1), 2);
		KUNIT_EXPECT_EQ(test, f.result, SKIPPED);
		KUNIT_EXPECT_EQ(test, f.faults, 1U);
		KUNIT_EXPECT_EQ(test, f.trapnr, X86_TRAP_PF);
		KUNIT_EXPECT_EQ(test, f.ip, (unsigned long)kprobes_fault_bare_insn);
		KUNIT_EXPECT_TRUE(test, nothing_runs());
		KUNIT_EXPECT_FALSE(test, irqs_disabled());
		KUNIT_EXPECT_EQ(test, site(1), 2);
		unregister_kprobe(&f.kp);
		KUNIT_EXPECT_EQ(test, f.pre, 2U);
		KUNIT_EXPECT_EQ(test, f.post, 2U);
	}
}

/*
 * A handler calls a probed function whose probed instruction faults: a miss, and
 * the exception table is found all the same.  What a fault handler is shown is
 * the instruction, never the inside of the emulator.
 */
static void a_missed_instruction_faults(struct kunit *test)
{
	const struct asm_case *c;
	int i;

	for_each_asm_case(c, kprobes_fault_path_cases) {
		for (i = 0; i < ARRAY_SIZE(sites); i++) {
			struct faulty out = faulty_at(sites[i], true);
			struct faulty in = faulty_at(c->insn, i);

			out.in_pre = c->fn;
			out.arg = bad_argument(c, BAD_UNMAPPED);
			out.ip = in.ip = (unsigned long)c->insn;
			KUNIT_ASSERT_EQ(test, register_kprobe(&out.kp), 0);
			KUNIT_ASSERT_EQ(test, register_kprobe(&in.kp), 0);
			KUNIT_EXPECT_EQ(test, sites[i](1), 2);
			KUNIT_EXPECT_EQ_MSG(test, out.result, FIXED, "%s", c->name);
			KUNIT_EXPECT_EQ_MSG(test, in.kp.nmissed, 1UL, "%s", c->name);
			KUNIT_EXPECT_EQ_MSG(test, in.pre, 0U, "%s", c->name);
			KUNIT_EXPECT_EQ_MSG(test, in.post, 0U, "%s", c->name);
			KUNIT_EXPECT_EQ_MSG(test, out.post, 1U, "%s", c->name);
			KUNIT_EXPECT_EQ_MSG(test, in.ip, (unsigned long)c->insn, "%s", c->name);
			KUNIT_EXPECT_EQ_MSG(test, out.ip, (unsigned long)c->insn, "%s", c->name);
			KUNIT_EXPECT_TRUE(test, nothing_runs());
			unregister_kprobe(&in.kp);
			unregister_kprobe(&out.kp);
		}
	}
}

/* A page of vmalloc's is followed by one that is never there. */
static int fault_paths_init(struct kunit *test)
{
	void *page = vmalloc(PAGE_SIZE);

	if (!page)
		return -ENOMEM;
	test->priv = page;
	guard_page = (unsigned long)page + PAGE_SIZE;
	return 0;
}

static void fault_paths_exit(struct kunit *test)
{
	vfree(test->priv);
}

static struct kunit_case fault_path_cases[] = {
	KUNIT_CASE(boosted_or_emulated),
	KUNIT_CASE(stepped_or_emulated),
	KUNIT_CASE(an_unprotected_access_is_skipped),
	KUNIT_CASE(a_missed_instruction_faults),
	{}
};

static struct kunit_suite fault_path_suite = {
	.name = "kprobes_x86_fault_paths",
	.init = fault_paths_init,
	.exit = fault_paths_exit,
	.test_cases = fault_path_cases,
};

kunit_test_suite(fault_path_suite);
