/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KERNEL_KPROBES_HIT_INSTANCE_H
#define _KERNEL_KPROBES_HIT_INSTANCE_H
/*
 * At a hit: take and release instances of return probes.
 *
 * Each CPU has a cache of free instances of each class.  A cache is marked busy while it is
 * changed; an interrupt or an NMI that arrives in between uses the pools instead.  So plain
 * loads and stores are enough to change a cache.
 */
#include <linux/atomic.h>
#include <linux/percpu.h>

#include "../kretprobe_instance.h"

/* Maximum of instances in a cache.  Tasks that migrate move instances between CPUs. */
#define KRETPROBE_CACHE_MAX	16

/* Takes an instance from this CPU's cache, or returns NULL.  Context: the hit. */
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
 * Counts a call of a probe that has a limit.  Returns false if the limit is reached.  While
 * one call gets false, a concurrent one may get false, too, although the limit allows it.
 */
static __always_inline bool kretprobe_count(struct kretprobe_holder *holder)
{
	if (!holder->limited || likely(!raw_atomic_add_negative(-1, &holder->room)))
		return true;
	raw_atomic_inc(&holder->room);
	return false;
}

/**
 * kretprobe_take_cached() - take an instance for a call, if this CPU's cache has one
 * @holder: of the probe
 *
 * Context: the hit, preemption disabled.
 * Return: the instance; NULL if the caller has to call kretprobe_take().
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
 * Return: the instance; NULL if there is none: the call is missed.
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
 * kretprobe_give() - release the instance of a call
 * @ri: the instance, which is on no task's list any more
 * @holder: holder of the instance
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
