// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reference counters: a program skips the preparation of a marker's arguments while the
 * counter in its data, a 16-bit word, is 0. It is increased in each process in which the
 * marker's point is armed.
 *
 * The counter is in another mapping of the same file, which may be mapped after the text, and may
 * have to be read. So a point that is armed only gets an entry in the process. The change follows
 * when no lock inside of mmap_lock is held, or waits until the data is mapped.
 *
 * A process has an entry for each point whose counter it has changed, or will change. So text
 * that is armed again, or in a second mapping, is counted once, and there are at most as many
 * entries as points. They vanish with the point.
 */
#include <linux/highmem.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "internal.h"
#include "point.h"
#include "trace.h"

/**
 * struct uprobe_counter - the counter of a point in a process
 * @inode: the file, which the point keeps
 * @offset: of the counter
 * @vaddr: address of the counter that has been changed, or 0 if the change waits
 */
struct uprobe_counter {
	struct inode *inode;
	loff_t offset;
	unsigned long vaddr;
};

static bool has_counter(struct vm_area_struct *vma, struct inode *inode, loff_t offset)
{
	loff_t start = uprobe_vma_offset(vma, vma->vm_start);

	return vma->vm_file && file_inode(vma->vm_file) == inode &&
	       (vma->vm_flags & (VM_WRITE | VM_SHARED)) == VM_WRITE &&
	       offset >= start && offset - start < vma->vm_end - vma->vm_start;
}

static struct vm_area_struct *find_mapping(struct mm_struct *mm, struct inode *inode,
					   loff_t offset)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;

	for_each_vma(vmi, vma) {
		if (has_counter(vma, inode, offset))
			return vma;
	}
	return NULL;
}

/*
 * Adds to a counter, without a page fault. Returns -EAGAIN if bring_in() has to be called before;
 * -EFAULT if there is nothing to subtract from, because the process does not have the page.
 */
static int change(struct mm_struct *mm, unsigned long vaddr, int by)
{
	struct vm_area_struct *vma = vma_lookup(mm, vaddr);
	struct page *page;
	short *counter;
	void *kaddr;
	int err = 0;

	if (!vma || (by < 0 && uprobe_text_is_none(vma, vaddr & PAGE_MASK)))
		return -EFAULT;
	page = uprobe_text_get(mm, vaddr, FOLL_WRITE | FOLL_NOFAULT);
	if (IS_ERR(page))
		return PTR_ERR(page) == -EFAULT ? -EAGAIN : PTR_ERR(page);
	kaddr = kmap_local_page(page);
	counter = kaddr + offset_in_page(vaddr);
	if (*counter + by < 0 || *counter + by > SHRT_MAX)
		err = -EINVAL;
	else
		*counter += by;
	kunmap_local(kaddr);
	if (!err)
		set_page_dirty_lock(page);
	put_page(page);
	return err;
}

/* Brings the page of a counter in, to be written. No lock inside of mmap_lock is held. */
static int bring_in(struct mm_struct *mm, unsigned long vaddr)
{
	struct vm_area_struct *vma = vma_lookup(mm, vaddr);
	struct page *page;

	if (!vma)
		return -EFAULT;
	page = uprobe_text_get_own(vma, vaddr);
	if (IS_ERR(page))
		return PTR_ERR(page);
	put_page(page);
	return 0;
}

/* The numbers of points that live at the same time differ in these bits. */
static unsigned long index_of(const struct uprobe_point *point)
{
	return (unsigned long)point->id;
}

static struct uprobe_counter *take(struct uprobe_mm *own, struct uprobe_point *point)
{
	/* uprobe_counters_unmapped() may be looking at it. */
	guard(mutex)(&own->lock);
	return xa_erase(&own->counters, index_of(point));
}

/**
 * uprobe_counter_note() - record that the counter of an armed point has to be increased
 * @own: the process
 * @point: the point
 *
 * The counter is changed later, by uprobe_counter_increase() or uprobe_counters_catch_up(). Nothing
 * happens if the point has an entry already, from another mapping.
 *
 * Context: task, may sleep; text_lock of the process held.
 * Return: 0 or -ENOMEM.
 */
