// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arming and disarming points of one process.
 */
#include "internal.h"
#include "point.h"
#include "process.h"
#include "trace.h"

/**
 * uprobe_process_arm() - arm or disarm points of a process
 * @own: the process
 * @points: its points, by address
 * @nr: number of points
 * @op: %UPROBE_ARM arms them, %UPROBE_DISARM disarms those that are not wanted
 *
 * Context: task, may sleep; uprobe_mutex held; mmap_lock held, to disarm for writing.
 * Return: 0, or the first error of uprobe_text_page(); not -EFAULT of %UPROBE_DISARM, because a
 * page that is not there has no breakpoint. After an error of a point that is to be disarmed, the
 * others are disarmed nevertheless.
 */
int uprobe_process_arm(struct uprobe_mm *own, struct uprobe_point **points, unsigned int nr,
		       enum uprobe_text_op op)
{
	struct uprobe_point *batch[UPROBE_PAGE_POINTS] __uninitialized;
	struct vm_area_struct *vma;
	bool arm = op == UPROBE_ARM;
	unsigned int i = 0, n;
	unsigned long page;
	int err = 0, ret;

	while (i < nr) {
		page = points[i]->offset & PAGE_MASK;
		for (n = 0; i < nr && n < UPROBE_PAGE_POINTS &&
		     (points[i]->offset & PAGE_MASK) == page; i++) {
			if (arm || !uprobe_point_wanted(points[i], own->mm))
				batch[n++] = points[i];
		}
		vma = n ? vma_lookup(own->mm, batch[0]->offset) : NULL;
		if (!vma)
			continue;
		if (arm)
			mm_flags_set(MMF_HAS_UPROBES, own->mm);
		ret = uprobe_text_page(vma, page, batch, n, op);
		if (ret && arm)
			return ret;
		/* If the program has unmapped or truncated the page, its breakpoints are gone. */
		if (ret == -EFAULT)
			ret = 0;
		if (!err)
			err = ret;
	}
	return err;
}

/* Finds the points at sorted addresses, each once. Returns their number. */
static unsigned int find_points(struct uprobe_mm *own, unsigned long *vaddrs, unsigned int nr,
				struct uprobe_point **points)
{
	struct uprobe_point *before = NULL, *point;
	unsigned int i, n = 0;

	for (i = 0; i < nr; i++) {
		if (i && vaddrs[i] == vaddrs[i - 1])
			continue;
		before = uprobe_point_before(&own->process, before, vaddrs[i]);
		point = uprobe_point_after(&own->process, before);
		if (!point || point->offset != vaddrs[i])
			continue;
		points[n++] = point;
		before = point;
	}
	return n;
}

/**
 * uprobe_process_give_back() - give a page of text back, if no other point needs it
 * @mm: the process
 * @vaddr: an address in the page
 *
 * Context: task, may sleep; mmap_lock held for writing; not uprobe_points_lock.
 */
void uprobe_process_give_back(struct mm_struct *mm, unsigned long vaddr)
{
	struct vm_area_struct *vma = vma_lookup(mm, vaddr);

	if (vma && uprobe_vma_armed(vma))
		uprobe_text_give_back(vma, vaddr & PAGE_MASK);
}

/**
 * uprobe_process_disarm() - disarm the points of a process that no registration needs
 * @own: the process; has users
 * @vaddrs: sorted addresses, at most %UPROBE_PAGE_POINTS
 * @nr: number of addresses
 *
 * Disarms the points that have no consumer that wants hits, and puts those that have none.
 *
 * Context: task, may sleep; uprobe_mutex held.
 * Return: false if they stay, see abandoned.c.
 */
bool uprobe_process_disarm(struct uprobe_mm *own, unsigned long *vaddrs, unsigned int nr)
{
	struct uprobe_point *points[UPROBE_PAGE_POINTS] __uninitialized;
	unsigned int n;

	/* Keeps the points. */
	guard(mmap_write_lock)(own->mm);
	n = find_points(own, vaddrs, nr, points);
	if (uprobe_process_arm(own, points, n, UPROBE_DISARM))
		return false;
	scoped_guard(rwsem_write, &uprobe_points_lock) {
		/* From the last on: the first point of a block costs most to be taken out. */
		while (n)
			uprobe_point_put(points[--n]);
	}
	for (n = 0; n < nr; n++) {
		if (!n || (vaddrs[n] ^ vaddrs[n - 1]) & PAGE_MASK)
			uprobe_process_give_back(own->mm, vaddrs[n]);
	}
	return true;
}

/**
 * uprobe_process_give_up() - disable the probes of an instruction whose copy has no room
 * @own: current's process
 * @vaddr: address of the instruction
 *
 * Counts the hit as missed, too.
 *
 * Context: task; mmap_lock and uprobe_points_lock held.
 * Return: the point, to be disarmed; NULL if the process has none there.
 */
struct uprobe_point *uprobe_process_give_up(struct uprobe_mm *own, unsigned long vaddr)
{
	struct uprobe_point *point = uprobe_process_point_find(own, vaddr);
	struct uprobe_registration *registration;
	struct uprobe_consumer *uc;

	if (!point)
		return NULL;
	trace_uprobe_refused(NULL, 0, vaddr, "no room for a copy in reach of the text", -ENOSPC);
	list_for_each_entry(uc, &point->consumers, cons_node) {
		registration = container_of(uc, struct uprobe_registration, consumer);
		/* Other threads may be here, too; and the hit is repeated if this fails. */
		if (!xchg(&registration->disabled, true))
			atomic_long_inc((atomic_long_t *)&registration->user->nmissed);
	}
	return point;
}
