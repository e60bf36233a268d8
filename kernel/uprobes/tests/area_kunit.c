// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the choice of the address of an area. Each case has a process of its own, in which only
 * a page of text and the ranges that the case occupies are mapped.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sizes.h>

#include "../internal.h"

/* Address of the text, a multiple of UPROBE_AREA_SIZE. */
#define TEXT		((unsigned long)SZ_1G << (IS_ENABLED(CONFIG_64BIT) ? 4 : 0))

/* The smallest gap that is used for an area: wherever it starts, it has room for an aligned one. */
#define GAP		(2 * UPROBE_AREA_SIZE - PAGE_SIZE)

/* Maps a range, in which no area can be then. */
static void occupy(struct kunit *test, unsigned long start, unsigned long end, unsigned long flags)
{
	flags |= MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	KUNIT_ASSERT_EQ(test, vm_mmap(NULL, start, end - start, PROT_NONE, flags, 0), start);
}

/* Makes a process. It ends with the thread of the test case. */
static struct uprobe_mm *make_process(struct kunit *test, unsigned long flags)
{
	struct uprobe_mm *own;

	KUNIT_ASSERT_EQ(test, kunit_attach_mm(), 0);
	occupy(test, TEXT, TEXT + PAGE_SIZE, flags);
	own = uprobe_mm_get(current->mm);
	KUNIT_ASSERT_NOT_NULL(test, own);
	return own;
}

/* The lowest address in reach of the text at which something can be mapped. */
static unsigned long lowest(void)
{
	unsigned long low, high;

	arch_uprobe_slot_window(current->mm, TEXT, &low, &high);
	return max(low, PAGE_SIZE);
}

/* The address after the highest one. */
static unsigned long highest(void)
{
	unsigned long low, high;

	arch_uprobe_slot_window(current->mm, TEXT, &low, &high);
	return min(high, TASK_SIZE);
}

static int create(struct kunit *test, struct uprobe_mm *own)
{
	bool has_room;
	int err;

	mmap_write_lock(own->mm);
	has_room = uprobe_area_has_room(own, TEXT);
	scoped_guard(mutex, &own->lock)
		err = uprobe_area_create(own, TEXT);
	mmap_write_unlock(own->mm);
	KUNIT_EXPECT_EQ(test, has_room, !err);
	return err;
}

/* Is an area at this address, and mapped? */
static bool has_area(struct uprobe_mm *own, unsigned long start)
{
	struct uprobe_area *area = xa_load(&own->areas, start / UPROBE_AREA_SIZE);
	struct vm_area_struct *vma;

	guard(mmap_read_lock)(own->mm);
	vma = vma_lookup(own->mm, start);
	return area && area->start == start && !area->gone && vma && vma->vm_start == start &&
	       vma->vm_end == start + UPROBE_AREA_SIZE;
}

static void area_is_next_to_the_text(struct kunit *test)
{
	struct uprobe_mm *own = make_process(test, 0);

	KUNIT_ASSERT_EQ(test, create(test, own), 0);
	KUNIT_EXPECT_TRUE(test, has_area(own, TEXT - UPROBE_AREA_SIZE));
	KUNIT_EXPECT_EQ(test, own->low, TEXT - UPROBE_AREA_SIZE);
	KUNIT_EXPECT_EQ(test, own->high, TEXT);
}

static void areas_do_not_overlap(struct kunit *test)
{
	struct uprobe_mm *own = make_process(test, 0);

	occupy(test, TEXT - UPROBE_AREA_SIZE - PAGE_SIZE, TEXT, 0);
	KUNIT_ASSERT_EQ(test, create(test, own), 0);
	KUNIT_ASSERT_EQ(test, create(test, own), 0);
	KUNIT_EXPECT_TRUE(test, has_area(own, TEXT - 3 * UPROBE_AREA_SIZE));
	KUNIT_EXPECT_TRUE(test, has_area(own, TEXT - 4 * UPROBE_AREA_SIZE));
}

static void nearest_gap_that_is_large_enough_is_used(struct kunit *test)
{
	struct uprobe_mm *own = make_process(test, 0);

	occupy(test, TEXT - GAP - PAGE_SIZE, TEXT - GAP, 0);
	KUNIT_ASSERT_EQ(test, create(test, own), 0);
	KUNIT_EXPECT_TRUE(test, has_area(own, TEXT - UPROBE_AREA_SIZE));
	/* The rest of that gap is too small now. */
	KUNIT_ASSERT_EQ(test, create(test, own), 0);
	KUNIT_EXPECT_TRUE(test, has_area(own, TEXT - 3 * UPROBE_AREA_SIZE));
}

static void area_is_above_the_text_if_none_fits_below(struct kunit *test)
{
	struct uprobe_mm *own = make_process(test, 0);

	occupy(test, lowest(), TEXT - GAP + PAGE_SIZE, 0);
	KUNIT_ASSERT_EQ(test, create(test, own), 0);
	KUNIT_EXPECT_TRUE(test, has_area(own, TEXT + UPROBE_AREA_SIZE));
}

static void lowest_place_in_reach_is_used(struct kunit *test)
{
	struct uprobe_mm *own = make_process(test, 0);
	unsigned long low = lowest();

	if (low == PAGE_SIZE)
		kunit_skip(test, "all addresses are in reach");
	occupy(test, low + GAP, TEXT, 0);
	KUNIT_ASSERT_EQ(test, create(test, own), 0);
	KUNIT_EXPECT_TRUE(test, has_area(own, ALIGN(low, UPROBE_AREA_SIZE)));
}

