// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registering and unregistering: each refusal with its errno, batches, enabling, symbols.
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "../internal.h"
#include "watched.h"

/* The tests look the name up. */
static unsigned long wprobe_kunit_word;
static unsigned long words[2 * MANY];

static struct wprobe valid(void)
{
	return (struct wprobe) {
		.addr = &words[0], .len = sizeof(long), .handler = watched_hit,
	};
}

static int try_once(struct wprobe wp)
{
	int ret = register_wprobe(&wp);

	unregister_wprobe(&wp);
	return ret;
}

static void refusals_have_their_errno(struct kunit *test)
{
	struct wprobe wp = valid();
	struct vm_struct *area;
	void *hole;

	KUNIT_EXPECT_EQ(test, try_once(wp), 0);
	wp.handler = NULL;
	KUNIT_EXPECT_EQ(test, try_once(wp), -EINVAL);
	wp = valid();
	wp.symbol_name = "wprobe_kunit_word";
	KUNIT_EXPECT_EQ(test, try_once(wp), -EINVAL);
	wp.addr = NULL;
	KUNIT_EXPECT_EQ(test, try_once(wp), IS_ENABLED(CONFIG_KALLSYMS_ALL) ? 0 : -ENOENT);
	wp.symbol_name = "wprobe_kunit_no_such_word";
	KUNIT_EXPECT_EQ(test, try_once(wp), -ENOENT);
	wp.symbol_name = NULL;
	KUNIT_EXPECT_EQ(test, try_once(wp), -EINVAL);
	wp = valid();
	wp.len = 0;
	KUNIT_EXPECT_EQ(test, try_once(wp), -EINVAL);
	wp.len = sizeof(long) + 1;
	KUNIT_EXPECT_EQ(test, try_once(wp), -EINVAL);
	wp.len = sizeof(long);
	wp.addr = (char *)&words[0] + 1;
	KUNIT_EXPECT_EQ(test, try_once(wp), -EINVAL);
	wp = valid();
	wp.type = 8;
	KUNIT_EXPECT_EQ(test, try_once(wp), -EINVAL);
	wp.type = WPROBE_READ;
	KUNIT_EXPECT_EQ(test, try_once(wp),
			WPROBE_TYPES & BIT(WPROBE_READ) ? 0 : -EOPNOTSUPP);
	wp = valid();
	/* Small addresses are those of per-CPU variables in some kernels. */
	wp.addr = (void *)(TASK_SIZE_MAX / 2);
	KUNIT_EXPECT_EQ(test, try_once(wp), -EINVAL);

	/* vmalloc() leaves a page without memory after each area. */
	hole = vmalloc(PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, hole);
	wp.addr = hole + PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, try_once(wp), -EFAULT);
	vfree(hole);

	/* Nothing is mapped, so memory that is read before it is checked would be -EFAULT. */
	area = get_vm_area(PAGE_SIZE, VM_IOREMAP);
	KUNIT_ASSERT_NOT_NULL(test, area);
	wp.addr = area->addr;
	KUNIT_EXPECT_EQ(test, try_once(wp), -EINVAL);
	free_vm_area(area);

	KUNIT_EXPECT_EQ(test, register_wprobe(NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_wprobes(NULL, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_wprobes((struct wprobe *[]){ &wp }, 0), -EINVAL);
}

static void three_bytes_need_a_processor_or_changes(struct kunit *test)
{
	struct wprobe wp = valid();

	wp.len = 3;
	KUNIT_EXPECT_EQ(test, try_once(wp), WPROBE_KNOWS_ACCESS ? 0 : -EINVAL);
	wp.flags = WPROBE_FLAG_CHANGED;
	KUNIT_EXPECT_EQ(test, try_once(wp), 0);
}

static void a_registered_probe_is_refused(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));

	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	KUNIT_EXPECT_EQ(test, register_wprobe(&w.wp), -EINVAL);
	write_long(&words[0], 5);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	unregister_wprobe(&w.wp);
	write_long(&words[0], 6);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	/* Twice is once. */
	unregister_wprobe(&w.wp);
	KUNIT_EXPECT_EQ(test, register_wprobe(&w.wp), 0);
	write_long(&words[0], 7);
	unregister_wprobe(&w.wp);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 2);
}

