/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Look-up in a process's table of sites; see table.c.
 */
#ifndef _KERNEL_UPROBES_TABLE_H
#define _KERNEL_UPROBES_TABLE_H

#include "internal.h"

/*
 * The upper bits of the product with a random odd number. The addresses of functions may have the
 * same distance from each other, and the products then have one, too, which may be too small for
 * different values; those of the lower bits have another.
 */
static __always_inline unsigned long uprobe_table_hash(const struct uprobe_table *table,
						       unsigned long vaddr)
{
	unsigned long product = vaddr * table->factor;

	return (product ^ product << BITS_PER_LONG / 3) >> table->shift;
}

/*
 * Searches the element with the site at @vaddr, which is stored in @site, or with the NULL at
 * which the search for it ends.
 */
static __always_inline struct uprobe_site **
uprobe_table_search(struct uprobe_table *table, unsigned long vaddr, struct uprobe_site **site)
{
	struct uprobe_site **element = &table->sites[uprobe_table_hash(table, vaddr)];

	for (;; element++) {
		*site = READ_ONCE(*element);
		if (unlikely(!*site) || likely((*site)->vaddr == vaddr))
			return element;
	}
}

/**
 * uprobe_table_find() - find the site at an address
 * @own: the process
 * @vaddr: the address
 *
 * Context: a hit, or @own->lock held.
 * Return: NULL if there is none. The site may be gone; it exists until the hit has ended.
 */
static __always_inline struct uprobe_site *uprobe_table_find(struct uprobe_mm *own,
							     unsigned long vaddr)
{
	/* Pairs with the releases in table.c.  The elements are read through the pointer. */
	struct uprobe_table *table = READ_ONCE(own->table);
	unsigned long i = uprobe_table_hash(table, vaddr);
	struct uprobe_site *site = READ_ONCE(table->sites[i]);

	while (likely(site) && unlikely(site->vaddr != vaddr))
		site = READ_ONCE(table->sites[++i]);
	return site;
}

#endif /* _KERNEL_UPROBES_TABLE_H */
