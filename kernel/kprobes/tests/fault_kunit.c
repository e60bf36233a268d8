// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Faults in handlers and in the probed instruction: which handlers are called, the ways in
 * which a fault handler can resolve a fault, and that no context level stays busy
 * afterwards.
 */
#include <linux/uaccess.h>

#include "asm_text.h"
#include "counted.h"

/* Never mapped: an address in the last page of the address space. */
#define BAD_ADDRESS	((unsigned long *)-4080UL)
#define FIXED_UP	77

/* *p, or FIXED_UP if it cannot be read: the load has an exception-table entry. */
unsigned long kprobes_kunit_load(unsigned long *p);
extern char kprobes_kunit_load_insn[], kprobes_kunit_load_next[];

#ifdef CONFIG_X86
#include <asm/asm.h>
#include <asm/trapnr.h>

#ifdef CONFIG_X86_64
#define ARG1	"%rdi"
#define ARG2	"%rsi"
#define AX	"%rax"
#else
#define ARG1	"%eax"
#define ARG2	"%edx"
#define AX	"%eax"
#endif

TEXT_FUNCTION(kprobes_kunit_load,
	      "mov	" ARG1 ", %" _ASM_CX "\n"
	      "kprobes_kunit_load_insn:\n" TEXT_PLACE
	      "mov	(%" _ASM_CX "), " AX "\n"
	      "kprobes_kunit_load_next:\n" TEXT_PLACE
	      ASM_RET "\n"
	      "1: mov	$77, %eax\n"
	      ASM_RET "\n"
	      _ASM_EXTABLE(kprobes_kunit_load_insn, 1b));

/* Makes the load read from @p. */
static __always_inline void set_pointer(struct pt_regs *regs, unsigned long *p)
{
	regs->cx = (unsigned long)p;
}

/* Is @trapnr the number that a fault handler gets for a missing page? */
static bool no_memory(int trapnr)
{
	return trapnr == X86_TRAP_PF;
}
#else
#include <asm/asm-extable.h>
#include <asm/esr.h>

TEXT_FUNCTION(kprobes_kunit_load,
	      "mov	x1, x0\n"
	      "kprobes_kunit_load_insn:\n"
	      "ldr	x0, [x1]\n"
	      "kprobes_kunit_load_next:\n"
	      "ret\n"
	      "1: mov	x0, #77\n"
	      "ret\n"
	      _ASM_EXTABLE_KACCESS(kprobes_kunit_load_insn, 1b));

static __always_inline void set_pointer(struct pt_regs *regs, unsigned long *p)
{
	regs->regs[1] = (unsigned long)p;
}

static bool no_memory(int trapnr)
{
	return ESR_ELx_EC((u32)trapnr) == ESR_ELx_EC_DABT_CUR;
}
#endif

/* The action of the fault handler. */
enum answer {
	LEAVE_IT,	/* ignores the fault */
	SKIP_IT,	/* sets a result and continues after the instruction */
	REPAIR_IT,	/* makes the pointer valid; the instruction is retried */
};

static enum answer answer;
static unsigned long good = 5;
static void *skip_to;

struct faulty {
	struct kprobe kp;
	int pre, post, faults, trapnr;
	unsigned long ip;
	bool fault_in_pre, fault_in_post;
};

static bool read_bad(void)
{
	unsigned long value;

	return get_kernel_nofault(value, BAD_ADDRESS);
}

static int faulty_pre(struct kprobe *p, struct pt_regs *regs)
{
	struct faulty *f = container_of(p, struct faulty, kp);

	f->pre++;
	if (f->fault_in_pre)
		f->fault_in_pre = read_bad();
	return 0;
}
NOKPROBE_SYMBOL(faulty_pre);

static void faulty_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	struct faulty *f = container_of(p, struct faulty, kp);

	f->post++;
	if (f->fault_in_post)
		f->fault_in_post = read_bad();
}
NOKPROBE_SYMBOL(faulty_post);

static int faulty_fault(struct kprobe *p, struct pt_regs *regs, int trapnr)
{
	struct faulty *f = container_of(p, struct faulty, kp);

	f->faults++;
	f->trapnr = trapnr;
	f->ip = instruction_pointer(regs);
	switch (answer) {
	case LEAVE_IT:
		return 0;
	case SKIP_IT:
		regs_set_return_value(regs, 33);
		instruction_pointer_set(regs, (unsigned long)skip_to);
		return 1;
	case REPAIR_IT:
		set_pointer(regs, &good);
		return 1;
	}
	return 0;
}
NOKPROBE_SYMBOL(faulty_fault);