static void symbols_are_resolved(struct kunit *test)
{
	struct watched w = watched_at(NULL, 2);
	int i;

	if (!IS_ENABLED(CONFIG_KALLSYMS_ALL))
		kunit_skip(test, "this kernel does not know the symbols of data");
	w.wp.symbol_name = "wprobe_kunit_word";
	w.wp.offset = 2;
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
		KUNIT_EXPECT_PTR_EQ(test, w.wp.addr, (void *)&wprobe_kunit_word + 2);
		write_long(&wprobe_kunit_word, 0x12345678 + i);
		unregister_wprobe(&w.wp);
		KUNIT_EXPECT_EQ(test, hits_of(&w), i + 1);
	}
}

static void a_batch_is_all_or_nothing(struct kunit *test)
{
	struct watched w[3];
	struct wprobe *wps[3];
	int i;

	for (i = 0; i < 3; i++) {
		w[i] = watched_at(&words[i], sizeof(long));
		wps[i] = &w[i].wp;
	}
	w[2].wp.len = 0;
	KUNIT_EXPECT_EQ(test, register_wprobes(wps, 3), -EINVAL);
	for (i = 0; i < 3; i++) {
		write_long(&words[i], i);
		KUNIT_EXPECT_EQ(test, hits_of(&w[i]), 0);
		KUNIT_EXPECT_NULL(test, w[i].wp.watch);
	}
	w[2].wp.len = sizeof(long);
	KUNIT_EXPECT_EQ(test, register_wprobes(wps, 3), 0);
	for (i = 0; i < 3; i++)
		write_long(&words[i], i);
	unregister_wprobes(wps, 3);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, hits_of(&w[i]), 1);
		write_long(&words[i], i);
		KUNIT_EXPECT_EQ(test, hits_of(&w[i]), 1);
	}
}

static void disabled_probes_are_not_called(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));
	struct watched other = watched_at(&words[0], sizeof(long));

	KUNIT_EXPECT_EQ(test, enable_wprobe(&w.wp), -EINVAL);
	w.wp.flags = WPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	KUNIT_EXPECT_EQ(test, w.wp.watch->state, WPROBE_OFF);
	write_long(&words[0], 1);
	KUNIT_ASSERT_EQ(test, register_wprobe(&other.wp), 0);
	KUNIT_EXPECT_EQ(test, w.wp.watch->state, WPROBE_ARMED);
	write_long(&words[0], 2);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 0);
	KUNIT_EXPECT_EQ(test, hits_of(&other), 1);
	KUNIT_EXPECT_EQ(test, enable_wprobe(&w.wp), 0);
	write_long(&words[0], 3);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	KUNIT_EXPECT_EQ(test, hits_of(&other), 2);
	KUNIT_EXPECT_EQ(test, disable_wprobe(&other.wp), 0);
	KUNIT_EXPECT_EQ(test, disable_wprobe(&w.wp), 0);
	KUNIT_EXPECT_EQ(test, w.wp.watch->state, WPROBE_OFF);
	write_long(&words[0], 4);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	KUNIT_EXPECT_EQ(test, hits_of(&other), 2);
	unregister_wprobe(&w.wp);
	unregister_wprobe(&other.wp);
	KUNIT_EXPECT_EQ(test, disable_wprobe(&w.wp), -EINVAL);
}

static void no_register_is_told_at_once(struct kunit *test)
{
	struct watched *w = kunit_kcalloc(test, MANY, sizeof(*w), GFP_KERNEL);
	int i, n, ret = 0;

	KUNIT_ASSERT_NOT_NULL(test, w);
	for (n = 0; n < MANY && !ret; n++) {
		w[n] = watched_at(&words[2 * n], sizeof(long));
		ret = register_wprobe(&w[n].wp);
	}
	KUNIT_EXPECT_EQ(test, ret, -ENOSPC);
	for (i = 0; i < n; i++)
		write_long(&words[2 * i], i);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, hits_of(&w[i]), i < n - 1);
	unregister_wprobe(&w[0].wp);
	KUNIT_EXPECT_EQ(test, register_wprobe(&w[n - 1].wp), 0);
	for (i = 0; i < n; i++)
		unregister_wprobe(&w[i].wp);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(refusals_have_their_errno),
	KUNIT_CASE(three_bytes_need_a_processor_or_changes),
	KUNIT_CASE(a_registered_probe_is_refused),
	KUNIT_CASE(symbols_are_resolved),
	KUNIT_CASE(a_batch_is_all_or_nothing),
	KUNIT_CASE(disabled_probes_are_not_called),
	KUNIT_CASE(no_register_is_told_at_once),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_register",
	.test_cases = cases,
};
kunit_test_suite(suite);
