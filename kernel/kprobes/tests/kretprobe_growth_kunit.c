// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes whose instances the core keeps.  Without maxactive no call is missed, however
 * many are in flight; with it the misses are counted exactly.  The memory is freed afterwards.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "../kretprobe_instance.h"
#include "counted.h"

#define CROWD	500
#define DEEP	100

static atomic_t entered, returned;

static int count_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	raw_atomic_inc(&entered);
	return 0;
}
NOKPROBE_SYMBOL(count_entry);

static int count_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	raw_atomic_inc(&returned);
	return 0;
}
NOKPROBE_SYMBOL(count_return);

static struct kretprobe counting(void *fn, int maxactive)
{
	return (struct kretprobe) {
		.kp.addr = fn,
		.entry_handler = count_entry,
		.handler = count_return,
		.maxactive = maxactive,
	};
}

/* Workers free the memory after grace periods. */
static void await_instances(unsigned int wanted)
{
	int i;

	for (i = 0; i < 3000 && kretprobe_instances() != wanted; i++)
		msleep(20);
}

static void expect_instances(struct kunit *test, unsigned int wanted)
{
	await_instances(wanted);
	KUNIT_EXPECT_EQ(test, kretprobe_instances(), wanted);
}

/* --- Many threads inside one function ------------------------------------------ */

static DECLARE_WAIT_QUEUE_HEAD(gate);
static bool gate_open;
static atomic_t parked, left;

/* A target with a breakpoint, and one with ftrace. */
#define DEFINE_PARK(name, attribute)						\
static noinline __noclone attribute int name(int x)				\
{										\
	atomic_inc(&parked);							\
	wait_event(gate, READ_ONCE(gate_open));					\
	return x + 1;								\
}

DEFINE_PARK(park, notrace)
DEFINE_PARK(traced_park, /* nothing */)

typedef int (*park_fn)(int x);

static int parker(void *fn)
{
	((park_fn)fn)(1);
	atomic_inc(&left);
	return 0;
}

/* Waits until @count is @wanted, for at most a minute. */
static bool reaches(atomic_t *count, int wanted)
{
	int i;

	for (i = 0; i < 3000 && atomic_read(count) != wanted; i++)
		msleep(20);
	return atomic_read(count) == wanted;
}

/* Starts threads that are woken up together.  Returns the number of started threads. */
static int start_crowd(park_fn fn, int nr)
{
	struct task_struct **tasks = kcalloc(nr, sizeof(*tasks), GFP_KERNEL);
	int i, started = 0;

	for (i = 0; tasks && i < nr; i++) {
		tasks[started] = kthread_create(parker, fn, "kprobe_park/%d", i);
		if (!IS_ERR(tasks[started]))
			started++;
	}
	preempt_disable();
	for (i = 0; i < started; i++)
		wake_up_process(tasks[i]);
	preempt_enable();
	kfree(tasks);
	return started;
}

static void let_all_go(struct kunit *test, int nr)
{
	WRITE_ONCE(gate_open, true);
	wake_up_all(&gate);
	KUNIT_EXPECT_TRUE(test, reaches(&left, nr));
}

static void a_crowd_is_followed(struct kunit *test, park_fn fn)
{
	struct kretprobe rp = counting(fn, 0);
	unsigned int before = kretprobe_instances();

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, rp.maxactive, 0);
	KUNIT_EXPECT_EQ(test, start_crowd(fn, CROWD), CROWD);
	KUNIT_EXPECT_TRUE(test, reaches(&parked, CROWD));
	KUNIT_EXPECT_EQ(test, start_crowd(fn, CROWD), CROWD);
	KUNIT_EXPECT_TRUE(test, reaches(&parked, 2 * CROWD));
	KUNIT_EXPECT_EQ(test, rp.nmissed, 0);
	let_all_go(test, 2 * CROWD);
	KUNIT_EXPECT_EQ(test, atomic_read(&entered), 2 * CROWD);
	KUNIT_EXPECT_EQ(test, atomic_read(&returned), 2 * CROWD);
	KUNIT_EXPECT_GE(test, kretprobe_instances() - before, 2U * CROWD);
	unregister_kretprobe(&rp);
	expect_instances(test, before);
}

static void a_crowd_at_a_breakpoint_is_followed(struct kunit *test)
{
	a_crowd_is_followed(test, park);
}

static void a_crowd_at_a_traced_entry_is_followed(struct kunit *test)
{
	a_crowd_is_followed(test, traced_park);
}

/* The instances outlive the probe; nothing else of it does. */
static void a_crowd_outlives_its_probe(struct kunit *test)
{
	struct kretprobe rp = counting(park, 0), own = counting(park, 8);
	unsigned int before = kretprobe_instances();

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&own), 0);
	KUNIT_EXPECT_EQ(test, start_crowd(park, 100), 100);
	KUNIT_EXPECT_TRUE(test, reaches(&parked, 100));
	unregister_kretprobe(&rp);
	unregister_kretprobe(&own);
	KUNIT_EXPECT_GT(test, kretprobe_instances(), before);
	let_all_go(test, 100);
	KUNIT_EXPECT_EQ(test, atomic_read(&returned), 0);
	expect_instances(test, before);
}

