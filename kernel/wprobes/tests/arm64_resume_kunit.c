// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: a suspend loses the debug registers of the last CPU, and resuming restores them.  The
 * other CPUs go offline, and are tested in cpus_kunit.c.
 */
#include <linux/kallsyms.h>
#include <asm/hw_breakpoint.h>

#include "watched.h"

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
static int (*reset)(unsigned int cpu);

static void restore_registers(void)
{
	reset(smp_processor_id());
}

static void resuming_restores_registers(struct kunit *test)
{
	reset = (void *)kallsyms_lookup_name("hw_breakpoint_reset");
	if (!reset)
		kunit_skip(test, "no symbols");
	expect_restored(test, lose_registers, restore_registers);
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
