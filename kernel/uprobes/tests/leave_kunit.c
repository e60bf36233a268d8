// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the look-up of slots, and of the address at the end of a copy.
 */
#include <kunit/test.h>
#include <linux/ptrace.h>
#include <linux/slab.h>

#include "../internal.h"

#define START	0x200000UL
#define TEXT	0x1234567UL
#define LEN	5

static void forget_areas(void *areas)
{
	xa_destroy(areas);
}

/* A process with an area, in which the slot of the given number is used. */
static struct uprobe_mm *fake_mm(struct kunit *test, unsigned int nr)
{
	struct uprobe_mm *own = kunit_kzalloc(test, sizeof(*own), GFP_KERNEL);
	struct uprobe_area *area = kunit_kzalloc(test, sizeof(*area), GFP_KERNEL);
	struct uprobe_area_page *page = kunit_kzalloc(test, sizeof(*page), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, own);
	KUNIT_ASSERT_NOT_NULL(test, area);
	KUNIT_ASSERT_NOT_NULL(test, page);
	xa_init(&own->areas);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, forget_areas, &own->areas), 0);
	area->start = START;
	area->pages[nr / UPROBE_PAGE_SLOTS] = page;
	page->slots[nr % UPROBE_PAGE_SLOTS].vaddr = TEXT;
	page->slots[nr % UPROBE_PAGE_SLOTS].len = LEN;
	KUNIT_ASSERT_EQ(test, xa_err(xa_store(&own->areas, START / UPROBE_AREA_SIZE, area,
					      GFP_KERNEL)), 0);
	own->low = START;
	own->high = START + UPROBE_AREA_SIZE;
	return own;
}

static void only_used_slots_are_found(struct kunit *test)
{
	const unsigned int numbers[] = { 0, 1, UPROBE_PAGE_SLOTS - 1, UPROBE_PAGE_SLOTS,
					 UPROBE_AREA_SLOTS - 1 };
	unsigned int i, offset;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct uprobe_mm *own = fake_mm(test, numbers[i]);
		unsigned long slot = START + numbers[i] * UPROBE_SLOT_SIZE;

		for (offset = 0; offset < UPROBE_SLOT_SIZE; offset++)
			KUNIT_EXPECT_NOT_NULL(test, uprobe_area_lookup(own, slot + offset));
		KUNIT_EXPECT_NULL(test, uprobe_area_lookup(own, slot - 1));
		KUNIT_EXPECT_NULL(test, uprobe_area_lookup(own, slot + UPROBE_SLOT_SIZE));
	}
}

static void process_without_areas_has_no_slot(struct kunit *test)
{
	struct uprobe_mm *own = kunit_kzalloc(test, sizeof(*own), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, own);
	xa_init(&own->areas);
	KUNIT_EXPECT_NULL(test, uprobe_area_lookup(own, 0));
	KUNIT_EXPECT_NULL(test, uprobe_area_lookup(own, START));
	KUNIT_EXPECT_NULL(test, uprobe_area_lookup(own, ULONG_MAX));
}

static void end_of_a_copy_is_the_next_instruction(struct kunit *test)
{
	struct uprobe_mm *own = fake_mm(test, 3);
	unsigned long slot = START + 3 * UPROBE_SLOT_SIZE;
	struct pt_regs *regs = kunit_kzalloc(test, sizeof(*regs), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, regs);
	KUNIT_EXPECT_TRUE(test, uprobe_leave_held(own, regs, slot + UPROBE_SLOT_HELD + LEN));
	KUNIT_EXPECT_EQ(test, instruction_pointer(regs), TEXT + LEN);
	KUNIT_EXPECT_TRUE(test, uprobe_leave_held(own, regs, slot + LEN));
	KUNIT_EXPECT_EQ(test, instruction_pointer(regs), TEXT + LEN);
}

static void breakpoints_elsewhere_are_foreign(struct kunit *test)
{
	struct uprobe_mm *own = fake_mm(test, 3);
	unsigned long slot = START + 3 * UPROBE_SLOT_SIZE;
	struct pt_regs *regs = kunit_kzalloc(test, sizeof(*regs), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, regs);
	KUNIT_EXPECT_FALSE(test, uprobe_leave_held(own, regs, slot));
	KUNIT_EXPECT_FALSE(test, uprobe_leave_held(own, regs, slot + UPROBE_SLOT_HELD));
	KUNIT_EXPECT_FALSE(test, uprobe_leave_held(own, regs, slot + UPROBE_SLOT_SIZE + LEN));
	KUNIT_EXPECT_FALSE(test, uprobe_leave_held(own, regs, TEXT));
	KUNIT_EXPECT_EQ(test, instruction_pointer(regs), 0);
}

static unsigned long end_at(struct kunit *test, struct uprobe_mm *own, unsigned long addr)
{
	struct pt_regs *regs = kunit_kzalloc(test, sizeof(*regs), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, regs);
	KUNIT_EXPECT_TRUE(test, uprobe_leave_held(own, regs, addr));
	return instruction_pointer(regs);
}

static void branch_that_is_taken_is_at_its_target(struct kunit *test)
{
	unsigned long slot = START + 3 * UPROBE_SLOT_SIZE;
	struct uprobe_mm *own = fake_mm(test, 3);
	struct uprobe_slot *branch;

	if (!UPROBE_SLOT_TAKEN)
		kunit_skip(test, "the copies of branches lead to the target");
	branch = (struct uprobe_slot *)uprobe_area_lookup(own, slot);
	KUNIT_ASSERT_NOT_NULL(test, branch);
	branch->branch = true;
	branch->taken = -0x1000;
	KUNIT_EXPECT_EQ(test, end_at(test, own, slot + UPROBE_SLOT_TAKEN), TEXT - 0x1000);
	KUNIT_EXPECT_EQ(test, end_at(test, own, slot + 2 * UPROBE_SLOT_TAKEN), TEXT + LEN);
	branch->branch = false;
	KUNIT_EXPECT_EQ(test, end_at(test, own, slot + UPROBE_SLOT_TAKEN), TEXT + LEN);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(only_used_slots_are_found),
	KUNIT_CASE(process_without_areas_has_no_slot),
	KUNIT_CASE(end_of_a_copy_is_the_next_instruction),
	KUNIT_CASE(breakpoints_elsewhere_are_foreign),
	KUNIT_CASE(branch_that_is_taken_is_at_its_target),
	{}
};

static struct kunit_suite suite = {
	.name = "uprobes_leave",
	.test_cases = cases,
};

kunit_test_suite(suite);
