// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stocks: objects of batches, which need thousands, are allocated many at a time.
 */
#include <linux/slab.h>

#include "internal.h"

/**
 * uprobe_stock_take() - allocate an object
 * @stock: of its type
 * @needed: number of objects that the caller's batch still needs, with this one
 *
 * Context: task, may sleep; uprobe_mutex held.
 * Return: an object with undefined content, to be freed with kfree(); NULL if there is no memory.
 */
void *uprobe_stock_take(struct uprobe_stock *stock, unsigned int needed)
{
	lockdep_assert_held(&uprobe_mutex);
	if (unlikely(!stock->nr)) {
		needed = min(needed, ARRAY_SIZE(stock->objects));
		if (!kmem_cache_alloc_bulk(stock->cache, GFP_KERNEL, needed, stock->objects))
			return NULL;
		stock->nr = needed;
	}
	return stock->objects[--stock->nr];
}
