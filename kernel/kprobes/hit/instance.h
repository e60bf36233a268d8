/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KERNEL_KPROBES_HIT_INSTANCE_H
#define _KERNEL_KPROBES_HIT_INSTANCE_H
/*
 * At a hit: instances of return probes are taken, and given back.
 *
 * Each CPU has a cache of free instances of each class.  A cache is marked busy while it is
 * changed; an interrupt or an NMI that comes in between asks the pools.  So the changes are
 * plain loads and stores.
 */
#include <linux/atomic.h>
#include <linux/percpu.h>

#include "../kretprobe_instance.h"

/* Instances that a CPU keeps for itself: of tasks that have been moved here, mostly. */
#define KRETPROBE_CACHE_MAX	16

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
 * Counts a call of a probe that has a limit.  Returns false if as many calls are followed
 * already.  Another call at the same moment may get false, too.
 */
static __always_inline bool kretprobe_count(struct kretprobe_holder *holder)
{
	if (likely(!holder->limit) || likely(!raw_atomic_add_negative(-1, &holder->room)))
		return true;
	raw_atomic_inc(&holder->room);
	return false;
}

/**
 * kretprobe_take_cached() - take an instance for a call, if this CPU's cache has one
 * @holder: of the probe
 *
 * Context: the hit, preemption disabled.
 * Return: the instance; NULL if the caller has to try kretprobe_take().
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
 * kretprobe_take() - take an instance for a call
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
 * kretprobe_give() - give the instance of a call back
 * @ri: its instance; nobody looks at it any more
 * @holder: its holder
 *
 * Context: preemption disabled.
 */
static __always_inline void kretprobe_give(struct kretprobe_instance *ri,
					   struct kretprobe_holder *holder)
{
	/* Pairs with kretprobe_pool_retire(), and the grace period after it. */
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

#endif /* _KERNEL_KPROBES_HIT_INSTANCE_H */
