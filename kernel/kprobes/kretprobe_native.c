// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes whose instances the core keeps, for architectures that bring a return
 * trampoline (HAVE_KRETPROBE_NATIVE): the life of a probe's instances.  Entries and returns
 * are in hit/kretprobe_native.c.
 *
 * A holder stands between the instances and their probe, and is the probe's as
 * long as that is registered.  Unregistering stops it, waits for handlers that are
 * running, and then takes it away from all instances: those in flight return
 * without a handler.
 */
#include <linux/kprobes.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "kretprobe_instance.h"

static bool attach_instances(struct kretprobe_holder *holder, int maxactive, size_t size)
{
	guard(mutex)(&kretprobe_mutex);
	holder->limit = max(maxactive, 0);
	atomic_set(&holder->room, holder->limit);
	holder->class = kretprobe_class_get(size, holder->limit);
	if (holder->class)
		holder->caches = holder->class->caches;
	return holder->class;
}

/**
 * kretprobe_engine_alloc() - make, or get a share of, the instances of a probe
 * @rp: the probe; maxactive and data_size are set
 *
 * Context: task, may sleep.
 * Return: 0 or -ENOMEM.
 */
int kretprobe_engine_alloc(struct kretprobe *rp)
{
	struct kretprobe_holder *holder = kzalloc(sizeof(*holder), GFP_KERNEL);
	size_t size = sizeof(struct kretprobe_instance) + rp->data_size;

	if (!holder)
		return -ENOMEM;
	holder->rp = rp;
	holder->handler = rp->handler;
	if (!attach_instances(holder, rp->maxactive, size)) {
		kfree(holder);
		return -ENOMEM;
	}
	rp->rph = holder;
	return 0;
}

/**
 * kretprobe_engine_stop() - begin no more return handlers
 * @rp: the probe; one that has no instances is left alone
 *
 * Context: task.
 */
void kretprobe_engine_stop(struct kretprobe *rp)
{
	if (!rp->rph)
		return;
	/* All pair with the grace period before kretprobe_engine_free(). */
	WRITE_ONCE(rp->rph->handler, NULL);
	WRITE_ONCE(rp->rph->stopped, true);
}

/**
 * kretprobe_engine_free() - give the instances of stopped probes up
 * @rps: array of pointers to the probes; NULL, and probes that have no instances,
 *	are left alone
 * @num: how many
 *
 * Context: task, after kretprobe_engine_stop() and a grace period.
 */
void kretprobe_engine_free(struct kretprobe **rps, int num)
{
	int i;

	guard(mutex)(&kretprobe_mutex);
	for (i = 0; i < num; i++) {
		struct kretprobe_holder *holder = rps[i] ? rps[i]->rph : NULL;

		if (!holder)
			continue;
		/* No handler that could ask for the probe runs: get_kretprobe(). */
		WRITE_ONCE(holder->rp, NULL);
		kretprobe_class_put(holder->class, holder->limit);
		rps[i]->rph = NULL;
		kretprobe_holder_give_up(holder);
	}
}

/**
 * kprobe_flush_task() - take back the instances of a task that is dead
 * @tk: the task; its probed functions will never return
 *
 * Spec: OLS paper section 4.3.2.
 *
 * Context: task.
 */
void kprobe_flush_task(struct task_struct *tk)
{
	struct kretprobe_instance *ri, *next;
	struct llist_node *node;

	node = __llist_del_all(&tk->kretprobe_instances);
	if (likely(!node))
		return;
	/* Into the pools: the caches are for those who are about to take one. */
	preempt_disable_notrace();
	llist_for_each_entry_safe(ri, next, node, llist) {
		kretprobe_uncount(READ_ONCE(ri->rph));
		kretprobe_pool_give(ri);
	}
	preempt_enable_notrace();
}
