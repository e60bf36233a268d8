/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Look-up in a process's table of sites; see table.c.
 */
#ifndef _KERNEL_UPROBES_TABLE_H
#define _KERNEL_UPROBES_TABLE_H

#include "internal.h"

/* The upper bits of the product with a random odd number. */
static __always_inline unsigned long uprobe_table_hash(const struct uprobe_table *table,
						       unsigned long vaddr)
{
	return (vaddr * table->factor) >> table->shift;
}

/*
 * Index of the element with the site at @vaddr, or of the NULL at which the search for it
 * ends. The table is never more than a quarter full.
 */
static __always_inline unsigned long uprobe_table_index(struct uprobe_table *table,
							unsigned long vaddr)
{
	unsigned long i = uprobe_table_hash(table, vaddr);
	struct uprobe_site *site;

	for (;; i = (i + 1) & table->mask) {
		site = READ_ONCE(table->sites[i]);
		if (!site || site->vaddr == vaddr)
			return i;
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
	struct uprobe_site *site;
	unsigned long i;

	for (i = uprobe_table_hash(table, vaddr);; i = (i + 1) & table->mask) {
		site = READ_ONCE(table->sites[i]);
		if (unlikely(!site) || likely(site->vaddr == vaddr))
			return site;
	}
}

#endif /* _KERNEL_UPROBES_TABLE_H */
