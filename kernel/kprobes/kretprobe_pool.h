/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KERNEL_KPROBES_KRETPROBE_POOL_H
#define _KERNEL_KPROBES_KRETPROBE_POOL_H
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
 *		is changed, and what comes in between, an interrupt or an NMI, asks
 *		the pools: so that the changes are plain loads and stores
 *
 * objpool is not used.  Its push reserves an entry before it fills it, and an NMI
 * that pushes in between publishes both; and its rings cost every pool a page for
 * each possible CPU, which is what return probes used to cost.
 *
 * What is inline here runs at hits, with preemption disabled.
 */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>

#include "internal.h"

/* Instances that a CPU keeps for itself: of tasks that have been moved here, mostly. */
#define KRETPROBE_CACHE_MAX	16

struct kretprobe_cache {
	struct kretprobe_instance *first;	/* linked through llist */
	unsigned int nr;
	bool busy;
};

/**
 * struct kretprobe_pool - a number of instances
 * @next:	the next of the class: twice as many, made later
 * @caches:	the class's; NULL if the pool is retired
 * @retired:	instances that return now are not used again
 * @closed:	it is freed when the last has returned; kretprobe_mutex
 * @nr_free:	how many are not taken; at a hit it only tells whether to look
 * @hint:	word of @taken to look at first
 * @nr:		how many there are
 * @stride:	bytes from one to the next
 * @instances:	the first
 * @taken:	a bit each; those behind the last are set
 */
struct kretprobe_pool {
	struct kretprobe_pool *next;
	struct kretprobe_cache __percpu *caches;
	bool retired;
	bool closed;
	atomic_t nr_free;
	unsigned int hint;
	unsigned int nr;
	unsigned int stride;
	void *instances;
	unsigned long taken[];
};

extern struct mutex kretprobe_mutex;

/* kretprobe_pool.c */
struct kretprobe_pool *kretprobe_pool_create(unsigned int nr, size_t size, gfp_t gfp);
void kretprobe_pool_retire(struct kretprobe_pool *pool);
void kretprobe_pool_close(struct kretprobe_pool *pool);
void kretprobe_pool_destroy(struct kretprobe_pool *pool);
void kretprobe_pool_forget_holders(struct kretprobe_pool *pool);
struct kretprobe_instance *kretprobe_pool_take(struct kretprobe_pool *pool);
void kretprobe_pool_give(struct kretprobe_instance *ri);
unsigned int kretprobe_instances(void);

/* kretprobe_class.c */
struct kretprobe_class *kretprobe_class_get(size_t size, unsigned int promised);
void kretprobe_class_put(struct kretprobe_class *class, unsigned int promised);
struct kretprobe_cache __percpu *kretprobe_class_caches(struct kretprobe_class *class);
void kretprobe_holder_give_up(struct kretprobe_holder *holder);
struct kretprobe_instance *kretprobe_class_take(struct kretprobe_holder *holder);

/* Returns an instance of this CPU's cache, or NULL.  Context: the hit. */
static __always_inline struct kretprobe_instance *
kretprobe_cache_take(struct kretprobe_holder *holder)
{
	struct kretprobe_cache *cache = this_cpu_ptr(holder->caches);
	struct kretprobe_instance *ri;

	if (unlikely(cache->busy))
		return NULL;
	cache->busy = true;
	barrier();
	ri = cache->first;
	if (likely(ri)) {
		cache->first = (struct kretprobe_instance *)ri->llist.next;
		cache->nr--;
	}
	barrier();
	cache->busy = false;
	return ri;
}

/*
 * Counts a call of a probe that has a limit.  Returns false if as many are followed; who comes
 * at the same moment may then be told so, too.
 */
static __always_inline bool kretprobe_count(struct kretprobe_holder *holder)
{
	if (likely(!holder->limit) || likely(!raw_atomic_add_negative(-1, &holder->room)))
		return true;
	raw_atomic_inc(&holder->room);
	return false;
}

/* The call has ended, or is not followed after all.  Context: preemption disabled. */
static __always_inline void kretprobe_uncount(struct kretprobe_holder *holder)
{
	if (unlikely(holder->limit))
		raw_atomic_inc(&holder->room);
}

/**
 * kretprobe_take_cached() - an instance for a call, if there is one at hand
 * @holder: of the probe
 *
 * Context: the hit, preemption disabled.
 * Return: the instance; NULL means that kretprobe_take() has to be asked.
 */
static __always_inline struct kretprobe_instance *
kretprobe_take_cached(struct kretprobe_holder *holder)
{
	struct kretprobe_instance *ri;

	if (unlikely(!kretprobe_count(holder)))
		return NULL;
	ri = kretprobe_cache_take(holder);
	if (unlikely(!ri))
		kretprobe_uncount(holder);
	return ri;
}

/**
 * kretprobe_take() - an instance for a call
 * @holder: of the probe
 *
 * Context: the hit, preemption disabled.
 * Return: the instance; NULL if there is none, and the call is missed.
 */
static __always_inline struct kretprobe_instance *
kretprobe_take(struct kretprobe_holder *holder)
{
	struct kretprobe_instance *ri;

	if (unlikely(!kretprobe_count(holder)))
		return NULL;
	ri = kretprobe_cache_take(holder);
	if (unlikely(!ri)) {
		ri = kretprobe_class_take(holder);
		if (!ri)
			kretprobe_uncount(holder);
	}
	return ri;
}

/**
 * kretprobe_give() - a call has returned, or is not followed after all
 * @ri: its instance; nobody looks at it any more
 * @holder: its holder
 *
 * Context: preemption disabled.
 */
static __always_inline void kretprobe_give(struct kretprobe_instance *ri,
					   struct kretprobe_holder *holder)
{
	/* Pairs with kretprobe_pool_retire(), and the grace period behind it. */
	struct kretprobe_cache __percpu *caches = READ_ONCE(ri->pool->caches);
	struct kretprobe_cache *cache;

	kretprobe_uncount(holder);
	if (unlikely(!caches)) {
		kretprobe_pool_give(ri);
		return;
	}
	cache = this_cpu_ptr(caches);
	if (unlikely(cache->busy || cache->nr >= KRETPROBE_CACHE_MAX)) {
		kretprobe_pool_give(ri);
		return;
	}
	cache->busy = true;
	barrier();
	ri->llist.next = (struct llist_node *)cache->first;
	cache->first = ri;
	cache->nr++;
	barrier();
	cache->busy = false;
}

#endif /* _KERNEL_KPROBES_KRETPROBE_POOL_H */
