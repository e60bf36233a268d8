// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registrations of probes of processes.
 *
 * A registration is a consumer of a point of the process (process_point.c). It is separate from
 * the user's object, so that a probe that unregisters itself, because its process ends or unmaps
 * the text, leaves an object that can be registered again, or unregistered and freed. An object has
 * one registration, or one for each exit of its function; they are a list, which begins at
 * &uprobe.registration.
 *
 * A registration whose text has been unmapped is kept for debugfs, until its object is
 * unregistered or registered again, or the process ends. The object may not exist any more, so
 * that only its address is used.
 */
#include <linux/slab.h>

#include "internal.h"
#include "process.h"

/* Most registrations that are kept after they are gone. */
#define MAX_GONE	256

/* All registrations, and those that are gone, the oldest first; under uprobe_points_lock. */
static LIST_HEAD(registrations);
static LIST_HEAD(gone);
static unsigned int nr_gone;

static struct uprobe_stock stock;

/* --- Consumer ----------------------------------------------------------------- */

static notrace int process_handler(struct uprobe_consumer *uc, struct pt_regs *regs,
				   __u64 *data)
{
	struct uprobe_registration *registration;

	registration = container_of(uc, struct uprobe_registration, consumer);
	if (likely(!uprobe_is_disabled(registration)))
		registration->user->handler(registration->user, regs);
	return 0;
}

/* Only processes without the probe, and disabled probes, need no breakpoint. */
static bool process_filter(struct uprobe_consumer *uc, struct mm_struct *mm)
{
	return !container_of(uc, struct uprobe_registration, consumer)->disabled;
}

/* Objects with a constructor are not cleared by init_on_alloc. */
static void construct(void *object)
{
	struct uprobe_registration *registration = object;

	registration->consumer.filter = process_filter;
}

/**
 * uprobe_registrations_init() - prepare the creation of registrations
 *
 * Context: boot.
 */
void __init uprobe_registrations_init(void)
{
	stock.cache = kmem_cache_create("uprobe_registration", sizeof(struct uprobe_registration),
					0, SLAB_PANIC, construct);
}

/**
 * uprobe_registration_new() - create a registration
 * @u: the user's object
 * @kind: see &enum uprobe_kind
 * @needed: see uprobe_stock_take()
 *
 * Context: task, may sleep; uprobe_mutex held.
 * Return: NULL if there is no memory.
 */
struct uprobe_registration *uprobe_registration_new(struct uprobe *u, enum uprobe_kind kind,
						    unsigned int needed)
{
	struct uprobe_registration *registration = uprobe_stock_take(&stock, needed);

	if (!registration)
		return NULL;
	/* The filter is constructed; the rest is set when it is published. */
	registration->user = u;
	registration->pid = u->pid;
	registration->kind = kind;
	registration->disabled = false;
	registration->pool = NULL;
	registration->consumer.ret_handler = NULL;
	switch (kind) {
	case UPROBE_KIND_HIT:
		registration->consumer.handler = process_handler;
		break;
	case UPROBE_KIND_EXIT:
		/* Depends on the point. */
		break;
	case UPROBE_KIND_RETURN:
		registration->consumer.handler = uretprobe_entry;
		registration->consumer.ret_handler = uretprobe_return;
		registration->pool = uretprobe_pool_new();
		if (registration->pool)
			break;
		kfree(registration);
		return NULL;
	}
	return registration;
}

/**
 * uprobe_registration_free() - free a registration that has not been published
 * @registration: from uprobe_registration_new()
 *
 * Context: task.
 */
void uprobe_registration_free(struct uprobe_registration *registration)
{
	if (registration->pool)
		uretprobe_pool_put(registration->pool);
	kfree(registration);
}

/* --- Life ----------------------------------------------------------------------- */

static void retire(struct uprobe_registration *registration)
{
	if (registration->pool)
		uretprobe_pool_put(registration->pool);
	uprobe_retire(&registration->retired);
}

static void forget(struct uprobe_registration *registration)
{
	list_del(&registration->node);
	nr_gone--;
	retire(registration);
}

