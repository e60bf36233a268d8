// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hits in code that RCU does not watch, such as that of idle CPUs.  RCU watches while handlers
 * run, no hit is missed, and afterwards the state of RCU is the previous one.
 */
#include <linux/context_tracking.h>
#include <linux/cpu.h>
#include <linux/irqflags.h>
#include <linux/kernel_stat.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "opt_functions.h"

/* --- Handlers ---------------------------------------------------------------------- */

static struct {
	unsigned int calls;
	unsigned int unwatched;
} seen;

static void see(void)
{
	seen.calls++;
	seen.unwatched += !rcu_is_watching();
}

static int see_pre(struct kprobe *kp, struct pt_regs *regs)
{
	see();
	return 0;
}

static void see_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	see();
}

static int see_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	see();
	return 0;
}

/* --- Cases ------------------------------------------------------------------------- */

/* ftrace owns the entry if the kernel has kprobes on ftrace. */
static noinline __noclone int traced_three(void)
{
	int three = 3;

	KEEP_CALL(three);
	return three;
}

/*
 * struct rcu_case - probes on one function
 * @name:	for messages
 * @fn:		the function, called directly
 * @pre:	pre handler of the kprobes
 * @post:	post handler of the kprobes
 * @kprobes:	number of kprobes
 * @entry:	entry handler of the return probes
 * @ret:	handler of the return probes
 * @kretprobes:	number of return probes
 * @calls:	number of handler calls for a call of the function
 */
static const struct rcu_case {
	const char *name;
	int (*fn)(void);
	kprobe_pre_handler_t pre;
	kprobe_post_handler_t post;
	int kprobes;
	kretprobe_handler_t entry, ret;
	int kretprobes;
	unsigned int calls;
} rcu_cases[] = {
	{ "a pre handler", kprobes_opt_three, see_pre, NULL, 1, .calls = 1 },
	{ "three pre handlers", kprobes_opt_three, see_pre, NULL, 3, .calls = 3 },
	{ "a post handler", kprobes_opt_three, see_pre, see_post, 1, .calls = 2 },
	{ "post handlers, a frame", kprobes_opt_framed, see_pre, see_post, 2, .calls = 4 },
	{ "a return handler", kprobes_opt_three, .ret = see_return, .kretprobes = 1, .calls = 1 },
	{ "an entry handler", kprobes_opt_three, .entry = see_return, .ret = see_return,
	  .kretprobes = 1, .calls = 2 },
	{ "two return handlers", kprobes_opt_three, .ret = see_return, .kretprobes = 2,
	  .calls = 2 },
	{ "both kinds", kprobes_opt_three, see_pre, NULL, 1, .ret = see_return,
	  .kretprobes = 1, .calls = 2 },
	{ "a pre handler, traced", traced_three, see_pre, NULL, 1, .calls = 1 },
	{ "a post handler, traced", traced_three, see_pre, see_post, 1, .calls = 2 },
	{ "a return handler, traced", traced_three, .ret = see_return, .kretprobes = 1,
	  .calls = 1 },
};

KUNIT_ARRAY_PARAM_DESC(rcu, rcu_cases, name);

#define MOST	3

static struct kprobe kps[MOST];
static struct kretprobe rps[MOST];

static void probe(struct kunit *test, const struct rcu_case *c)
{
	int i;

	memset(kps, 0, sizeof(kps));
	memset(rps, 0, sizeof(rps));
	for (i = 0; i < c->kprobes; i++) {
		kps[i].addr = (void *)c->fn;
		kps[i].pre_handler = c->pre;
		kps[i].post_handler = c->post;
		KUNIT_ASSERT_EQ(test, register_kprobe(&kps[i]), 0);
	}
	for (i = 0; i < c->kretprobes; i++) {
		rps[i].kp.addr = (void *)c->fn;
		rps[i].entry_handler = c->entry;
		rps[i].handler = c->ret;
		KUNIT_ASSERT_EQ(test, register_kretprobe(&rps[i]), 0);
	}
}

static unsigned long unprobe(const struct rcu_case *c)
{
	unsigned long missed = 0;
	int i;

	for (i = 0; i < c->kprobes; i++) {
		missed += kps[i].nmissed;
		unregister_kprobe(&kps[i]);
	}
	for (i = 0; i < c->kretprobes; i++) {
		missed += rps[i].nmissed + rps[i].kp.nmissed;
		unregister_kretprobe(&rps[i]);
	}
	return missed;
}

/* Calls @fn as the idle loop would.  Sets @idle if RCU did not watch after the call either. */
static noinline int call_idle(int (*fn)(void), bool *idle)
{
	int ret;

	preempt_disable();
	local_irq_disable();
	ct_idle_enter();
	ret = fn == traced_three ? traced_three() : kprobes_opt_call(fn);
	*idle = !rcu_is_watching();
	ct_idle_exit();
	local_irq_enable();
	preempt_enable();
	return ret;
}

