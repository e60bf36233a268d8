// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the table of sites, with sites that belong to no process.
 */
#include <kunit/test.h>
#include <linux/slab.h>

#include "../internal.h"
#include "../table.h"

#define NR_SITES 5000

/* Addresses that collide in the low bits, as those of instructions do. */
static unsigned long address(unsigned int i)
{
	return 0x7f0000000000 / (sizeof(long) == 8 ? 1 : 0x10000) + i * 3;
}

static struct uprobe_mm *fake_mm(struct kunit *test)
{
	struct uprobe_mm *own = kunit_kzalloc(test, sizeof(*own), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, own);
	mutex_init(&own->lock);
	KUNIT_ASSERT_EQ(test, uprobe_table_init(own), 0);
	return own;
}

static struct uprobe_site *insert(struct kunit *test, struct uprobe_mm *own, unsigned long vaddr)
{
	struct uprobe_site *site = kzalloc_obj(*site);

	KUNIT_ASSERT_NOT_NULL(test, site);
	site->vaddr = vaddr;
	guard(mutex)(&own->lock);
	KUNIT_ASSERT_EQ(test, uprobe_table_reserve(own), 0);
	uprobe_table_insert(own, site);
	return site;
}

static void free_one(struct uprobe_site *site, void *count)
{
	(*(unsigned int *)count)++;
	kfree(site);
}

/* Frees everything, and returns the number of sites that were in the table. */
static unsigned int empty(struct uprobe_mm *own)
{
	unsigned int count = 0;

	uprobe_table_for_each(own, free_one, &count);
	kvfree(own->table);
	/* Free sites and tables that have been replaced. */
	uprobe_observe_retired();
	return count;
}

static void empty_table_has_no_site(struct kunit *test)
{
	struct uprobe_mm *own = fake_mm(test);

	KUNIT_EXPECT_NULL(test, uprobe_table_find(own, address(0)));
	KUNIT_EXPECT_EQ(test, empty(own), 0);
}

static void all_sites_are_found_while_the_table_grows(struct kunit *test)
{
	struct uprobe_mm *own = fake_mm(test);
	struct uprobe_site *site;
	unsigned int i, lost = 0, wrong = 0;

	for (i = 0; i < NR_SITES; i++) {
		site = insert(test, own, address(i));
		if (uprobe_table_find(own, address(i)) != site)
			lost++;
		if (uprobe_table_find(own, address(i + 1)))
			wrong++;
	}
	for (i = 0; i < NR_SITES; i++) {
		site = uprobe_table_find(own, address(i));
		if (!site || site->vaddr != address(i))
			lost++;
		if (uprobe_table_find(own, address(i) + 1))
			wrong++;
	}
	KUNIT_EXPECT_EQ(test, lost, 0);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, empty(own), NR_SITES);
}

static void table_is_sparse(struct kunit *test)
{
	struct uprobe_mm *own = fake_mm(test);
	struct uprobe_table *table;
	unsigned int i;

	for (i = 0; i < NR_SITES; i++)
		insert(test, own, address(i));
	table = own->table;
	KUNIT_EXPECT_EQ(test, table->used, NR_SITES);
	KUNIT_EXPECT_LE(test, UPROBE_TABLE_SPARSE * table->used, table->size);
	empty(own);
}

/* Returns the next address that has the last value of the hash. */
static unsigned long next_last(struct uprobe_mm *own, unsigned long vaddr)
{
	do {
		vaddr++;
	} while (uprobe_table_hash(own->table, vaddr) != own->table->size - 1);
	return vaddr;
}

static void search_ends_after_the_last_value_of_the_hash(struct kunit *test)
{
	struct uprobe_mm *own = fake_mm(test);
	unsigned int most = own->table->size / UPROBE_TABLE_SPARSE, i;
	unsigned long vaddr = address(0);
	unsigned int lost = 0;

	for (i = 0; i < most; i++) {
		vaddr = next_last(own, vaddr);
		insert(test, own, vaddr);
	}
	KUNIT_EXPECT_EQ(test, own->table->used, most);
	for (i = 0, vaddr = address(0); i < most; i++) {
		vaddr = next_last(own, vaddr);
		lost += !uprobe_table_find(own, vaddr);
	}
	KUNIT_EXPECT_EQ(test, lost, 0);
	KUNIT_EXPECT_NULL(test, uprobe_table_find(own, next_last(own, vaddr)));
	KUNIT_EXPECT_EQ(test, empty(own), most);
}

/* Counts the elements that a search reads more than one, for all sites of the table. */
static unsigned int collisions(struct uprobe_table *table)
{
	unsigned int i, nr = 0;

	for (i = 0; i < table->size + table->size / UPROBE_TABLE_SPARSE; i++)
		if (table->sites[i])
			nr += i - uprobe_table_hash(table, table->sites[i]->vaddr);
	return nr;
}

/* Of 2,048 tables with such addresses and random factors, few are bad. */
static void addresses_at_equal_distances_seldom_collide(struct kunit *test)
{
	unsigned int distance, i, bad = 0;
	struct uprobe_mm *own;

	for (distance = 1; distance <= 2048; distance++) {
		own = fake_mm(test);
		for (i = 0; i < 16; i++)
			insert(test, own, address(0) + i * distance);
		bad += collisions(own->table) > 10;
		empty(own);
		kunit_kfree(test, own);
	}
	/* With the upper bits of the product alone, there are 41 on average, instead of 9. */
	KUNIT_EXPECT_LE(test, bad, 30);
}

static void new_site_takes_the_place_of_an_old_one(struct kunit *test)
{
	struct uprobe_mm *own = fake_mm(test);
	struct uprobe_site *site;

	insert(test, own, address(1));
	insert(test, own, address(2));
	site = insert(test, own, address(1));
	KUNIT_EXPECT_PTR_EQ(test, uprobe_table_find(own, address(1)), site);
	KUNIT_EXPECT_EQ(test, empty(own), 2);
}

static void sites_that_are_gone_need_no_room(struct kunit *test)
{
	struct uprobe_mm *own = fake_mm(test);
	unsigned int first = own->table->size, most = first / UPROBE_TABLE_SPARSE, i, kept = 0;

	insert(test, own, address(0))->state = UPROBE_SITE_EMULATED;
	insert(test, own, address(1))->slot = 1;
	uprobe_table_find(own, address(1))->state = UPROBE_SITE_GONE;
	for (i = 2; i < NR_SITES; i++)
		insert(test, own, address(i))->state = UPROBE_SITE_GONE;
	KUNIT_EXPECT_LE(test, own->table->size, first);
	KUNIT_EXPECT_NOT_NULL(test, uprobe_table_find(own, address(0)));
	KUNIT_EXPECT_NOT_NULL(test, uprobe_table_find(own, address(1)));
	for (i = 2; i < NR_SITES; i++)
		kept += !!uprobe_table_find(own, address(i));
	KUNIT_EXPECT_LE(test, kept, most);
	KUNIT_EXPECT_LE(test, empty(own), most + 2);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(empty_table_has_no_site),
	KUNIT_CASE(all_sites_are_found_while_the_table_grows),
	KUNIT_CASE(table_is_sparse),
	KUNIT_CASE(search_ends_after_the_last_value_of_the_hash),
	KUNIT_CASE_SLOW(addresses_at_equal_distances_seldom_collide),
	KUNIT_CASE(new_site_takes_the_place_of_an_old_one),
	KUNIT_CASE(sites_that_are_gone_need_no_room),
	{}
};

static struct kunit_suite suite = {
	.name = "uprobes_table",
	.test_cases = cases,
};

kunit_test_suite(suite);
