// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes: a pool is a fixed number of instances.
 *
 *	create -> take, give ... -> retire -> (a grace period) -> close
 *
 * A call may be in flight for any time, so a closed pool is freed only after the last
 * of its instances has returned.  Instances that return to a retired pool are put on a
 * list for a worker, which frees the closed pools that have become complete.
 */
#include <linux/bitmap.h>
#include <linux/irq_work.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "kretprobe_instance.h"

/* Maximum size of a pool: more than is ever needed, and no overflow in the sizes below. */
#define POOL_BYTES_MAX	SZ_1G

/* Guards the users of classes, and kretprobe_pool::closed. */
DEFINE_MUTEX(kretprobe_mutex);

static atomic_t all_instances = ATOMIC_INIT(0);

/* The holder of instances whose probe has been unregistered, and of unused instances. */
static struct kretprobe_holder nobody = { .stopped = true };

/**
 * kretprobe_pool_create() - allocate a pool
 * @nr: number of instances, > 0
 * @size: bytes of each instance, with its user's data
 * @gfp: GFP_KERNEL, or GFP_ATOMIC
 *
 * Context: as @gfp allows.
 * Return: the pool, or NULL without memory.
 */
struct kretprobe_pool *kretprobe_pool_create(unsigned int nr, size_t size, gfp_t gfp)
{
	size_t stride = ALIGN(size, sizeof(u64));
	unsigned int bits = ALIGN(nr, BITS_PER_LONG), i;
	struct kretprobe_pool *pool;
	size_t head;

	head = ALIGN(struct_size(pool, taken, BITS_TO_LONGS((size_t)nr)), sizeof(u64));
	if (nr > (POOL_BYTES_MAX - head) / stride)
		return NULL;
	/* vmalloc() must not be called in interrupts. */
	if (gfpflags_allow_blocking(gfp))
		pool = kvzalloc(head + nr * stride, gfp | __GFP_NOWARN);
	else
		pool = kzalloc(head + nr * stride, gfp | __GFP_NOWARN);
	if (!pool)
		return NULL;

	pool->nr = nr;
	pool->stride = stride;
	pool->instances = (void *)pool + head;
	atomic_set(&pool->nr_free, nr);
	bitmap_set(pool->taken, nr, bits - nr);
	for (i = 0; i < nr; i++)
		*kretprobe_pool_instance(pool, i) = (struct kretprobe_instance) {
			.pool = pool,
			.rph = &nobody,
		};
	atomic_add(nr, &all_instances);
	return pool;
}

/**
 * kretprobe_instances() - number of all instances, used or free
 *
 * Context: any.
 */
unsigned int kretprobe_instances(void)
{
	return atomic_read(&all_instances);
}

/**
 * kretprobe_pool_destroy() - free a pool that no hit has found
 * @pool: the pool
 *
 * Context: any, if it was allocated with GFP_ATOMIC; task otherwise.
 */
void kretprobe_pool_destroy(struct kretprobe_pool *pool)
{
	atomic_sub(pool->nr, &all_instances);
	kvfree(pool);
}

/* No instance is taken from a closed pool any more, so nr_free is exact. */
static void free_if_empty(struct kretprobe_pool *pool)
{
	if (pool->closed && atomic_read(&pool->nr_free) == pool->nr)
		kretprobe_pool_destroy(pool);
}

/**
 * kretprobe_pool_retire() - stop the reuse of instances that return to a pool
 * @pool: the pool
 *
 * A kretprobe_give() that has read caches before ends within a grace period.
 *
 * Context: task.
 */
void kretprobe_pool_retire(struct kretprobe_pool *pool)
{
	WRITE_ONCE(pool->caches, NULL);
}

/**
 * kretprobe_pool_close() - free a pool, as soon as no call uses it
 * @pool: retired before the last grace period, or never used
 *
 * Context: task, kretprobe_mutex held.
 */
void kretprobe_pool_close(struct kretprobe_pool *pool)
{
	lockdep_assert_held(&kretprobe_mutex);

	pool->closed = true;
	free_if_empty(pool);
}

/**
 * kretprobe_pool_forget_holders() - detach instances from holders without a probe
 * @pool: the pool
 *
 * No new call uses such a holder, but a new call may set the holder of an instance at any
 * time, so this is a compare-and-exchange.  The caller frees the holders afterwards.
 *
 * Context: the worker that frees classes and holders; no lock held, because a pool may be large.
 */
void kretprobe_pool_forget_holders(struct kretprobe_pool *pool)
{
	struct kretprobe_holder *holder;
	unsigned int i;

	lockdep_assert_not_held(&kretprobe_mutex);

	for (i = 0; i < pool->nr; i++) {
		struct kretprobe_instance *ri = kretprobe_pool_instance(pool, i);

		holder = READ_ONCE(ri->rph);
		if (holder != &nobody && !READ_ONCE(holder->rp))
			cmpxchg(&ri->rph, holder, &nobody);
	}
}

/* --- Instances that return to a retired pool ------------------------------ */

static void reap_worker(struct work_struct *work);
LLIST_HEAD(kretprobe_orphans);
static DECLARE_WORK(reap_work, reap_worker);

static void wake_reaper(struct irq_work *unused)
{
	queue_work(system_dfl_wq, &reap_work);
}

DEFINE_IRQ_WORK(kretprobe_reap_irq_work, wake_reaper);

static void reap_worker(struct work_struct *work)
{
	struct llist_node *list = llist_del_all(&kretprobe_orphans);
	struct kretprobe_instance *ri, *next;
	struct kretprobe_pool *pool;

	/* Wait for unwinders that may be reading these instances: kretprobe_find_ret_addr(). */
	synchronize_rcu();

	guard(mutex)(&kretprobe_mutex);
	llist_for_each_entry_safe(ri, next, list, llist) {
		pool = ri->pool;
		kretprobe_pool_put(ri);
		free_if_empty(pool);
	}
}