static void rcu_watches_handlers(struct kunit *test)
{
	const struct rcu_case *c = test->param_value;
	bool before = kprobe_optimization_allowed;
	bool idle;
	int jump;

	for (jump = 0; jump < 2; jump++) {
		kprobe_optimizer_allow(jump);
		/* Without jumps, ftrace calls the handlers of probes on its instructions. */
		probe(test, c);
		wait_for_kprobe_optimizer();
		if (c->fn != traced_three)
			EXPECT_JUMP(test, c->kprobes ? &kps[0] : &rps[0].kp, jump);
		memset(&seen, 0, sizeof(seen));
		KUNIT_EXPECT_EQ(test, call_idle(c->fn, &idle), 3);
		KUNIT_EXPECT_TRUE(test, idle);
		KUNIT_EXPECT_TRUE(test, rcu_is_watching());
		KUNIT_EXPECT_EQ_MSG(test, seen.calls, c->calls, "jump %d", jump);
		KUNIT_EXPECT_EQ_MSG(test, seen.unwatched, 0, "jump %d", jump);
		KUNIT_EXPECT_EQ(test, unprobe(c), 0);
	}
	kprobe_optimizer_allow(before);
}

/* --- Memory that an idle task may execute ------------------------------------------- */

/*
 * Tasks RCU does not wait for idle tasks.  The idle tasks have left the memory when another
 * task runs on their CPUs.
 */
static void idle_tasks_are_waited_for(struct kunit *test)
{
	unsigned long long *before = kunit_kcalloc(test, nr_cpu_ids, sizeof(*before), GFP_KERNEL);
	int cpu;

	KUNIT_ASSERT_NOT_NULL(test, before);
	/* Let the other CPUs become idle. */
	schedule_timeout_uninterruptible(HZ / 10);
	for_each_online_cpu(cpu)
		before[cpu] = nr_context_switches_cpu(cpu);
	kprobe_wait_until_left();
	for_each_online_cpu(cpu)
		KUNIT_EXPECT_GT_MSG(test, nr_context_switches_cpu(cpu), before[cpu],
				    "CPU %d", cpu);
}

static int inject_idle(void *unused)
{
	while (!kthread_should_stop()) {
		play_idle_precise(500 * NSEC_PER_MSEC, U64_MAX);
		schedule_timeout_interruptible(1);
	}
	return 0;
}

/* Nor does it wait for a task that injects idle time. No other task but the stopper preempts it. */
static void tasks_that_inject_idle_are_waited_for(struct kunit *test)
{
	unsigned long long before;
	struct task_struct *task;
	unsigned int cpu, tries;

	if (num_online_cpus() < 2)
		kunit_skip(test, "no other CPU");
	migrate_disable();
	cpu = cpumask_any_but(cpu_online_mask, smp_processor_id());
	task = kthread_create_on_cpu(inject_idle, NULL, cpu, "kprobe_idle/%u");
	KUNIT_EXPECT_FALSE(test, IS_ERR(task));
	if (!IS_ERR(task)) {
		sched_set_fifo(task);
		wake_up_process(task);
		for (tries = 0; tries < 100 && !(READ_ONCE(task->flags) & PF_IDLE); tries++)
			schedule_timeout_uninterruptible(1);
		before = nr_context_switches_cpu(cpu);
		kprobe_wait_until_left();
		KUNIT_EXPECT_GT(test, nr_context_switches_cpu(cpu), before);
		KUNIT_EXPECT_TRUE(test, READ_ONCE(task->flags) & PF_IDLE);
		kthread_stop(task);
	}
	migrate_enable();
}

/*
 * A task of high priority begins to run on an idle CPU that is about to be waited for.  The wait
 * must not last until the task sleeps, because no CPU can go offline until then.
 *
 * @waiter: the task that waits
 * @busy: the other task, which lets no task of normal priority run on @cpu
 * @cpu: CPU of @busy
 * @asked: @work has been queued
 * @work: wakes @busy up
 * @since: time at which @busy was woken up, or 0
 */
static struct {
	struct task_struct *waiter, *busy;
	unsigned int cpu;
	bool asked;
	struct irq_work work;
	ktime_t since;
} urgent;

#define BUSY_MS		3000
#define LONGEST_WAIT_MS	800

static int stay_busy(void *unused)
{
	ktime_t end = ktime_add_ms(ktime_get(), BUSY_MS);

	while (!kthread_should_stop() && ktime_before(ktime_get(), end)) {
		cpu_relax();
		cond_resched();
	}
	return 0;
}

static void wake_busy_now(struct irq_work *work)
{
	urgent.since = ktime_get();
	wake_up_process(urgent.busy);
}

/*
 * Runs at the function that makes the CPU in its first argument run another task.  A breakpoint
 * is like an NMI, so the interrupt that follows it wakes the task up.
 */
static int wake_busy(struct kprobe *p, struct pt_regs *regs)
{
	if (current != urgent.waiter || urgent.asked ||
	    regs_get_kernel_argument(regs, 0) != urgent.cpu)
		return 0;
	urgent.asked = true;
	irq_work_queue(&urgent.work);
	return 0;
}
NOKPROBE_SYMBOL(wake_busy);