/**
 * uprobe_registrations_forget() - free registrations that are gone
 * @own: those of this process, or NULL
 * @u: those of this object, which may not exist any more, or NULL
 *
 * Context: task; uprobe_points_lock held for writing.
 */
void uprobe_registrations_forget(struct uprobe_mm *own, struct uprobe *u)
{
	struct uprobe_registration *registration, *next;

	lockdep_assert_held_write(&uprobe_points_lock);
	list_for_each_entry_safe(registration, next, &gone, node) {
		if (registration->own == own || registration->user == u)
			forget(registration);
	}
}

/**
 * uprobe_registration_publish() - add a registration to its point and its object
 * @registration: from uprobe_registration_new()
 * @point: the point, of a process that has not ended
 *
 * Context: task; uprobe_points_lock held for writing, uprobe_mutex held.
 */
void uprobe_registration_publish(struct uprobe_registration *registration,
				 struct uprobe_point *point)
{
	struct uprobe *u = registration->user;

	lockdep_assert_held_write(&uprobe_points_lock);
	registration->own = container_of(point->file, struct uprobe_mm, process);
	registration->own->has_process = true;
	registration->point = point;
	registration->vaddr = point->offset;
	uprobe_point_add(point, &registration->consumer);
	list_add(&registration->node, &registrations);
	if (nr_gone && !u->registration)
		uprobe_registrations_forget(NULL, u);
	registration->next = u->registration;
	registration->link = &u->registration;
	if (registration->next)
		registration->next->link = &registration->next;
	WRITE_ONCE(u->registration, registration);
}

/* Takes a registration out of its point and its object. */
static void detach(struct uprobe_registration *registration)
{
	lockdep_assert_held_write(&uprobe_points_lock);
	WRITE_ONCE(*registration->link, registration->next);
	if (registration->next)
		registration->next->link = registration->link;
	list_del_rcu(&registration->consumer.cons_node);
	list_del(&registration->node);
}

/**
 * uprobe_registration_end() - take a registration out of its point
 * @registration: published; freed after the next uprobe_observe()
 *
 * When the last registration of the user's object has ended, it can be registered again. The
 * point stays.
 *
 * Context: task; uprobe_points_lock held for writing.
 */
void uprobe_registration_end(struct uprobe_registration *registration)
{
	detach(registration);
	retire(registration);
}

/**
 * uprobe_registration_gone() - uprobe_registration_end(), because the text has been unmapped
 * @registration: published; kept for debugfs
 *
 * Context: task; uprobe_points_lock held for writing.
 */
void uprobe_registration_gone(struct uprobe_registration *registration)
{
	detach(registration);
	list_add_tail(&registration->node, &gone);
	if (nr_gone++ == MAX_GONE)
		forget(list_first_entry(&gone, struct uprobe_registration, node));
}

/**
 * uprobe_registrations_gone_for_each() - call a function for registrations that are gone
 * @own: their process
 * @fn: the function; must not use &uprobe_registration.user
 * @data: its second argument
 *
 * Context: task; uprobe_points_lock held.
 */
void uprobe_registrations_gone_for_each(struct uprobe_mm *own,
					void (*fn)(struct uprobe_registration *, void *),
					void *data)
{
	struct uprobe_registration *registration;

	lockdep_assert_held(&uprobe_points_lock);
	list_for_each_entry(registration, &gone, node) {
		if (registration->own == own)
			fn(registration, data);
	}
}

/**
 * uprobe_registration_recheck() - check an object that already has a registration
 * @u: the object
 *
 * Context: task, may sleep.
 * Return: -EBUSY if it is registered; -EINVAL if its reserved member is not zero; 0 if the
 * registration has ended meanwhile.
 */
int uprobe_registration_recheck(struct uprobe *u)
{
	struct uprobe_registration *registration;

	guard(rwsem_read)(&uprobe_points_lock);
	list_for_each_entry(registration, &registrations, node) {
		if (registration->user == u)
			return -EBUSY;
	}
	return u->registration ? -EINVAL : 0;
}
