// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The core as the engine of return probes, for architectures with a return trampoline for
 * it (HAVE_KRETPROBE_NATIVE): allocates and frees the instances of a probe.
 * hit/kretprobe_native.c handles entries and returns.
 *
 * A holder links the instances to their probe while that is registered.  Unregistering
 * stops the holder, waits for running handlers, and then detaches it from all instances.
 * Calls in flight return without calling a handler.
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
	holder->limited = holder->limit;
	atomic_set(&holder->room, holder->limit);
	holder->class = kretprobe_class_get(size, holder->limit);
	if (holder->class)
		holder->caches = holder->class->caches;
	return holder->class;
}

/**
 * kretprobe_engine_alloc() - get a class of instances for a probe
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
 * kretprobe_engine_stop() - make returns stop calling the handler of a probe
 * @rp: the probe; nothing is done if it has no instances
 *
 * Context: task.
 */
void kretprobe_engine_stop(struct kretprobe *rp)
{
	if (!rp->rph)
		return;
	/* Both writes pair with the grace period before kretprobe_engine_free(). */
	WRITE_ONCE(rp->rph->handler, NULL);
	WRITE_ONCE(rp->rph->stopped, true);
}

/**
 * kretprobe_engine_free() - release the instances of stopped probes
 * @rps: array of pointers to the probes; NULL entries, and probes that have no
 *	instances, are skipped
 * @num: number of the probes
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
		/* No handler is running that could call get_kretprobe(). */
		WRITE_ONCE(holder->rp, NULL);
		kretprobe_class_put(holder->class, holder->limit);
		rps[i]->rph = NULL;
		kretprobe_holder_give_up(holder);
	}
}

/**
 * kprobe_flush_task() - release the instances of a dead task
 * @tk: the task, whose probed functions will never return
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
	/* Return them to the pools: the caches are for instances that are soon used again. */
	preempt_disable_notrace();
	llist_for_each_entry_safe(ri, next, node, llist) {
		kretprobe_uncount(READ_ONCE(ri->rph));
		kretprobe_pool_give(ri);
	}
	preempt_enable_notrace();
}
