// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: an instruction does the same with and without a watch of the data that it accesses, and
 * goes on after it.  Most of these are emulated, some are stepped.
 */
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/scs.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/wprobes-arch.h>
#include <asm/insn.h>
#include <asm/mte-kasan.h>

#include "watched.h"

/**
 * struct registers - operands of an instruction, and its results
 * @x10: data
 * @x11: base
 * @x12: index
 */
struct registers {
	u64 x10, x11, x12;
};

/* The loads of the operands are not watched.  x9 counts, to see that nothing is left out. */
#define FORM(name, text)						\
static noinline void name(struct registers *r)				\
{									\
	u64 counted;							\
									\
	asm volatile("mov x9, #1\n"					\
		     "ldp x10, x11, [%1]\n"				\
		     "ldr x12, [%1, #16]\n"				\
		     text "\n"						\
		     "add x9, x9, #1\n"					\
		     "stp x10, x11, [%1]\n"				\
		     "str x12, [%1, #16]\n"				\
		     "mov %0, x9\n"					\
		     : "=&r" (counted) : "r" (r)			\
		     : "x9", "x10", "x11", "x12", "memory", "cc");	\
	WARN_ON_ONCE(counted != 2);					\
}

FORM(str_x, "str x10, [x11, #16]")
FORM(str_w, "str w10, [x11, #16]")
FORM(str_h, "strh w10, [x11, #18]")
FORM(str_b, "strb w10, [x11, #19]")
FORM(str_zero, "str xzr, [x11, #16]")
FORM(str_unscaled, "stur x10, [x11, #15]")
FORM(str_before, "str x10, [x11, #16]!")
FORM(str_after, "add x11, x11, #16\n str w10, [x11], #-12")
FORM(str_by_x, "str x10, [x11, x12]")
FORM(str_by_x_scaled, "lsr x12, x12, #3\n str x10, [x11, x12, lsl #3]")
FORM(str_by_sxtw, "neg w12, w12\n add x11, x11, #32\n strb w10, [x11, w12, sxtw]")
FORM(str_by_uxtw_scaled, "lsr x12, x12, #2\n str w10, [x11, w12, uxtw #2]")
FORM(stlr_x, "add x11, x11, #16\n stlr x10, [x11]")
FORM(stlr_b, "add x11, x11, #17\n stlrb w10, [x11]")
FORM(ldr_x, "ldr x10, [x11, #16]")
FORM(ldr_w, "ldr w10, [x11, #20]")
FORM(ldr_h, "ldrh w10, [x11, #16]")
FORM(ldr_b, "ldrb w10, [x11, #17]")
FORM(ldr_zero, "ldr xzr, [x11, #16]")
FORM(ldr_base, "ldr x11, [x11, #16]")
FORM(ldrsw, "ldrsw x10, [x11, #16]")
FORM(ldrsh_x, "ldrsh x10, [x11, #16]")
FORM(ldrsh_w, "ldrsh w10, [x11, #16]")
FORM(ldrsb_x, "ldrsb x10, [x11, #16]")
FORM(ldrsb_w, "ldrsb w10, [x11, #16]")
FORM(ldr_unscaled, "ldur x10, [x11, #17]")
FORM(ldr_before, "ldr w10, [x11, #16]!")
FORM(ldr_after, "add x11, x11, #16\n ldrsh x10, [x11], #255")
FORM(ldr_by_sxtx, "neg x12, x12\n add x11, x11, #32\n ldr x10, [x11, x12, sxtx]")
FORM(ldar_x, "add x11, x11, #16\n ldar x10, [x11]")
FORM(ldar_h, "add x11, x11, #18\n ldarh w10, [x11]")
/* Stepped. */
FORM(stp_x, "stp x10, x12, [x11, #8]")
FORM(ldp_w, "ldp w10, w12, [x11, #16]")

static const struct form {
	const char *name;
	void (*run)(struct registers *r);
	bool stepped;		/* not emulated */
} forms[] = {
#define NAMED(name) { #name, name }
	NAMED(str_x), NAMED(str_w), NAMED(str_h), NAMED(str_b), NAMED(str_zero),
	NAMED(str_unscaled), NAMED(str_before), NAMED(str_after), NAMED(str_by_x),
	NAMED(str_by_x_scaled), NAMED(str_by_sxtw), NAMED(str_by_uxtw_scaled), NAMED(stlr_x),
	NAMED(stlr_b), NAMED(ldr_x), NAMED(ldr_w), NAMED(ldr_h), NAMED(ldr_b), NAMED(ldr_zero),
	NAMED(ldr_base), NAMED(ldrsw), NAMED(ldrsh_x), NAMED(ldrsh_w), NAMED(ldrsb_x),
	NAMED(ldrsb_w), NAMED(ldr_unscaled), NAMED(ldr_before), NAMED(ldr_after),
	NAMED(ldr_by_sxtx), NAMED(ldar_x), NAMED(ldar_h),
	{ "stp_x", stp_x, true }, { "ldp_w", ldp_w, true },
};

/* The word at 16 is watched, while the instruction runs. */
static u8 data[48] __aligned(16);

static void prepare(struct registers *r)
{
	unsigned int i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = 0xf0 + 7 * i;
	*r = (struct registers) {
		.x10 = 0x8081828384858687, .x11 = (unsigned long)data, .x12 = 16,
	};
}

/* Runs a form, and returns true if its access is stepped: a step keeps the masks of the code. */
static bool is_stepped(const struct form *form, struct registers *r)
{
	guard(preempt)();
	this_cpu_write(wprobe_step.masks, U64_MAX);
	form->run(r);
	return this_cpu_read(wprobe_step.masks) != U64_MAX;
}

