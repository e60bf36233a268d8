// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes on memory that is not mapped are refused.  Accesses that fault are no hits, and the
 * watchpoint works afterwards.  If an access faults while an architecture steps it, the step has
 * to end.
 */
#include <linux/mm.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "../internal.h"
#include "watched.h"

static unsigned long words[64];

static void missing_memory_is_refused(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));
	/* vmalloc() leaves a page without memory after each area. */
	void *page = vmalloc(PAGE_SIZE);

	KUNIT_ASSERT_NOT_NULL(test, page);
	w.wp.addr = page + PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, register_wprobe(&w.wp), -EFAULT);
	w.wp.addr = &words[0];
	w.wp.flags = WPROBE_FLAG_MOVABLE;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	KUNIT_EXPECT_EQ(test, wprobe_retarget(&w.wp, page + PAGE_SIZE), -EFAULT);
	write_long(&words[0], 1);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	unregister_wprobe(&w.wp);
	vfree(page);
}

static void the_last_word_before_a_hole_is_watched(struct kunit *test)
{
	unsigned long *page = vmalloc(PAGE_SIZE);
	struct watched w = watched_at(NULL, sizeof(long));

	KUNIT_ASSERT_NOT_NULL(test, page);
	w.wp.addr = &page[PAGE_SIZE / sizeof(long) - 1];
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	write_long(w.wp.addr, 17);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	KUNIT_EXPECT_EQ(test, w.new, 17);
	unregister_wprobe(&w.wp);
	vfree(page);
}

static void a_write_that_faults_is_no_hit(struct kunit *test)
{
	struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	struct watched w = watched_at(NULL, sizeof(long));
	unsigned long *fixed, value = 5;

	KUNIT_ASSERT_NOT_NULL(test, page);
	fixed = vmap(&page, 1, VM_MAP, PAGE_KERNEL_RO);
	KUNIT_ASSERT_NOT_NULL(test, fixed);
	w.wp.addr = fixed;
	w.wp.type = WPROBE_RW;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	KUNIT_EXPECT_EQ(test, copy_to_kernel_nofault(fixed, &value, sizeof(value)), -EFAULT);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 0);
	KUNIT_EXPECT_EQ(test, read_long(fixed), 0);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	KUNIT_EXPECT_EQ(test, w.new, 0);
	unregister_wprobe(&w.wp);
	vunmap(fixed);
	__free_page(page);
}

/*
 * A store faults in its second half, because no memory follows.  A processor may raise the
 * exception of the watchpoint on the first half before.
 */
static void a_write_that_faults_in_its_second_half(struct kunit *test)
{
	struct watched w = watched_at(NULL, sizeof(long));
	void *page = vzalloc(PAGE_SIZE), *end = page + PAGE_SIZE;
	unsigned long value = ~0UL;
	int before, i;

	if (!IS_ENABLED(CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS))
		kunit_skip(test, "the kernel splits the store");
	KUNIT_ASSERT_NOT_NULL(test, page);
	w.wp.addr = end - sizeof(long);
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, copy_to_kernel_nofault(end - sizeof(long) / 2, &value,
							     sizeof(value)), -EFAULT);
	before = hits_of(&w);
	write_long(w.wp.addr, 3);
	KUNIT_EXPECT_EQ(test, hits_of(&w), before + 1);
	KUNIT_EXPECT_EQ(test, w.new, 3);
	unregister_wprobe(&w.wp);
	vfree(page);
}

/* Some processors have one instruction for a block, which is interrupted in the middle. */
static void block_writes_are_hits(struct kunit *test)
{
	struct watched w = watched_at(&words[32], sizeof(long));
	unsigned int i, round;

	for (round = 1; round <= 20; round++) {
		int before = hits_of(&w);

		KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
		memset(words, round, sizeof(words));
		unregister_wprobe(&w.wp);
		KUNIT_EXPECT_GT(test, hits_of(&w), before);
		KUNIT_EXPECT_EQ(test, w.new, round * (~0UL / 255));
		for (i = 0; i < ARRAY_SIZE(words); i++)
			KUNIT_EXPECT_EQ(test, words[i], round * (~0UL / 255));
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(missing_memory_is_refused),
	KUNIT_CASE(the_last_word_before_a_hole_is_watched),
	KUNIT_CASE(a_write_that_faults_is_no_hit),
	KUNIT_CASE(a_write_that_faults_in_its_second_half),
	KUNIT_CASE(block_writes_are_hits),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_fault",
	.test_cases = cases,
};
kunit_test_suite(suite);
