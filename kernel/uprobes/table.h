/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Look-up in a process's table of sites; see table.c.
 */
#ifndef _KERNEL_UPROBES_TABLE_H
#define _KERNEL_UPROBES_TABLE_H

#include "internal.h"

/*
 * Index of the element with the site at @vaddr, or of the NULL at which the search for it
 * ends. The table is never more than half full.
 */
static __always_inline unsigned int uprobe_table_index(struct uprobe_table *table,
						       unsigned long vaddr)
{
	unsigned int mask = (1U << table->bits) - 1;
	unsigned int i = hash_long(vaddr, table->bits);
	struct uprobe_site *site;

	for (;; i = (i + 1) & mask) {
		site = rcu_dereference_raw(table->sites[i]);
		if (!site || site->vaddr == vaddr)
			return i;
	}
}

/**
 * uprobe_table_find() - find the site at an address
 * @own: the process
 * @vaddr: the address
 *
 * Context: any; under rcu_read_lock(), or @own->lock held.
 * Return: NULL if there is none. The site may be gone.
 */
static __always_inline struct uprobe_site *uprobe_table_find(struct uprobe_mm *own,
							     unsigned long vaddr)
{
	struct uprobe_table *table = rcu_dereference_raw(own->table);

	if (unlikely(!table))
		return NULL;
	return rcu_dereference_raw(table->sites[uprobe_table_index(table, vaddr)]);
}

#endif /* _KERNEL_UPROBES_TABLE_H */
