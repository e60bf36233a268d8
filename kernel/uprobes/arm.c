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
#include <linux/sort.h>
#include <linux/wait_bit.h>

#include "arm.h"
#include "internal.h"
#include "point.h"
#include "trace.h"

/* A mapping to visit. The process may have ended meanwhile; only its &struct mm_struct is kept. */
struct visit {
	struct mm_struct *mm;
	unsigned long start, end;
};

/* Mappings of one file; @few is the array if they fit. */
struct visits {
	struct visit *array;
	unsigned int nr;
	unsigned int room;
	struct visit few[4];
};

/* An operation of uprobe_arm_points(). */
struct operation {
	struct uprobe_point **points;
	unsigned int nr;
	enum uprobe_text_op op;
	bool armed;		/* points in a mapping have been armed or disarmed */
	int refused;		/* the first errno of mappings that cannot be probed, or 0 */
	struct mm_struct *searched;	/* the process all of whose mappings were visited last */
	atomic_t users;		/* forks and mremap()s that use it; the operation waits for them */
};

/*
 * The operation that is being done, or NULL. Set before the mappings are collected, and cleared
 * with uprobe_points_lock held for writing, so that a fork that holds the lock can become a user.
 */
static struct operation *operation;

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
	if (visits->array != visits->few)
		kvfree(visits->array);
	visits->array = visits->few;
	visits->room = ARRAY_SIZE(visits->few);
}

static int by_process(const void *a, const void *b)
{
	const struct visit *x = a, *y = b;

	return cmp_int(x->mm, y->mm);
}

