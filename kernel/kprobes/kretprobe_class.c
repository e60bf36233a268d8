// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes: classes of instances, which many probes share and which grow.
 *
 * Probes with maxactive <= 0 follow all calls, with no limit on the calls in flight;
 * the others follow up to maxactive calls.  All probes whose instances have about the
 * same size form a class.
 *
 * A hit searches the pools of the class from the oldest to the newest; the newest is a
 * reserve.  A hit that takes from the reserve raises an irq_work, which adds a pool as
 * large as all others together, if memory permits.  Until it is added, one instance is
 * free for every two in use.  The irq_work runs as soon as interrupts are enabled; a
 * worker would wait for the tasks that use up the instances.  Each CPU has its own
 * irq_work, because a CPU that has interrupts disabled, or that a hypervisor has
 * stopped, must not delay the others.  A worker adds pools that are too large to be
 * allocated in an interrupt.
 *
 * The first probe creates the class, with a pool and a reserve; the class is freed
 * after the last probe.  A pool with calls in flight lives longer (kretprobe_pool.c).
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
#include <linux/string.h>
#include <linux/workqueue.h>

#include "kretprobe_instance.h"

/* log2 of the sizes of instances; the largest has room for KRETPROBE_MAX_DATA_SIZE. */
#define SMALLEST_ORDER	6
#define LARGEST_ORDER	13
#define NR_CLASSES	(LARGEST_ORDER - SMALLEST_ORDER + 1)

static_assert(BIT(LARGEST_ORDER) >=
	      sizeof(struct kretprobe_instance) + KRETPROBE_MAX_DATA_SIZE);

/*
 * Size of the first pool and of the first reserve: enough for the calls that a task can
 * nest on its stack with interrupts disabled, and some in interrupts of every CPU.
 */
#define POOL_MIN	64
#define POOL_MIN_CPU	4
/* Maximum of instances in a pool that is added to grow a class. */
#define POOL_MAX	BIT(16)
/* Maximum bytes of the instances that an interrupt adds; 256 are left for the pool. */
#define POOL_ATOMIC	((PAGE_SIZE << PAGE_ALLOC_COSTLY_ORDER) - 256)

/* Written under kretprobe_mutex; the irq_work reads it under RCU. */
static struct kretprobe_class *classes[NR_CLASSES];

static void link_pool(struct kretprobe_class *class, struct kretprobe_pool *pool)
{
	lockdep_assert_held(&class->lock);

	if (!class->newest)
		class->oldest = pool;
	else
		/* Complete the pool before a hit can find it.  Pairs with kretprobe_next_pool(). */
		smp_store_release(&class->newest->next, pool);
	/* Pairs with READ_ONCE() in kretprobe_class_take(), which only compares the pointer. */
	WRITE_ONCE(class->newest, pool);
	WRITE_ONCE(class->total, class->total + pool->nr);
}

/* Adds a pool of @nr instances.  Returns false without memory. */
static bool add_pool(struct kretprobe_class *class, unsigned int nr, gfp_t gfp)
{
	struct kretprobe_pool *pool = kretprobe_pool_create(nr, BIT(class->order), gfp);

	if (!pool)
		return false;
	pool->caches = class->caches;
	scoped_guard(spinlock_irqsave, &class->lock) {
		if (!class->closed) {
			link_pool(class, pool);
			return true;
		}
	}
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

/* Returns the size of the next pool: as large as all others together, up to POOL_MAX. */
static unsigned int wanted(struct kretprobe_class *class)
{
	return min(READ_ONCE(class->total), POOL_MAX);
}

/* Adds a pool if there are too few instances for @promised more.  Returns false without memory. */
static bool keep_promise(struct kretprobe_class *class, unsigned int promised)
{
	unsigned int has = READ_ONCE(class->total) - class->promised;

	return promised <= has ||
	       add_pool(class, max(promised - has, wanted(class)), GFP_KERNEL);
}

/**
 * kretprobe_class_get() - get, or create, the class for a probe
 * @size: bytes of an instance, with its user's data
 * @promised: number of instances that the probe may take; 0 if it has no limit
 *
 * Context: task, may sleep, kretprobe_mutex held.
 * Return: the class, to be released with kretprobe_class_put(); NULL without memory.
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
		kretprobe_growth_settle(class);
	}
}

static DECLARE_WORK(grow_work, grow_worker);

static void grow_in_interrupt(struct kretprobe_class *class)
{
	unsigned int all = wanted(class);
	unsigned int nr = min_t(unsigned int, all, max(POOL_ATOMIC >> class->order, 1));

	if (add_pool(class, nr, GFP_ATOMIC) && nr == all) {
		kretprobe_growth_settle(class);
		return;
	}
	/* The wanted pool is too large for an interrupt, or there is no memory. */
	queue_work(system_dfl_wq, &grow_work);
}

static void feed_hungry(struct irq_work *unused)
{
	struct kretprobe_class *class;
	int i;

	/* A class is freed a grace period after it has left the array. */
	guard(rcu)();
	for (i = 0; i < NR_CLASSES; i++) {
		class = READ_ONCE(classes[i]);
		if (class && kretprobe_growth_feed(class))
			grow_in_interrupt(class);
	}
}

DEFINE_PER_CPU(struct irq_work, kretprobe_feed_irq_work) = IRQ_WORK_INIT(feed_hungry);

/* --- The end of classes, and of holders ----------------------------------------- */

/*
 * An instance refers to the holder of its last call, and may be in flight for any time.
 * To find the instances of a holder, all instances have to be searched.  So a worker does
 * that, at most once in TIDY_DELAY, for all holders that have been given up until then.
 */
#define TIDY_DELAY	HZ

static LIST_HEAD(retired_classes);
static LIST_HEAD(given_up_holders);

/* Returns the instances in the caches of a retired class to their pools. */
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
	struct kretprobe_class *found[NR_CLASSES], *class, *next;
	struct kretprobe_holder *holder, *next_holder;
	LIST_HEAD(given_up);
	LIST_HEAD(retired);
	int i;

	scoped_guard(mutex, &kretprobe_mutex) {
		list_splice_init(&given_up_holders, &given_up);
		list_splice_init(&retired_classes, &retired);
		memcpy(found, classes, sizeof(found));
	}

	/* Wait for readers that have found a class, or a pool before it was retired. */
	synchronize_rcu();

	/*
	 * Registrations need not wait for this walk: only this worker frees classes that were
	 * published, and a class that is newer has no instance of these holders.
	 */
	for (i = 0; i < NR_CLASSES; i++)
		forget_holders(found[i]);
	list_for_each_entry(class, &retired, retired) {
		forget_holders(class);
		empty_caches(class);
	}

	guard(mutex)(&kretprobe_mutex);
	list_for_each_entry_safe(class, next, &retired, retired)
		free_class(class);
	/* Use RCU, because a return may have read its holder from an instance just before. */
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
	queue_delayed_work(system_dfl_wq, &tidy_work, TIDY_DELAY);
}

/**
 * kretprobe_class_put() - release the class of a probe
 * @class: from kretprobe_class_get()
 * @promised: the argument of kretprobe_class_get(), or 0 if it was not counted yet
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
	/* Close the class first, so that no pool is added after the walk. */
	scoped_guard(spinlock_irq, &class->lock)
		class->closed = true;
	for (pool = class->oldest; pool; pool = kretprobe_next_pool(pool))
		kretprobe_pool_retire(pool);
	list_add_tail(&class->retired, &retired_classes);
	queue_delayed_work(system_dfl_wq, &tidy_work, TIDY_DELAY);
}
