// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Address -> probepoint, for every trap.
 *
 * An open-addressing hash of pointers, at most two thirds full, so that a look-up
 * touches one or two entries whether there is one probe or there are thirty
 * thousand.  It is not an rhashtable because the look-up runs inside the
 * breakpoint trap: everything that it calls must itself be free of probes, and
 * rhashtable calls out to ordinary functions of lib/ when it resizes.
 *
 * Writers hold kprobe_mutex.  Readers hold nothing but have preemption
 * disabled.  An entry changes NULL -> point -> TOMBSTONE -> point -> ...; it
 * never becomes NULL again, so a reader's probe sequence is never cut short
 * under it.  Growing copies everything into a new array and publishes that;
 * the old one goes after a grace period.
 *
 * A reader may miss a point that is being inserted.  It cannot need it: points
 * are inserted before their text is changed and removed after it has been
 * restored and all CPUs have been synchronised.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "internal.h"

#define TABLE_MIN_BITS	6

/* All that hash_long() gives; an entry's number is what is highest of it. */
#define HASH_BITS	32

/*
 * In the entry of a point that has been removed: a point where no instruction can
 * be, so that a look-up passes it by without a test of its own.
 */
#define NOWHERE		ULONG_MAX
static struct kprobe_point tombstone = { .kp.addr = (kprobe_opcode_t *)NOWHERE };
#define TOMBSTONE	(&tombstone)

struct kprobe_table {
	struct rcu_head rcu;
	unsigned int bits;
	unsigned int shift;		/* from a hash to an entry */
	unsigned int mask;
	unsigned int used;		/* points and tombstones */
	struct kprobe_point *entries[];
};

static struct kprobe_table __rcu *kprobe_table;
static unsigned int nr_points;

static __always_inline unsigned int table_first(const struct kprobe_table *table,
						unsigned long addr)
{
	return hash_long(addr, HASH_BITS) >> table->shift;
}

static __always_inline unsigned int table_next(const struct kprobe_table *table,
					       unsigned int i)
{
	return (i + 1) & table->mask;
}

static struct kprobe_table *table_locked(void)
{
	return rcu_dereference_protected(kprobe_table,
					 lockdep_is_held(&kprobe_mutex));
}

static __always_inline struct kprobe_point *find(unsigned long addr)
{
	/*
	 * Raw: the checking version calls lockdep, and this runs in traps.
	 * Pairs with rcu_assign_pointer() in kprobe_table_reserve().
	 */
	struct kprobe_table *table = rcu_dereference_raw(kprobe_table);
	struct kprobe_point *point;
	unsigned int i;

	if (unlikely(!table))
		return NULL;

	for (i = table_first(table, addr); ; i = table_next(table, i)) {
		/* Pairs with smp_store_release() in table_put(). */
		point = READ_ONCE(table->entries[i]);
		if (!point || kprobe_point_addr(point) == addr)
			return point;
	}
}

/**
 * kprobe_table_find() - the probepoint at an address
 * @addr: address of the first byte of the instruction
 *
 * Context: any, with preemption disabled or kprobe_mutex held.
 * Return: the point, valid for as long as the context lasts; or NULL.
 */
struct kprobe_point *kprobe_table_find(unsigned long addr)
{
	return addr == NOWHERE ? NULL : find(addr);
}
NOKPROBE_SYMBOL(kprobe_table_find);

/**
 * get_kprobe() - what is probed at an address
 * @addr: address of an instruction that a CPU has executed
 *
 * Context: any, preemption disabled.
 * Return: the point's representative, or NULL.
 */
struct kprobe *get_kprobe(void *addr)
{
	struct kprobe_point *point = find((unsigned long)addr);

	return point ? &point->kp : NULL;
}
NOKPROBE_SYMBOL(get_kprobe);

/* The caller has made sure that there is a free entry. */
static void table_put(struct kprobe_table *table, struct kprobe_point *point)
{
	unsigned int i = table_first(table, kprobe_point_addr(point));

	while (table->entries[i] && table->entries[i] != TOMBSTONE)
		i = table_next(table, i);
	if (!table->entries[i])
		table->used++;
	/* The point is complete before a reader finds it: kprobe_table_find(). */
	smp_store_release(&table->entries[i], point);
}

/* How many points and tombstones there may be in a table of that size. */
static unsigned int room(unsigned int bits)
{
	return BIT(bits) / 3 * 2;
}

/*
 * Room for @points and for a quarter more, so that at least so many registrations come
 * before the next copy of the table.
 */
static struct kprobe_table *table_alloc(unsigned int points)
{
	unsigned int bits = TABLE_MIN_BITS;
	struct kprobe_table *table;

	while (room(bits) < points + points / 4)
		bits++;

	table = kvzalloc(struct_size(table, entries, BIT(bits)), GFP_KERNEL);
	if (!table)
		return NULL;
	table->bits = bits;
	table->shift = HASH_BITS - bits;
	table->mask = BIT(bits) - 1;
	return table;
}

/**
 * kprobe_table_reserve() - make room before a batch is published
 * @points: how many points will be inserted, > 0
 *
 * Afterwards that many kprobe_table_insert() cannot fail.
 *
 * Context: task, may sleep, kprobe_mutex held.
 * Return: 0 or -ENOMEM.
 */
int kprobe_table_reserve(unsigned int points)
{
	struct kprobe_table *old = table_locked(), *new;
	unsigned int i;

	lockdep_assert_held(&kprobe_mutex);

	if (old && old->used + points <= room(old->bits))
		return 0;

	new = table_alloc(nr_points + points);
	if (!new)
		return -ENOMEM;
	if (old) {
		for (i = 0; i < BIT(old->bits); i++) {
			if (old->entries[i] && old->entries[i] != TOMBSTONE)
				table_put(new, old->entries[i]);
		}
	}
	/* Pairs with rcu_dereference_raw() in kprobe_table_find(). */
	rcu_assign_pointer(kprobe_table, new);
	if (old)
		kvfree_rcu(old, rcu);
	return 0;
}

/**
 * kprobe_table_insert() - publish a point whose text is still untouched
 * @point: not in the table, and no other is at its address
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
 * kprobe_table_remove() - take a point out whose text has been restored
 * @point: in the table; still reachable by readers until a grace period ends
 *
 * Context: kprobe_mutex held.
 */
void kprobe_table_remove(struct kprobe_point *point)
{
	struct kprobe_table *table = table_locked();
	unsigned int i = table_first(table, kprobe_point_addr(point));

	lockdep_assert_held(&kprobe_mutex);

	while (table->entries[i] != point)
		i = table_next(table, i);
	WRITE_ONCE(table->entries[i], TOMBSTONE);
	nr_points--;
}

/**
 * kprobe_table_next() - iterate over all points, in no particular order
 * @pos: where to go on, 0 at first; set to where the point was found
 *
 * Points that are inserted meanwhile may be missed.
 *
 * Context: kprobe_mutex held.
 * Return: a point, or NULL at the end.
 */
struct kprobe_point *kprobe_table_next(unsigned long *pos)
{
	struct kprobe_table *table = table_locked();

	lockdep_assert_held(&kprobe_mutex);

	for (; table && *pos < BIT(table->bits); (*pos)++) {
		struct kprobe_point *point = table->entries[*pos];

		if (point && point != TOMBSTONE)
			return point;
	}
	return NULL;
}

/* How many points there are.  Context: kprobe_mutex held. */
unsigned int kprobe_table_points(void)
{
	lockdep_assert_held(&kprobe_mutex);
	return nr_points;
}
