// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instances of return probes: probes share them, maxactive limits them and makes them in
 * advance, and a task that ends returns them.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/timekeeping.h>

#include "../kretprobe_instance.h"
#include "counted.h"
#include "crowd.h"

static void maxactive_is_a_hard_limit(struct kunit *test)
{
	struct kretprobe rp = counting(crowd_wait, 3);
	unsigned int before = kretprobe_instances();

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_GE(test, kretprobe_instances(), before + 3);
	KUNIT_EXPECT_EQ(test, crowd_start(crowd_wait, 80), 80);
	KUNIT_EXPECT_TRUE(test, crowd_waits(80));
	KUNIT_EXPECT_EQ(test, rp.nmissed, 77);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd_entered), 3);
	crowd_leave(test, 80);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd_returned), 3);
	/* The instances are free again. */
	crowd_wait(1);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd_returned), 4);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 77);
	unregister_kretprobe(&rp);
	expect_instances(test, before);
}

/* The instances exist before the first call, and are freed with the probe. */
static void maxactive_is_a_promise(struct kunit *test)
{
	struct kretprobe rp = counting(crowd_wait, 5000), other = counting(crowd_wait_traced, 5000);
	unsigned int before = kretprobe_instances();

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_GE(test, kretprobe_instances(), before + 5000);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&other), 0);
	KUNIT_EXPECT_GE(test, kretprobe_instances(), before + 10000);
	unregister_kretprobe(&other);
	unregister_kretprobe(&rp);
	expect_instances(test, before);
	rp.maxactive = INT_MAX;
	KUNIT_EXPECT_EQ(test, register_kretprobe(&rp), -ENOMEM);
	expect_instances(test, before);
}

/* Two probes with data of one size share instances; one with another size does not. */
static void probes_share_instances(struct kunit *test)
{
	struct kretprobe a = counting(crowd_wait, 0), b = counting(crowd_wait_traced, -1);
	struct kretprobe c = counting(crowd_wait, 0);
	unsigned int before = kretprobe_instances(), with_one;

	c.data_size = KRETPROBE_MAX_DATA_SIZE;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&a), 0);
	with_one = kretprobe_instances();
	KUNIT_EXPECT_GT(test, with_one, before);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&b), 0);
	KUNIT_EXPECT_EQ(test, kretprobe_instances(), with_one);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&c), 0);
	KUNIT_EXPECT_EQ(test, kretprobe_instances() - before, 2 * (with_one - before));
	unregister_kretprobe(&a);
	unregister_kretprobe(&c);
	crowd_open_gate();
	crowd_wait_traced(1);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd_returned), 1);
	unregister_kretprobe(&b);
	expect_instances(test, before);
}

/* Unwinders on other CPUs may follow the link of an instance that is being used again. */
static void a_free_instance_leads_nowhere(struct kunit *test)
{
	struct kretprobe_pool *pool;
	struct kretprobe_instance *ri;

	pool = kretprobe_pool_create(2, sizeof(*ri), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pool);
	ri = kretprobe_pool_instance(pool, 1);
	/* As kretprobe_class_take() does it. */
	set_bit(1, pool->taken);
	atomic_dec(&pool->nr_free);
	ri->llist.next = &kretprobe_pool_instance(pool, 0)->llist;
	kretprobe_pool_put(ri);
	KUNIT_EXPECT_NULL(test, ri->llist.next);
	KUNIT_EXPECT_EQ(test, atomic_read(&pool->nr_free), 2);
	kretprobe_pool_destroy(pool);
}

#define CLOSINGS	1000

/*
 * Returns the least time, in nanoseconds, of CLOSINGS attempts to free a pool of @nr instances
 * of which one is in use.
 */
static u64 time_closing(struct kunit *test, unsigned int nr)
{
	u64 least = U64_MAX, start;
	struct kretprobe_pool *pool;
	int round, i;

	pool = kretprobe_pool_create(nr, sizeof(struct kretprobe_instance), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pool);
	/* As kretprobe_class_take() does it. */
	set_bit(0, pool->taken);
	atomic_dec(&pool->nr_free);
	mutex_lock(&kretprobe_mutex);
	for (round = 0; round < 5; round++) {
		start = ktime_get_ns();
		for (i = 0; i < CLOSINGS; i++)
			kretprobe_pool_close(pool);
		least = min(least, ktime_get_ns() - start);
	}
	kretprobe_pool_put(kretprobe_pool_instance(pool, 0));
	kretprobe_pool_close(pool);
	mutex_unlock(&kretprobe_mutex);
	return least;
}

