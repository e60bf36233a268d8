// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: a suspend loses the debug registers of the last CPU.  Resuming restores them, also those
 * of probes.  The other CPUs go offline, and are tested in cpus_kunit.c.
 */
#include <linux/irqflags.h>
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
	struct watched w = watched_at(&words[0], sizeof(long));
	struct watched other = watched_at(&words[1], 1);
	unsigned long flags;

	other.wp.type = WPROBE_RW;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	KUNIT_ASSERT_EQ(test, register_wprobe(&other.wp), 0);
	local_irq_save(flags);
	lose_registers();
	write_long(&words[0], 1);
	hw_breakpoint_restore();
	write_long(&words[0], 2);
	read_long(&words[1]);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	KUNIT_EXPECT_EQ(test, w.new, 2);
	KUNIT_EXPECT_EQ(test, hits_of(&other), 1);
	unregister_wprobe(&w.wp);
	unregister_wprobe(&other.wp);
	write_long(&words[0], 3);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(resuming_restores_registers),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_x86_resume",
	.test_cases = cases,
};
kunit_test_suite(suite);
