// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reference counters: a program skips the preparation of a marker's arguments while the
 * counter in its data, a 16-bit word, is 0. It is increased in each process in which the
 * marker's point is armed.
 *
 * The counter is in another mapping of the same file, which may be mapped after the text, and may
 * have to be read. The change then waits in the process until it is.
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
 * Adds to a counter. Does not ask the file system, because of uprobe_points_lock: returns -EFAULT
 * if it would have to.
 */
static int change(struct mm_struct *mm, unsigned long vaddr, int by)
{
	struct vm_area_struct *vma = vma_lookup(mm, vaddr);
	struct page *page;
	short *counter;
	void *kaddr;
	int err = 0;
	long got;

	if (!vma || uprobe_text_is_absent(vma, vaddr))
		return -EFAULT;
	got = get_user_pages_remote(mm, vaddr, 1, FOLL_WRITE, &page, NULL);
	if (got != 1)
		return got ? got : -EFAULT;
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

/* The numbers of points that live at the same time differ in these bits. */
static unsigned long index_of(const struct uprobe_point *point)
{
	return (unsigned long)point->id;
}

static int add(struct vm_area_struct *text, struct uprobe_mm *own, struct uprobe_point *point)
{
	struct vm_area_struct *vma;
	struct uprobe_counter *counter;
	int err = 0;

	if (xa_load(&own->counters, index_of(point)))
		return 0;
	counter = kmalloc_obj(*counter, GFP_KERNEL_ACCOUNT);
	if (!counter)
		return -ENOMEM;
	*counter = (struct uprobe_counter) {
		.inode = point->file->inode, .offset = point->ref_ctr_offset,
	};
	vma = find_mapping(text->vm_mm, counter->inode, counter->offset);
	if (vma && uprobe_text_is_absent(vma, uprobe_vma_addr(vma, counter->offset))) {
		WRITE_ONCE(own->counters_late, true);
		vma = NULL;
	}
	if (vma) {
		counter->vaddr = uprobe_vma_addr(vma, counter->offset);
		err = change(text->vm_mm, counter->vaddr, 1);
	}
	if (err)
		goto free;
	err = xa_err(xa_store(&own->counters, index_of(point), counter, GFP_KERNEL_ACCOUNT));
	if (!err)
		return 0;
	if (vma)
		change(text->vm_mm, counter->vaddr, -1);
free:
	kfree(counter);
	return err;
}

static struct uprobe_counter *take(struct uprobe_mm *own, struct uprobe_point *point)
{
	/* uprobe_counters_unmapped() may be looking at it. */
	guard(mutex)(&own->lock);
	return xa_erase(&own->counters, index_of(point));
}

/* A counter that is not there any more, or that the program has overwritten, is left alone. */
static int subtract(struct vm_area_struct *text, struct uprobe_mm *own,
		    struct uprobe_point *point)
{
	struct uprobe_counter *counter = xa_load(&own->counters, index_of(point));
	int err = 0;

	if (!counter)
		return 0;
	if (counter->vaddr)
		err = change(text->vm_mm, counter->vaddr, -1);
	if (err == -EINTR || err == -ENOMEM)
		return err;
	kfree(take(own, point));
	return 0;
}

/**
 * uprobe_counter_change() - a point with a counter is armed or disarmed in a process
 * @text: mapping of the point
 * @point: the point
 * @by: 1 or -1
 *
 * Nothing happens if that has been done for another mapping of the point.
 *
 * Context: task, may sleep; mmap_lock and text_lock of the process held.
 * Return: 0 also if the change waits; -EINVAL if the counter would overflow; -ENOMEM, -EFAULT,
 * -EINTR. A counter that cannot be decreased now keeps its entry.
 */
int uprobe_counter_change(struct vm_area_struct *text, struct uprobe_point *point, int by)
{
	struct uprobe_mm *own = text->vm_mm->uprobes_state.own;

	return by > 0 ? add(text, own, point) : subtract(text, own, point);
}

/* A page of a file that is not in the page cache, and how often it has been read. */
struct absent {
	struct file *file;
	loff_t offset;
	unsigned int tries;
};

/* Is the data absent?  Then the caller reads it, unless that has been tried too often. */
static bool has_to_be_read(struct vm_area_struct *vma, loff_t offset, struct absent *absent)
{
	if (!uprobe_text_is_absent(vma, uprobe_vma_addr(vma, offset)))
		return false;
	if (absent->file != vma->vm_file || absent->offset != offset)
		*absent = (struct absent) { vma->vm_file, offset, 0 };
	return absent->tries++ < UPROBE_READ_TRIES;
}

/* A counter cannot be increased. Its point is not known here; the offset is that of the counter. */
static noinline void refuse(struct uprobe_counter *counter, unsigned long vaddr, int err)
{
	if (err != -ENOMEM && err != -EINTR)
		trace_uprobe_refused(counter->inode, counter->offset, vaddr,
				     "this reference counter cannot be changed", err);
}

/*
 * Makes the changes, from an index on, that wait for data which is mapped now: in one mapping, or,
 * if that is NULL, in any. Returns true, with the counter's index and page, if that has to be read.
 * Sets @err to the first error of another kind, if there is one.
 */
static bool make_waiting(struct uprobe_mm *own, struct vm_area_struct *only, unsigned long *index,
			 struct absent *absent, int *err)
{
	struct uprobe_counter *counter;
	struct vm_area_struct *vma;
	unsigned long vaddr;
	int ret;

	/* Points, and with them entries, do not vanish. */
	guard(rwsem_read)(&uprobe_points_lock);
	guard(mutex)(&own->text_lock);
	xa_for_each_start(&own->counters, *index, counter, *index) {
		if (counter->vaddr)
			continue;
		vma = only ?: find_mapping(own->mm, counter->inode, counter->offset);
		if (!vma || !has_counter(vma, counter->inode, counter->offset))
			continue;
		if (has_to_be_read(vma, counter->offset, absent))
			return true;
		vaddr = uprobe_vma_addr(vma, counter->offset);
		ret = change(own->mm, vaddr, 1);
		if (!ret)
			counter->vaddr = vaddr;
		else
			refuse(counter, vaddr, ret);
		if (!*err)
			*err = ret;
	}
	return false;
}

/* The file system may ask a program, which may need uprobe_points_lock. */
static int make_all_waiting(struct uprobe_mm *own, struct vm_area_struct *only)
{
	struct absent absent = { };
	unsigned long index = 0;
	int err = 0;

	while (make_waiting(own, only, &index, &absent, &err))
		uprobe_text_bring_in(absent.file, absent.offset);
	return err;
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
		make_all_waiting(own, vma);
}

/**
 * uprobe_counters_catch_up() - make the changes that wait for data which had to be read
 * @mm: the process
 *
 * Called after arming.
 *
 * Context: task, may sleep; mmap_lock of the process held.
 * Return: 0; -EINVAL if a counter cannot be increased; -ENOMEM or -EINTR.
 */
int uprobe_counters_catch_up(struct mm_struct *mm)
{
	/* Pairs with the release in uprobe_mm_get(). */
	struct uprobe_mm *own = smp_load_acquire(&mm->uprobes_state.own);
	int err;

	if (likely(!own || !READ_ONCE(own->counters_late)))
		return 0;
	WRITE_ONCE(own->counters_late, false);
	err = make_all_waiting(own, NULL);
	return err && err != -ENOMEM && err != -EINTR ? -EINVAL : err;
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
	struct vm_area_struct *vma;
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
		vma = vma_lookup(mm, copy->vaddr);
		if (!vma || !has_counter(vma, copy->inode, copy->offset))
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
