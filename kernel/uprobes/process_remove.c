// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Removal of probes of processes.
 *
 * First all registrations end, so that no new hit calls a handler. Then the text is restored, for
 * many places of a process together.
 */
#include <linux/slab.h>
#include <linux/sort.h>

#include "internal.h"
#include "process.h"

/* A place whose registration has ended. The process has a reference. */
struct place {
	struct mm_struct *mm;
	unsigned long vaddr;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return cmp_int(x->mm, y->mm) ?: cmp_int(x->vaddr, y->vaddr);
}

/* Ends the registrations of an object; returns the number of places in living processes. */
static int end_one(struct uprobe *u, struct place *places)
{
	struct uprobe_registration *registration;
	int nr = 0;

	while ((registration = u->registration)) {
		/* The process exists until it has ended its registrations under the lock. */
		places[nr].mm = registration->own->mm;
		places[nr].vaddr = registration->vaddr;
		if (mmget_not_zero(places[nr].mm))
			nr++;
		uprobe_registration_end(registration);
	}
	uprobe_registrations_forget(NULL, u);
	return nr;
}

static int end_all(struct uprobe **us, int num, struct place *places)
{
	int i, nr = 0;

	guard(rwsem_write)(&uprobe_points_lock);
	for (i = 0; i < num; i++) {
		if (us[i])
			nr += end_one(us[i], &places[nr]);
	}
	return nr;
}

/**
 * uprobes_count() - number of all registrations of some objects
 * @us: the objects; those that are NULL are left out
 * @num: number of objects
 *
 * Later it can only be smaller.
 *
 * Context: task, may sleep; uprobe_mutex held.
 */
unsigned int uprobes_count(struct uprobe **us, int num)
{
	struct uprobe_registration *registration;
	unsigned int nr = 0;
	int i;

	lockdep_assert_held(&uprobe_mutex);
	guard(rwsem_read)(&uprobe_points_lock);
	for (i = 0; i < num; i++) {
		for (registration = us[i] ? us[i]->registration : NULL; registration;
		     registration = registration->next)
			nr++;
	}
	return nr;
}

static void sort_places(struct place *places, int nr)
{
	int i = 1;

	while (i < nr && compare_places(&places[i - 1], &places[i]) <= 0)
		i++;
	if (i < nr)
		sort(places, nr, sizeof(*places), compare_places, NULL);
}

static void disarm_places(struct place *places, int nr)
{
	unsigned long vaddrs[UPROBE_PAGE_POINTS] __uninitialized;
	struct mm_struct *mm;
	int i, n;

	for (i = 0; i < nr; ) {
		mm = places[i].mm;
		for (n = 0; n < ARRAY_SIZE(vaddrs) && i < nr && places[i].mm == mm; i++)
			vaddrs[n++] = places[i].vaddr;
		if (!uprobe_process_disarm(mm->uprobes_state.own, vaddrs, n))
			uprobe_points_abandon(NULL);
		cond_resched();
	}
	for (i = 0; i < nr; i++)
		mmput_async(places[i].mm);
}

/**
 * uprobes_remove() - end the registrations of some objects, and remove their breakpoints
 * @us: the objects; those that are NULL are left out
 * @num: number of objects
 *
 * Handlers may still run until uprobe_unregister_sync() returns.
 *
 * Context: task, may sleep; uprobe_mutex held.
 */
void uprobes_remove(struct uprobe **us, int num)
{
	struct place *places;
	int nr;

	places = kvmalloc_array(uprobes_count(us, num), sizeof(*places),
				GFP_KERNEL | __GFP_NOFAIL);
	nr = end_all(us, num, places);
	sort_places(places, nr);
	disarm_places(places, nr);
	kvfree(places);
}
