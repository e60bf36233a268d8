// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Release points: free them and their slots when no task can be executing them any more.
 */
#include <linux/cpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stop_machine.h>
#include <linux/workqueue.h>

#include "internal.h"

/*
 * Points that hits cannot find any more.  A task that was preempted in one of their
 * slots may still execute it, so the worker waits, once for all points that have been
 * released until then.
 */
static void release_worker(struct work_struct *work);
static LIST_HEAD(released_points);
static DEFINE_SPINLOCK(released_lock);
static DECLARE_WORK(release_work, release_worker);

#ifdef CONFIG_OPTPROBES
static void remove_detour(struct kprobe_point *point)
{
	if (arch_prepared_optinsn(&point->op.optinsn))
		arch_remove_optimized_kprobe(&point->op);
}
#else
static void remove_detour(struct kprobe_point *point) { }
#endif

static int nothing(void *unused)
{
	return 0;
}

/* Does a CPU run its idle task, or one that injects idle time? Tasks RCU waits for neither. */
static bool runs_idle_task(unsigned int cpu)
{
	guard(rcu)();
	return is_idle_task(cpu_curr_snapshot(cpu));
}

/**
 * kprobe_wait_until_left() - wait until all tasks have left the code that they are executing
 *
 * With preemption, a task has left slots, detours and regions when it next sleeps.  Tasks RCU
 * waits for that, but not for idle tasks, or tasks that inject idle time (powerclamp) while they
 * do that.  These, and without preemption any task, have left them as soon as another task runs
 * on their CPU.  An RCU grace period is not enough: it may end earlier if interrupts can see that
 * preemption is not disabled, or if RCU does not watch the CPU.
 *
 * That other task is the CPU's stopper.  It has the highest priority, so no task of a user can
 * prolong the wait, during which no CPU goes offline.  With preemption, CPUs that are not idle
 * are not disturbed.
 *
 * Context: task, may sleep, for long.
 */
void kprobe_wait_until_left(void)
{
	unsigned int cpu;

	if (IS_ENABLED(CONFIG_TASKS_RCU))
		synchronize_rcu_tasks();
	guard(cpus_read_lock)();
	for_each_online_cpu(cpu) {
		if (!IS_ENABLED(CONFIG_TASKS_RCU) || runs_idle_task(cpu))
			stop_one_cpu(cpu, nothing, NULL);
	}
}

/**
 * kprobe_wait_for_hits() - wait until no hit that has begun runs any more
 *
 * RCU does not wait for a CPU that has reported itself dead, but executes text until it is off.  So
 * wait until no CPU goes offline, first.
 *
 * Context: task, may sleep.
 */
void kprobe_wait_for_hits(void)
{
	cpus_read_lock();
	cpus_read_unlock();
	synchronize_rcu_expedited();
}

static void release_worker(struct work_struct *work)
{
	struct kprobe_point *point, *next;
	LIST_HEAD(points);

	scoped_guard(spinlock, &released_lock)
		list_splice_init(&released_points, &points);

	kprobe_wait_until_left();
	for_each_collected(point, &points) {
		remove_detour(point);
		arch_remove_kprobe(&point->kp);
	}
	/* Wait for unwinders that have found the owner of a slot: kprobe_slot_owner(). */
	synchronize_rcu();
	for_each_collected_safe(point, next, &points)
		kfree(point);
}

/**
 * kprobe_points_release() - free points, later, when no task can be using them any more
 * @points: work list, empty afterwards.  The points are not in the table, and none of their
 *	handlers is running, or will be after a tasks-RCU grace period
 *
 * A worker waits with kprobe_wait_until_left() and then frees the points and their slots.  Only
 * then have all tasks left the slots, including preempted tasks.  The caller does not wait.
 *
 * Context: task.
 */
void kprobe_points_release(struct list_head *points)
{
	if (list_empty(points))
		return;
	scoped_guard(spinlock, &released_lock)
		list_splice_tail_init(points, &released_points);
	queue_work(system_dfl_wq, &release_work);
}
