/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KERNEL_KPROBES_KRETPROBE_INSTANCE_H
#define _KERNEL_KPROBES_KRETPROBE_INSTANCE_H
/*
 * Instances of return probes: where they come from, and where they go to.
 *
 *	pool	a fixed number of instances and a bit for each that is taken
 *		(kretprobe_pool.c)
 *	class	all probes with about the same data_size: they share pools, of which
 *		there is always one more than is needed (kretprobe_class.c)
 *	limit	the maxactive of a probe, if that is > 0: its calls are counted, and
 *		the class has at least as many instances as its probes may take
 *	caches	a class's free instances of each CPU.  One is marked busy while it
 *		is changed (hit/instance.h)
 *
 * objpool is not used.  Its push reserves an entry before it fills it, and an NMI
 * that pushes in between publishes both; and its rings cost every pool a page for
 * each possible CPU, which is what return probes used to cost.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>

#include "internal.h"

struct kretprobe_cache {
	struct kretprobe_instance *first;	/* linked through llist */
	unsigned int nr;
	bool busy;
};

/**
 * struct kretprobe_pool - a number of instances
 * @next:	the next of the class: twice as many, made later
 * @caches:	the class's; NULL if the pool is retired: instances that return now are not
 *		used again
 * @closed:	it is freed when the last has returned; kretprobe_mutex
 * @nr_free:	how many are not taken; at a hit it only tells whether to look
 * @hint:	word of @taken to look at first
 * @nr:		how many there are
 * @stride:	bytes from one to the next
 * @instances:	the first
 * @taken:	a bit for each; bits after the last are set
 */
struct kretprobe_pool {
	struct kretprobe_pool *next;
	struct kretprobe_cache __percpu *caches;
	bool closed;
	atomic_t nr_free;
	unsigned int hint;
	unsigned int nr;
	unsigned int stride;
	void *instances;
	unsigned long taken[];
};

extern struct mutex kretprobe_mutex;

/**
 * enum kretprobe_growth - where a class is on its way to another pool
 * @KRETPROBE_SETTLED:	nobody has taken from the reserve
 * @KRETPROBE_HUNGRY:	hits have, and have raised the irq_works of their CPUs
 * @KRETPROBE_FED:	one of these adds a reserve; if it cannot be large, a worker adds
 *			another
 *
 *	SETTLED -> HUNGRY	a hit
 *	HUNGRY -> FED		the first irq_work that runs
 *	FED -> HUNGRY		a hit has taken from the reserve again
 *	FED -> SETTLED		all that was wanted has been added
 */
enum kretprobe_growth {
	KRETPROBE_SETTLED,
	KRETPROBE_HUNGRY,
	KRETPROBE_FED,
};

/**
 * struct kretprobe_class - instances of one size
 * @caches:	free ones of each CPU
 * @oldest:	of its pools, linked through next
 * @newest:	the reserve
 * @growth:	does it need another?
 * @lock:	guards @newest, @total and @closed
 * @order:	of an instance's size
 * @users:	probes; kretprobe_mutex
 * @promised:	the sum of their limits; kretprobe_mutex
 * @total:	instances
 * @closed:	its last user has gone: no pool is added any more
 * @retired:	links it into the list of those whose last user has gone
 */
struct kretprobe_class {
	struct kretprobe_cache __percpu *caches;
	struct kretprobe_pool *oldest;
	struct kretprobe_pool *newest;
	enum kretprobe_growth growth;
	spinlock_t lock;		/* of who adds a pool */
	unsigned int order;
	unsigned int users;
	unsigned int promised;
	unsigned int total;
	bool closed;
	struct list_head retired;
};

/* kretprobe_pool.c */
struct kretprobe_pool *kretprobe_pool_create(unsigned int nr, size_t size, gfp_t gfp);
void kretprobe_pool_retire(struct kretprobe_pool *pool);
void kretprobe_pool_close(struct kretprobe_pool *pool);
void kretprobe_pool_destroy(struct kretprobe_pool *pool);
void kretprobe_pool_forget_holders(struct kretprobe_pool *pool);
unsigned int kretprobe_instances(void);
extern struct llist_head kretprobe_orphans;
extern struct irq_work kretprobe_reap_irq_work;

/* kretprobe_class.c */
struct kretprobe_class *kretprobe_class_get(size_t size, unsigned int promised);
void kretprobe_class_put(struct kretprobe_class *class, unsigned int promised);
void kretprobe_holder_give_up(struct kretprobe_holder *holder);
DECLARE_PER_CPU(struct irq_work, kretprobe_feed_irq_work);

/* hit/instance.c */
struct kretprobe_instance *kretprobe_class_take(struct kretprobe_holder *holder);
void kretprobe_pool_give(struct kretprobe_instance *ri);

/* Instance @i of a pool. */
static __always_inline struct kretprobe_instance *
kretprobe_pool_instance(struct kretprobe_pool *pool, unsigned int i)
{
	return pool->instances + (size_t)i * pool->stride;
}

/* Marks an instance as free in its pool. */
static __always_inline void kretprobe_pool_put(struct kretprobe_instance *ri)
{
	struct kretprobe_pool *pool = ri->pool;
	unsigned int bit = ((void *)ri - pool->instances) / pool->stride;

	raw_atomic_inc(&pool->nr_free);
	/* Release: after all that its last user wrote.  Pairs with pool_take(). */
	clear_bit_unlock(bit, pool->taken);
}

/* The pool that was added after @pool, or NULL. */
static __always_inline struct kretprobe_pool *kretprobe_next_pool(struct kretprobe_pool *pool)
{
	/* Pairs with smp_store_release() in link_pool(). */
	return smp_load_acquire(&pool->next);
}

/* Counts the end of a call of a probe that has a limit.  Context: preemption disabled. */
static __always_inline void kretprobe_uncount(struct kretprobe_holder *holder)
{
	if (unlikely(holder->limit))
		raw_atomic_inc(&holder->room);
}

#endif /* _KERNEL_KPROBES_KRETPROBE_INSTANCE_H */
