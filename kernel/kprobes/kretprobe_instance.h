/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KERNEL_KPROBES_KRETPROBE_INSTANCE_H
#define _KERNEL_KPROBES_KRETPROBE_INSTANCE_H
/*
 * Instances of return probes: pools, classes and caches.
 *
 *	pool	a fixed number of instances and a bit for each that is taken
 *		(kretprobe_pool.c)
 *	class	all probes with about the same data_size; they share pools, and there
 *		is always one pool more than needed (kretprobe_class.c)
 *	limit	the maxactive of a probe, if that is > 0: its calls are counted, and
 *		the class has at least as many instances as its probes may take
 *	caches	free instances of a class, for each CPU.  A cache is marked busy while
 *		it is changed (hit/instance.h)
 *
 * objpool is not used.  Its push reserves an entry before it fills it, and an NMI
 * that pushes in between publishes both.  Its rings also take a page for each
 * possible CPU in every pool, which used most of the memory of return probes.
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
 * @next:	next pool of the class, added later
 * @caches:	caches of the class; NULL if the pool is retired: instances that return
 *		afterwards are not used again
 * @closed:	free the pool when the last instance has returned; under kretprobe_mutex
 * @nr_free:	number of free instances; a hit skips the pool if it is 0
 * @hint:	word of @taken at which searches begin
 * @nr:		number of instances
 * @stride:	bytes from one instance to the next
 * @instances:	address of the first instance
 * @taken:	a bit for each instance; the bits after the last one are set
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
 * enum kretprobe_growth - state of a class that may need another pool
 * @KRETPROBE_SETTLED:	no hit has taken from the reserve
 * @KRETPROBE_HUNGRY:	hits have taken from it, and have raised the irq_works of their CPUs
 * @KRETPROBE_FED:	one of the irq_works adds a reserve; if that cannot be large enough,
 *			a worker adds another
 *
 *	SETTLED -> HUNGRY	a hit takes from the reserve: kretprobe_growth_want()
 *	HUNGRY -> FED		the first irq_work runs: kretprobe_growth_feed()
 *	FED -> HUNGRY		a hit takes from the reserve again: kretprobe_growth_want()
 *	FED -> SETTLED		the class has grown, or cannot: kretprobe_growth_settle()
 *
 * Only these three functions change it.  Each has no effect if the class is in another state.
 */
enum kretprobe_growth {
	KRETPROBE_SETTLED,
	KRETPROBE_HUNGRY,
	KRETPROBE_FED,
};

/**
 * struct kretprobe_class - instances of one size
 * @caches:	free instances of each CPU
 * @oldest:	first pool of the list that is linked through next
 * @newest:	last pool of that list: the reserve
 * @growth:	does the class need another pool?
 * @lock:	guards @newest, @total and @closed
 * @order:	log2 of the size of an instance
 * @users:	number of probes; under kretprobe_mutex
 * @promised:	sum of the limits of the probes; under kretprobe_mutex
 * @total:	number of instances
 * @closed:	the class has no probe any more, and no pool is added
 * @retired:	links the class into the list of those without probes
 */
struct kretprobe_class {
	struct kretprobe_cache __percpu *caches;
	struct kretprobe_pool *oldest;
	struct kretprobe_pool *newest;
	enum kretprobe_growth growth;
	spinlock_t lock;		/* held to add a pool */
	unsigned int order;
	unsigned int users;
	unsigned int promised;
	unsigned int total;
	bool closed;
	struct list_head retired;
};

/* SETTLED or FED -> HUNGRY: a hit has taken from the reserve.  Context: the hit. */
static __always_inline void kretprobe_growth_want(struct kretprobe_class *class)
{
	if (READ_ONCE(class->growth) != KRETPROBE_HUNGRY)
		WRITE_ONCE(class->growth, KRETPROBE_HUNGRY);
}

/*
 * HUNGRY -> FED: returns true if the caller has to add a pool.  The irq_works of several CPUs may
 * run at once: only one of them gets true.
 */
static inline bool kretprobe_growth_feed(struct kretprobe_class *class)
{
	return cmpxchg(&class->growth, KRETPROBE_HUNGRY, KRETPROBE_FED) == KRETPROBE_HUNGRY;
}

/*
 * FED -> SETTLED: the class has grown, or there is no memory.  It stays HUNGRY if a hit has taken
 * from the reserve again.
 */
static inline void kretprobe_growth_settle(struct kretprobe_class *class)
{
	cmpxchg(&class->growth, KRETPROBE_FED, KRETPROBE_SETTLED);
}

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

/* Returns instance @i of a pool. */
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

	/*
	 * When @ri is used again, an unwinder on another CPU may see the new head of a task's
	 * list and this old link. The instance that it leads to may be freed by then.
	 */
	ri->llist.next = NULL;
	raw_atomic_inc(&pool->nr_free);
	/* Release: after all writes of the last user of @ri.  Pairs with pool_take(). */
	clear_bit_unlock(bit, pool->taken);
}

/* Returns the pool that was added after @pool, or NULL. */
static __always_inline struct kretprobe_pool *kretprobe_next_pool(struct kretprobe_pool *pool)
{
	/* Pairs with smp_store_release() in link_pool(). */
	return smp_load_acquire(&pool->next);
}

/* Counts the end of a call of a probe that has a limit.  Context: preemption disabled. */
static __always_inline void kretprobe_uncount(struct kretprobe_holder *holder)
{
	/* In line: without a limit, the jump over the increment costs nothing more. */
	if (likely(holder->limited))
		raw_atomic_inc(&holder->room);
}

#endif /* _KERNEL_KPROBES_KRETPROBE_INSTANCE_H */
