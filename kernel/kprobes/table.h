/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KERNEL_KPROBES_TABLE_H
#define _KERNEL_KPROBES_TABLE_H
/*
 * The hash of all probepoints by their addresses, for its writers (table.c) and its readers
 * (hit/lookup.c).
 *
 * Open addressing, at most two thirds full, so that a look-up touches one or two entries
 * whether there is one probe or there are thirty thousand.  It is not an rhashtable because
 * look-ups run in breakpoint traps: everything that they call must itself be free of probes,
 * and rhashtable calls ordinary functions of lib/ when it resizes.
 *
 * Writers hold kprobe_mutex.  Readers hold nothing but have preemption disabled.  An entry
 * changes NULL -> point -> tombstone -> point -> ...; it never becomes NULL again, so a
 * search is never cut short.
 *
 * A search may miss a point that is being inserted.  No trap needs that point: points are
 * inserted before their text is changed, and removed after it has been restored and all CPUs
 * have been synchronised.
 */
#include <linux/hash.h>

#include "internal.h"

/* All bits that hash_long() gives.  The highest of them are the number of an entry. */
#define KPROBE_TABLE_HASH_BITS	32

/* The address of no instruction.  Entries of points that have been removed have it. */
#define KPROBE_TABLE_NOWHERE	ULONG_MAX

/**
 * struct kprobe_table - open-addressing hash of points by their addresses
 * @rcu:	delays freeing for readers
 * @bits:	log2 of the number of entries
 * @shift:	from a hash to the number of an entry
 * @mask:	the highest number of an entry
 * @used:	how many points and tombstones there are
 * @entries:	points, tombstones, and NULL
 */
struct kprobe_table {
	struct rcu_head rcu;
	unsigned int bits;
	unsigned int shift;
	unsigned int mask;
	unsigned int used;
	struct kprobe_point *entries[];
};

extern struct kprobe_table __rcu *kprobe_table;

/* Number of the entry where the search for @addr begins. */
static __always_inline unsigned int kprobe_table_first(const struct kprobe_table *table,
						       unsigned long addr)
{
	return hash_long(addr, KPROBE_TABLE_HASH_BITS) >> table->shift;
}

/* Number of the entry that is searched after entry @i. */
static __always_inline unsigned int kprobe_table_step(const struct kprobe_table *table,
						      unsigned int i)
{
	return (i + 1) & table->mask;
}

#endif /* _KERNEL_KPROBES_TABLE_H */
