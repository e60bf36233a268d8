// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of probepoints: insert, remove, grow, walk.
 *
 * To grow the table, all points are copied into a new array, which is then published; the old
 * array is freed after a grace period.  kprobe_mutex guards everything here; table.h describes
 * the readers.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "table.h"

/* Size of the smallest table in bytes. */
#define TABLE_MIN_SIZE	512

/*
 * Replaces the entry of a point that has been removed.  It is a point at an address where no
 * instruction can be, so look-ups skip it without an extra test.
 */
static struct kprobe_point tombstone = { .kp.addr = (kprobe_opcode_t *)KPROBE_TABLE_NOWHERE };
#define TOMBSTONE	(&tombstone)

/* The table until points are inserted.  No look-up has to test for NULL. */
static struct kprobe_table empty_table = { .nr = 1, .entries = { NULL } };
struct kprobe_table __rcu *kprobe_table = RCU_INITIALIZER(&empty_table);
static unsigned int nr_points;

static struct kprobe_table *table_locked(void)
{
	return rcu_dereference_protected(kprobe_table,
					 lockdep_is_held(&kprobe_mutex));
}

/* Stores @point in a free entry.  The caller has made sure that there is one. */
static void table_put(struct kprobe_table *table, struct kprobe_point *point)
{
	unsigned long i = kprobe_table_first(table, kprobe_point_addr(point));

	while (table->entries[i] && table->entries[i] != TOMBSTONE)
		i = kprobe_table_step(table, i);
	if (!table->entries[i])
		table->used++;
	/* Complete the point before a reader finds it.  Pairs with kprobe_table_read(). */
	smp_store_release(&table->entries[i], point);
}

/* Returns the maximum of points and tombstones in a table with @nr entries. */
static unsigned int room(unsigned int nr)
{
	return nr / 3 * 2;
}

/* Returns the number of entries of a table with @size bytes. */
static unsigned int entries_in(size_t size)
{
	return (size - offsetof(struct kprobe_table, entries)) / sizeof(struct kprobe_point *);
}

/*
 * Allocates a table for @points and a sixteenth more, so that at least that many registrations
 * are possible before the table has to be copied again.  Its size is a power of two, because
 * the page allocator rounds up to one.
 */
static struct kprobe_table *table_alloc(unsigned int points)
{
	struct kprobe_table *table;
	size_t size = TABLE_MIN_SIZE;

	while (room(entries_in(size)) < points + points / 16)
		size *= 2;

	table = kvzalloc(size, GFP_KERNEL);
	if (table)
		table->nr = entries_in(size);
	return table;
}

/**
 * kprobe_table_reserve() - make room for points that will be inserted
 * @points: number of the points, > 0
 *
 * Afterwards @points calls of kprobe_table_insert() cannot fail.
 *
 * Context: task, may sleep, kprobe_mutex held.
 * Return: 0 or -ENOMEM.
 */
int kprobe_table_reserve(unsigned int points)
{
	struct kprobe_table *old = table_locked(), *new;
	unsigned int i;

	lockdep_assert_held(&kprobe_mutex);

	if (old->used + points <= room(old->nr))
		return 0;

	new = table_alloc(nr_points + points);
	if (!new)
		return -ENOMEM;
	for (i = 0; i < old->nr; i++) {
		if (old->entries[i] && old->entries[i] != TOMBSTONE)
			table_put(new, old->entries[i]);
	}
	/* Pairs with rcu_dereference_raw() in kprobe_table_read(). */
	rcu_assign_pointer(kprobe_table, new);
	if (old != &empty_table)
		kvfree_rcu(old, rcu);
	return 0;
}

/**
 * kprobe_table_insert() - publish a point whose text is still untouched
 * @point: the point, not in the table; the table has no other at its address
 *
 * Context: kprobe_mutex held, after kprobe_table_reserve().
 */
void kprobe_table_insert(struct kprobe_point *point)
{
	lockdep_assert_held(&kprobe_mutex);
	table_put(table_locked(), point);
	nr_points++;
}

/**
 * kprobe_table_remove() - remove a point whose text has been restored
 * @point: the point, in the table; readers may use it until a grace period ends
 *
 * Context: kprobe_mutex held.
 */
void kprobe_table_remove(struct kprobe_point *point)
{
	struct kprobe_table *table = table_locked();
	unsigned long i = kprobe_table_first(table, kprobe_point_addr(point));

	lockdep_assert_held(&kprobe_mutex);

	while (table->entries[i] != point)
		i = kprobe_table_step(table, i);
	WRITE_ONCE(table->entries[i], TOMBSTONE);
	nr_points--;
}

/**
 * kprobe_table_next() - iterate over all points, in no particular order
 * @pos: number of the first entry to read; set to the number of the point's entry
 *
 * Points that are inserted during the walk may be missed.
 *
 * Context: kprobe_mutex held.
 * Return: a point, or NULL at the end.
 */
struct kprobe_point *kprobe_table_next(unsigned long *pos)
{
	struct kprobe_table *table = table_locked();

	lockdep_assert_held(&kprobe_mutex);

	for (; *pos < table->nr; (*pos)++) {
		struct kprobe_point *point = table->entries[*pos];

		if (point && point != TOMBSTONE)
			return point;
	}
	return NULL;
}
