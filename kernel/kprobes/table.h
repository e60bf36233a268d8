/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KERNEL_KPROBES_TABLE_H
#define _KERNEL_KPROBES_TABLE_H
/*
 * The hash of all probepoints by their addresses, for its writers (table.c) and its readers
 * (hit/).
 *
 * The hash has open addressing and is at most two thirds full, so a look-up reads one or two
 * entries for any number of probes.  It is not an rhashtable because look-ups run in breakpoint
 * traps: no function that they call may have a probe, and rhashtable calls ordinary functions
 * of lib/ when it resizes.
 *
 * Writers hold kprobe_mutex.  Readers take no lock, but have preemption disabled.  An entry
 * changes NULL -> point -> tombstone -> point -> ...; it never becomes NULL again, so a
 * search never ends too early.
 *
 * A search may miss a point that is being inserted.  No trap needs that point: points are
 * inserted before their text is changed, and removed after it has been restored and all CPUs
 * have been synchronised.
 */
#include <linux/hash.h>

#include "internal.h"

/* An address where no instruction can be; the address of tombstones. */
#define KPROBE_TABLE_NOWHERE	ULONG_MAX

/**
 * struct kprobe_table - open-addressing hash of points by their addresses
 * @rcu:	delays freeing for readers
 * @nr:		number of entries, fewer than 2^32
 * @used:	number of points and tombstones
 * @entries:	points, tombstones, and NULL
 */
struct kprobe_table {
	struct rcu_head rcu;
	unsigned int nr;
	unsigned int used;
	struct kprobe_point *entries[];
};

extern struct kprobe_table __rcu *kprobe_table;

/* Returns the number of the entry at which the search for @addr begins. */
static __always_inline unsigned long kprobe_table_first(const struct kprobe_table *table,
							unsigned long addr)
{
	/* Scales the hash, a number of 32 bits, to the number of entries. */
	return (u64)hash_long(addr, 32) * table->nr >> 32;
}

/* Returns the number of the entry that a search reads after entry @i. */
static __always_inline unsigned long kprobe_table_step(const struct kprobe_table *table,
						       unsigned long i)
{
	return ++i < table->nr ? i : 0;
}

/* kprobe_table_find() for hits: no hit is at KPROBE_TABLE_NOWHERE. */
static __always_inline struct kprobe_point *kprobe_table_read(unsigned long addr)
{
	/*
	 * Raw, because this runs in traps: the checking version calls lockdep.
	 * Pairs with rcu_assign_pointer() in kprobe_table_reserve().
	 */
	struct kprobe_table *table = rcu_dereference_raw(kprobe_table);
	unsigned long i = kprobe_table_first(table, addr);
	struct kprobe_point *point;

	for (;;) {
		/* Pairs with smp_store_release() in table_put(). */
		point = READ_ONCE(table->entries[i]);
		if (unlikely(!point))
			return NULL;
		if (likely(kprobe_point_addr(point) == addr))
			return point;
		i = kprobe_table_step(table, i);
	}
}

#endif /* _KERNEL_KPROBES_TABLE_H */
