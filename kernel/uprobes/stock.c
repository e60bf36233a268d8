// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stocks: objects of batches, which need thousands, are allocated many at a time.
 */
#include <linux/slab.h>

#include "internal.h"

/**
 * uprobe_stock_fill() - allocate objects for uprobe_stock_take()
 * @stock: empty
 * @needed: see there
 *
 * Context: task, may sleep; uprobe_mutex held.
 * Return: false if there is no memory.
 */
bool uprobe_stock_fill(struct uprobe_stock *stock, unsigned int needed)
{
	needed = min(needed, ARRAY_SIZE(stock->objects));
	if (!kmem_cache_alloc_bulk(stock->cache, GFP_KERNEL, needed, stock->objects))
		return false;
	stock->nr = needed;
	return true;
}