static void maxactive_is_a_hard_limit(struct kunit *test)
{
	struct kretprobe rp = counting(park, 3);
	unsigned int before = kretprobe_instances();

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_GE(test, kretprobe_instances(), before + 3);
	KUNIT_EXPECT_EQ(test, start_crowd(park, 80), 80);
	KUNIT_EXPECT_TRUE(test, reaches(&parked, 80));
	KUNIT_EXPECT_EQ(test, rp.nmissed, 77);
	KUNIT_EXPECT_EQ(test, atomic_read(&entered), 3);
	let_all_go(test, 80);
	KUNIT_EXPECT_EQ(test, atomic_read(&returned), 3);
	/* The instances are free again. */
	park(1);
	KUNIT_EXPECT_EQ(test, atomic_read(&returned), 4);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 77);
	unregister_kretprobe(&rp);
	expect_instances(test, before);
}

/* The instances exist before the first call, and are freed with the probe. */
static void maxactive_is_a_promise(struct kunit *test)
{
	struct kretprobe rp = counting(park, 5000), other = counting(traced_park, 5000);
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
	struct kretprobe a = counting(park, 0), b = counting(traced_park, -1);
	struct kretprobe c = counting(park, 0);
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
	WRITE_ONCE(gate_open, true);
	traced_park(1);
	KUNIT_EXPECT_EQ(test, atomic_read(&returned), 1);
	unregister_kretprobe(&b);
	expect_instances(test, before);
}

/* --- Without running the worker --------------------------------------------------- */

static noinline notrace __noclone int dive(int depth)
{
	int below = depth > 1 ? dive(depth - 1) : 0;

	barrier();
	return below + 1;
}

static void recursion_is_followed(struct kunit *test)
{
	struct kretprobe rp = counting(dive, 0);
	unsigned long flags;

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	local_irq_save(flags);
	KUNIT_EXPECT_EQ(test, dive(DEEP), DEEP);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, atomic_read(&returned), DEEP);
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

static int ask_and_be_silent(void *unused)
{
	local_irq_disable();
	dive(DEEP);
	WRITE_ONCE(asked, true);
	wait_for(&answered);
	local_irq_enable();
	return 0;
}

/*
 * Creates threads on @cpu, which is the current one; the caller wakes them up.  Returns the
 * number of created threads.
 */
static int start_crowd_on(int cpu, struct task_struct **tasks, int nr)
{
	int i, started = 0;

	for (i = 0; i < nr; i++) {
		tasks[started] = kthread_create(parker, park, "kprobe_park/%d", i);
		if (IS_ERR(tasks[started]))
			continue;
		kthread_bind(tasks[started++], cpu);
	}
	return started;
}

/*
 * The CPU that has first taken an instance from the reserve keeps interrupts disabled until
 * all calls of the threads on the other CPU are in flight.
 */
static void a_silent_cpu_starves_nobody(struct kunit *test)
{
	struct kretprobe rp = counting(park, 0), deep = counting(dive, 0);
	struct task_struct **tasks, *silent;
	int i, started, cpu, other;

	tasks = kunit_kcalloc(test, CROWD, sizeof(*tasks), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, tasks);
	if (num_online_cpus() < 2)
		kunit_skip(test, "there is one CPU");
	cpu = cpumask_first(cpu_online_mask);
	other = cpumask_next(cpu, cpu_online_mask);
	KUNIT_ASSERT_EQ(test, 0, set_cpus_allowed_ptr(current, cpumask_of(cpu)));
	silent = kthread_create(ask_and_be_silent, NULL, "kprobe_silent");
	KUNIT_ASSERT_FALSE(test, IS_ERR(silent));
	kthread_bind(silent, other);
	started = start_crowd_on(cpu, tasks, CROWD);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&deep), 0);
	WRITE_ONCE(asked, false);
	WRITE_ONCE(answered, false);
	get_task_struct(silent);
	wake_up_process(silent);
	KUNIT_EXPECT_TRUE(test, wait_for(&asked));
	for (i = 0; i < started; i++)
		wake_up_process(tasks[i]);
	/* Do not sleep on a timer: it may be the other CPU's. */
	for (i = 0; i < 100000 && atomic_read(&parked) != started; i++)
		schedule();
	WRITE_ONCE(answered, true);
	kthread_stop_put(silent);
	KUNIT_EXPECT_EQ(test, started, CROWD);
	KUNIT_EXPECT_TRUE(test, reaches(&parked, started));
	KUNIT_EXPECT_EQ(test, rp.nmissed + deep.nmissed, 0);
	let_all_go(test, started);
	unregister_kretprobe(&deep);
	unregister_kretprobe(&rp);
}

/*
 * A hit that finds no free instance queues the irq_work that adds some.  A return probe on
 * irq_work_queue() is then hit by the code of return probes, and must not request instances
 * again.
 */
