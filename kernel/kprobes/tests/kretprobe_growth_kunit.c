// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes without maxactive: no call is missed, however many are in flight, because
 * instances are added.  The memory is freed afterwards.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "../kretprobe_instance.h"
#include "counted.h"
#include "crowd.h"

/* Threads, and nested calls: more calls than a class has instances at first. */
#define CROWD	150
#define DEEP	100

/* --- Many threads inside one function ------------------------------------------ */

static void a_crowd_is_counted(struct kunit *test, crowd_fn fn)
{
	struct kretprobe rp = counting(fn, 0);
	unsigned int before = crowd_settled_instances();
	int nr;

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, rp.maxactive, 0);
	/* With many CPUs there are more instances at first. */
	nr = max_t(int, CROWD, kretprobe_instances() - before);
	KUNIT_EXPECT_EQ(test, crowd_start(fn, nr), nr);
	KUNIT_EXPECT_TRUE(test, crowd_waits(nr));
	KUNIT_EXPECT_EQ(test, crowd_start(fn, nr), nr);
	KUNIT_EXPECT_TRUE(test, crowd_waits(2 * nr));
	KUNIT_EXPECT_EQ(test, rp.nmissed, 0);
	crowd_leave(test, 2 * nr);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd_entered), 2 * nr);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd_returned), 2 * nr);
	KUNIT_EXPECT_GE(test, kretprobe_instances() - before, 2U * nr);
	unregister_kretprobe(&rp);
	expect_instances(test, before);
}

static void a_crowd_at_a_breakpoint_is_counted(struct kunit *test)
{
	a_crowd_is_counted(test, crowd_wait);
}

static void a_crowd_at_a_traced_entry_is_counted(struct kunit *test)
{
	a_crowd_is_counted(test, crowd_wait_traced);
}

/* The instances outlive the probe; nothing else of it does. */
static void a_crowd_outlives_its_probe(struct kunit *test)
{
	struct kretprobe rp = counting(crowd_wait, 0), own = counting(crowd_wait, 8);
	unsigned int before = crowd_settled_instances();

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&own), 0);
	KUNIT_EXPECT_EQ(test, crowd_start(crowd_wait, 100), 100);
	KUNIT_EXPECT_TRUE(test, crowd_waits(100));
	unregister_kretprobe(&rp);
	unregister_kretprobe(&own);
	KUNIT_EXPECT_GT(test, kretprobe_instances(), before);
	crowd_leave(test, 100);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd_returned), 0);
	expect_instances(test, before);
}

/* --- Without running the worker --------------------------------------------------- */

static noinline notrace __noclone int dive(int depth)
{
	int below = depth > 1 ? dive(depth - 1) : 0;

	barrier();
	return below + 1;
}

static void recursion_is_counted(struct kunit *test)
{
	struct kretprobe rp = counting(dive, 0);
	unsigned long flags;

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	local_irq_save(flags);
	KUNIT_EXPECT_EQ(test, dive(DEEP), DEEP);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd_returned), DEEP);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 0);
	unregister_kretprobe(&rp);
}

/* --- While a CPU that has requested more instances cannot add them ------------------- */

#define PATIENCE_MS	5000

static bool asked, answered;

/* Waits longer than any step should take.  Time advances without interrupts of this CPU. */
static bool wait_for(const bool *flag)
{
	ktime_t deadline = ktime_add_ms(ktime_get(), PATIENCE_MS);

	while (!READ_ONCE(*flag) && ktime_before(ktime_get(), deadline))
		cpu_relax();
	return READ_ONCE(*flag);
}

/* Returns 0 if the request of this CPU is still pending when the others have been answered. */
static int ask_and_be_silent(void *unused)
{
	bool pending;

	local_irq_disable();
	dive(DEEP);
	WRITE_ONCE(asked, true);
	pending = wait_for(&answered) &&
		  irq_work_is_pending(this_cpu_ptr(&kretprobe_feed_irq_work));
	local_irq_enable();
	return pending ? 0 : -ETIMEDOUT;
}

/*
 * The CPU that has first taken an instance from the reserve keeps interrupts disabled until
 * all calls of the threads on the other CPU are in flight.
 */