static struct faulty faulty_at(void *addr, bool post)
{
	return (struct faulty) {
		.kp.addr = addr,
		.kp.pre_handler = faulty_pre,
		.kp.post_handler = post ? faulty_post : NULL,
		.kp.fault_handler = faulty_fault,
	};
}

/* One call of a probed load.  Afterwards no state of the hit is left. */
static unsigned long load_with(struct kunit *test, struct faulty *f, unsigned long *p)
{
	unsigned long value;

	KUNIT_ASSERT_EQ(test, register_kprobe(&f->kp), 0);
	value = kprobes_kunit_load(p);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	preempt_disable();
	KUNIT_EXPECT_PTR_EQ(test, kprobe_running(), NULL);
	preempt_enable();
	unregister_kprobe(&f->kp);
	return value;
}

struct load_row {
	const char *what;
	enum answer answer;
	bool post;
	bool bad;
	unsigned long value;
	int posts, faults;
};

static const struct load_row load_rows[] = {
	{ "boosted, no fault",		LEAVE_IT,  false, false, 5, 0, 0 },
	{ "stepped, no fault",		LEAVE_IT,  true,  false, 5, 1, 0 },
	{ "boosted, fixed up",		LEAVE_IT,  false, true, FIXED_UP, 0, 1 },
	{ "stepped, fixed up",		LEAVE_IT,  true,  true, FIXED_UP, 0, 1 },
	{ "boosted, skipped",		SKIP_IT,   false, true, 33, 0, 1 },
	{ "stepped, skipped",		SKIP_IT,   true,  true, 33, 0, 1 },
	{ "boosted, repaired",		REPAIR_IT, false, true, 5, 0, 1 },
	{ "stepped, repaired",		REPAIR_IT, true,  true, 5, 1, 1 },
};

static void faults_of_the_instruction(struct kunit *test)
{
	const struct load_row *row;

	KUNIT_EXPECT_EQ(test, kprobes_kunit_load(BAD_ADDRESS), FIXED_UP);
	skip_to = kprobes_kunit_load_next;
	for (row = load_rows; row < load_rows + ARRAY_SIZE(load_rows); row++) {
		struct faulty f = faulty_at(kprobes_kunit_load_insn, row->post);
		unsigned long value;

		answer = row->answer;
		value = load_with(test, &f, row->bad ? BAD_ADDRESS : &good);
		KUNIT_EXPECT_EQ_MSG(test, value, row->value, "%s", row->what);
		KUNIT_EXPECT_EQ_MSG(test, f.pre, 1, "%s", row->what);
		KUNIT_EXPECT_EQ_MSG(test, f.post, row->posts, "%s", row->what);
		KUNIT_EXPECT_EQ_MSG(test, f.faults, row->faults, "%s", row->what);
		if (!row->faults)
			continue;
		KUNIT_EXPECT_TRUE(test, no_memory(f.trapnr));
		/*
		 * The handler gets the address of the original instruction, not of its
		 * copy.
		 */
		KUNIT_EXPECT_EQ(test, f.ip, (unsigned long)kprobes_kunit_load_insn);
	}
}

/* The fault handlers of the probes are called until one resolves the fault. */
static void several_probes_and_a_fault(struct kunit *test)
{
	struct faulty a = faulty_at(kprobes_kunit_load_insn, false);
	struct faulty b = faulty_at(kprobes_kunit_load_insn, false);

	KUNIT_ASSERT_EQ(test, register_kprobe(&a.kp), 0);
	answer = LEAVE_IT;
	KUNIT_EXPECT_EQ(test, load_with(test, &b, BAD_ADDRESS), FIXED_UP);
	KUNIT_EXPECT_EQ(test, a.faults, 1);
	KUNIT_EXPECT_EQ(test, b.faults, 1);
	answer = REPAIR_IT;
	KUNIT_EXPECT_EQ(test, load_with(test, &b, BAD_ADDRESS), 5);
	KUNIT_EXPECT_EQ(test, a.faults, 2);
	KUNIT_EXPECT_EQ(test, b.faults, 1);
	unregister_kprobe(&a.kp);
}

TRACED_TARGET(fault_traced_target, 1)
TRAP_TARGET(fault_trap_target, 1)

