// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At a hit: take and release instances of return probes when the CPU's cache is empty or full.
 */
#include <linux/irq_work.h>
#include <linux/kprobes-frame.h>
#include <linux/llist.h>

#include "instance.h"

/**
 * pool_take() - take an instance from a pool
 * @pool: the pool
 *
 * Context: any, preemption disabled.
 * Return: the instance, or NULL if all are taken.
 */
static struct kretprobe_instance *pool_take(struct kretprobe_pool *pool)
{
	unsigned int words = BITS_TO_LONGS(pool->nr), word = READ_ONCE(pool->hint);
	unsigned int tried, bit;
	unsigned long taken;

	for (tried = 0; tried < words; tried++) {
		/* Retry until the word is full, because another CPU may take the bit first. */
		while ((taken = READ_ONCE(pool->taken[word])) != ~0UL) {
			bit = word * BITS_PER_LONG + ffz(taken);
			/* Acquire: pairs with the release in kretprobe_pool_put(). */
			if (test_and_set_bit_lock(bit, pool->taken))
				continue;
			raw_atomic_dec(&pool->nr_free);
			if (word != READ_ONCE(pool->hint))
				WRITE_ONCE(pool->hint, word);
			return kretprobe_pool_instance(pool, bit);
		}
		if (++word == words)
			word = 0;
	}
	return NULL;
}
NOKPROBE_SYMBOL(pool_take);

static __always_inline void ask_for_more(struct kretprobe_class *class)
{
	kretprobe_growth_want(class);
	/* Queue it on this CPU even if another CPU has queued its own.  No effect if pending. */
	irq_work_queue(this_cpu_ptr(&kretprobe_feed_irq_work));
}

/**
 * kretprobe_class_take() - take an instance when this CPU's cache has none
 * @holder: of the probe that is hit
 *
 * To get more instances, this function may raise an interrupt on this CPU, and the functions
 * that it calls for that can be probed.  A detour that calls only a return probe does not make
 * it the current probe, so this function does: hits in between are missed and cannot recurse.
 *
 * Context: the hit, preemption disabled.
 * Return: the instance, or NULL if even the reserve is empty.
 */
struct kretprobe_instance *kretprobe_class_take(struct kretprobe_holder *holder)
{
	struct kprobe_frame *frame = kprobe_this_frame();
	struct kretprobe_class *class = holder->class;
	struct kretprobe_instance *ri = NULL;
	struct kretprobe_pool *pool;
	struct kprobe *outer;

	outer = kprobe_push_current(frame, &holder->rp->kp);
	for (pool = class->oldest; pool && !ri; pool = kretprobe_next_pool(pool)) {
		if (pool == READ_ONCE(class->newest))
			ask_for_more(class);
		if (raw_atomic_read(&pool->nr_free) > 0)
			ri = pool_take(pool);
	}
	kprobe_pop_current(frame, outer);
	return ri;
}
NOKPROBE_SYMBOL(kretprobe_class_take);

/**
 * kretprobe_pool_give() - return an instance to its pool
 * @ri: the instance, which is on no task's list any more
 *
 * Context: any, preemption disabled.
 */
void kretprobe_pool_give(struct kretprobe_instance *ri)
{
	struct llist_node *first = READ_ONCE(kretprobe_orphans.first);

	if (likely(READ_ONCE(ri->pool->caches))) {
		kretprobe_pool_put(ri);
		return;
	}
	/* Open-coded llist_add(), because that can be probed.  Pairs with llist_del_all(). */
	do {
		ri->llist.next = first;
	} while (!try_cmpxchg(&kretprobe_orphans.first, &first, &ri->llist));
	if (!first)
		irq_work_queue(&kretprobe_reap_irq_work);
}
NOKPROBE_SYMBOL(kretprobe_pool_give);
