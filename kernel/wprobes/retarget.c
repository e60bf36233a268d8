// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Let a registered probe watch another address, from a handler of another probe for instance:
 * an object from its allocation on.
 *
 * Such a probe (WPROBE_FLAG_MOVABLE) has a watch of its own, so only its address changes.  The
 * calling CPU loads its register at once, without a cross call; the others follow as soon as a
 * worker has made one.
 */
#include <linux/export.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/kasan.h>
#include <linux/kprobes.h>
#include <linux/workqueue.h>

#include "internal.h"

static void commit(struct work_struct *work)
{
	guard(mutex)(&wprobe_mutex);
	wprobe_commit();
}

static DECLARE_WORK(commit_work, commit);

static void queue_commit(struct irq_work *work)
{
	schedule_work(&commit_work);
}

static DEFINE_IRQ_WORK(queue_work_later, queue_commit);

/**
 * wprobe_retarget() - let a probe watch another address
 * @wp: a registered probe with %WPROBE_FLAG_MOVABLE, not per-CPU.  The caller sees to it that it
 *	is not unregistered meanwhile
 * @addr: the new address; its place in an aligned word has to be that of the old address
 *
 * The calling CPU watches the new address when the function returns, the others soon afterwards.
 * Accesses to the old address do not call the handler any more, and are not counted.  After several
 * calls for one probe at the same time, one of the addresses is watched; the old value of its first
 * hit may be that of another one.
 * If the probe is disabled or parked, all CPUs watch the new address as soon as it is enabled or
 * gets its register back.
 *
 * Context: any, also the handlers of kprobes, and NMIs.
 * Return: 0; -EINVAL if the probe is not registered, gone, not movable or per-CPU, or the address
 * has another place in its aligned word, is not one of the kernel, or is used by the entry of
 * exceptions; -EFAULT if the memory is not mapped.  Memory of devices is not recognized here.
 */
int wprobe_retarget(struct wprobe *wp, void *addr)
{
	struct wprobe_watch *watch = READ_ONCE(wp->watch);
	struct wprobe_range range;
	unsigned long flags, value;

	if (!watch || !(wp->flags & WPROBE_FLAG_MOVABLE) || watch->range.percpu ||
	    READ_ONCE(watch->state) == WPROBE_GONE)
		return -EINVAL;
	range = watch->range;
	if (((unsigned long)addr ^ range.addr) % sizeof(long))
		return -EINVAL;
	range.addr = (unsigned long)kasan_reset_tag(addr);
	if (range.addr < TASK_SIZE_MAX || !arch_wprobe_allowed(&range))
		return -EINVAL;
	if (!wprobe_read(&value, wprobe_word(range.addr)))
		return -EFAULT;

	local_irq_save(flags);
	WRITE_ONCE(watch->range.addr, range.addr);
	WRITE_ONCE(wp->addr, (void *)range.addr);
	/* Pairs with the order of reads in take_values() of hit.c, by a CPU that has not moved. */
	smp_wmb();
	WRITE_ONCE(wp->last, value);
	/* Pairs with the barrier in copy_range(). */
	smp_mb();
	/* Pairs with the release in wprobe_watch_set_state(): the slot is that of the state. */
	if (smp_load_acquire(&watch->state) == WPROBE_ARMED) {
		WRITE_ONCE(wprobe_slots[watch->slot].range.addr, range.addr);
		wprobe_move_here(watch->slot, range.addr);
	}
	local_irq_restore(flags);
	irq_work_queue(&queue_work_later);
	return 0;
}
EXPORT_SYMBOL_GPL(wprobe_retarget);