/* Collects all mappings, in the order of processes. Returns 0 or -ENOMEM. */
static int collect(struct visits *visits, struct address_space *mapping, pgoff_t first,
		   pgoff_t last)
{
	unsigned int missing, room;
	struct visit *array;

	while ((missing = collect_some(visits, mapping, first, last))) {
		/* Half as many more may have been made before the next attempt. */
		room = visits->nr + missing;
		room += room / 2 + 4;
		forget(visits);
		array = kvmalloc_array(room, sizeof(*array), GFP_KERNEL);
		if (!array)
			return -ENOMEM;
		visits->array = array;
		visits->room = room;
	}
	sort_nonatomic(visits->array, visits->nr, sizeof(*visits->array), by_process, NULL);
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
 * Returns 1 if points in the mapping have been armed or disarmed, 0 if it has nothing to do with
 * the points, -EPERM if it cannot be probed, or another error.
 */
static int visit_vma(struct operation *op, struct vm_area_struct *vma)
{
	int ret;

	if (!is_of_file(op, vma))
		return 0;
	ret = can_visit(op, vma);
	return ret > 0 ? uprobe_arm_vma(vma, op->points, op->nr, op->op) : ret;
}

/* Can an operation concern a process?  Asked before its locks are taken. */
static bool may_concern(struct operation *op, struct mm_struct *mm)
{
	unsigned int i;

	if (op->op == UPROBE_DISARM)
		return mm_flags_test(MMF_HAS_UPROBES, mm);
	for (i = 0; i < op->nr; i++) {
		if (uprobe_point_wanted(op->points[i], mm))
			return true;
	}
	return false;
}

/* Gives pages of text back, if no point needs them. mmap_lock is held for writing. */
static void give_back(struct operation *op, struct vm_area_struct *vma)
{
	loff_t offset = uprobe_vma_offset(vma, vma->vm_start);
	loff_t end = uprobe_vma_offset(vma, vma->vm_end);
	struct uprobe_point **points = op->points;
	unsigned int i;

	if (!is_of_file(op, vma) || !uprobe_vma_armed(vma))
		return;
	while ((i = uprobe_first_at(offset, points, op->nr)) < op->nr && points[i]->offset < end) {
		offset = points[i]->offset & PAGE_MASK;
		uprobe_text_give_back(vma, uprobe_vma_addr(vma, offset));
		offset += PAGE_SIZE;
	}
}

/* Notes the result of visit_vma() in the operation. Returns 0 or an error. */
static int note_result(struct operation *op, int ret)
{
	switch (ret) {
	/* This process only: the mapping, its instruction set, or its reference counter. */
	case -EPERM:
	case -EOPNOTSUPP:
	case -EILSEQ:
	case -EEXIST:
	case -EINVAL:
		op->refused = uprobe_first_error(op->refused, ret);
		return 0;
	/* If the program has unmapped or truncated the page, its breakpoints are gone. */
	case -EFAULT:
	case 0:
		return 0;
	default:
		op->armed |= ret > 0;
		return min(ret, 0);
	}
}

/* Visits the mappings of a range, and subtracts those of the file from @left. */
static int visit_range(struct operation *op, struct visit *visit, unsigned long *left)
{
	VMA_ITERATOR(vmi, visit->mm, visit->start);
	struct vm_area_struct *vma;
	int err = 0;

	for_each_vma_range(vmi, vma, visit->end) {
		err = uprobe_first_error(err, note_result(op, visit_vma(op, vma)));
		if (is_of_file(op, vma))
			*left -= min(vma->vm_end, visit->end) - max(vma->vm_start, visit->start);
	}
	return err;
}

/*
 * Visits all mappings of the process. Once is enough: the hooks of mmap() and mremap() arm or
 * disarm text that is mapped or moved later.
 */
static int visit_process(struct operation *op, struct visit *visit)
{
	VMA_ITERATOR(vmi, visit->mm, 0);
	struct vm_area_struct *vma;
	int err = 0;

	for_each_vma(vmi, vma)
		err = uprobe_first_error(err, note_result(op, visit_vma(op, vma)));
	op->searched = visit->mm;
	return err;
}

/*
 * Visits the mappings that have replaced one: it may have been split or merged, or, if a part is
 * not there any more, moved to any place.
 */
static int visit_locked(struct operation *op, struct visit *visit)
{
	unsigned long left = visit->end - visit->start;
	int err;

	err = visit_range(op, visit, &left);
	if (likely(!left) || op->searched == visit->mm)
		return err;
	return uprobe_first_error(err, visit_process(op, visit));
}

static int arm_range(struct operation *op, struct visit *visit)
{
	/* Its program may keep the lock for any time. */
	int err = mmap_read_lock_killable(visit->mm);

	if (err)
		return err;
	err = visit_locked(op, visit);
	mmap_read_unlock(visit->mm);
	return err;
}

static int disarm_range(struct operation *op, struct visit *visit)
{
	VMA_ITERATOR(vmi, visit->mm, visit->start);
	struct vm_area_struct *vma;
	int err;

	guard(mmap_write_lock)(visit->mm);
	err = visit_locked(op, visit);
	for_each_vma_range(vmi, vma, visit->end)
		give_back(op, vma);
	return err;
}

static int visit_one(struct operation *op, struct visit *visit)
{
	int err = 0;

	/* Filters are asked about the parent of a child that is being forked while it has users. */
	if (!mmget_not_zero(visit->mm))
		return 0;
	if (may_concern(op, visit->mm))
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

/* The errno of a point that has been refused, and not accepted for another mode; or 0. */
static int refusal_of(struct uprobe_point *point)
{
	const struct uprobe_decision *decision;
	unsigned int mode;
	int err = 0;

	for (mode = 0; mode < UPROBE_MODES; mode++) {
		decision = uprobe_point_decision(point, mode);
		if (!decision)
			continue;
		if (decision->state == UPROBE_ACCEPTED)
			return 0;
		err = err ?: decision->err;
	}
	return err;
}

/* Why does a registration fail, although no error has ended it? Returns an errno, or 0. */
static int refusal(const struct operation *op)
{
	unsigned int i;
	int err = 0;

	if (!op->refused || !op->armed)
		return op->refused;
	for (i = 0; i < op->nr && !err; i++)
		err = refusal_of(op->points[i]);
	return err;
}

/**
 * uprobe_arm_points() - arm or disarm points in all processes
 * @points: points of one file, in the order of offsets
 * @nr: number of points, at least 1
 * @op: see uprobe_arm_vma()
 *
 * Context: task, may sleep; uprobe_mutex held.
 * Return: 0, or the first error: -EPERM if the processes that want the points map the file only
 * where it cannot be probed; -EINVAL if they have only counters that cannot be increased; a refusal
 * of uprobe_points_decide() if a point was not accepted for any process; those of
 * uprobe_text_page(). After an error of %UPROBE_ARM the caller removes its consumers and calls this
 * function with %UPROBE_DISARM.
 */
int uprobe_arm_points(struct uprobe_point **points, unsigned int nr, enum uprobe_text_op op)
{
	struct address_space *mapping = points[0]->file->inode->i_mapping;
	pgoff_t first = points[0]->offset >> PAGE_SHIFT;
	pgoff_t last = points[nr - 1]->offset >> PAGE_SHIFT;
	struct operation now = { .points = points, .nr = nr, .op = op };
	struct visits visits __uninitialized;
	int err;

	visits.nr = 0;
	visits.array = visits.few;
	visits.room = ARRAY_SIZE(visits.few);
	/*
	 * Pairs with the acquire in operation_get(). Either the mapping of a child is collected, or
	 * it is added later, and the lock of the file's mappings lets fork see the operation.
	 */
	smp_store_release(&operation, &now);
	err = collect(&visits, mapping, first, last);
	if (!err)
		err = visit_all(&now, &visits);
	scoped_guard(rwsem_write, &uprobe_points_lock)
		WRITE_ONCE(operation, NULL);
	wait_var_event(&now.users, !atomic_read(&now.users));
	forget(&visits);
	if (!err && op == UPROBE_ARM)
		err = refusal(&now);
	return err;
}

/*
 * The operation that is being done, which then waits for operation_put(); or NULL. So the caller
 * uses its points as if it held uprobe_mutex, and does not keep uprobe_points_lock while a file
 * system reads text.
 */
static struct operation *operation_get(void)
{
	struct operation *op;

	if (likely(!READ_ONCE(operation)))
		return NULL;
	guard(rwsem_read)(&uprobe_points_lock);
	/* Pairs with the release in uprobe_arm_points(). */
	op = smp_load_acquire(&operation);
	if (op)
		atomic_inc(&op->users);
	return op;
}

static void operation_put(struct operation *op)
{
	/* It is on the stack of a task that may go on now; only its address is used. */
	if (atomic_dec_and_test(&op->users))
		wake_up_var(&op->users);
}

/* Performs an operation in a mapping. Returns 0, or an error if a point cannot be disarmed. */
static int visit_forked(struct operation *op, struct vm_area_struct *vma)
{
	int ret;

	if (!is_of_file(op, vma) || !may_concern(op, vma->vm_mm))
		return 0;
	ret = visit_vma(op, vma);
	if (op->op == UPROBE_ARM)
		return 0;
	give_back(op, vma);
	return ret != -EFAULT ? min(ret, 0) : 0;
}

/**
 * uprobe_arm_moving() - a mapping is about to be moved, or has been moved
 * @vma: the mapping
 *
 * If points are being armed or disarmed in all processes, they are in this mapping.
 *
 * Context: task, may sleep; mmap_lock held for writing.
 * Return: 0, or -ENOMEM, -EINTR or -EAGAIN if a point cannot be disarmed.
 */
int uprobe_arm_moving(struct vm_area_struct *vma)
{
	struct operation *op = operation_get();
	int ret;

	if (likely(!op))
		return 0;
	ret = visit_forked(op, vma);
	operation_put(op);
	return ret;
}

/**
 * uprobe_arm_forked() - the memory of a process has been copied
 * @mm: the child, which has not run
 *
 * If points are being armed or disarmed in all processes, they are in this one.
 *
 * Context: task, may sleep; mmap_lock of @mm held for writing.
 * Return: 0, or -ENOMEM, -EINTR or -EAGAIN if a point cannot be disarmed, and the child must not
 * run.
 */
int uprobe_arm_forked(struct mm_struct *mm)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct operation *op = operation_get();
	struct vm_area_struct *vma;
	int ret = 0;

	if (likely(!op))
		return 0;
	for_each_vma(vmi, vma) {
		ret = visit_forked(op, vma);
		if (ret)
			break;
	}
	operation_put(op);
	return ret;
}

/* Is a point that was hit at an address still there, and unwanted? */
static bool is_unwanted(struct vm_area_struct *vma, struct uprobe_point *point,
			unsigned long vaddr)
{
	guard(rwsem_read)(&uprobe_points_lock);
	/* It may have been unregistered, or the file replaced, meanwhile. */
	if (!point->file || uprobe_point_wanted(point, vma->vm_mm))
		return false;
	if (uprobe_point_is_process(point))
		return true;
	return uprobe_vma_kind(vma, NULL) == UPROBE_VMA_PROBED &&
	       file_inode(vma->vm_file) == point->file->inode &&
	       uprobe_vma_offset(vma, vaddr) == point->offset;
}

/**
 * uprobe_disarm_current() - disarm a point whose handlers want no more hits in this process
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
	if (vma && is_unwanted(vma, point, vaddr))
		uprobe_text_page(vma, vaddr & PAGE_MASK, &point, 1, UPROBE_DISARM);
}
