// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every kind of instruction that can fault, every way to resolve the fault, with and
 * without a post handler, in copies and in detours, with interrupts on and off.
 *
 * An instruction that has faulted and was not retried has not been executed: no post
 * handler is called for it.
 */
#include <kunit/test.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "counted.h"
#include "fault_paths.h"
#include "jumps.h"

/* --- Bad arguments ----------------------------------------------------------- */

static unsigned long guard_page;

static const char * const bad_names[] = { "unmapped", "non-canonical", "null" };

static const struct asm_case *next_there(const struct asm_case *c)
{
	while (c < kprobes_fault_table.end && !kprobes_fault_there(c))
		c++;
	return c;
}

#define for_each_case(c)						\
	for ((c) = next_there(kprobes_fault_table.begin);		\
	     (c) < kprobes_fault_table.end; (c) = next_there((c) + 1))

/* Assembly has no type hash: the call is not checked for one. */
static noinline __noclone __nocfi unsigned long asm_call(unsigned long (*fn)(unsigned long arg),
							 unsigned long arg)
{
	return fn(arg);
}
ANNOTATE_NOCFI_SYM(asm_call);

/* Page faults are disabled: no page is read from a disk or mapped in user space. */
static unsigned long call(const struct asm_case *c, unsigned long argument)
{
	unsigned long result;

	pagefault_disable();
	result = asm_call(c->fn, argument);
	pagefault_enable();
	return result;
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
	unsigned long next, good;	/* used by SKIP_IT and REPAIR_IT */
	unsigned int pre, post, faults;
	int trapnr;
	unsigned long ip;
	unsigned long (*in_pre)(unsigned long arg);
	unsigned long (*in_post)(unsigned long arg);
	unsigned long arg, result;
};

static struct faulty *to_faulty(struct kprobe *kp)
{
	return container_of(kp, struct faulty, kp);
}

static int faulty_pre(struct kprobe *kp, struct pt_regs *regs)
{
	struct faulty *f = to_faulty(kp);

	f->pre++;
	if (f->in_pre)
		f->result = asm_call(f->in_pre, f->arg);
	return 0;
}

static void faulty_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	struct faulty *f = to_faulty(kp);

	f->post++;
	if (f->in_post)
		f->result = asm_call(f->in_post, f->arg);
}

