// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: a suspend loses the debug registers of the last CPU, and resuming restores them.  The
 * other CPUs go offline, and are tested in cpus_kunit.c.
 */
#include <linux/irqflags.h>
#include <linux/kallsyms.h>
#include <asm/hw_breakpoint.h>

#include "watched.h"

static unsigned long words[2];

/* Those that probes take first; each processor has two. */
static void lose_registers(void)
{
	AARCH64_DBG_WRITE(0, wcr, 0);
	AARCH64_DBG_WRITE(0, wvr, 0);
	AARCH64_DBG_WRITE(1, wcr, 0);
	AARCH64_DBG_WRITE(1, wvr, 0);
	isb();
}

/* The function that restores them is given to cpu_resume(), and has no declaration. */
static void resuming_restores_registers(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));
	struct watched other = watched_at(&words[1], 1);
	int (*restore)(unsigned int cpu);
	unsigned long flags;

	restore = (void *)kallsyms_lookup_name("hw_breakpoint_reset");
	if (!restore)
		kunit_skip(test, "no symbols");
	other.wp.type = WPROBE_RW;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	KUNIT_ASSERT_EQ(test, register_wprobe(&other.wp), 0);
	local_irq_save(flags);
	lose_registers();
	write_long(&words[0], 1);
	read_long(&words[1]);
	restore(smp_processor_id());
	write_long(&words[0], 2);
	read_long(&words[1]);
	local_irq_restore(flags);
	unregister_wprobe(&w.wp);
	unregister_wprobe(&other.wp);
	write_long(&words[0], 3);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	KUNIT_EXPECT_EQ(test, w.old, 1);
	KUNIT_EXPECT_EQ(test, w.new, 2);
	KUNIT_EXPECT_EQ(test, hits_of(&other), 1);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(resuming_restores_registers),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_arm64_resume",
	.test_cases = cases,
};
kunit_test_suite(suite);