static void an_idle_cpu_becomes_busy(struct kunit *test)
{
	struct kprobe kp = { .symbol_name = "stop_one_cpu", .pre_handler = wake_busy };
	ktime_t end = 0;
	int tries;

	if (num_online_cpus() < 2)
		kunit_skip(test, "no other CPU");
	migrate_disable();
	urgent.since = 0;
	urgent.asked = false;
	init_irq_work(&urgent.work, wake_busy_now);
	urgent.waiter = current;
	urgent.cpu = cpumask_any_but(cpu_online_mask, smp_processor_id());
	urgent.busy = kthread_create_on_cpu(stay_busy, NULL, urgent.cpu, "kprobe_busy/%u");
	KUNIT_EXPECT_FALSE(test, IS_ERR(urgent.busy));
	if (!IS_ERR(urgent.busy)) {
		get_task_struct(urgent.busy);
		sched_set_fifo(urgent.busy);
		KUNIT_EXPECT_EQ(test, register_kprobe(&kp), 0);
		for (tries = 0; tries < 50 && !urgent.since; tries++) {
			/* Let the other CPU become idle. */
			schedule_timeout_uninterruptible(HZ / 50);
			kprobe_wait_until_left();
			end = ktime_get();
		}
		unregister_kprobe(&kp);
		irq_work_sync(&urgent.work);
		kthread_stop_put(urgent.busy);
		KUNIT_EXPECT_NE(test, urgent.since, 0);
		KUNIT_EXPECT_LT(test, ktime_ms_delta(end, urgent.since), LONGEST_WAIT_MS);
	}
	migrate_enable();
}

/*
 * An unwinder that has found the owner of a slot uses it without a reference.  So a grace period
 * begins after the slot has lost its owner, and ends before the owner is freed.
 *
 * @since: state of RCU when the slots of @kp are taken from it, if @lost
 * @waited: a grace period had passed when the point of @kp was @freed
 */
static struct {
	struct kprobe *kp;
	struct rcu_gp_seq since;
	bool lost, freed, waited;
} owner;

/* Runs at the function that takes the slots from their owner. */
static int note_lost_slots(struct kprobe *p, struct pt_regs *regs)
{
	if (regs_get_kernel_argument(regs, 0) != (unsigned long)owner.kp)
		return 0;
	get_state_synchronize_rcu_full(&owner.since);
	owner.lost = true;
	return 0;
}
NOKPROBE_SYMBOL(note_lost_slots);

/* Runs at the function that frees the point. */
static int note_freed(struct kprobe *p, struct pt_regs *regs)
{
	if (!owner.kp ||
	    regs_get_kernel_argument(regs, 0) != (unsigned long)kprobe_to_point(owner.kp))
		return 0;
	owner.waited = poll_state_synchronize_rcu_full(&owner.since);
	WRITE_ONCE(owner.freed, true);
	return 0;
}
NOKPROBE_SYMBOL(note_freed);

static void the_owner_of_a_slot_outlives_its_readers(struct kunit *test)
{
	struct kprobe lost = {
		.addr = (void *)arch_remove_kprobe,
		.pre_handler = note_lost_slots,
	};
	struct kprobe freed = { .addr = (void *)kfree, .pre_handler = note_freed };
	struct kprobe kp = { .addr = (void *)kprobes_opt_three, .pre_handler = see_pre };
	struct kprobe *found;
	unsigned long start;
	int tries;

	memset(&owner, 0, sizeof(owner));
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	scoped_guard(preempt) {
		owner.kp = get_kprobe(kp.addr);
		found = kprobe_slot_owner((unsigned long)owner.kp->ainsn.insn, &start);
	}
	KUNIT_EXPECT_PTR_EQ(test, found, owner.kp);
	KUNIT_EXPECT_EQ(test, register_kprobe(&lost), 0);
	KUNIT_EXPECT_EQ(test, register_kprobe(&freed), 0);
	unregister_kprobe(&kp);
	for (tries = 0; tries < 500 && !READ_ONCE(owner.freed); tries++)
		schedule_timeout_uninterruptible(HZ / 50);
	unregister_kprobe(&freed);
	unregister_kprobe(&lost);
	KUNIT_EXPECT_TRUE(test, owner.lost);
	KUNIT_EXPECT_TRUE(test, owner.freed);
	KUNIT_EXPECT_TRUE(test, owner.waited);
}

static struct kunit_case rcu_kunit_cases[] = {
	KUNIT_CASE_PARAM(rcu_watches_handlers, rcu_gen_params),
	KUNIT_CASE(idle_tasks_are_waited_for),
	KUNIT_CASE(tasks_that_inject_idle_are_waited_for),
	KUNIT_CASE(an_idle_cpu_becomes_busy),
	KUNIT_CASE(the_owner_of_a_slot_outlives_its_readers),
	{}
};

static struct kunit_suite rcu_suite = {
	.name = "kprobes_rcu",
	.init = opt_init,
	.test_cases = rcu_kunit_cases,
};

kunit_test_suite(rcu_suite);
