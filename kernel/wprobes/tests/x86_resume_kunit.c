// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: the debug registers of a CPU are lost, lent, or left in use.
 *
 * A suspend loses those of the last CPU, and resuming restores them; the other CPUs go offline, and
 * are tested in cpus_kunit.c.  KVM lends them to a guest.  A handler that dies leaves them in use.
 */
#include <linux/hw_breakpoint.h>
#include <linux/irqflags.h>
#include <linux/sched.h>
#include <linux/wprobes-task.h>
#include <asm/debugreg.h>

#include "../internal.h"
#include "watched.h"

static unsigned long words[2];

static void lose_registers(void)
{
	set_debugreg(DR7_FIXED_1, 7);
	set_debugreg(0, 0);
	set_debugreg(0, 1);
	set_debugreg(0, 2);
	set_debugreg(0, 3);
}

static void resuming_restores_registers(struct kunit *test)
{
	expect_restored(test, lose_registers, hw_breakpoint_restore);
}

/* Not inlined: the compiler may merge several reads of a register in one function. */
static noinline unsigned long read_register(int i)
{
	unsigned long loaded;

	get_debugreg(loaded, i);
	return loaded;
}

/* Returns the register of this CPU with the address, or -1. */
static int register_with(const void *addr)
{
	int i;

	for (i = 0; i < HBP_NUM; i++) {
		if (read_register(i) == (unsigned long)addr)
			return i;
	}
	return -1;
}

static void retargeting_leaves_the_register_of_a_guest(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));
	unsigned long flags, dr7, loaded = 0;
	int i, ret = -1;

	w.wp.flags = WPROBE_FLAG_MOVABLE;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	local_irq_save(flags);
	dr7 = local_db_save();
	i = register_with(&words[0]);
	if (i >= 0) {
		set_debugreg(0x1234, i);
		ret = wprobe_retarget(&w.wp, &words[1]);
		loaded = read_register(i);
	}
	hw_breakpoint_restore();
	write_long(&words[0], 1);
	write_long(&words[1], 2);
	local_irq_restore(flags);
	KUNIT_EXPECT_GE(test, i, 0);
	KUNIT_EXPECT_NE(test, dr7, 0);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, loaded, 0x1234);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	KUNIT_EXPECT_EQ(test, w.new, 2);
	unregister_wprobe(&w.wp);
}

/* KVM may leave the causes of a guest's exceptions while no register is in use. */
static void causes_of_a_guest_are_forgotten(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));
	unsigned long causes;
	int ret;

	migrate_disable();
	set_debugreg(DR6_RESERVED | DR_TRAP_BITS | DR_STEP, 6);
	ret = register_wprobe(&w.wp);
	causes = read_register(6) ^ DR6_RESERVED;
	migrate_enable();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, causes & (DR_TRAP_BITS | DR_STEP), 0);
	unregister_wprobe(&w.wp);
}

#ifdef CONFIG_X86_64
static unsigned long stack_of_exceptions(void)
{
	return this_cpu_read(cpu_tss_rw.x86_tss.ist[IST_INDEX_DB]);
}
#else
static unsigned long stack_of_exceptions(void)
{
	return 0;
}
#endif

static void a_handler_that_dies_leaves_nothing(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));
	unsigned long flags, dr7[2], stack[2];

	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	local_irq_save(flags);
	dr7[0] = read_register(7);
	stack[0] = stack_of_exceptions();
	/* A handler begins. */
	set_debugreg(DR7_FIXED_1, 7);
	this_cpu_write(wprobe_cpu.called, &w.wp);
	arch_wprobe_handler_begin();
	wprobe_handler_died();
	dr7[1] = read_register(7);
	stack[1] = stack_of_exceptions();
	write_long(&words[0], 4);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, dr7[1], dr7[0]);
	KUNIT_EXPECT_EQ(test, stack[1], stack[0]);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	unregister_wprobe(&w.wp);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(retargeting_leaves_the_register_of_a_guest),
	KUNIT_CASE(causes_of_a_guest_are_forgotten),
	KUNIT_CASE(a_handler_that_dies_leaves_nothing),
	KUNIT_CASE(resuming_restores_registers),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_x86_resume",
	.test_cases = cases,
};
kunit_test_suite(suite);
