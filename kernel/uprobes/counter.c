// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reference counters: a program skips the preparation of a marker's arguments while the
 * counter in its data, a 16-bit word, is 0. It is increased in each process in which the
 * marker's point is armed.
 *
 * The counter is in another mapping of the same file, which may be mapped after the text. The
 * change then waits in the process until it is.
 */
#include <linux/highmem.h>
#include <linux/slab.h>

#include "internal.h"

/* A counter to be increased when its page is mapped. */
struct uprobe_counter {
	struct list_head node;
	struct inode *inode;
	loff_t offset;
	u64 point_id;
};

static bool has_counter(struct vm_area_struct *vma, struct inode *inode, loff_t offset)
{
	loff_t start = (loff_t)vma_start_pgoff(vma) << PAGE_SHIFT;

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

static int change(struct vm_area_struct *vma, loff_t offset, int by)
{
	unsigned long vaddr = vma->vm_start +
			      (offset - ((loff_t)vma_start_pgoff(vma) << PAGE_SHIFT));
	struct page *page;
	long got = get_user_pages_remote(vma->vm_mm, vaddr, 1, FOLL_WRITE, &page, NULL);
	int err = 0;
	short *counter;
	void *kaddr;

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

static int wait_for_mapping(struct uprobe_mm *own, struct uprobe_point *point)
{
	struct uprobe_counter *waiting = kzalloc_obj(*waiting);

	if (!waiting)
		return -ENOMEM;
	waiting->inode = point->file->inode;
	waiting->offset = point->ref_ctr_offset;
	waiting->point_id = point->id;
	guard(mutex)(&own->lock);
	list_add(&waiting->node, &own->counters);
	return 0;
}

/* Returns true if the change of a point was waiting, and does not any more. */
static bool stop_waiting(struct uprobe_mm *own, struct uprobe_point *point)
{
	struct uprobe_counter *waiting;

	guard(mutex)(&own->lock);
	list_for_each_entry(waiting, &own->counters, node) {
		if (waiting->point_id != point->id)
			continue;
		list_del(&waiting->node);
		kfree(waiting);
		return true;
	}
	return false;
}

/**
 * uprobe_counter_change() - a point with a counter is armed or disarmed in a process
 * @text: mapping of the point
 * @point: the point
 * @by: 1 or -1
 *
 * Context: task, may sleep; mmap_lock and text_lock of the process held.
 * Return: 0 also if the change waits; -EINVAL if the counter would overflow; -ENOMEM, -EFAULT.
 */
int uprobe_counter_change(struct vm_area_struct *text, struct uprobe_point *point, int by)
{
	struct uprobe_mm *own = text->vm_mm->uprobes_state.own;
	struct vm_area_struct *vma;

	if (by < 0 && stop_waiting(own, point))
		return 0;
	vma = find_mapping(text->vm_mm, point->file->inode, point->ref_ctr_offset);
	if (vma)
		return change(vma, point->ref_ctr_offset, by);
	return by > 0 ? wait_for_mapping(own, point) : 0;
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
	struct uprobe_counter *waiting, *next;
	LIST_HEAD(found);

	if (!own || list_empty_careful(&own->counters))
		return;
	scoped_guard(mutex, &own->lock) {
		list_for_each_entry_safe(waiting, next, &own->counters, node) {
			if (has_counter(vma, waiting->inode, waiting->offset))
				list_move(&waiting->node, &found);
		}
	}
	list_for_each_entry_safe(waiting, next, &found, node) {
		change(vma, waiting->offset, 1);
		kfree(waiting);
	}
}

/**
 * uprobe_counters_free() - a process with waiting changes has ended
 * @own: the process
 *
 * Context: task.
 */
void uprobe_counters_free(struct uprobe_mm *own)
{
	struct uprobe_counter *waiting, *next;

	list_for_each_entry_safe(waiting, next, &own->counters, node)
		kfree(waiting);
}