int uprobe_counter_note(struct uprobe_mm *own, struct uprobe_point *point)
{
	struct uprobe_counter *counter;
	int err;

	if (xa_load(&own->counters, index_of(point)))
		return 0;
	counter = kmalloc_obj(*counter, GFP_KERNEL_ACCOUNT);
	if (!counter)
		return -ENOMEM;
	*counter = (struct uprobe_counter) {
		.inode = point->file->inode, .offset = point->ref_ctr_offset,
	};
	err = xa_err(xa_store(&own->counters, index_of(point), counter, GFP_KERNEL_ACCOUNT));
	if (err)
		kfree(counter);
	else
		WRITE_ONCE(own->counters_noted, true);
	return err;
}

/*
 * Increases a counter whose change waits, if its data is mapped: in one mapping, or, if that is
 * NULL, in any. @vaddr is set to its address then. Returns 0 or an error of change().
 */
static int increase(struct uprobe_mm *own, struct uprobe_counter *counter,
		    struct vm_area_struct *only, unsigned long *vaddr)
{
	struct vm_area_struct *vma;
	int err;

	if (counter->vaddr)
		return 0;
	vma = only ?: find_mapping(own->mm, counter->inode, counter->offset);
	if (!vma || !has_counter(vma, counter->inode, counter->offset))
		return 0;
	*vaddr = uprobe_vma_addr(vma, counter->offset);
	err = change(own->mm, *vaddr, 1);
	if (!err)
		counter->vaddr = *vaddr;
	return err;
}

static int increase_of(struct uprobe_mm *own, struct uprobe_point *point, unsigned long *vaddr)
{
	struct uprobe_counter *counter;

	guard(mutex)(&own->text_lock);
	counter = xa_load(&own->counters, index_of(point));
	return counter ? increase(own, counter, NULL, vaddr) : 0;
}

/**
 * uprobe_counter_increase() - make the change of a point that has been armed
 * @own: the process
 * @point: the point
 *
 * Nothing happens if the change has been made, or if it waits for data that is not mapped.
 *
 * Context: task, may sleep; mmap_lock of the process and uprobe_mutex held, but no lock inside of
 * mmap_lock, because the file system may ask a program.
 * Return: 0; -EINVAL if the counter would overflow; -EFAULT if its data cannot be read; -ENOMEM,
 * -EINTR.
 */
int uprobe_counter_increase(struct uprobe_mm *own, struct uprobe_point *point)
{
	unsigned long vaddr;
	unsigned int tries;
	int err;

	/* The page may be taken from the process again at once. */
	for (tries = 0; tries < UPROBE_READ_TRIES; tries++) {
		err = increase_of(own, point, &vaddr);
		if (err != -EAGAIN)
			return err;
		err = bring_in(own->mm, vaddr);
		if (err)
			return err;
	}
	return -EFAULT;
}

/* Address of the counter that has been increased for a point, or 0. */
static unsigned long counter_of(struct uprobe_mm *own, struct uprobe_point *point)
{
	struct uprobe_counter *counter;

	guard(mutex)(&own->text_lock);
	counter = xa_load(&own->counters, index_of(point));
	return counter ? counter->vaddr : 0;
}

/**
 * uprobe_counter_prepare() - bring in the counter of a point that is to be disarmed
 * @own: the process
 * @point: the point
 *
 * Context: task, may sleep; mmap_lock of the process held, but no lock inside of it.
 */
void uprobe_counter_prepare(struct uprobe_mm *own, struct uprobe_point *point)
{
	unsigned long vaddr = counter_of(own, point);
	struct vm_area_struct *vma = vaddr ? vma_lookup(own->mm, vaddr) : NULL;

	/* It is swapped out, or shared since a fork. */
	if (vma && !uprobe_text_is_none(vma, vaddr & PAGE_MASK))
		bring_in(own->mm, vaddr);
}

