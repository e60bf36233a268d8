// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Give registers to debuggers and perf when they need them, and take them back afterwards.
 *
 * When perf or ptrace cannot reserve a register, kernel/events/hw_breakpoint.c asks for one of
 * ours: the youngest watch is parked.  Its probes stay registered, but are not called.  When a
 * register is released, parked watches reserve registers again, the oldest first.
 *
 * wprobe_yield_register() is called with locks of perf and ptrace held, but not with
 * bp_cpuinfo_sem.  Nothing under wprobe_mutex takes locks of perf.
 */
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/workqueue.h>

#include "internal.h"

/* Number of parked watches; written under wprobe_mutex. */
static unsigned int parked;

static struct wprobe_watch *youngest(void)
{
	struct wprobe_watch *watch;

	list_for_each_entry_reverse(watch, &wprobe_watches, list) {
		if (wprobe_has_register(watch))
			return watch;
	}
	return NULL;
}

/**
 * wprobe_yield_register() - release a register for another user
 *
 * Context: task, may sleep.
 * Return: true if a register has been released.
 */
bool wprobe_yield_register(void)
{
	struct wprobe_watch *watch;

	/* A probe on data of a process does not take the register of another probe. */
	if (wprobe_user_reserving())
		return false;
	guard(mutex)(&wprobe_mutex);
	watch = youngest();
	if (!watch)
		return false;
	wprobe_watch_set_state(watch, WPROBE_PARKED);
	/* From here on, a register that another user releases is offered to the watch. */
	WRITE_ONCE(parked, parked + 1);
	wprobe_commit();
	hw_breakpoint_release_wide();
	return true;
}

static void read_values(struct wprobe_watch *watch)
{
	struct wprobe *wp;

	hlist_for_each_entry(wp, &watch->probes, node)
		wprobe_read_last(wp);
}

static void watch_again(struct wprobe_watch *watch)
{
	read_values(watch);
	wprobe_watch_update(watch);
	wprobe_commit();
	/* The next hit must not take a change from before now. */
	read_values(watch);
}

/**
 * wprobe_return_parked() - reserve registers for parked watches
 *
 * Context: task, may sleep, wprobe_mutex held.
 */
void wprobe_return_parked(void)
{
	struct wprobe_watch *watch;
	unsigned int left = 0;

	lockdep_assert_held(&wprobe_mutex);
	if (!parked)
		return;
	list_for_each_entry(watch, &wprobe_watches, list) {
		if (watch->state != WPROBE_PARKED)
			continue;
		if (wprobe_watch_reserve(watch))
			watch_again(watch);
		else
			left++;
	}
	WRITE_ONCE(parked, left);
}

static void return_parked(struct work_struct *work)
{
	guard(mutex)(&wprobe_mutex);
	wprobe_return_parked();
}

static DECLARE_WORK(return_work, return_parked);

static void queue_return(struct irq_work *work)
{
	schedule_work(&return_work);
}

static DEFINE_IRQ_WORK(queue_return_later, queue_return);

/**
 * wprobe_register_released() - another user has released a register
 *
 * Context: any, also while a kernel debugger has stopped all CPUs.
 */
void wprobe_register_released(void)
{
	if (READ_ONCE(parked))
		irq_work_queue(&queue_return_later);
}