/* Only the fault handler of the probe whose handler has faulted is called. */
static void faults_of_handlers(struct kunit *test)
{
	int (*const targets[])(int) = { fault_traced_target, fault_trap_target };
	int i;

	answer = LEAVE_IT;
	for (i = 0; i < ARRAY_SIZE(targets); i++) {
		struct faulty bystander = faulty_at(targets[i], true);
		struct faulty f = faulty_at(targets[i], true);

		f.fault_in_pre = true;
		f.fault_in_post = true;
		KUNIT_ASSERT_EQ(test, register_kprobe(&bystander.kp), 0);
		KUNIT_ASSERT_EQ(test, register_kprobe(&f.kp), 0);
		KUNIT_EXPECT_EQ(test, targets[i](1), 2);
		KUNIT_EXPECT_TRUE(test, f.fault_in_pre);
		KUNIT_EXPECT_TRUE(test, f.fault_in_post);
		KUNIT_EXPECT_EQ(test, f.faults, 2);
		KUNIT_EXPECT_TRUE(test, no_memory(f.trapnr));
		KUNIT_EXPECT_EQ(test, bystander.faults, 0);
		f.fault_in_pre = false;
		f.fault_in_post = false;
		KUNIT_EXPECT_EQ(test, targets[i](1), 2);
		KUNIT_EXPECT_EQ(test, f.faults, 2);
		unregister_kprobe(&f.kp);
		unregister_kprobe(&bystander.kp);
		KUNIT_EXPECT_EQ(test, bystander.post, 2);
	}
}

#ifdef CONFIG_X86
/* Returns a / b. kprobes_kunit_divide_next is the instruction after the division. */
unsigned long kprobes_kunit_divide(unsigned long a, unsigned long b);
extern char kprobes_kunit_divide_insn[], kprobes_kunit_divide_next[];

TEXT_FUNCTION(kprobes_kunit_divide,
	      "mov	" ARG2 ", %" _ASM_CX "\n"
	      "mov	" ARG1 ", " AX "\n"
	      "xor	%edx, %edx\n"
	      "kprobes_kunit_divide_insn:\n" TEXT_PLACE
	      "div	%" _ASM_CX "\n"
	      "kprobes_kunit_divide_next:\n" TEXT_PLACE
	      ASM_RET "\n");

/* Exists on 64 bits only. */
#define NOT_CANONICAL	((unsigned long *)BIT(BITS_PER_LONG - 2))

static void a_general_protection_fault(struct kunit *test)
{
	struct faulty f = faulty_at(kprobes_kunit_load_insn, false);

	if (!IS_ENABLED(CONFIG_X86_64))
		kunit_skip(test, "all addresses are canonical");
	answer = LEAVE_IT;
	KUNIT_EXPECT_EQ(test, load_with(test, &f, NOT_CANONICAL), FIXED_UP);
	KUNIT_EXPECT_EQ(test, f.faults, 1);
	KUNIT_EXPECT_EQ(test, f.trapnr, X86_TRAP_GP);
}

static void a_division_by_zero(struct kunit *test)
{
	int post;

	skip_to = kprobes_kunit_divide_next;
	for (post = 0; post < 2; post++) {
		struct faulty f = faulty_at(kprobes_kunit_divide_insn, post);

		answer = SKIP_IT;
		KUNIT_ASSERT_EQ(test, register_kprobe(&f.kp), 0);
		KUNIT_EXPECT_EQ(test, kprobes_kunit_divide(9, 0), 33);
		KUNIT_EXPECT_EQ(test, kprobes_kunit_divide(9, 3), 3);
		unregister_kprobe(&f.kp);
		KUNIT_EXPECT_EQ(test, f.faults, 1);
		KUNIT_EXPECT_EQ(test, f.trapnr, X86_TRAP_DE);
		KUNIT_EXPECT_EQ(test, f.pre, 2);
		KUNIT_EXPECT_EQ(test, f.post, post);
	}
}
#endif

static struct kunit_case fault_cases[] = {
	KUNIT_CASE(faults_of_the_instruction),
	KUNIT_CASE(several_probes_and_a_fault),
	KUNIT_CASE(faults_of_handlers),
#ifdef CONFIG_X86
	KUNIT_CASE(a_general_protection_fault),
	KUNIT_CASE(a_division_by_zero),
#endif
	{}
};

static struct kunit_suite fault_suite = {
	.name = "kprobes_fault",
	.test_cases = fault_cases,
};
kunit_test_suite(fault_suite);