/* Each instance that returns to a closed pool is an attempt to free it. */
static void a_large_pool_is_closed_quickly(struct kunit *test)
{
	unsigned int before = kretprobe_instances();
	u64 small = time_closing(test, BITS_PER_LONG);
	u64 large = time_closing(test, SZ_64K);

	KUNIT_EXPECT_EQ(test, kretprobe_instances(), before);
	kunit_info(test, "%d attempts: %llu ns, with a large pool %llu ns\n", CLOSINGS, small,
		   large);
	/* To count the instances in use would take many times as long. */
	KUNIT_EXPECT_LT(test, large, 5 * small);
}

/* --- Caches ------------------------------------------------------------------------- */

TRAP_TARGET(quick, 1)

static struct kretprobe_instance *taken;	/* by the last call of quick() */

static int remember_instance(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	taken = ri;
	return 0;
}

/* Without interrupts, no other call uses the cache of this CPU. */
static void expect_cached(struct kunit *test, const struct kretprobe_holder *holder)
{
	struct kretprobe_instance *given_back, *first;
	unsigned int nr_before, nr_after;
	struct kretprobe_cache *cache;
	unsigned long flags;

	local_irq_save(flags);
	cache = this_cpu_ptr(holder->caches);
	quick(1);
	given_back = taken;
	first = cache->first;
	nr_before = cache->nr;
	quick(1);
	nr_after = cache->nr;
	local_irq_restore(flags);

	KUNIT_EXPECT_NOT_NULL(test, first);
	KUNIT_EXPECT_PTR_EQ(test, first, given_back);
	KUNIT_EXPECT_PTR_EQ(test, taken, first);
	KUNIT_EXPECT_EQ(test, nr_after, nr_before);
}

/* The limit is counted, and the instances are those of all probes. */
static void a_limited_probe_uses_the_caches(struct kunit *test)
{
	struct kretprobe rp = counting(quick, 4);
	unsigned int before = kretprobe_instances();
	bool caches;

	rp.entry_handler = remember_instance;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	caches = rp.rph->caches;
	KUNIT_EXPECT_TRUE(test, caches);
	if (caches)
		expect_cached(test, rp.rph);
	unregister_kretprobe(&rp);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd_returned), 2);
	expect_instances(test, before);
}

/* --- Tasks that exit ---------------------------------------------------------------- */

static DECLARE_COMPLETION(exiting);

static noinline notrace __noclone void exit_from_here(int x)
{
	KEEP_CALL(x);
	kthread_complete_and_exit(&exiting, x);
}

static int exiting_thread(void *unused)
{
	exit_from_here(1);
	return 0;
}

static void a_task_that_exits_returns_its_instances(struct kunit *test)
{
	struct kretprobe rp = counting(exit_from_here, 1);
	unsigned int before = kretprobe_instances();
	struct task_struct *task;
	int i, tries;

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	for (i = 0; i < 3; i++) {
		reinit_completion(&exiting);
		task = kthread_create(exiting_thread, NULL, "kprobe_exit");
		if (IS_ERR(task)) {
			KUNIT_FAIL(test, "no thread");
			break;
		}
		get_task_struct(task);
		wake_up_process(task);
		wait_for_completion(&exiting);
		/* The instance is returned when the task is released. */
		for (tries = 0; tries < 500 && refcount_read(&task->usage) > 1; tries++)
			msleep(20);
		put_task_struct(task);
		rcu_barrier();
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd_entered), 3);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 0);
	unregister_kretprobe(&rp);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd_returned), 0);
	expect_instances(test, before);
}

static struct kunit_case instances_cases[] = {
	KUNIT_CASE(maxactive_is_a_hard_limit),
	KUNIT_CASE(maxactive_is_a_promise),
	KUNIT_CASE(probes_share_instances),
	KUNIT_CASE(a_free_instance_leads_nowhere),
	KUNIT_CASE(a_large_pool_is_closed_quickly),
	KUNIT_CASE(a_limited_probe_uses_the_caches),
	KUNIT_CASE_SLOW(a_task_that_exits_returns_its_instances),
	{}
};

static struct kunit_suite instances_suite = {
	.name = "kprobes_kretprobe_instances",
	.init = crowd_init_settled,
	.exit = crowd_exit,
	.test_cases = instances_cases,
};
kunit_test_suite(instances_suite);
