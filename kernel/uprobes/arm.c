// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arming and disarming points in all processes that map their file.
 *
 * The mappings are collected under the lock of the file's mappings, then visited one by one
 * under the mmap_lock of their process. Mappings that come into being later need no visit: those
 * that are made find the points by themselves (mm.c), and a child that is forked during the
 * operation is armed or disarmed by fork. So an operation ends however many processes fork.
 */
#include <linux/slab.h>

#include "internal.h"
#include "point.h"
#include "process.h"
#include "trace.h"

/* A mapping to visit. The process may have ended meanwhile; only its &struct mm_struct is kept. */
struct visit {
	struct mm_struct *mm;
	unsigned long start, end;
};

/* Mappings of one file. */
struct visits {
	struct visit *array;
	unsigned int nr;
	unsigned int room;
};

/* What uprobe_arm_points() does. */
struct operation {
	struct uprobe_point **points;
	unsigned int nr;
	enum uprobe_text_op op;
	bool armed;		/* a mapping has been armed or disarmed, or is not concerned */
	bool refused;		/* a mapping cannot be probed */
};

/*
 * The operation that is being done, or NULL. Set before the mappings are collected, and cleared
 * with uprobe_points_lock held for writing, so that a fork that holds the lock can use it.
 */
static struct operation *operation;

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

/* --- One mapping ---------------------------------------------------------------- */