/**
 * uprobe_counter_decrease() - decrease the counter of a point that is disarmed in a process
 * @own: the process
 * @point: the point, after uprobe_counter_prepare()
 *
 * A counter that is not there any more, or that the program has overwritten, is left alone.
 *
 * Context: task, may sleep; mmap_lock and text_lock of the process held.
 * Return: 0; -EAGAIN, -ENOMEM or -EINTR if the counter cannot be decreased now, for example because
 * userfaultfd protects the page. Then it keeps its entry.
 */
int uprobe_counter_decrease(struct uprobe_mm *own, struct uprobe_point *point)
{
	struct uprobe_counter *counter = xa_load(&own->counters, index_of(point));
	int err = 0;

	if (!counter)
		return 0;
	if (counter->vaddr)
		err = change(own->mm, counter->vaddr, -1);
	if (err == -EAGAIN || err == -EINTR || err == -ENOMEM)
		return err;
	kfree(take(own, point));
	return 0;
}

/* A counter cannot be increased. Its point is not known here; the offset is that of the counter. */
static noinline void refuse(struct uprobe_counter *counter, unsigned long vaddr, int err)
{
	if (err != -EINTR)
		trace_uprobe_refused(counter->inode, counter->offset, vaddr,
				     "this reference counter cannot be changed", err);
}

/*
 * Makes the changes, from an index on, that wait for data which is mapped now: in one mapping, or,
 * if that is NULL, in any. Returns true, with the counter's index and address, if that has to be
 * brought in; @failed is the error of the last attempt for the counter with this index, or 0.
 */
static bool increase_from(struct uprobe_mm *own, struct vm_area_struct *only, unsigned long *index,
			  unsigned long *vaddr, int failed)
{
	unsigned long first = *index;
	struct uprobe_counter *counter;
	int err;

	/* Points, and with them entries, do not vanish. */
	guard(rwsem_read)(&uprobe_points_lock);
	guard(mutex)(&own->text_lock);
	xa_for_each_start(&own->counters, *index, counter, *index) {
		err = *index == first ? failed : 0;
		if (!err)
			err = increase(own, counter, only, vaddr);
		if (err == -EAGAIN)
			return true;
		if (err)
			refuse(counter, *vaddr, err);
	}
	return false;
}

/* The file system may ask a program, which may need uprobe_points_lock. */
static void increase_all(struct uprobe_mm *own, struct vm_area_struct *only)
{
	unsigned long index = 0, vaddr = 0, before = 0;
	unsigned int tries = 0;
	int failed = 0;

	while (increase_from(own, only, &index, &vaddr, failed)) {
		tries = vaddr == before ? tries + 1 : 0;
		before = vaddr;
		failed = tries < UPROBE_READ_TRIES ? bring_in(own->mm, vaddr) : -EFAULT;
	}
}

/**
 * uprobe_counters_mapped() - data of a file has been mapped
 * @vma: the mapping
 *
 * Makes the changes that waited for it.
 *
 * Context: task, may sleep; mmap_lock of the process held for writing.
 */
void uprobe_counters_mapped(struct vm_area_struct *vma)
{
	/* Pairs with the release in uprobe_mm_get(). */
	struct uprobe_mm *own = smp_load_acquire(&vma->vm_mm->uprobes_state.own);

	if (own && !xa_empty(&own->counters))
		increase_all(own, vma);
}

/**
 * uprobe_counters_catch_up() - make the changes of points that have been armed in a new mapping
 * @mm: the process
 *
 * A counter that cannot be increased is reported by the tracepoint uprobe_refused.
 *
 * Context: task, may sleep; mmap_lock of the process held for writing.
 */
void uprobe_counters_catch_up(struct mm_struct *mm)
{
	/* Pairs with the release in uprobe_mm_get(). */
	struct uprobe_mm *own = smp_load_acquire(&mm->uprobes_state.own);

	if (likely(!own || !READ_ONCE(own->counters_noted)))
		return;
	WRITE_ONCE(own->counters_noted, false);
	increase_all(own, NULL);
}