static void highest_place_in_reach_is_used(struct kunit *test)
{
	struct uprobe_mm *own = make_process(test, 0);
	unsigned long high = highest();

	occupy(test, lowest(), TEXT, 0);
	occupy(test, TEXT + PAGE_SIZE, high - GAP, 0);
	KUNIT_ASSERT_EQ(test, create(test, own), 0);
	KUNIT_EXPECT_TRUE(test, has_area(own, ALIGN_DOWN(high, UPROBE_AREA_SIZE) -
					      UPROBE_AREA_SIZE));
}

static void no_place_out_of_reach_is_used(struct kunit *test)
{
	struct uprobe_mm *own = make_process(test, 0);

	occupy(test, lowest() + GAP - PAGE_SIZE, TEXT, 0);
	occupy(test, TEXT + PAGE_SIZE, highest() - GAP + PAGE_SIZE, 0);
	KUNIT_EXPECT_EQ(test, create(test, own), -ENOSPC);
	KUNIT_EXPECT_TRUE(test, xa_empty(&own->areas));
}

/* --- Text on a stack --------------------------------------------------------------- */

static void area_is_above_a_stack(struct kunit *test)
{
	struct uprobe_mm *own = make_process(test, MAP_GROWSDOWN);

	KUNIT_ASSERT_EQ(test, create(test, own), 0);
	KUNIT_EXPECT_TRUE(test, has_area(own, TEXT + UPROBE_AREA_SIZE));
}

static void stack_has_room_to_grow(struct kunit *test)
{
	struct uprobe_mm *own = make_process(test, MAP_GROWSDOWN);
	unsigned long end = min(TEXT + PAGE_SIZE - rlimit(RLIMIT_STACK), TEXT - stack_guard_gap);

	occupy(test, TEXT + PAGE_SIZE, highest(), 0);
	KUNIT_ASSERT_EQ(test, create(test, own), 0);
	KUNIT_EXPECT_TRUE(test, has_area(own, ALIGN_DOWN(end, UPROBE_AREA_SIZE) -
					      UPROBE_AREA_SIZE));
}

static void area_is_below_a_stack_that_has_no_room(struct kunit *test)
{
	struct uprobe_mm *own = make_process(test, MAP_GROWSDOWN);
	unsigned long end = TEXT - stack_guard_gap;

	occupy(test, TEXT + PAGE_SIZE, highest(), 0);
	occupy(test, lowest(), end - GAP, 0);
	KUNIT_ASSERT_EQ(test, create(test, own), 0);
	KUNIT_EXPECT_TRUE(test, has_area(own, ALIGN_DOWN(end, UPROBE_AREA_SIZE) -
					      UPROBE_AREA_SIZE));
}

/* --- Areas that the program unmaps ------------------------------------------------- */

static struct uprobe_area *create_and_unmap(struct kunit *test, struct uprobe_mm *own)
{
	unsigned long start = TEXT - UPROBE_AREA_SIZE;

	if (IS_ENABLED(CONFIG_MSEAL_SYSTEM_MAPPINGS))
		kunit_skip(test, "programs cannot unmap areas");
	KUNIT_ASSERT_EQ(test, create(test, own), 0);
	KUNIT_ASSERT_TRUE(test, has_area(own, start));
	KUNIT_ASSERT_EQ(test, vm_munmap(start, UPROBE_AREA_SIZE), 0);
	KUNIT_ASSERT_FALSE(test, has_area(own, start));
	return xa_load(&own->areas, start / UPROBE_AREA_SIZE);
}

static void area_comes_back(struct kunit *test)
{
	struct uprobe_mm *own = make_process(test, 0);
	struct uprobe_area *area = create_and_unmap(test, own);

	KUNIT_ASSERT_NOT_NULL(test, area);
	KUNIT_ASSERT_EQ(test, create(test, own), 0);
	KUNIT_EXPECT_TRUE(test, has_area(own, area->start));
	KUNIT_EXPECT_PTR_EQ(test, xa_load(&own->areas, area->start / UPROBE_AREA_SIZE), area);
}

static void full_area_comes_back_with_another(struct kunit *test)
{
	struct uprobe_mm *own = make_process(test, 0);
	struct uprobe_area *area = create_and_unmap(test, own);

	KUNIT_ASSERT_NOT_NULL(test, area);
	area->used = UPROBE_AREA_SLOTS;
	KUNIT_ASSERT_EQ(test, create(test, own), 0);
	KUNIT_EXPECT_TRUE(test, has_area(own, area->start));
	KUNIT_EXPECT_TRUE(test, has_area(own, area->start - UPROBE_AREA_SIZE));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(area_is_next_to_the_text),
	KUNIT_CASE(areas_do_not_overlap),
	KUNIT_CASE(nearest_gap_that_is_large_enough_is_used),
	KUNIT_CASE(area_is_above_the_text_if_none_fits_below),
	KUNIT_CASE(lowest_place_in_reach_is_used),
	KUNIT_CASE(highest_place_in_reach_is_used),
	KUNIT_CASE(no_place_out_of_reach_is_used),
	KUNIT_CASE(area_is_above_a_stack),
	KUNIT_CASE(stack_has_room_to_grow),
	KUNIT_CASE(area_is_below_a_stack_that_has_no_room),
	KUNIT_CASE(area_comes_back),
	KUNIT_CASE(full_area_comes_back_with_another),
	{}
};

static struct kunit_suite suite = {
	.name = "uprobes_area",
	.test_cases = cases,
};

kunit_test_suite(suite);