static void a_silent_cpu_does_not_stop_growth(struct kunit *test)
{
	struct kretprobe rp = counting(crowd_wait, 0), deep = counting(dive, 0);
	struct task_struct **tasks, *silent;
	int i, created, waiting, cpu, other;
	ktime_t deadline;

	tasks = kunit_kcalloc(test, CROWD, sizeof(*tasks), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, tasks);
	if (num_online_cpus() < 2)
		kunit_skip(test, "there is one CPU");
	/* With more CPUs, the first pool has at least as many instances as dive() uses. */
	if (num_possible_cpus() > 16)
		kunit_skip(test, "the first pool has room for all nested calls");
	cpu = cpumask_first(cpu_online_mask);
	other = cpumask_next(cpu, cpu_online_mask);
	KUNIT_ASSERT_EQ(test, 0, set_cpus_allowed_ptr(current, cpumask_of(cpu)));
	silent = kthread_create(ask_and_be_silent, NULL, "kprobe_silent");
	KUNIT_ASSERT_FALSE(test, IS_ERR(silent));
	kthread_bind(silent, other);
	created = crowd_create(crowd_wait, tasks, CROWD);
	for (i = 0; i < created; i++)
		kthread_bind(tasks[i], cpu);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&deep), 0);
	WRITE_ONCE(asked, false);
	WRITE_ONCE(answered, false);
	get_task_struct(silent);
	wake_up_process(silent);
	KUNIT_EXPECT_TRUE(test, wait_for(&asked));
	for (i = 0; i < created; i++)
		wake_up_process(tasks[i]);
	/* Do not sleep on a timer: it may be the other CPU's. */
	deadline = ktime_add_ms(ktime_get(), PATIENCE_MS);
	while (atomic_read(&crowd_waiting) != created && ktime_before(ktime_get(), deadline))
		schedule();
	waiting = atomic_read(&crowd_waiting);
	WRITE_ONCE(answered, true);
	KUNIT_EXPECT_EQ(test, kthread_stop_put(silent), 0);
	KUNIT_EXPECT_EQ(test, created, CROWD);
	KUNIT_EXPECT_EQ(test, waiting, CROWD);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd_entered), CROWD + DEEP);
	KUNIT_EXPECT_EQ(test, rp.nmissed + deep.nmissed, 0);
	crowd_leave(test, created);
	unregister_kretprobe(&deep);
	unregister_kretprobe(&rp);
}

/*
 * A hit that finds no free instance queues the irq_work that adds some.  A return probe on
 * irq_work_queue() is then hit by the code of return probes, and must not request instances
 * again.
 */
static void irq_work_queue_has_a_return_probe(struct kunit *test)
{
	struct kretprobe queue = {
		.kp.symbol_name = "irq_work_queue",
		.handler = crowd_count_return,
	};
	struct kretprobe rp = { .kp.addr = (void *)dive, .handler = crowd_count_return };
	unsigned long flags;

	KUNIT_ASSERT_EQ(test, register_kretprobe(&queue), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	wait_for_kprobe_optimizer();
	atomic_set(&crowd_returned, 0);
	local_irq_save(flags);
	KUNIT_EXPECT_EQ(test, dive(DEEP), DEEP);
	local_irq_restore(flags);
	KUNIT_EXPECT_GE(test, atomic_read(&crowd_returned), DEEP);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 0);
	/* Hits in a hit are missed.  With more CPUs, the first pool has room for all calls. */
	if (num_possible_cpus() <= 16)
		KUNIT_EXPECT_GT(test, queue.kp.nmissed + queue.nmissed, 0UL);
	unregister_kretprobe(&rp);
	unregister_kretprobe(&queue);
}

/* --- Many instances must not slow down other probes later ----------------------------- */

#define DEPTH		60
#define TRIES		5

/* Makes DEPTH nested calls in each thread. */
static noinline notrace __noclone int plunge(int depth)
{
	int below = depth < DEPTH ? plunge(depth + 1) : crowd_wait(depth);

	barrier();
	return below + 1;
}

/*
 * Returns the least time, in nanoseconds, that it takes to release the instances of a probe
 * that has never been hit: unregistering without the grace period.
 */
static u64 time_unregistering(struct kunit *test)
{
	u64 least = U64_MAX, start;
	int i;

	for (i = 0; i < TRIES; i++) {
		struct kretprobe rp = counting(crowd_wait, 4), *rps = &rp;

		KUNIT_EXPECT_EQ(test, kretprobe_engine_alloc(&rp), 0);
		kretprobe_engine_stop(&rp);
		start = ktime_get_ns();
		kretprobe_engine_free(&rps, 1);
		least = min(least, ktime_get_ns() - start);
	}
	return least;
}

/*
 * There are many instances, each of which may refer to a probe.  Unregistering another probe
 * must not take longer because of them.
 */
static void unregistering_stays_fast_after_a_crowd(struct kunit *test)
{
	struct kretprobe stays = counting(dive, 0), rp = counting(plunge, 0);
	unsigned int with_one;
	u64 before, after;

	KUNIT_ASSERT_EQ(test, register_kretprobe(&stays), 0);
	with_one = kretprobe_instances();
	before = time_unregistering(test);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, crowd_start(plunge, CROWD), CROWD);
	KUNIT_EXPECT_TRUE(test, crowd_waits(CROWD));
	crowd_leave(test, CROWD);
	KUNIT_EXPECT_GT(test, kretprobe_instances(), with_one + CROWD * DEPTH / 2);
	after = time_unregistering(test);
	kunit_info(test, "unregistering: %llu ns, after a crowd %llu ns\n", before, after);
	/* A walk over all instances would take some hundred times as long. */
	KUNIT_EXPECT_LT(test, after, 20 * before);
	unregister_kretprobe(&rp);
	unregister_kretprobe(&stays);
}

