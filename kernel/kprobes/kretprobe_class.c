// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes: instances that many probes share, and that do not run out.
 *
 * Probes with maxactive <= 0 want every call to be followed, however many are in
 * flight; the others want so many.  All whose instances have about the same size are one
 * class.
 * Its pools are asked from the oldest to the newest; the newest is a reserve.
 * A hit that takes from it raises an irq_work, which adds another, if possible as
 * large as all others together: so what is left until then is as much as half of
 * what is in use.  It runs as soon as interrupts are on; a worker would wait for the
 * very tasks that use the instances up.  Each CPU has an irq_work, for one that has
 * interrupts off, or that a hypervisor has stopped, must not let the others run dry.
 * What is too large for an interrupt to allocate, a worker adds.
 *
 * The first probe makes the class, with a pool and a reserve, and the last takes
 * it with it.  Calls in flight keep their pool (kretprobe_pool.c).
 */
#include <linux/bitops.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "kretprobe_instance.h"

/* Sizes of instances: powers of two from this to that for all of the data. */
#define SMALLEST_ORDER	6
#define LARGEST_ORDER	13
#define NR_CLASSES	(LARGEST_ORDER - SMALLEST_ORDER + 1)

static_assert(BIT(LARGEST_ORDER) >=
	      sizeof(struct kretprobe_instance) + KRETPROBE_MAX_DATA_SIZE);

/*
 * Of the first pool and of the first reserve.  With interrupts off, there is what a
 * task can nest calls on its stack, and some in interrupts of every CPU.
 */
#define POOL_MIN	64
#define POOL_MIN_CPU	4
/* A pool is not made larger than this, or not at once. */
#define POOL_MAX	BIT(16)
/* What an interrupt may ask for, in bytes: some are the pool's own. */
#define POOL_ATOMIC	((PAGE_SIZE << PAGE_ALLOC_COSTLY_ORDER) - 256)

/* Written under kretprobe_mutex; RCU for the irq_work. */
static struct kretprobe_class *classes[NR_CLASSES];

static void link_pool(struct kretprobe_class *class, struct kretprobe_pool *pool)
{
	lockdep_assert_held(&class->lock);

	if (!class->newest)
		class->oldest = pool;
	else
		/* It is complete before a hit finds it: kretprobe_next_pool(). */
		smp_store_release(&class->newest->next, pool);
	/* Pairs with the READ_ONCE() in kretprobe_class_take(), which only compares. */
	WRITE_ONCE(class->newest, pool);
	WRITE_ONCE(class->total, class->total + pool->nr);
}

/* Adds a pool of @nr.  Returns false without memory. */
static bool add_pool(struct kretprobe_class *class, unsigned int nr, gfp_t gfp)
{
	struct kretprobe_pool *pool = kretprobe_pool_create(nr, BIT(class->order), gfp);
	unsigned long flags;
	bool closed;

	if (!pool)
		return false;
	pool->caches = class->caches;
	spin_lock_irqsave(&class->lock, flags);
	closed = class->closed;
	if (!closed)
		link_pool(class, pool);
	spin_unlock_irqrestore(&class->lock, flags);
	if (closed)
		kretprobe_pool_destroy(pool);
	return true;
}

static void free_class(struct kretprobe_class *class)
{
	struct kretprobe_pool *pool, *next;

	for (pool = class->oldest; pool; pool = next) {
		next = pool->next;
		kretprobe_pool_close(pool);
	}
	free_percpu(class->caches);
	kfree(class);
}

static struct kretprobe_class *create_class(unsigned int order)
{
	unsigned int nr = max(POOL_MIN, roundup_pow_of_two(POOL_MIN_CPU * num_possible_cpus()));
	struct kretprobe_class *class = kzalloc(sizeof(*class), GFP_KERNEL);

	if (!class)
		return NULL;
	class->order = order;
	spin_lock_init(&class->lock);
	class->caches = alloc_percpu(struct kretprobe_cache);
	if (class->caches && add_pool(class, nr, GFP_KERNEL) &&
	    add_pool(class, nr, GFP_KERNEL))
		return class;
	free_class(class);
	return NULL;
}

/* As large as all others together. */
static unsigned int wanted(struct kretprobe_class *class)
{
	return min(READ_ONCE(class->total), POOL_MAX);
}

/* Adds what @promised more instances need.  Returns false without memory. */
static bool keep_promise(struct kretprobe_class *class, unsigned int promised)
{
	unsigned int has = READ_ONCE(class->total) - class->promised;

	return promised <= has ||
	       add_pool(class, max(promised - has, wanted(class)), GFP_KERNEL);
}

/**
 * kretprobe_class_get() - a probe shares its instances with others
 * @size: bytes of an instance, with its user's data
 * @promised: how many instances the probe must be able to take; 0 if there is no limit
 *
 * Context: task, may sleep, kretprobe_mutex held.
 * Return: the class, to be given to kretprobe_class_put(); NULL without memory.
 */
struct kretprobe_class *kretprobe_class_get(size_t size, unsigned int promised)
{
	unsigned int order = max(SMALLEST_ORDER, order_base_2(size));
	struct kretprobe_class *class = classes[order - SMALLEST_ORDER];

	lockdep_assert_held(&kretprobe_mutex);

	if (!class) {
		class = create_class(order);
		if (!class)
			return NULL;
		WRITE_ONCE(classes[order - SMALLEST_ORDER], class);
	}
	class->users++;
	if (!keep_promise(class, promised)) {
		kretprobe_class_put(class, 0);
		return NULL;
	}
	class->promised += promised;
	return class;
}

/* --- Growing --------------------------------------------------------------- */