/* Index of the first point that is not before an offset. */
static unsigned int first_at(loff_t start, struct uprobe_point **points, unsigned int nr)
{
	unsigned int low = 0, high = nr;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (points[mid]->offset < start)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Points of a page that are patched together. */
#define PAGE_POINTS 64

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
	return err ? err : ret;
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
 * Context: task, may sleep; mmap_lock held; uprobe_points_lock or uprobe_mutex held.
 * Return: 0, or the first error: those of uprobe_text_page() and of uprobe_points_decide().
 */
int uprobe_arm_vma(struct vm_area_struct *vma, struct uprobe_point **points, unsigned int nr,
		   enum uprobe_text_op op)
{
	loff_t end = uprobe_vma_offset(vma, vma->vm_end), page_end;
	struct mm_struct *mm = vma->vm_mm;
	unsigned int mode = arch_uprobe_mode(mm);
	struct uprobe_point *batch[PAGE_POINTS];
	unsigned int i = first_at(uprobe_vma_offset(vma, vma->vm_start), points, nr), n;
	int err = 0, ret;
	bool decided;

	while (i < nr && points[i]->offset < end) {
		page_end = (points[i]->offset & PAGE_MASK) + PAGE_SIZE;
		decided = true;
		for (n = 0; i < nr && points[i]->offset < page_end && n < PAGE_POINTS; i++)
			decided &= add_concerned(batch, &n, points[i], mm, mode, op);
		if (!n)
			continue;
		ret = patch(vma, batch, n, decided, op);
		if (!err)
			err = ret;
	}
	return err;
}

/* Arms the points of a page, from @first on, which is wanted. Returns the first one after it. */
static struct uprobe_point *arm_mapped_page(struct vm_area_struct *vma, struct uprobe_point *first)
{
	struct uprobe_point *next, *point;
	bool undecided = false;

	next = uprobe_text_arm_mapped(vma, first, &undecided);
	if (likely(!undecided))
		return next;
	for (point = first; point != next; point = uprobe_point_next(point))
		uprobe_point_decide(point, arch_uprobe_mode(vma->vm_mm));
	return uprobe_text_arm_mapped(vma, first, &undecided);
}

/**
 * uprobe_arm_mapped() - arm the points of a file that a consumer wants in a new mapping
 * @vma: text, see uprobe_vma_kind()
 * @file: its file
 * @from: first offset
 * @ready: offset in a page that the caller has tried to bring into the page cache, or -1
 *
 * Text of which a page cannot be had stays without breakpoints there.
 *
 * Context: task, may sleep; mmap_lock held; uprobe_points_lock held.
 * Return: the end of the mapping; or an offset in a page that is not in the page cache. The caller
 * releases uprobe_points_lock, calls uprobe_text_bring_in(), and goes on there.
 */
loff_t uprobe_arm_mapped(struct vm_area_struct *vma, struct uprobe_file *file, loff_t from,
			 loff_t ready)
{
	struct uprobe_point *point = uprobe_point_first(file, from);
	loff_t end = uprobe_vma_offset(vma, vma->vm_end);

	while (point && point->offset < end && !fatal_signal_pending(current)) {
		if (!uprobe_point_wanted(point, vma->vm_mm)) {
			point = uprobe_point_next(point);
			continue;
		}
		if (point->offset != ready &&
		    !uprobe_text_is_cached(vma->vm_file->f_mapping, point->offset))
			return point->offset;
		mm_flags_set(MMF_HAS_UPROBES, vma->vm_mm);
		point = arm_mapped_page(vma, point);
	}
	return end;
}

/* --- All mappings of a file ------------------------------------------------------- */

/*
 * Adds all mappings of [first, last]. Returns the number of those for which there was no room.
 */
static unsigned int collect_some(struct visits *visits, struct address_space *mapping,
				 pgoff_t first, pgoff_t last)
{
	struct vm_area_struct *vma;
	unsigned int missing = 0;

	i_mmap_lock_read(mapping);
	mapping_rmap_tree_foreach(vma, mapping, first, last) {
		/* Only the flags that never change count here; the rest is checked later. */
		if (!(vma->vm_flags & VM_MAYEXEC))
			continue;
		if (visits->nr == visits->room) {
			missing++;
			continue;
		}
		mmgrab(vma->vm_mm);
		visits->array[visits->nr++] = (struct visit) {
			.mm = vma->vm_mm, .start = vma->vm_start, .end = vma->vm_end,
		};
	}
	i_mmap_unlock_read(mapping);
	return missing;
}

static void forget(struct visits *visits)
{
	while (visits->nr)
		mmdrop(visits->array[--visits->nr].mm);
	kvfree(visits->array);
	visits->array = NULL;
	visits->room = 0;
}

/* Collects all mappings. Returns 0 or -ENOMEM. */
static int collect(struct visits *visits, struct address_space *mapping, pgoff_t first,
		   pgoff_t last)
{
	unsigned int missing, room;

	while ((missing = collect_some(visits, mapping, first, last))) {
		/* Half as many more may have been made before the next attempt. */
		room = visits->nr + missing;
		room += room / 2 + 4;
		forget(visits);
		visits->array = kvmalloc_array(room, sizeof(*visits->array), GFP_KERNEL);
		if (!visits->array)
			return -ENOMEM;
		visits->room = room;
	}
	return 0;
}

static void report_refused(struct operation *op, unsigned long vaddr, const char *why)
{
	struct uprobe_point **points = op->points;
	unsigned int i;

	for (i = 0; i < op->nr; i++)
		trace_uprobe_refused(points[i]->file->inode, points[i]->offset, vaddr, why, -EPERM);
}

/* Can an operation be done in a mapping? Returns 1, 0 if it is not concerned, or -EPERM. */
static int can_visit(struct operation *op, struct vm_area_struct *vma)
{
	const char *why;

	if (op->op == UPROBE_DISARM)
		return uprobe_vma_armed(vma);
	switch (uprobe_vma_kind(vma, &why)) {
	case UPROBE_VMA_PROBED:
		return 1;
	case UPROBE_VMA_REFUSED:
		report_refused(op, vma->vm_start, why);
		return -EPERM;
	default:
		return 0;
	}
}

static bool is_of_file(struct operation *op, struct vm_area_struct *vma)
{
	return vma->vm_file && file_inode(vma->vm_file) == op->points[0]->file->inode;
}

/*
 * Returns 1 if the mapping has been armed or disarmed, 0 if it has nothing to do with the
 * points, -EPERM if it cannot be probed, or another error.
 */
static int visit_vma(struct operation *op, struct vm_area_struct *vma)
{
	int ret;

	if (!is_of_file(op, vma))
		return 0;
	ret = can_visit(op, vma);
	if (ret <= 0)
		return ret;
	ret = uprobe_arm_vma(vma, op->points, op->nr, op->op);
	return ret ? ret : 1;
}

/* Can an operation concern a process?  Asked before its locks are taken. */
static bool may_concern(struct operation *op, struct mm_struct *mm)
{
	if (op->op == UPROBE_DISARM)
		return mm_flags_test(MMF_HAS_UPROBES, mm);
	/* One point is often that of an event for one task. */
	return op->nr > 1 || uprobe_point_wanted(op->points[0], mm);
}

/* Notes the result of visit_vma() in the operation. Returns 0 or an error. */
static int note_result(struct operation *op, int ret)
{
	if (ret == -EPERM)
		op->refused = true;
	else if (ret > 0)
		op->armed = true;
	/* A page that vanishes is the program's business; its text is gone. */
	else if (ret != -EFAULT)
		return ret;
	return 0;
}

/*
 * The first page of a mapping, from an offset on, that has points to be armed and is not in the
 * page cache; or -1.
 */
static loff_t first_absent(struct operation *op, struct vm_area_struct *vma, loff_t from)
{
	loff_t end = uprobe_vma_offset(vma, vma->vm_end);
	struct uprobe_point **points = op->points;
	unsigned int i;

	if (op->op == UPROBE_DISARM || !is_of_file(op, vma) ||
	    uprobe_vma_kind(vma, NULL) != UPROBE_VMA_PROBED)
		return -1;
	from = max(from, uprobe_vma_offset(vma, vma->vm_start));
	for (i = first_at(from, points, op->nr); i < op->nr && points[i]->offset < end;
	     i = first_at(from, points, op->nr)) {
		if (!uprobe_text_is_cached(vma->vm_file->f_mapping, points[i]->offset))
			return points[i]->offset & PAGE_MASK;
		from = (points[i]->offset & PAGE_MASK) + PAGE_SIZE;
	}
	return -1;
}

/*
 * Brings text that is to be armed into the page cache. That is done without uprobe_points_lock,
 * because the file system may ask a program, which may need it.
 */
static void bring_in(struct operation *op, struct visit *visit)
{
	VMA_ITERATOR(vmi, visit->mm, visit->start);
	struct vm_area_struct *vma;
	loff_t page;

	for_each_vma_range(vmi, vma, visit->end) {
		for (page = first_absent(op, vma, 0); page >= 0;
		     page = first_absent(op, vma, page + PAGE_SIZE))
			uprobe_text_bring_in(vma->vm_file, page);
	}
}

/*
 * Visits what a mapping has become: it may have been split or merged, or, if some of it is not
 * there any more, moved to any place.
 */
static int visit_locked(struct operation *op, struct visit *visit)
{
	VMA_ITERATOR(vmi, visit->mm, visit->start);
	unsigned long left = visit->end - visit->start;
	struct vm_area_struct *vma;
	int err = 0, ret;

	/* For the points of the process. */
	guard(rwsem_read)(&uprobe_points_lock);
	for_each_vma_range(vmi, vma, visit->end) {
		ret = note_result(op, visit_vma(op, vma));
		if (!err)
			err = ret;
		if (is_of_file(op, vma))
			left -= min(vma->vm_end, visit->end) - max(vma->vm_start, visit->start);
	}
	if (likely(!left))
		return err;
	vma_iter_set(&vmi, 0);
	for_each_vma(vmi, vma) {
		ret = note_result(op, visit_vma(op, vma));
		if (!err)
			err = ret;
	}
	return err;
}

static int arm_range(struct operation *op, struct visit *visit)
{
	int err;

	guard(mmap_read_lock)(visit->mm);
	bring_in(op, visit);
	err = visit_locked(op, visit);
	uprobe_counters_catch_up(visit->mm);
	return err;
}

/* Gives pages of text back, if no other point needs them. */
static void give_back(struct operation *op, struct visit *visit)
{
	VMA_ITERATOR(vmi, visit->mm, visit->start);
	struct uprobe_point **points = op->points;
	struct vm_area_struct *vma;
	loff_t offset;
	unsigned int i;

	guard(rwsem_read)(&uprobe_points_lock);
	for_each_vma_range(vmi, vma, visit->end) {
		if (!is_of_file(op, vma) || !uprobe_vma_armed(vma))
			continue;
		offset = uprobe_vma_offset(vma, vma->vm_start);
		while ((i = first_at(offset, points, op->nr)) < op->nr &&
		       points[i]->offset < uprobe_vma_offset(vma, vma->vm_end)) {
			offset = points[i]->offset & PAGE_MASK;
			uprobe_text_give_back(vma, uprobe_vma_addr(vma, offset));
			offset += PAGE_SIZE;
		}
	}
}

static int disarm_range(struct operation *op, struct visit *visit)
{
	int err;

	guard(mmap_write_lock)(visit->mm);
	err = visit_locked(op, visit);
	give_back(op, visit);
	return err;
}

static int visit_one(struct operation *op, struct visit *visit)
{
	int err;

	if (!may_concern(op, visit->mm)) {
		op->armed = true;
		return 0;
	}
	if (!mmget_not_zero(visit->mm))
		return 0;
	err = op->op == UPROBE_ARM ? arm_range(op, visit) : disarm_range(op, visit);
	mmput_async(visit->mm);
	return err;
}

static int visit_all(struct operation *op, struct visits *visits)
{
	unsigned int i;
	int ret, err = 0;

	for (i = 0; i < visits->nr; i++) {
		ret = visit_one(op, &visits->array[i]);
		if (!err)
			err = ret;
		if (err && op->op == UPROBE_ARM)
			break;
		cond_resched();
	}
	return err;
}

/**
 * uprobe_arm_points() - arm or disarm points in all processes
 * @points: points of one file, in the order of offsets
 * @nr: number of points, at least 1
 * @op: see uprobe_arm_vma()
 *
 * Context: task, may sleep; uprobe_mutex held.
 * Return: 0, or the first error: -EPERM if the file is only mapped where it cannot be probed;
 * those of uprobe_arm_vma(). After an error of %UPROBE_ARM the caller removes its consumers
 * and calls this function with %UPROBE_DISARM.
 */
int uprobe_arm_points(struct uprobe_point **points, unsigned int nr, enum uprobe_text_op op)
{
	struct address_space *mapping = points[0]->file->inode->i_mapping;
	pgoff_t first = points[0]->offset >> PAGE_SHIFT;
	pgoff_t last = points[nr - 1]->offset >> PAGE_SHIFT;
	struct operation now = { .points = points, .nr = nr, .op = op };
	struct visits visits = { };
	int err;

	/*
	 * Pairs with the acquire in uprobe_arm_forked(). Either the mapping of a child is
	 * collected, or it is added later, and the lock of the file's mappings lets fork see the
	 * operation.
	 */
	smp_store_release(&operation, &now);
	err = collect(&visits, mapping, first, last);
	if (!err)
		err = visit_all(&now, &visits);
	/* No fork uses it after this. */
	scoped_guard(rwsem_write, &uprobe_points_lock)
		WRITE_ONCE(operation, NULL);
	forget(&visits);
	if (!err && now.refused && !now.armed && op == UPROBE_ARM)
		err = -EPERM;
	return err;
}

/*
 * Does what the operation, if there is still one, does in a mapping. Absent text is brought in
 * without the lock, and the mapping visited again.
 */
static int visit_forked(struct vm_area_struct *vma)
{
	loff_t page, from = 0;
	struct operation *op;
	int ret;

	for (;;) {
		scoped_guard(rwsem_read, &uprobe_points_lock) {
			/* Pairs with the release in uprobe_arm_points(). */
			op = smp_load_acquire(&operation);
			if (!op || !may_concern(op, vma->vm_mm))
				return 0;
			ret = visit_vma(op, vma);
			if (op->op == UPROBE_DISARM)
				return ret < 0 && ret != -EFAULT ? ret : 0;
			page = first_absent(op, vma, from);
		}
		if (page < 0)
			return 0;
		uprobe_text_bring_in(vma->vm_file, page);
		from = page + PAGE_SIZE;
	}
}

/**
 * uprobe_arm_forked() - the memory of a process has been copied, or is about to be moved
 * @mm: the child, which has not run; or the process, before its pages are moved
 *
 * If points are being armed or disarmed in all processes, they are in this one.
 *
 * Context: task, may sleep; mmap_lock of @mm held for writing.
 * Return: 0, or -ENOMEM or -EINTR if a point cannot be disarmed, and the child must not run.
 */
int uprobe_arm_forked(struct mm_struct *mm)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;
	int ret;

	if (likely(!READ_ONCE(operation)))
		return 0;
	for_each_vma(vmi, vma) {
		ret = visit_forked(vma);
		if (ret)
			return ret;
	}
	uprobe_counters_catch_up(mm);
	return 0;
}

/**
 * uprobe_disarm_current() - the handlers of a hit do not want more in this process
 * @point: the point that was hit
 * @vaddr: its address in current's process
 *
 * Disarms the site unless a filter wants hits.
 *
 * Context: task, may sleep; a hit, no locks.
 */
void uprobe_disarm_current(struct uprobe_point *point, unsigned long vaddr)
{
	struct vm_area_struct *vma;

	guard(mmap_read_lock)(current->mm);
	vma = vma_lookup(current->mm, vaddr);
	guard(rwsem_read)(&uprobe_points_lock);
	/* It may have been unregistered, or the file replaced, meanwhile. */
	if (!vma || !point->file)
		return;
	if (uprobe_point_is_process(point)) {
		uprobe_process_arm(current->mm->uprobes_state.own, &point, 1, UPROBE_DISARM);
		return;
	}
	if (uprobe_vma_kind(vma, NULL) != UPROBE_VMA_PROBED ||
	    file_inode(vma->vm_file) != point->file->inode)
		return;
	uprobe_arm_vma(vma, &point, 1, UPROBE_DISARM);
}
