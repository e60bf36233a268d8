// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hooks of memory management: mappings come and go, processes fork and end.
 *
 * Text that is mapped is armed page by page. Text that is unmapped only loses its sites; its
 * breakpoints vanish with its pages. A process inherits armed text from its parent by fork,
 * and gets sites of its own as it hits the breakpoints.
 */
#include <linux/slab.h>

#include "call.h"
#include "point.h"
#include "trace.h"

static void refuse_mapped(struct vm_area_struct *vma, const char *why)
{
	loff_t start = uprobe_vma_offset(vma, vma->vm_start);
	loff_t end = uprobe_vma_offset(vma, vma->vm_end);
	struct uprobe_point *point;
	struct uprobe_file *file;

	if (!trace_uprobe_refused_enabled())
		return;
	guard(rwsem_read)(&uprobe_points_lock);
	file = uprobe_file_find(file_inode(vma->vm_file));
	if (!file)
		return;
	for (point = uprobe_point_first(file, start); point && point->offset < end;
	     point = uprobe_point_next(point))
		trace_uprobe_refused(file->inode, point->offset,
				     uprobe_vma_addr(vma, point->offset), why, -EPERM);
}

/* Points whose text cannot be read now are refused in this mapping. */
static void read_mapped(struct vm_area_struct *vma)
{
	uprobe_points_read(vma->vm_file, uprobe_vma_offset(vma, vma->vm_start),
			   uprobe_vma_offset(vma, vma->vm_end));
}

/*
 * Arms page by page. Each is got without the lock: the file system may ask a program, which may
 * need it. A point that is published meanwhile in a page before is armed by its registration.
 */
static void arm_mapped(struct vm_area_struct *vma)
{
	loff_t next = uprobe_vma_offset(vma, vma->vm_start);
	loff_t end = uprobe_vma_offset(vma, vma->vm_end);
	struct uprobe_file *file;
	struct page *page = NULL;

	for (;;) {
		scoped_guard(rwsem_read, &uprobe_points_lock) {
			file = uprobe_file_find(file_inode(vma->vm_file));
			next = file ? uprobe_arm_mapped(vma, file, next, page) : end;
		}
		uprobe_text_put_own(page);
		if (next == end)
			return;
		page = uprobe_text_get_own(vma, uprobe_vma_addr(vma, next));
	}
}

static noinline void arm_or_refuse(struct vm_area_struct *vma)
{
	enum uprobe_vma_kind kind;
	const char *why;

	if (vma->vm_flags & VM_WRITE)
		uprobe_counters_mapped(vma);
	kind = uprobe_vma_kind(vma, &why);
	if (kind == UPROBE_VMA_IGNORED)
		return;
	if (unlikely(READ_ONCE(uprobe_nr_unread)))
		read_mapped(vma);
	if (kind == UPROBE_VMA_REFUSED)
		refuse_mapped(vma, why);
	else
		arm_mapped(vma);
	uprobe_counters_catch_up(vma->vm_mm);
}

/**
 * uprobe_mmap() - arm a mapping that is new, has new bounds, or has become executable
 * @vma: the mapping
 *
 * If memory is short text stays without breakpoints, as a mapping does not fail because it is
 * probed.
 *
 * Context: task, may sleep; mmap_lock held for writing.
 * Return: 0.
 */
int uprobe_mmap(struct vm_area_struct *vma)
{
	if (unlikely(READ_ONCE(uprobe_nr_points)) && vma->vm_file)
		arm_or_refuse(vma);
	return 0;
}

struct unmapped {
	unsigned long start, end;
};

static void site_unmapped(struct uprobe_site *site, void *data)
{
	const struct unmapped *range = data;

	if (site->vaddr >= range->start && site->vaddr < range->end)
		uprobe_site_gone(site);
}

static noinline void forget_sites(struct uprobe_mm *own, unsigned long start, unsigned long end)
{
	struct unmapped range = { start, end };

	guard(mutex)(&own->lock);
	uprobe_table_for_each(own, site_unmapped, &range);
}

/**
 * uprobe_text_unmapped() - end sites and registrations in memory that will be unmapped
 * @vma: the mapping, of a process that has or had probes
 * @start: first address
 * @end: address after the last
 *
 * Other text may be mapped there next, so that the sites are gone, probes by process are
 * unregistered, and reference counters there have to be increased again.
 *
 * Context: task, may sleep; mmap_lock held, or the process has no users.
 */
void uprobe_text_unmapped(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	/* Pairs with the release in uprobe_mm_get(). */
	struct uprobe_mm *own = smp_load_acquire(&vma->vm_mm->uprobes_state.own);

	if (!list_empty(&own->process.in_order))
		uprobe_process_unmapped(own, start, end);
	uprobe_counters_unmapped(own, start, end);
	uprobe_area_unmapped(own, vma);
	if (READ_ONCE(own->has_sites) && uprobe_vma_armed(vma))
		forget_sites(own, start, end);
}

/**
 * uprobe_dup_mmap() - a process is being forked
 * @oldmm: the parent
 * @newmm: the child; has not run
 *
 * The child inherits the trampoline, at the same address, because its stack may have return
 * addresses there, and the call pages, because its text has calls. It does not inherit areas.
 * Until it has a task, filters are asked about its parent.
 *
 * Context: task; mmap_lock of @oldmm held for writing.
 */
void uprobe_dup_mmap(struct mm_struct *oldmm, struct mm_struct *newmm)
{
	if (likely(!mm_flags_test(MMF_HAS_UPROBES, oldmm)))
		return;
	mm_flags_set(MMF_HAS_UPROBES, newmm);
	newmm->uprobes_state.trampoline = oldmm->uprobes_state.trampoline;
	uprobe_calls_fork(oldmm, newmm);
	mmgrab(oldmm);
	newmm->uprobes_state.parent = oldmm;
	newmm->uprobes_state.forking = true;
}

/**
 * uprobe_clear_state() - free the engine's data of a process that ends
 * @mm: has no users any more; is still mapped
 *
 * Context: task, may sleep.
 */
void uprobe_clear_state(struct mm_struct *mm)
{
	struct uprobe_mm *own = mm->uprobes_state.own;

	if (unlikely(mm->uprobes_state.parent))
		mmdrop(mm->uprobes_state.parent);
	if (likely(!own))
		return;
	mm->uprobes_state.own = NULL;
	uprobe_mm_free(own);
}
