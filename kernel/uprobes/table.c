// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sites of a process by address.
 *
 * A hit looks its site up in an array with open addressing: one multiplication, one shift, and
 * usually one comparison, for one site as for 10,000. A site that is gone is replaced when its
 * address is probed again; if it has no slot, it is left out of the next table. Sites and tables
 * that hits may still use are retired, see observe.c.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "internal.h"
#include "table.h"

/* With eight sites, one hit in 73 compares twice; in a table of 64 elements, it is one in 18. */
#define FIRST_BITS 8

static unsigned int elements_of(unsigned int size)
{
	return size + size / UPROBE_TABLE_SPARSE;
}

static struct uprobe_table *table_alloc(unsigned int size)
{
	struct uprobe_table *table;

	table = kvzalloc(struct_size(table, sites, elements_of(size)), GFP_KERNEL_ACCOUNT);
	if (!table)
		return NULL;
	table->factor = get_random_long() | 1;
	table->size = size;
	table->shift = BITS_PER_LONG - ilog2(size);
	return table;
}

/* Hits do not find a table any more, nor the sites that its successor does not have. */
static void retire(struct uprobe_table *old, struct uprobe_table *table)
{
	struct uprobe_site *site, *next;
	unsigned int i;

	for (i = 0; i < elements_of(old->size); i++) {
		site = old->sites[i];
		if (!site)
			continue;
		uprobe_table_search(table, site->vaddr, &next);
		if (next != site)
			uprobe_retire(&site->retired);
	}
	uprobe_retire(&old->retired);
}

/* A site that is gone stays so. A slot is kept for the next site at its address. */
static bool is_needed(struct uprobe_site *site)
{
	return site && (READ_ONCE(site->state) != UPROBE_SITE_GONE || site->slot);
}

/**
 * uprobe_table_init() - make the first table of a process
 * @own: the process, new
 *
 * Context: task, may sleep.
 * Return: 0 or -ENOMEM.
 */
int uprobe_table_init(struct uprobe_mm *own)
{
	own->table = table_alloc(1 << FIRST_BITS);
	return own->table ? 0 : -ENOMEM;
}

/* A new table has room for twice the sites of the old one that are still needed. */
static unsigned int new_size(struct uprobe_table *old)
{
	unsigned int i, needed = 0;

	for (i = 0; i < elements_of(old->size); i++)
		needed += is_needed(old->sites[i]);
	return roundup_pow_of_two(max(2 * needed * UPROBE_TABLE_SPARSE, 1U << FIRST_BITS));
}

static int grow(struct uprobe_mm *own, struct uprobe_table *old)
{
	struct uprobe_table *table = table_alloc(new_size(old));
	struct uprobe_site *site, *none;
	unsigned int i;

	if (!table)
		return -ENOMEM;
	for (i = 0; i < elements_of(old->size); i++) {
		site = old->sites[i];
		if (!is_needed(site))
			continue;
		*uprobe_table_search(table, site->vaddr, &none) = site;
		table->used++;
	}
	/* Pairs with the read in uprobe_table_find(): the elements come first. */
	smp_store_release(&own->table, table);
	retire(old, table);
	return 0;
}

/**
 * uprobe_table_reserve() - make room for one more site
 * @own: the process
 *
 * Context: task, may sleep; @own->lock held.
 * Return: 0 or -ENOMEM.
 */
int uprobe_table_reserve(struct uprobe_mm *own)
{
	struct uprobe_table *table = own->table;

	lockdep_assert_held(&own->lock);
	return (table->used + 1) * UPROBE_TABLE_SPARSE > table->size ? grow(own, table) : 0;
}

/**
 * uprobe_table_insert() - publish a site
 * @own: the process, after uprobe_table_reserve()
 * @site: complete; takes the place of one that is gone, which is freed
 *
 * Context: task; @own->lock held.
 */
void uprobe_table_insert(struct uprobe_mm *own, struct uprobe_site *site)
{
	struct uprobe_table *table = own->table;
	struct uprobe_site **element, *old;

	lockdep_assert_held(&own->lock);
	element = uprobe_table_search(table, site->vaddr, &old);
	/*
	 * Pairs with the reads in uprobe_table_find() and uprobe_table_search(): the site is
	 * complete.
	 */
	smp_store_release(element, site);
	if (old)
		uprobe_retire(&old->retired);
	else
		table->used++;
	WRITE_ONCE(own->has_sites, true);
}

/**
 * uprobe_table_for_each() - call a function for each site of a process
 * @own: the process
 * @fn: the function
 * @data: its second argument
 *
 * Context: task; @own->lock held, or the process has no threads.
 */
void uprobe_table_for_each(struct uprobe_mm *own, void (*fn)(struct uprobe_site *, void *),
			   void *data)
{
	struct uprobe_table *table = own->table;
	struct uprobe_site *site;
	unsigned int i;

	for (i = 0; i < elements_of(table->size); i++) {
		site = table->sites[i];
		if (site)
			fn(site, data);
	}
}
