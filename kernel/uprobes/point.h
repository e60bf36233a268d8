/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inline functions about mappings and points, called for each of thousands of points when text
 * is mapped; see point.c.
 */
#ifndef _KERNEL_UPROBES_POINT_H
#define _KERNEL_UPROBES_POINT_H

#include "internal.h"

/**
 * uprobe_vma_offset() - offset in its file of an address
 * @vma: a mapping of the file
 * @vaddr: the address
 *
 * Context: task; mmap_lock, or the lock of the file's mappings, held.
 */
static inline loff_t uprobe_vma_offset(struct vm_area_struct *vma, unsigned long vaddr)
{
	return ((loff_t)vma_start_pgoff(vma) << PAGE_SHIFT) + (vaddr - vma->vm_start);
}

/**
 * uprobe_vma_addr() - address of an offset in its file
 * @vma: a mapping of the file that has the offset
 * @offset: the offset
 *
 * Context: task; mmap_lock held.
 */
static inline unsigned long uprobe_vma_addr(struct vm_area_struct *vma, loff_t offset)
{
	return vma->vm_start + (offset - uprobe_vma_offset(vma, vma->vm_start));
}

/**
 * uprobe_point_next() - next point of the same file, by offset
 * @point: a point in its file
 *
 * Context: task; uprobe_points_lock or uprobe_mutex held.
 * Return: NULL after the last.
 */
static inline struct uprobe_point *uprobe_point_next(struct uprobe_point *point)
{
	return list_is_last(&point->entry, &point->file->in_order) ? NULL :
	       list_next_entry(point, entry);
}

/**
 * uprobe_point_after() - next point of a file
 * @file: the file or process
 * @before: a point in it, or NULL
 *
 * Context: task; uprobe_points_lock or uprobe_mutex held.
 * Return: the point after @before, or the first one; NULL if there is none.
 */
static inline struct uprobe_point *uprobe_point_after(struct uprobe_file *file,
						      struct uprobe_point *before)
{
	return before ? uprobe_point_next(before) :
			list_first_entry_or_null(&file->in_order, struct uprobe_point, entry);
}

/**
 * uprobe_point_before() - last point of a file before an offset
 * @file: the file or process
 * @near: a point in it that may be the last one before the offset, or NULL: the points of a batch
 *	are often in the order of offsets
 * @offset: the offset
 *
 * Context: task; uprobe_points_lock or uprobe_mutex held.
 * Return: NULL if there is none.
 */
static inline struct uprobe_point *uprobe_point_before(struct uprobe_file *file,
						       struct uprobe_point *near, loff_t offset)
{
	struct uprobe_point *next;

	if (near && near->offset < offset) {
		next = uprobe_point_next(near);
		if (!next || next->offset >= offset)
			return near;
	}
	return uprobe_point_search_before(file, offset);
}

/**
 * uprobe_point_at() - find the point at an offset
 * @file: the file or process
 * @offset: the offset
 *
 * Context: task; uprobe_points_lock or uprobe_mutex held.
 * Return: NULL if there is none.
 */
static inline struct uprobe_point *uprobe_point_at(struct uprobe_file *file, loff_t offset)
{
	struct uprobe_point *point = uprobe_point_first(file, offset);

	return point && point->offset == offset ? point : NULL;
}

/**
 * uprobe_point_is_process() - is a point one of a process?
 * @point: a point in its file or process
 *
 * Context: any, while the point exists.
 * Return: true if it is one of a process.
 */
static inline bool uprobe_point_is_process(struct uprobe_point *point)
{
	return !point->file->inode;
}

/**
 * uprobe_point_wanted() - does a consumer want hits in a process?
 * @point: a point
 * @mm: the process
 *
 * Context: task; uprobe_points_lock or uprobe_mutex held.
 */
static inline bool uprobe_point_wanted(struct uprobe_point *point, struct mm_struct *mm)
{
	struct list_head *first = READ_ONCE(point->consumers.next);
	struct uprobe_consumer *uc;

	if (unlikely(first == &point->consumers))
		return false;
	uc = list_entry(first, struct uprobe_consumer, cons_node);
	return likely(!uc->filter) || uprobe_point_filter(point, mm);
}

/**
 * uprobe_point_decision() - the decision about a point, if there is one
 * @point: a point
 * @mode: see arch_uprobe_mode()
 *
 * Context: task.
 * Return: NULL or the decision.
 */
static inline const struct uprobe_decision *uprobe_point_decision(struct uprobe_point *point,
								  unsigned int mode)
{
	const struct uprobe_decision *decision = &point->native;

	if (mode) {
		/* Pairs with the release in other_decision(). */
		decision = smp_load_acquire(&point->other);
		if (!decision)
			return NULL;
	}
	/* Pairs with the release in decide(). */
	return smp_load_acquire(&decision->state) != UPROBE_UNDECIDED ? decision : NULL;
}

/* Returns the first point that is not in the page of a point and those before it, or NULL. */
static inline struct uprobe_point *uprobe_next_page(struct uprobe_point *point)
{
	return uprobe_point_first(point->file, (point->offset & PAGE_MASK) + PAGE_SIZE);
}

/**
 * uprobe_point_is_accepted() - has the instruction of a point been accepted?
 * @point: a point
 * @mode: see arch_uprobe_mode()
 *
 * Context: task.
 */
static inline bool uprobe_point_is_accepted(struct uprobe_point *point, unsigned int mode)
{
	const struct uprobe_decision *decision;

	/* Nearly all. Pairs with the release in decide(). */
	if (likely(!mode && smp_load_acquire(&point->native.state) == UPROBE_ACCEPTED))
		return true;
	decision = uprobe_point_decision(point, mode);
	return decision && decision->state == UPROBE_ACCEPTED;
}

/* decide.c */
void uprobe_requests_bring_in(struct inode *inode, const struct uprobe_request *requests,
			      unsigned int nr);

/**
 * uprobe_point_decide() - how does the instruction of a point take effect?
 * @point: a point in its file
 * @mode: see arch_uprobe_mode()
 *
 * Context: task, may sleep.
 * Return: a decision that is not %UPROBE_UNDECIDED.
 */
static inline const struct uprobe_decision *uprobe_point_decide(struct uprobe_point *point,
								unsigned int mode)
{
	return uprobe_point_decision(point, mode) ?: uprobe_point_decide_slowly(point, mode);
}

#endif /* _KERNEL_UPROBES_POINT_H */
