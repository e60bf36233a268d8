// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Accesses in an NMI, and wprobe_retarget() there.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "../../kprobes/tests/nmi.h"
#include "../internal.h"
#include "watched.h"

#define DEADLINE_US	(2 * USEC_PER_SEC)

/* Hits of a write in an NMI: x86 disables all watchpoints there. */
#define SEEN		(IS_ENABLED(CONFIG_X86) ? 0 : 1)

static unsigned long words[3];
static int nmis, expected_cpu = -1;
static void (*act)(void);

static bool nmi_body(void)
{
	if (READ_ONCE(expected_cpu) != raw_smp_processor_id())
		return false;
	WRITE_ONCE(expected_cpu, -1);
	act();
	WRITE_ONCE(nmis, nmis + 1);
	return true;
}

/* Waits until an NMI of this CPU has been handled. */
static void await_nmi(int before)
{
	int wait = DEADLINE_US;

	while (READ_ONCE(nmis) == before && wait--)
		udelay(1);
}

/* Calls @fn in an NMI of this CPU; after the return from this function if NMIs are masked. */
static void in_nmi_here(void (*fn)(void))
{
	int before;

	preempt_disable();
	before = READ_ONCE(nmis);
	act = fn;
	WRITE_ONCE(expected_cpu, raw_smp_processor_id());
	kprobes_nmi_raise();
	if (kprobes_nmi_comes_now())
		await_nmi(before);
	preempt_enable();
}

static void write_five(void)
{
	write_long(&words[0], 5);
}

static void a_write_in_an_nmi(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));

	words[0] = 1;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	write_long(&words[0], 2);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	in_nmi_here(write_five);
	KUNIT_EXPECT_EQ(test, nmis, 1);
	KUNIT_EXPECT_EQ(test, words[0], 5);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1 + SEEN);
	KUNIT_EXPECT_EQ(test, w.old, SEEN ? 2 : 1);
	KUNIT_EXPECT_EQ(test, w.new, SEEN ? 5 : 2);
	/* On x86, the old value is that of the last hit. */
	write_long(&words[0], 6);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 2 + SEEN);
	KUNIT_EXPECT_EQ(test, w.old, SEEN ? 5 : 2);
	KUNIT_EXPECT_EQ(test, w.new, 6);
	KUNIT_EXPECT_EQ(test, w.wp.nmissed, 0);
	unregister_wprobe(&w.wp);
}

/* While the core reads a watched word, an NMI may access it. */
static void a_write_in_an_nmi_in_a_read(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));
	unsigned long flags, state;

	words[0] = 1;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	local_irq_save(flags);
	state = arch_wprobe_read_begin();
	write_long(&words[0], 2);
	in_nmi_here(write_five);
	arch_wprobe_read_end(state);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, nmis, 1);
	KUNIT_EXPECT_EQ(test, hits_of(&w), SEEN);
	write_long(&words[0], 6);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1 + SEEN);
	KUNIT_EXPECT_EQ(test, w.new, 6);
	KUNIT_EXPECT_EQ(test, w.wp.nmissed, 0);
	unregister_wprobe(&w.wp);
}

static void write_other(void)
{
	write_long(&words[1], 5);
}

static void send_nmi(struct wprobe *wp, struct pt_regs *regs, unsigned long old,
		     unsigned long new)
{
	watched_hit(wp, regs, old, new);
	in_nmi_here(write_other);
	write_long(&words[1], 7);
}

/* The handler goes on watching after the NMI.  On arm64, the NMI comes after the handler. */
static void a_write_in_an_nmi_in_a_handler(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));
	struct watched other = watched_at(&words[1], sizeof(long));

	w.wp.handler = send_nmi;
	words[0] = 0;
	words[1] = 0;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	KUNIT_ASSERT_EQ(test, register_wprobe(&other.wp), 0);
	write_long(&words[0], 1);
	await_nmi(0);
	KUNIT_EXPECT_EQ(test, nmis, 1);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	KUNIT_EXPECT_EQ(test, w.wp.nmissed, 0);
	KUNIT_EXPECT_EQ(test, hits_of(&other), SEEN);
	KUNIT_EXPECT_EQ(test, other.wp.nmissed, 1);
	write_long(&words[1], 8);
	KUNIT_EXPECT_EQ(test, hits_of(&other), 1 + SEEN);
	KUNIT_EXPECT_EQ(test, other.old, SEEN ? 5 : 7);
	KUNIT_EXPECT_EQ(test, other.new, 8);
	unregister_wprobe(&w.wp);
	unregister_wprobe(&other.wp);
}

static struct watched mover;
static int retargeted;

static void retarget(void)
{
	retargeted = wprobe_retarget(&mover.wp, &words[2]);
}

/* This CPU watches the new address as soon as the NMI is over; the others follow. */
static void an_nmi_retargets_a_probe(struct kunit *test)
{
	mover = watched_at(&words[0], sizeof(long));
	mover.wp.flags = WPROBE_FLAG_MOVABLE;
	retargeted = 1;
	words[2] = 3;
	KUNIT_ASSERT_EQ(test, register_wprobe(&mover.wp), 0);
	preempt_disable();
	in_nmi_here(retarget);
	write_long(&words[0], 1);
	write_long(&words[2], 4);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, nmis, 1);
	KUNIT_EXPECT_EQ(test, retargeted, 0);
	KUNIT_EXPECT_EQ(test, hits_of(&mover), 1);
	KUNIT_EXPECT_EQ(test, mover.old, 3);
	KUNIT_EXPECT_EQ(test, mover.new, 4);
	expect_hit_of_each_cpu(test, &mover, &words[2]);
	KUNIT_EXPECT_EQ(test, mover.wp.nmissed, 0);
	unregister_wprobe(&mover.wp);
}

static int nmi_test_init(struct kunit *test)
{
	int ret = set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));

	nmis = 0;
	return ret ?: kprobes_nmi_init(test, nmi_body);
}

static void nmi_test_exit(struct kunit *test)
{
	WRITE_ONCE(expected_cpu, -1);
	kprobes_nmi_exit(test);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_write_in_an_nmi),
	KUNIT_CASE(a_write_in_an_nmi_in_a_read),
	KUNIT_CASE(a_write_in_an_nmi_in_a_handler),
	KUNIT_CASE(an_nmi_retargets_a_probe),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_nmi",
	.init = nmi_test_init,
	.exit = nmi_test_exit,
	.test_cases = cases,
};
kunit_test_suite(suite);