/**
 * uprobe_counters_unmapped() - memory of a process is about to be unmapped
 * @own: the process
 * @start: first address
 * @end: address after the last
 *
 * The changes of counters there wait until their data is mapped again.
 *
 * Context: task, may sleep; mmap_lock held, or the process has no users.
 */
void uprobe_counters_unmapped(struct uprobe_mm *own, unsigned long start, unsigned long end)
{
	struct uprobe_counter *counter;
	unsigned long index;

	if (likely(xa_empty(&own->counters)))
		return;
	guard(mutex)(&own->lock);
	xa_for_each(&own->counters, index, counter) {
		if (counter->vaddr >= start && counter->vaddr < end)
			counter->vaddr = 0;
	}
}

/**
 * uprobe_data_moved() - pages of current's process have been moved
 * @start: their former first address
 * @len: their size
 * @to: their first address
 *
 * Context: task, may sleep; mmap_lock held for writing.
 */
void uprobe_data_moved(unsigned long start, unsigned long len, unsigned long to)
{
	/* Pairs with the release in uprobe_mm_get(). */
	struct uprobe_mm *own = smp_load_acquire(&current->mm->uprobes_state.own);
	struct uprobe_counter *counter;
	unsigned long index;

	if (likely(!own || xa_empty(&own->counters)))
		return;
	guard(mutex)(&own->lock);
	xa_for_each(&own->counters, index, counter) {
		if (counter->vaddr >= start && counter->vaddr < start + len)
			counter->vaddr += to - start;
	}
}

/* Does a process have a counter at its address? The data may be protected meanwhile. */
static bool is_mapped(struct mm_struct *mm, const struct uprobe_counter *counter)
{
	struct vm_area_struct *vma = vma_lookup(mm, counter->vaddr);

	return vma && vma->vm_file && file_inode(vma->vm_file) == counter->inode &&
	       uprobe_vma_offset(vma, counter->vaddr) == counter->offset;
}

/**
 * uprobe_counters_fork() - the memory of a process has been copied
 * @own: the process
 * @mm: the child, which has not run
 *
 * The child has the same counters, and needs the same entries.
 *
 * Context: task, may sleep; mmap_lock of both held for writing.
 * Return: 0 or -ENOMEM.
 */
int uprobe_counters_fork(struct uprobe_mm *own, struct mm_struct *mm)
{
	struct uprobe_counter *counter, *copy;
	struct uprobe_mm *child;
	unsigned long index;
	int err;

	if (likely(xa_empty(&own->counters)))
		return 0;
	child = uprobe_mm_get(mm);
	if (!child)
		return -ENOMEM;
	/* Points, and with them entries, do not vanish. */
	guard(rwsem_read)(&uprobe_points_lock);
	xa_for_each(&own->counters, index, counter) {
		copy = kmemdup(counter, sizeof(*counter), GFP_KERNEL_ACCOUNT);
		if (!copy)
			return -ENOMEM;
		/* With MADV_DONTFORK, the child does not have the counter. */
		if (!is_mapped(mm, copy))
			copy->vaddr = 0;
		err = xa_err(xa_store(&child->counters, index, copy, GFP_KERNEL_ACCOUNT));
		if (err) {
			kfree(copy);
			return err;
		}
	}
	return 0;
}

static void drop(struct uprobe_mm *own, void *data)
{
	/* counter_of() may be looking at it. */
	guard(mutex)(&own->text_lock);
	kfree(take(own, data));
}

/**
 * uprobe_counters_drop() - a point with a counter vanishes
 * @point: the point; has been disarmed
 *
 * Its entries are left where the program has unmapped the text.
 *
 * Context: task, may sleep; uprobe_points_lock held for writing.
 */
void uprobe_counters_drop(struct uprobe_point *point)
{
	uprobe_mms_for_each(drop, point);
}

/**
 * uprobe_counters_free() - a process has ended
 * @own: the process
 *
 * Context: task.
 */
void uprobe_counters_free(struct uprobe_mm *own)
{
	struct uprobe_counter *counter;
	unsigned long index;

	xa_for_each(&own->counters, index, counter)
		kfree(counter);
	xa_destroy(&own->counters);
}
