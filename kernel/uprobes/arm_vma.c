// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arming and disarming points in one mapping of their file, page by page.
 */
#include "arm.h"
#include "internal.h"
#include "point.h"
#include "trace.h"

/**
 * uprobe_vma_kind() - can text of a mapping be probed?
 * @vma: any
 * @why: set to the reason for %UPROBE_VMA_REFUSED, if not NULL
 *
 * Private mappings of files can be, if they are executable. In a shared mapping a breakpoint
 * would get into the file.
 *
 * Context: task; mmap_lock held.
 */
enum uprobe_vma_kind uprobe_vma_kind(struct vm_area_struct *vma, const char **why)
{
	const char *reason = NULL;

	if (!vma->vm_file || !(vma->vm_flags & VM_EXEC))
		return UPROBE_VMA_IGNORED;
	if (vma->vm_flags & VM_HUGETLB)
		reason = "huge pages";
	else if (vma->vm_flags & VM_MAYSHARE)
		reason = "the mapping is shared";
	if (!reason)
		return UPROBE_VMA_PROBED;
	if (why)
		*why = reason;
	return UPROBE_VMA_REFUSED;
}

/**
 * uprobe_vma_armed() - can text of a mapping have been probed?
 * @vma: any
 *
 * Unlike uprobe_vma_kind(), also true if the mapping is not executable any more.
 *
 * Context: task; mmap_lock held.
 */
bool uprobe_vma_armed(struct vm_area_struct *vma)
{
	return vma->vm_file && (vma->vm_flags & VM_MAYEXEC) &&
	       !(vma->vm_flags & (VM_HUGETLB | VM_MAYSHARE));
}

/*
 * Adds a point to a batch if an operation concerns it in a process. Returns false if it has not
 * been accepted yet.
 */
static __always_inline bool add_concerned(struct uprobe_point **batch, unsigned int *nr,
					  struct uprobe_point *point, struct mm_struct *mm,
					  unsigned int mode, enum uprobe_text_op op)
{
	bool arm = op == UPROBE_ARM;

	if (uprobe_point_wanted(point, mm) != arm)
		return true;
	batch[(*nr)++] = point;
	return uprobe_point_is_accepted(point, mode);
}

/* Patches points of one page; @decided: all have been accepted. */
static int patch(struct vm_area_struct *vma, struct uprobe_point **points, unsigned int nr,
		 bool decided, enum uprobe_text_op op)
{
	loff_t page = points[0]->offset & PAGE_MASK;
	int err = 0, ret;

	if (!decided)
		nr = uprobe_points_decide(points, nr, arch_uprobe_mode(vma->vm_mm), &err);
	if (op == UPROBE_DISARM)
		err = 0;
	if (!nr)
		return err;
	if (op == UPROBE_ARM)
		mm_flags_set(MMF_HAS_UPROBES, vma->vm_mm);
	ret = uprobe_text_page(vma, uprobe_vma_addr(vma, page), points, nr, op);
	return uprobe_first_error(err, ret);
}

/**
 * uprobe_arm_vma() - arm or disarm points in a mapping
 * @vma: text, see uprobe_vma_kind()
 * @points: points of its file, in the order of offsets; those outside of the mapping are
 *	skipped
 * @nr: number of points
 * @op: %UPROBE_ARM arms those that a consumer wants in this process, %UPROBE_DISARM disarms
 *	those that none wants
 *
 * Context: task, may sleep; mmap_lock held; uprobe_mutex held, by current or, in a fork, by the
 * operation that it uses.
 * Return: 1 if points have been armed or disarmed, 0 if the mapping has none that @op concerns, or
 * the first error: those of uprobe_text_page() and of uprobe_points_decide().
 */
int uprobe_arm_vma(struct vm_area_struct *vma, struct uprobe_point **points, unsigned int nr,
		   enum uprobe_text_op op)
{
	loff_t end = uprobe_vma_offset(vma, vma->vm_end), page_end;
	struct mm_struct *mm = vma->vm_mm;
	unsigned int mode = arch_uprobe_mode(mm);
	struct uprobe_point *batch[UPROBE_PAGE_POINTS] __uninitialized;
	struct uprobe_point **next, **stop, **last = points + nr, *point;
	bool decided, any = false;
	int err = 0, ret;
	unsigned int n;

	next = points + uprobe_first_at(uprobe_vma_offset(vma, vma->vm_start), points, nr);
	while (next < last && (*next)->offset < end) {
		point = *next;
		page_end = (point->offset & PAGE_MASK) + PAGE_SIZE;
		decided = true;
		n = 0;
		stop = last - next > UPROBE_PAGE_POINTS ? next + UPROBE_PAGE_POINTS : last;
		do {
			decided &= add_concerned(batch, &n, point, mm, mode, op);
			if (++next == stop)
				break;
			point = *next;
		} while (point->offset < page_end);
		if (!n)
			continue;
		any = true;
		ret = patch(vma, batch, n, decided, op);
		err = uprobe_first_error(err, ret);
	}
	return err ?: any;
}

/* A lack of memory is no decision, so no other function reports it. */
static void decide(struct vm_area_struct *vma, struct uprobe_point *point)
{
	int err = uprobe_point_decide(point, arch_uprobe_mode(vma->vm_mm))->err;

	if (err == -ENOMEM && uprobe_point_wanted(point, vma->vm_mm))
		trace_uprobe_refused(point->file->inode, point->offset,
				     uprobe_vma_addr(vma, point->offset), "no memory", err);
}

/* Arms the points of a page, from @first on. Returns the first one after it, or NULL. */
static struct uprobe_point *arm_mapped_page(struct vm_area_struct *vma, struct page *page,
					    struct uprobe_point *first)
{
	struct uprobe_point *next, *point;
	bool undecided = false;

	mm_flags_set(MMF_HAS_UPROBES, vma->vm_mm);
	next = uprobe_text_arm_mapped(vma, page, first, &undecided);
	if (likely(!undecided))
		return next;
	for (point = first; point != next; point = uprobe_point_next(point))
		decide(vma, point);
	return uprobe_text_arm_mapped(vma, page, first, &undecided);
}

/**
 * uprobe_arm_mapped() - arm the points of a page that a consumer wants in a new mapping
 * @vma: text, see uprobe_vma_kind()
 * @file: its file
 * @from: first offset
 * @page: the page at @from, from uprobe_text_get_own(), also an ERR_PTR(); or NULL, then no page is
 *	armed
 *
 * Text whose page cannot be read gets no breakpoints.
 *
 * Context: task, may sleep; mmap_lock held; uprobe_points_lock held.
 * Return: the offset of the next point that a consumer wants, or the end of the mapping. The caller
 * releases uprobe_points_lock, gets the page there, and goes on.
 */
loff_t uprobe_arm_mapped(struct vm_area_struct *vma, struct uprobe_file *file, loff_t from,
			 struct page *page)
{
	struct uprobe_point *point = uprobe_point_first(file, from);
	loff_t end = uprobe_vma_offset(vma, vma->vm_end);

	if (page && point && !((point->offset ^ from) & PAGE_MASK))
		point = arm_mapped_page(vma, page, point);
	while (point && point->offset < end && !uprobe_point_wanted(point, vma->vm_mm))
		point = uprobe_point_next(point);
	return point && !fatal_signal_pending(current) ? min(point->offset, end) : end;
}
