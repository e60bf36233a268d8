// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: an access that matches several registers.  Emulators report one of them, so the exceptions
 * are made up here.
 */
#include <linux/irqflags.h>

#include "../internal.h"
#include "watched.h"

static unsigned long word;
static unsigned long both;

static unsigned long slot_of(const struct watched *w)
{
	unsigned int slot;

	for (slot = 0; slot < WPROBE_SLOTS; slot++) {
		if (this_cpu_ptr(&wprobe_cpu)->loaded[slot].watch == w->wp.watch)
			return BIT(slot);
	}
	return 0;
}

static void write_again(struct wprobe *wp, struct pt_regs *regs, unsigned long old,
			unsigned long new)
{
	watched_hit(wp, regs, old, new);
	write_long(&word, 6);
	wprobe_hits(regs, both);
}

/* The access of the first handler does not take the change from the probe that follows. */
static void a_handler_that_writes_takes_no_change(struct kunit *test)
{
	struct watched first = watched_at(&word, sizeof(long));
	struct watched second = watched_at(&word, sizeof(long));
	struct pt_regs regs = { .ip = (unsigned long)write_long };
	unsigned long flags, state;

	word = 4;
	first.wp.handler = write_again;
	second.wp.type = WPROBE_RW;
	second.wp.flags = WPROBE_FLAG_CHANGED;
	KUNIT_ASSERT_EQ(test, register_wprobe(&first.wp), 0);
	KUNIT_ASSERT_EQ(test, register_wprobe(&second.wp), 0);

	local_irq_save(flags);
	/* As in an exception, nothing is reported meanwhile, but in the handlers. */
	state = arch_wprobe_read_begin();
	write_long(&word, 5);
	both = slot_of(&first) | slot_of(&second);
	if (slot_of(&first) < slot_of(&second))
		wprobe_hits(&regs, both);
	arch_wprobe_read_end(state);
	local_irq_restore(flags);

	KUNIT_EXPECT_EQ(test, hits_of(&first), 1);
	KUNIT_EXPECT_EQ(test, hits_of(&second), 1);
	KUNIT_EXPECT_EQ(test, second.old, 4);
	KUNIT_EXPECT_EQ(test, second.new, 6);
	KUNIT_EXPECT_EQ(test, second.wp.nmissed, 0);
	unregister_wprobe(&second.wp);
	unregister_wprobe(&first.wp);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_handler_that_writes_takes_no_change),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_x86_many",
	.test_cases = cases,
};
kunit_test_suite(suite);