static void check_form(struct kunit *test, const struct form *form)
{
	/* In these modes, an emulated access would not report a wrong tag. */
	bool step = form->stepped || system_uses_mte_async_or_asymm_mode(), stepped;
	struct watched w = watched_at(data + 16, sizeof(long));
	struct registers bare, watched;
	u8 data_bare[sizeof(data)];

	prepare(&bare);
	form->run(&bare);
	memcpy(data_bare, data, sizeof(data));

	prepare(&watched);
	w.wp.type = WPROBE_RW;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	stepped = is_stepped(form, &watched);
	unregister_wprobe(&w.wp);

	KUNIT_EXPECT_EQ_MSG(test, stepped, step, "%s", form->name);
	KUNIT_EXPECT_EQ_MSG(test, hits_of(&w), 1, "%s", form->name);
	KUNIT_EXPECT_MEMEQ_MSG(test, &watched, &bare, sizeof(bare), "%s", form->name);
	KUNIT_EXPECT_MEMEQ_MSG(test, data, data_bare, sizeof(data), "%s", form->name);
}

static void watched_accesses_have_the_same_effect(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(forms); i++)
		check_form(test, &forms[i]);
}

/* --- The shadow call stack ------------------------------------------------------- */

#ifdef CONFIG_SHADOW_CALL_STACK
/* As a function that calls another, but with a value that is known. */
static noinline u64 push_and_pop(u64 pushed)
{
	u64 popped;

	asm volatile("str %1, [x18], #8\n"
		     "ldr %0, [x18, #-8]!\n"
		     : "=r" (popped) : "r" (pushed) : "memory");
	return popped;
}

/* The exception of the watchpoint has return addresses on the same stack. */
static void the_shadow_call_stack_is_watched(struct kunit *test)
{
	struct watched w = watched_at(NULL, sizeof(long));
	unsigned long hits;
	u64 popped;

	if (!scs_is_enabled())
		kunit_skip(test, "no shadow call stack");
	asm volatile("mov %0, x18" : "=r" (w.wp.addr));
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	popped = push_and_pop(0x1234567);
	hits = hits_of(&w);
	unregister_wprobe(&w.wp);
	KUNIT_EXPECT_EQ(test, popped, 0x1234567);
	KUNIT_EXPECT_GE(test, hits, 1);
}
#endif

/* --- The handler faults in the instruction that has called it -------------------- */

static int (*read_somewhere)(unsigned long *at);
static void *hole;
static int faults;

static noinline int read_nofault(unsigned long *at)
{
	unsigned long value;

	__get_kernel_nofault(&value, at, unsigned long, fault);
	return 0;
fault:
	return -EFAULT;
}

static void read_hole(struct wprobe *wp, struct pt_regs *regs, unsigned long old,
		      unsigned long new)
{
	watched_hit(wp, regs, old, new);
	if (read_somewhere(hole) == -EFAULT)
		faults++;
}

static int probed(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}

static void probed_after(struct kprobe *kp, struct pt_regs *regs, unsigned long flags) { }

/*
 * For its post handler, a kprobe steps a copy of the load.  The handler of the watch executes the
 * load, too.  That hit of the kprobe is missed, and its copy faults: the step must not end there.
 */
static void a_handler_faults_in_the_load_that_called_it(struct kunit *test)
{
	struct watched w = watched_at(data + 16, sizeof(long));
	struct kprobe kp = { .pre_handler = probed, .post_handler = probed_after };
	void *page;

	if (!IS_ENABLED(CONFIG_KPROBES))
		kunit_skip(test, "no kprobes");
	/* vmalloc() leaves a page without memory after each area. */
	page = vmalloc(PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, page);
	hole = page + PAGE_SIZE;
	faults = 0;
	WRITE_ONCE(read_somewhere, read_nofault);
	w.wp.type = WPROBE_RW;
	w.wp.handler = read_hole;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(read_somewhere)((void *)data + 16), 0);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	KUNIT_EXPECT_EQ(test, faults, 1);
	kp.addr = (void *)(w.ip - AARCH64_INSN_SIZE);
	KUNIT_EXPECT_EQ(test, register_kprobe(&kp), 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(read_somewhere)((void *)data + 16), 0);
	unregister_kprobe(&kp);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 2);
	KUNIT_EXPECT_EQ(test, faults, 2);
	unregister_wprobe(&w.wp);
	vfree(page);
}

/* --- A fault while an instruction is stepped ------------------------------------- */

/* As the entry of a fault.  Returns true if the step goes on, and the masks are unchanged. */
static bool step_goes_on(unsigned long sp)
{
	struct pt_regs regs = { .sp = sp, .pstate = WPROBE_STEP_MASKS };
	bool active;

	guard(irqsave)();
	this_cpu_write(wprobe_step.masks, 0);
	this_cpu_write(wprobe_step.sp, 0x10);
	this_cpu_write(wprobe_step.active, true);
	wprobe_step_aborted(&regs);
	active = this_cpu_read(wprobe_step.active);
	this_cpu_write(wprobe_step.active, false);
	return active && regs.pstate == WPROBE_STEP_MASKS;
}

/* An SDEI event, which has another stack, interrupts the step and faults. */
static void only_its_own_fault_ends_a_step(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, step_goes_on(0x20));
	KUNIT_EXPECT_FALSE(test, step_goes_on(0x10));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(only_its_own_fault_ends_a_step),
	KUNIT_CASE(watched_accesses_have_the_same_effect),
#ifdef CONFIG_SHADOW_CALL_STACK
	KUNIT_CASE(the_shadow_call_stack_is_watched),
#endif
	KUNIT_CASE(a_handler_faults_in_the_load_that_called_it),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_arm64_emulate",
	.test_cases = cases,
};
kunit_test_suite(suite);