static int faulty_fault(struct kprobe *kp, struct pt_regs *regs, int trapnr)
{
	struct faulty *f = to_faulty(kp);

	f->faults++;
	f->trapnr = trapnr;
	f->ip = instruction_pointer(regs);
	if (f->answer == LEAVE_IT)
		return 0;
	if (f->answer == SKIP_IT) {
		regs_set_return_value(regs, FAULT_SKIPPED);
		instruction_pointer_set(regs, f->next);
	} else {
		kprobes_fault_repair(regs, f->good);
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

static const unsigned long expected_results[NR_ANSWERS] = {
	FAULT_FIXED, FAULT_SKIPPED, FAULT_GOOD,
};

/* Returns false if a row has no such fault. */
static bool one_fault(struct kunit *test, const struct asm_case *c, enum fault_bad bad,
		      struct faulty *f, bool irqs_off)
{
	unsigned int posts = f->kp.post_handler && f->answer == REPAIR_IT;
	unsigned int again = f->answer == REPAIR_IT && kprobes_fault_hits_again(c);
	unsigned long flags = 0, result, arg = kprobes_fault_bad(c, bad, guard_page);
	bool changed;

	if (!kprobes_fault_applies(c, bad, f->answer != LEAVE_IT))
		return false;
	f->pre = 0;
	f->post = 0;
	f->faults = 0;
	f->ip = -1;
	f->trapnr = -1;
	if (irqs_off)
		local_irq_save(flags);
	result = call(c, arg);
	changed = irqs_disabled() != irqs_off;
	if (irqs_off)
		local_irq_restore(flags);

#define EXPECT(left, right)						\
	KUNIT_EXPECT_EQ_MSG(test, (unsigned long)(left), (unsigned long)(right), \
			    "%s, %s, %s, post %d, irqs off %d", c->name, bad_names[bad], \
			    answer_names[f->answer], !!f->kp.post_handler, irqs_off)
	EXPECT(result, expected_results[f->answer]);
	EXPECT(changed, false);
	EXPECT(f->pre, 1 + again);
	/* A jump is retried in a copy that does not return to the probe. */
	if (!kprobes_fault_leaves(c) || f->answer != REPAIR_IT)
		EXPECT(f->post, posts);
	EXPECT(f->faults, 1);
	EXPECT(kprobes_fault_is(c, bad, f->trapnr), true);
	EXPECT(f->ip, c->insn);
	EXPECT(nothing_runs(), true);
	EXPECT(call(c, kprobes_fault_good(c)), FAULT_GOOD);
	EXPECT(f->pre, 2 + again);
	EXPECT(f->kp.nmissed, 0);
#undef EXPECT
	return true;
}

/* Returns whether the probe was a jump. */
static bool faults_of(struct kunit *test, const struct asm_case *c, bool post)
{
	struct faulty f = faulty_at(c->insn, post);
	unsigned int faults = 0;
	enum fault_bad bad;
	bool jump;

	KUNIT_ASSERT_EQ(test, call(c, kprobes_fault_good(c)), FAULT_GOOD);
	KUNIT_ASSERT_EQ(test, call(c, kprobes_fault_bad(c, BAD_UNMAPPED, guard_page)),
			FAULT_FIXED);
	f.next = (unsigned long)c->next;
	f.good = kprobes_fault_good(c);
	KUNIT_ASSERT_EQ_MSG(test, register_kprobe(&f.kp), 0, "%s", c->name);
	wait_for_kprobe_optimizer();
	jump = kprobe_optimized(&f.kp);
	for (bad = 0; bad < NR_BAD; bad++) {
		for (f.answer = 0; f.answer < NR_ANSWERS; f.answer++) {
			faults += one_fault(test, c, bad, &f, false);
			faults += one_fault(test, c, bad, &f, true);
		}
	}
	unregister_kprobe(&f.kp);
	/* An unmapped address, or its like, with each answer. */
	KUNIT_EXPECT_GE_MSG(test, faults, 2U * NR_ANSWERS, "%s", c->name);
	return jump;
}

static void all_faults(struct kunit *test, bool jump, bool post)
{
	unsigned int jumps = 0, rows = 0;
	const struct asm_case *c;
	bool before;

	if (jump && !DETOURS)
		kunit_skip(test, "no jump optimization in this kernel");
	before = allow_jumps(jump);
	for_each_case(c) {
		jumps += faults_of(test, c, post);
		rows++;
	}
	allow_jumps(before);
	kunit_info(test, "%u of %u had a jump", jumps, rows);
	KUNIT_EXPECT_GT(test, rows, 0);
	KUNIT_EXPECT_EQ(test, !!jumps, jump);
}

static void boosted_or_emulated(struct kunit *test)
{
	all_faults(test, false, false);
}

static void stepped_or_emulated(struct kunit *test)
{
	all_faults(test, false, true);
}

static void in_a_detour(struct kunit *test)
{
	all_faults(test, true, false);
}

static void in_a_detour_with_post_handler(struct kunit *test)
{
	all_faults(test, true, true);
}

/* --- Faults in handlers --------------------------------------------------------- */

TRACED_TARGET(traced_site, 1)
TRAP_TARGET(trap_site, 1)

static int (*const sites[])(int x) = { trap_site, traced_site };

/* Another site: the compiler's functions need not have room for a jump. */
static const struct asm_case *row;

static int call_row(int x)
{
	return call(row, kprobes_fault_good(row)) == FAULT_GOOD ? x + 1 : 0;
}

/* The site executes the probed instruction.  Returns whether the probe was a jump. */
static bool skip_an_access(struct kunit *test, void *addr, int (*site)(int x), bool post)
{
	struct faulty f = faulty_at(addr, true);
	bool jump;

	f.arg = guard_page;
	f.answer = SKIP_IT;
	f.next = (unsigned long)kprobes_fault_bare_next;
	if (post)
		f.in_post = kprobes_fault_bare;
	else
		f.in_pre = kprobes_fault_bare;
	KUNIT_ASSERT_EQ(test, register_kprobe(&f.kp), 0);
	wait_for_kprobe_optimizer();
	jump = kprobe_optimized(&f.kp);
	KUNIT_EXPECT_EQ(test, site(1), 2);
	KUNIT_EXPECT_EQ(test, f.result, FAULT_SKIPPED);
	KUNIT_EXPECT_EQ(test, f.faults, 1U);
	KUNIT_EXPECT_TRUE(test, kprobes_fault_is(kprobes_fault_table.begin, BAD_UNMAPPED,
						 f.trapnr));
	KUNIT_EXPECT_EQ(test, f.ip, (unsigned long)kprobes_fault_bare_insn);
	KUNIT_EXPECT_TRUE(test, nothing_runs());
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	KUNIT_EXPECT_EQ(test, site(1), 2);
	unregister_kprobe(&f.kp);
	KUNIT_EXPECT_EQ(test, f.pre, 2U);
	KUNIT_EXPECT_EQ(test, f.post, 2U);
	return jump;
}

/*
 * A handler calls a probed function whose probed instruction faults.  The nested hit is a
 * miss, and its exception table entry is found nevertheless.  A fault handler gets the
 * address of the instruction, never one inside of the emulator.  Adds the calls of fault handlers
 * to @faults.  Returns whether the missed probe was a jump.
 */
static bool miss_a_fault(struct kunit *test, const struct asm_case *c, int (*site)(int x),
			 bool post, unsigned int *faults)
{
	struct faulty out = faulty_at(site, true);
	struct faulty in = faulty_at(c->insn, post);
	bool jump;

	out.in_pre = c->fn;
	out.arg = kprobes_fault_bad(c, BAD_UNMAPPED, guard_page);
	out.ip = (unsigned long)c->insn;
	in.ip = out.ip;
	KUNIT_ASSERT_EQ(test, register_kprobe(&out.kp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&in.kp), 0);
	wait_for_kprobe_optimizer();
	jump = kprobe_optimized(&in.kp);
	KUNIT_EXPECT_EQ(test, site(1), 2);
	KUNIT_EXPECT_EQ_MSG(test, out.result, FAULT_FIXED, "%s", c->name);
	KUNIT_EXPECT_EQ_MSG(test, in.kp.nmissed, 1UL, "%s", c->name);
	KUNIT_EXPECT_EQ_MSG(test, in.pre, 0U, "%s", c->name);
	KUNIT_EXPECT_EQ_MSG(test, in.post, 0U, "%s", c->name);
	KUNIT_EXPECT_EQ_MSG(test, out.post, 1U, "%s", c->name);
	KUNIT_EXPECT_EQ_MSG(test, in.ip, (unsigned long)c->insn, "%s", c->name);
	KUNIT_EXPECT_EQ_MSG(test, out.ip, (unsigned long)c->insn, "%s", c->name);
	KUNIT_EXPECT_TRUE(test, nothing_runs());
	unregister_kprobe(&in.kp);
	unregister_kprobe(&out.kp);
	*faults += out.faults + in.faults;
	return jump;
}

static void an_unprotected_access_is_skipped(struct kunit *test)
{
	bool before = allow_jumps(false);
	unsigned int jumps;
	int i, jump;

	for (jump = 0; jump <= DETOURS; jump++) {
		allow_jumps(jump);
		jumps = 0;
		for (i = 0; i < 2 * ARRAY_SIZE(sites); i++)
			jumps += skip_an_access(test, sites[i / 2], sites[i / 2], i & 1);
		for_each_case(row) {
			for (i = 0; i < 2 && !kprobes_fault_leaves(row); i++)
				jumps += skip_an_access(test, row->insn, call_row, i);
		}
		KUNIT_EXPECT_EQ(test, !!jumps, jump);
	}
	allow_jumps(before);
}

static void a_missed_instruction_faults(struct kunit *test)
{
	bool before = allow_jumps(false);
	unsigned int rows = 0, faults = 0, jumps;
	const struct asm_case *c;
	int i, jump;

	for (jump = 0; jump <= DETOURS; jump++) {
		allow_jumps(jump);
		jumps = 0;
		for_each_case(c) {
			for (i = 0; i < ARRAY_SIZE(sites); i++)
				jumps += miss_a_fault(test, c, sites[i], i, &faults);
			rows++;
		}
		KUNIT_EXPECT_EQ(test, !!jumps, jump);
	}
	allow_jumps(before);
	KUNIT_EXPECT_GT(test, rows, 0);
	KUNIT_EXPECT_GT(test, faults, 0);
}

/* A page of vmalloc() is followed by one that is never mapped. */
static int fault_paths_init(struct kunit *test)
{
	void *page = vzalloc(PAGE_SIZE);

	if (!page)
		return -ENOMEM;
	test->priv = page;
	guard_page = (unsigned long)page + PAGE_SIZE;
	return kprobes_fault_init(test);
}

static void fault_paths_exit(struct kunit *test)
{
	vfree(test->priv);
}

static struct kunit_case fault_path_cases[] = {
	KUNIT_CASE(boosted_or_emulated),
	KUNIT_CASE(stepped_or_emulated),
	KUNIT_CASE(in_a_detour),
	KUNIT_CASE(in_a_detour_with_post_handler),
	KUNIT_CASE(an_unprotected_access_is_skipped),
	KUNIT_CASE(a_missed_instruction_faults),
	{}
};

static struct kunit_suite fault_path_suite = {
	.name = "kprobes_fault_paths",
	.init = fault_paths_init,
	.exit = fault_paths_exit,
	.test_cases = fault_path_cases,
};

kunit_test_suite(fault_path_suite);