static void grow_worker(struct work_struct *work)
{
	struct kretprobe_class *class;
	int i;

	guard(mutex)(&kretprobe_mutex);
	for (i = 0; i < NR_CLASSES; i++) {
		class = classes[i];
		if (!class || READ_ONCE(class->growth) != KRETPROBE_FED)
			continue;
		if (!add_pool(class, wanted(class), GFP_KERNEL))
			pr_warn_once("no memory for more instances of return probes\n");
		/* Unless a hit has asked for more meanwhile. */
		cmpxchg(&class->growth, KRETPROBE_FED, KRETPROBE_SETTLED);
	}
}

static DECLARE_WORK(grow_work, grow_worker);

static void grow_in_interrupt(struct kretprobe_class *class)
{
	unsigned int nr = max(POOL_ATOMIC >> class->order, 1);

	/* A last pool without memory is made up for by the worker. */
	if (nr >= wanted(class) && add_pool(class, wanted(class), GFP_ATOMIC)) {
		/* Unless a hit has asked for more meanwhile. */
		cmpxchg(&class->growth, KRETPROBE_FED, KRETPROBE_SETTLED);
		return;
	}
	add_pool(class, nr, GFP_ATOMIC);
	queue_work(system_unbound_wq, &grow_work);
}

static void feed_hungry(struct irq_work *unused)
{
	struct kretprobe_class *class;
	int i;

	/* A class goes a grace period after it has left the array. */
	guard(rcu)();
	for (i = 0; i < NR_CLASSES; i++) {
		class = READ_ONCE(classes[i]);
		/* Those of several CPUs may run at once: one of them feeds it. */
		if (class && cmpxchg(&class->growth, KRETPROBE_HUNGRY,
				     KRETPROBE_FED) == KRETPROBE_HUNGRY)
			grow_in_interrupt(class);
	}
}

DEFINE_PER_CPU(struct irq_work, kretprobe_feed_irq_work) = IRQ_WORK_INIT(feed_hungry);

/* --- The end of classes, and of holders ----------------------------------------- */

/*
 * An instance refers to the holder of its last call, and may be in flight for as long as
 * it likes.  To find the instances of a holder takes a walk over all of them, so a worker
 * does that, at most once in a while for all holders that have been given up until then.
 */
#define TIDY_DELAY	HZ

static LIST_HEAD(retired_classes);
static LIST_HEAD(given_up_holders);

/* Gives the instances in the caches of a retired class back to their pools. */
static void empty_caches(struct kretprobe_class *class)
{
	struct kretprobe_cache *cache;
	struct kretprobe_instance *ri;
	int cpu;

	for_each_possible_cpu(cpu) {
		cache = per_cpu_ptr(class->caches, cpu);
		while ((ri = cache->first)) {
			cache->first = (struct kretprobe_instance *)ri->llist.next;
			preempt_disable();
			kretprobe_pool_give(ri);
			preempt_enable();
		}
	}
}

static void forget_holders(struct kretprobe_class *class)
{
	struct kretprobe_pool *pool;

	for (pool = class ? class->oldest : NULL; pool; pool = kretprobe_next_pool(pool)) {
		kretprobe_pool_forget_holders(pool);
		cond_resched();
	}
}

static void tidy_worker(struct work_struct *work)
{
	struct kretprobe_holder *holder, *next_holder;
	struct kretprobe_class *class, *next;
	LIST_HEAD(given_up);
	LIST_HEAD(retired);
	int i;

	mutex_lock(&kretprobe_mutex);
	list_splice_init(&given_up_holders, &given_up);
	list_splice_init(&retired_classes, &retired);
	mutex_unlock(&kretprobe_mutex);

	/* For readers that found a pool not retired, or a class in the array. */
	synchronize_rcu();

	guard(mutex)(&kretprobe_mutex);
	for (i = 0; i < NR_CLASSES; i++)
		forget_holders(classes[i]);
	list_for_each_entry_safe(class, next, &retired, retired) {
		forget_holders(class);
		empty_caches(class);
		free_class(class);
	}
	/* A return may have read its holder out of an instance just before. */
	list_for_each_entry_safe(holder, next_holder, &given_up, given_up)
		kfree_rcu(holder, rcu);
}

static DECLARE_DELAYED_WORK(tidy_work, tidy_worker);

/**
 * kretprobe_holder_give_up() - free a holder when no instance refers to it any more
 * @holder: stopped before the last grace period, and without a probe
 *
 * Context: task, kretprobe_mutex held.
 */
void kretprobe_holder_give_up(struct kretprobe_holder *holder)
{
	lockdep_assert_held(&kretprobe_mutex);

	list_add_tail(&holder->given_up, &given_up_holders);
	queue_delayed_work(system_unbound_wq, &tidy_work, TIDY_DELAY);
}

/**
 * kretprobe_class_put() - a probe has gone, or has not come about
 * @class: from kretprobe_class_get()
 * @promised: the same as there
 *
 * No hit takes an instance for that probe any more.
 *
 * Context: task, kretprobe_mutex held.
 */
void kretprobe_class_put(struct kretprobe_class *class, unsigned int promised)
{
	struct kretprobe_pool *pool;

	lockdep_assert_held(&kretprobe_mutex);

	class->promised -= promised;
	if (--class->users)
		return;
	WRITE_ONCE(classes[class->order - SMALLEST_ORDER], NULL);
	/* No pool comes after the last that the walk finds. */
	spin_lock_irq(&class->lock);
	class->closed = true;
	spin_unlock_irq(&class->lock);
	for (pool = class->oldest; pool; pool = kretprobe_next_pool(pool))
		kretprobe_pool_retire(pool);
	list_add_tail(&class->retired, &retired_classes);
	queue_delayed_work(system_unbound_wq, &tidy_work, TIDY_DELAY);
}