static void what_adds_instances_is_probed(struct kunit *test)
{
	struct kretprobe queue = { .kp.symbol_name = "irq_work_queue", .handler = count_return };
	struct kretprobe rp = { .kp.addr = (void *)dive, .handler = count_return };
	unsigned long flags;

	KUNIT_ASSERT_EQ(test, register_kretprobe(&queue), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	kprobe_optimizer_flush();
	atomic_set(&returned, 0);
	local_irq_save(flags);
	KUNIT_EXPECT_EQ(test, dive(DEEP), DEEP);
	local_irq_restore(flags);
	KUNIT_EXPECT_GE(test, atomic_read(&returned), DEEP);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 0);
	unregister_kretprobe(&rp);
	unregister_kretprobe(&queue);
}

/* --- Many instances must not slow down other probes later ----------------------------- */

#define DEPTH		60
#define TRIES		5

/* Makes DEPTH nested calls in each thread. */
static noinline notrace __noclone int plunge(int depth)
{
	int below = depth < DEPTH ? plunge(depth + 1) : park(depth);

	barrier();
	return below + 1;
}

/*
 * Returns the least time, in nanoseconds, that it takes to release the instances of a probe
 * that has never been hit: unregistering without the grace period.
 */
static u64 time_giving_up(struct kunit *test)
{
	u64 least = U64_MAX, start;
	int i;

	for (i = 0; i < TRIES; i++) {
		struct kretprobe rp = counting(park, 4), *rps = &rp;

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
static void a_crowd_leaves_unregistering_as_it_was(struct kunit *test)
{
	struct kretprobe stays = counting(dive, 0), rp = counting(plunge, 0);
	unsigned int with_one;
	u64 before, after;

	KUNIT_ASSERT_EQ(test, register_kretprobe(&stays), 0);
	with_one = kretprobe_instances();
	before = time_giving_up(test);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, start_crowd(plunge, CROWD), CROWD);
	KUNIT_EXPECT_TRUE(test, reaches(&parked, CROWD));
	let_all_go(test, CROWD);
	KUNIT_EXPECT_GT(test, kretprobe_instances(), with_one + CROWD * DEPTH / 2);
	after = time_giving_up(test);
	kunit_info(test, "giving up: %llu ns, after a crowd %llu ns\n", before, after);
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

static void a_burst_in_an_interrupt_is_followed(struct kunit *test)
{
	struct kretprobe rp = counting(dive, 0);

	init_interrupt();
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	preempt_disable();
	await_interrupt();
	preempt_enable();
	hrtimer_cancel(&interrupt);
	KUNIT_EXPECT_EQ(test, interrupt_depth, DEEP);
	KUNIT_EXPECT_EQ(test, atomic_read(&returned), DEEP);
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
	KUNIT_EXPECT_EQ(test, atomic_read(&returned), DEEP);
	KUNIT_EXPECT_EQ(test, kp.pre, DEEP);
	KUNIT_EXPECT_EQ(test, kp.kp.nmissed, 2UL);
}
#endif

/* --- Calls that never return ---------------------------------------------------- */

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

static void a_task_that_exits_gives_its_instances_back(struct kunit *test)
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
	KUNIT_EXPECT_EQ(test, atomic_read(&entered), 3);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 0);
	unregister_kretprobe(&rp);
	KUNIT_EXPECT_EQ(test, atomic_read(&returned), 0);
	expect_instances(test, before);
}

static int growth_init(struct kunit *test)
{
	atomic_set(&entered, 0);
	atomic_set(&returned, 0);
	atomic_set(&parked, 0);
	atomic_set(&left, 0);
	WRITE_ONCE(gate_open, false);
	/*
	 * Wait for instances that the previous case has not freed yet; at boot there are no
	 * other probes.
	 */
	await_instances(0);
	return 0;
}

static void growth_exit(struct kunit *test)
{
	/* Releases the threads that wait at a gate that a failed case has left closed. */
	WRITE_ONCE(gate_open, true);
	wake_up_all(&gate);
}

static struct kunit_case growth_cases[] = {
	KUNIT_CASE_SLOW(a_crowd_at_a_breakpoint_is_followed),
	KUNIT_CASE_SLOW(a_crowd_at_a_traced_entry_is_followed),
	KUNIT_CASE(a_crowd_outlives_its_probe),
	KUNIT_CASE(maxactive_is_a_hard_limit),
	KUNIT_CASE(maxactive_is_a_promise),
	KUNIT_CASE(probes_share_instances),
	KUNIT_CASE(recursion_is_followed),
	KUNIT_CASE(what_adds_instances_is_probed),
	KUNIT_CASE_SLOW(a_crowd_leaves_unregistering_as_it_was),
	KUNIT_CASE_SLOW(a_silent_cpu_starves_nobody),
	KUNIT_CASE(a_burst_in_an_interrupt_is_followed),
#ifdef CONFIG_HAVE_KPROBE_LEVELS
	KUNIT_CASE(an_interrupt_in_a_return_handler_is_a_full_hit),
#endif
	KUNIT_CASE_SLOW(a_task_that_exits_gives_its_instances_back),
	{}
};

static struct kunit_suite growth_suite = {
	.name = "kprobes_kretprobe_growth",
	.init = growth_init,
	.exit = growth_exit,
	.test_cases = growth_cases,
};
kunit_test_suite(growth_suite);