static bool interrupt_ran;
static int interrupt_depth;

static enum hrtimer_restart dive_in_interrupt(struct hrtimer *timer)
{
	interrupt_depth = dive(DEEP);
	WRITE_ONCE(interrupt_ran, true);
	return HRTIMER_NORESTART;
}

static struct hrtimer interrupt;

static void init_interrupt(void)
{
	WRITE_ONCE(interrupt_ran, false);
	interrupt_depth = 0;
	hrtimer_setup(&interrupt, dive_in_interrupt, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static void await_interrupt(void)
{
	ktime_t deadline = ktime_add_ms(ktime_get(), 2000);

	hrtimer_start(&interrupt, ms_to_ktime(1), HRTIMER_MODE_REL_PINNED_HARD);
	while (!READ_ONCE(interrupt_ran) && ktime_before(ktime_get(), deadline))
		cpu_relax();
}

static void a_burst_in_an_interrupt_is_counted(struct kunit *test)
{
	struct kretprobe rp = counting(dive, 0);

	init_interrupt();
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	preempt_disable();
	await_interrupt();
	preempt_enable();
	hrtimer_cancel(&interrupt);
	KUNIT_EXPECT_EQ(test, interrupt_depth, DEEP);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd_returned), DEEP);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 0);
	unregister_kretprobe(&rp);
}

#ifdef CONFIG_HAVE_KPROBE_LEVELS
TRAP_TARGET(slow_to_return, 1)

/* A return handler runs with interrupts as they were before: enabled, here. */
static int wait_in_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	await_interrupt();
	/* Calls at this level are missed. */
	dive(2);
	return 0;
}

static void an_interrupt_in_a_return_handler_is_a_full_hit(struct kunit *test)
{
	struct kretprobe rp = counting(dive, 0), outer = counting(slow_to_return, 0);
	struct counted kp = counted_at(dive, true, false);

	outer.entry_handler = NULL;
	outer.handler = wait_in_handler;
	init_interrupt();
	KUNIT_ASSERT_EQ(test, register_kretprobe(&outer), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp.kp), 0);
	KUNIT_EXPECT_EQ(test, slow_to_return(1), 2);
	hrtimer_cancel(&interrupt);
	unregister_kprobe(&kp.kp);
	unregister_kretprobe(&rp);
	unregister_kretprobe(&outer);
	KUNIT_EXPECT_EQ(test, interrupt_depth, DEEP);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd_returned), DEEP);
	KUNIT_EXPECT_EQ(test, kp.pre, DEEP);
	KUNIT_EXPECT_EQ(test, kp.kp.nmissed, 2UL);
}
#endif

/* --- In an interrupt ------------------------------------------------------------ */

static struct kretprobe_pool *large_pool;

/* Larger than the allocator of interrupts allows. */
static void make_large_pool(struct irq_work *unused)
{
	large_pool = kretprobe_pool_create(KMALLOC_MAX_SIZE / 64 + 1, 64, GFP_ATOMIC);
}

static void a_pool_too_large_for_an_interrupt(struct kunit *test)
{
	struct irq_work work = IRQ_WORK_INIT_HARD(make_large_pool);

	large_pool = ERR_PTR(-EBUSY);
	irq_work_queue(&work);
	irq_work_sync(&work);
	KUNIT_EXPECT_NULL(test, large_pool);
}

static struct kunit_case growth_cases[] = {
	KUNIT_CASE(a_pool_too_large_for_an_interrupt),
	KUNIT_CASE_SLOW(a_crowd_at_a_breakpoint_is_counted),
	KUNIT_CASE_SLOW(a_crowd_at_a_traced_entry_is_counted),
	KUNIT_CASE(a_crowd_outlives_its_probe),
	KUNIT_CASE(recursion_is_counted),
	KUNIT_CASE(irq_work_queue_has_a_return_probe),
	KUNIT_CASE_SLOW(unregistering_stays_fast_after_a_crowd),
	KUNIT_CASE_SLOW(a_silent_cpu_does_not_stop_growth),
	KUNIT_CASE(a_burst_in_an_interrupt_is_counted),
#ifdef CONFIG_HAVE_KPROBE_LEVELS
	KUNIT_CASE(an_interrupt_in_a_return_handler_is_a_full_hit),
#endif
	{}
};

static struct kunit_suite growth_suite = {
	.name = "kprobes_kretprobe_growth",
	.init = crowd_init,
	.exit = crowd_exit,
	.test_cases = growth_cases,
};
kunit_test_suite(growth_suite);
