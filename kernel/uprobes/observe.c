// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waiting for the hits that may use objects that have been unlinked.
 *
 * A task marks itself while it handles a hit, in &uprobe_task.busy, with the epoch in which
 * the hit began. uprobe_observe() starts a new epoch and waits for the tasks that are marked
 * with an older one. It looks only at tasks that have ever hit a probe, and is as long as the
 * longest handler that runs; no grace period of RCU takes part.
 *
 * Points that have been taken out, and sites and tables that have been replaced, are retired:
 * they are freed after the next observation, which comes with the next probe that is
 * unregistered, or when there are many.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/llist.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "internal.h"

/*
 * The current epoch; changed under observe_lock. It is odd, because 0 is the mark of a task without
 * a hit.
 */
unsigned long uprobe_epoch = 1;

static LIST_HEAD(tasks);
static DEFINE_SPINLOCK(observe_lock);

/**
 * uprobe_observe_add() - begin to observe a task
 * @utask: of current, or of a child that has not run; complete
 *
 * Context: task.
 */
void uprobe_observe_add(struct uprobe_task *utask)
{
	guard(spinlock)(&observe_lock);
	list_add(&utask->node, &tasks);
}

/**
 * uprobe_observe_remove() - end to observe a task
 * @utask: not busy
 *
 * Context: task.
 */
void uprobe_observe_remove(struct uprobe_task *utask)
{
	guard(spinlock)(&observe_lock);
	list_del(&utask->node);
}

static unsigned long next_epoch(void)
{
	guard(spinlock)(&observe_lock);
	WRITE_ONCE(uprobe_epoch, uprobe_epoch + 2);
	return uprobe_epoch;
}

static bool busy_before(unsigned long epoch)
{
	struct uprobe_task *utask;
	unsigned long busy;

	guard(spinlock)(&observe_lock);
	list_for_each_entry(utask, &tasks, node) {
		/* Pairs with the release at the end of a hit in hit.c. */
		busy = smp_load_acquire(&utask->busy);
		if (busy && (long)(busy - epoch) < 0)
			return true;
	}
	return false;
}

/**
 * uprobe_observe() - wait for all hits that began before this call
 *
 * They may have seen consumers, points and sites that the caller has unlinked; later hits do
 * not.
 *
 * Context: task, may sleep; not in a handler. No lock that a handler, or the first hit of a
 * site, may take.
 */
void uprobe_observe(void)
{
	unsigned int tries = 0;
	unsigned long epoch;

	/*
	 * Orders the caller's unlinking before the new epoch, and before the marks are read. Pairs
	 * with the barrier after the mark in hit.c: a hit that is not waited for, because its mark
	 * is not seen here or has the new epoch, sees the unlinking.
	 */
	smp_mb();
	epoch = next_epoch();
	/* Orders the new epoch before the marks. Pairs with the barrier after the mark, too. */
	smp_mb();
	while (busy_before(epoch)) {
		if (tries++ < 8)
			cond_resched();
		else
			schedule_timeout_uninterruptible(1);
	}
}

/* --- Objects that hits may still use ------------------------------------------- */

/* This many are freed by a work item; fewer wait until a probe is unregistered. */
#define MANY_RETIRED	1024

static LLIST_HEAD(retired_list);
static atomic_t nr_retired = ATOMIC_INIT(0);

static void free_retired(struct work_struct *unused)
{
	uprobe_observe_retired();
}

static DECLARE_WORK(retired_work, free_retired);

/**
 * uprobe_retire() - free an object when no hit can use it any more
 * @retired: its first member; hits that begin later do not find it
 *
 * Context: task.
 */
void uprobe_retire(struct uprobe_retired *retired)
{
	llist_add(&retired->node, &retired_list);
	if (atomic_inc_return(&nr_retired) == MANY_RETIRED)
		schedule_work(&retired_work);
}

/**
 * uprobe_observe_retired() - uprobe_observe(), and free all that was retired before it
 *
 * Context: see uprobe_observe().
 */
void uprobe_observe_retired(void)
{
	struct uprobe_retired *retired, *next;
	struct llist_node *list;

	/* Before the list: an object that is added in between lets the next work come early. */
	atomic_set(&nr_retired, 0);
	list = llist_del_all(&retired_list);
	uprobe_observe();
	llist_for_each_entry_safe(retired, next, list, node)
		kvfree(retired);
}
