// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Areas: mappings of a process that hold the slots of its sites.
 *
 * An area is mapped in a gap near the text that its slots belong to, when the first
 * slot is needed there, by the task that hits the probe. Its pages are allocated as slots are
 * used. The process can read and execute them; they are written through the kernel's mapping,
 * and only before a task can be in the slot. Slots stay until the process ends, because any
 * thread may be in one; a new site at the same address with the same instruction takes the
 * old slot.
 *
 * An area is aligned to its size, so that its address without the offset in it is the index by
 * which it is found. If the program unmaps an area, the area is gone, but keeps its slots, and
 * comes back when an area is needed at that address.
 */
#include <linux/highmem.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "call.h"

/* The area that is mapped at an address, or NULL. */
static struct uprobe_area *area_at(struct uprobe_mm *own, unsigned long addr)
{
	struct uprobe_area *area = xa_load(&own->areas, addr / UPROBE_AREA_SIZE);

	return area && !READ_ONCE(area->gone) ? area : NULL;
}

/* --- The mapping -------------------------------------------------------------- */

static vm_fault_t area_fault(const struct vm_special_mapping *sm, struct vm_area_struct *vma,
			     struct vm_fault *vmf)
{
	/* Pairs with the release in uprobe_mm_get(). */
	struct uprobe_mm *own = smp_load_acquire(&vma->vm_mm->uprobes_state.own);
	struct uprobe_area_page *page;
	struct uprobe_area *area;

	guard(rcu)();
	area = own ? area_at(own, vmf->address) : NULL;
	if (!area)
		return VM_FAULT_SIGBUS;
	/* Pairs with the release in add_page(). */
	page = smp_load_acquire(&area->pages[(vmf->address - area->start) >> PAGE_SHIFT]);
	if (!page)
		return VM_FAULT_SIGBUS;
	get_page(page->page);
	vmf->page = page->page;
	return 0;
}

static const struct vm_special_mapping area_mapping = {
	.name = "[uprobes]",
	.fault = area_fault,
	.mremap = uprobe_mapping_mremap,
};

static unsigned long find_gap(unsigned long low, unsigned long high, unsigned long flags)
{
	struct vm_unmapped_area_info info = {
		.flags = flags,
		.length = UPROBE_AREA_SIZE,
		.align_mask = (UPROBE_AREA_SIZE - 1) & PAGE_MASK,
		.low_limit = max(low, PAGE_SIZE),
		.high_limit = min(high, TASK_SIZE),
	};

	return info.low_limit < info.high_limit ? vm_unmapped_area(&info) : -ENOMEM;
}

/* The most room that is left below a stack, which grows there. */
#define STACK_ROOM	((unsigned long)SZ_1G)

/* A gap above a stack with text; else one as far below it as the stack may grow; else any. */
static unsigned long find_place_at_stack(const struct vm_area_struct *stack, unsigned long low,
					 unsigned long high)
{
	unsigned long room = min3(rlimit(RLIMIT_STACK), STACK_ROOM, stack->vm_end);
	unsigned long addr = find_gap(stack->vm_end, high, 0);

	if (IS_ERR_VALUE(addr))
		addr = find_gap(low, stack->vm_end - room, VM_UNMAPPED_AREA_TOPDOWN);
	if (IS_ERR_VALUE(addr))
		addr = find_gap(low, stack->vm_start, VM_UNMAPPED_AREA_TOPDOWN);
	return addr;
}

/**
 * uprobe_area_place() - find a gap for an area near text
 * @mm: current's process
 * @vaddr: address of the text
 *
 * Context: task; mmap_lock held for writing.
 * Return: the nearest gap below the text, else the nearest above it, or -ENOSPC.
 */
unsigned long uprobe_area_place(struct mm_struct *mm, unsigned long vaddr)
{
	struct vm_area_struct *vma = vma_lookup(mm, vaddr);
	unsigned long low, high, addr;

	arch_uprobe_slot_window(mm, vaddr, &low, &high);
	vaddr &= PAGE_MASK;
	if (vma && vma->vm_flags & VM_GROWSDOWN) {
		addr = find_place_at_stack(vma, low, high);
	} else {
		addr = find_gap(low, vaddr, VM_UNMAPPED_AREA_TOPDOWN);
		if (IS_ERR_VALUE(addr))
			addr = find_gap(vaddr, high, 0);
	}
	return IS_ERR_VALUE(addr) ? -ENOSPC : addr;
}

/* An area that was at an address, or a new one; it is gone until it is mapped. Or NULL. */
static struct uprobe_area *area_for(struct uprobe_mm *own, unsigned long start)
{
	unsigned long index = start / UPROBE_AREA_SIZE;
	struct uprobe_area *area = xa_load(&own->areas, index);

	if (area)
		return area;
	area = kzalloc_obj(*area, GFP_KERNEL_ACCOUNT);
	if (!area)
		return NULL;
	area->start = start;
	area->gone = true;
	if (xa_err(xa_store(&own->areas, index, area, GFP_KERNEL_ACCOUNT))) {
		kfree(area);
		return NULL;
	}
	return area;
}

static int map_area(struct uprobe_mm *own, struct uprobe_area *area)
{
	unsigned long end = area->start + UPROBE_AREA_SIZE;
	struct vm_area_struct *vma;

	/* First: the mapping may be faulted in as soon as it exists. */
	WRITE_ONCE(area->gone, false);
	vma = _install_special_mapping(own->mm, area->start, UPROBE_AREA_SIZE,
				       VM_READ | VM_EXEC | VM_MAYREAD | VM_MAYEXEC |
				       VM_DONTCOPY | VM_DONTDUMP | VM_SEALED_SYSMAP,
				       &area_mapping);
	if (IS_ERR(vma)) {
		WRITE_ONCE(area->gone, true);
		return PTR_ERR(vma);
	}
	if (!own->high || area->start < own->low)
		WRITE_ONCE(own->low, area->start);
	if (end > own->high)
		WRITE_ONCE(own->high, end);
	return 0;
}

/**
 * uprobe_area_create() - map an area with a free slot for text
 * @own: current's process
 * @vaddr: address of the text
 *
 * Context: task; mmap_lock (for writing) and @own->lock held.
 * Return: 0, -ENOMEM, or -ENOSPC if there is no room in reach.
 */
int uprobe_area_create(struct uprobe_mm *own, unsigned long vaddr)
{
	struct uprobe_area *area;
	unsigned long start;
	int err;

	lockdep_assert_held(&own->lock);
	/* An area that comes back may be full; then the next place is another one. */
	do {
		start = uprobe_area_place(own->mm, vaddr);
		if (IS_ERR_VALUE(start))
			return start;
		area = area_for(own, start);
		if (!area)
			return -ENOMEM;
		err = map_area(own, area);
	} while (!err && area->used == UPROBE_AREA_SLOTS);
	return err;
}

static void site_lost(struct uprobe_site *site, void *data)
{
	struct uprobe_area *area = data;

	if (site->slot - area->start < UPROBE_AREA_SIZE)
		uprobe_site_gone(site);
}

/**
 * uprobe_area_unmapped() - a mapping is about to be unmapped, which may be an area
 * @own: the process
 * @vma: the mapping, or a part of it
 *
 * Something else may be mapped there next. The next hits of the sites need an area again.
 *
 * Context: task, may sleep; mmap_lock held, or the process has no users.
 */
void uprobe_area_unmapped(struct uprobe_mm *own, struct vm_area_struct *vma)
{
	struct uprobe_area *area;

	if (likely(!vma_is_special_mapping(vma, &area_mapping)))
		return;
	guard(mutex)(&own->lock);
	area = area_at(own, vma->vm_start);
	if (!area)
		return;
	WRITE_ONCE(area->gone, true);
	uprobe_table_for_each(own, site_lost, area);
}

/**
 * uprobe_area_free() - free an area of a process that has ended
 * @area: its pages may still be mapped
 *
 * Context: task.
 */
void uprobe_area_free(struct uprobe_area *area)
{
	unsigned int i;

	for (i = 0; i < UPROBE_AREA_PAGES && area->pages[i]; i++) {
		put_page(area->pages[i]->page);
		kfree(area->pages[i]);
	}
	kfree(area);
}

/* --- Slots -------------------------------------------------------------------- */

/* A word of breakpoints. */
#define TRAPS	((__force u64)UPROBE_SWBP_INSN * \
		 (U64_MAX / GENMASK_ULL(8 * UPROBE_SWBP_INSN_SIZE - 1, 0)))

/* A program that jumps to a slot that is not in use gets SIGTRAP. */
static void fill_with_traps(struct page *page)
{
	u64 *kaddr = kmap_local_page(page);

	memset64(kaddr, TRAPS, PAGE_SIZE / sizeof(*kaddr));
	kunmap_local(kaddr);
}

static int add_page(struct uprobe_area *area, unsigned int index)
{
	struct uprobe_area_page *page;

	page = kzalloc_obj(*page, GFP_KERNEL_ACCOUNT);
	if (!page)
		return -ENOMEM;
	page->page = alloc_page(GFP_HIGHUSER | __GFP_ACCOUNT);
	if (!page->page) {
		kfree(page);
		return -ENOMEM;
	}
	fill_with_traps(page->page);
	/* Pairs with the acquires in area_fault() and uprobe_area_lookup(). */
	smp_store_release(&area->pages[index], page);
	return 0;
}

static bool has_free_slot(const struct uprobe_area *area)
{
	return !area->gone && area->used < UPROBE_AREA_SLOTS;
}

/*
 * Can current continue in an area? munmap() removes its mapping first, and then calls
 * uprobe_area_unmapped() with mmap_lock held for reading only. A part of an area is never mapped.
 */
static bool is_mapped(struct uprobe_mm *own, const struct uprobe_area *area)
{
	const struct vm_area_struct *vma = vma_lookup(own->mm, area->start);

	return vma && vma_is_special_mapping(vma, &area_mapping);
}

/* Walks over the areas in [low, high).  Context: @own->lock held. */
#define for_each_area_between(area, index, own, low, high)			\
	xa_for_each_range(&(own)->areas, index, area,				\
			  DIV_ROUND_UP(low, UPROBE_AREA_SIZE), (high) / UPROBE_AREA_SIZE - 1)

static int use_slot(struct uprobe_area *area, struct uprobe_site *site)
{
	unsigned int page_index = area->used / UPROBE_PAGE_SLOTS;
	unsigned int index = area->used % UPROBE_PAGE_SLOTS;
	unsigned long addr = area->start + area->used * UPROBE_SLOT_SIZE;
	struct uprobe_area_page *page;
	u8 bytes[UPROBE_SLOT_SIZE];
	void *kaddr;
	int err;

	err = arch_uprobe_write_slot(site->arch, site->vaddr, addr, bytes);
	if (err)
		return err;
	if (!area->pages[page_index]) {
		err = add_page(area, page_index);
		if (err)
			return err;
	}
	page = area->pages[page_index];
	page->slots[index].len = arch_uprobe_insn_len(site->arch);
	page->slots[index].branch = uprobe_is_branch(site->way);
	page->slots[index].taken = arch_uprobe_target(site->arch, site->vaddr) - site->vaddr;
	/* Pairs with the acquire in uprobe_area_lookup(). */
	smp_store_release(&page->slots[index].vaddr, site->vaddr);
	kaddr = kmap_local_page(page->page) + index * UPROBE_SLOT_SIZE;
	memcpy(kaddr, bytes, UPROBE_SLOT_SIZE);
	arch_uprobe_sync_text(kaddr, UPROBE_SLOT_SIZE);
	kunmap_local(kaddr);
	area->used++;
	site->slot = addr;
	return 0;
}

/**
 * uprobe_area_slot() - use a free slot in reach of text
 * @own: current's process
 * @site: a new site, which gets the address of the slot; that is written
 *
 * Context: task, may sleep; mmap_lock and @own->lock held.
 * Return: 0; -ENOMEM; -ENOSPC if no area near the text has a free slot; or -ERANGE if those that
 * have one are too far from the operand or target of the instruction.
 */
int uprobe_area_slot(struct uprobe_mm *own, struct uprobe_site *site)
{
	unsigned long low, high, index;
	struct uprobe_area *area;
	int err = -ENOSPC;

	lockdep_assert_held(&own->lock);
	arch_uprobe_slot_window(own->mm, site->vaddr, &low, &high);
	for_each_area_between(area, index, own, low, high) {
		if (!has_free_slot(area) || !is_mapped(own, area))
			continue;
		err = use_slot(area, site);
		if (err != -ERANGE)
			break;
	}
	return err;
}

/* Is there a gap for an area? The process need not be current's. */
static bool has_gap(struct mm_struct *mm, unsigned long low, unsigned long high)
{
	MA_STATE(mas, &mm->mm_mt, 0, 0);

	/* A gap of this size has room for an aligned area. */
	low = max(low, PAGE_SIZE);
	high = min(high, mm->task_size);
	return low < high &&
	       !mas_empty_area(&mas, low, high - 1, 2 * UPROBE_AREA_SIZE - PAGE_SIZE);
}

/**
 * uprobe_area_has_room() - is there room for a slot in reach of text?
 * @own: the process
 * @vaddr: address of the instruction
 *
 * The room may be used up before the instruction is hit.
 *
 * Context: task, may sleep; mmap_lock of the process held.
 */
bool uprobe_area_has_room(struct uprobe_mm *own, unsigned long vaddr)
{
	unsigned long low, high, index;
	struct uprobe_area *area;

	arch_uprobe_slot_window(own->mm, vaddr, &low, &high);
	scoped_guard(mutex, &own->lock) {
		for_each_area_between(area, index, own, low, high) {
			if (has_free_slot(area))
				return true;
		}
	}
	return has_gap(own->mm, low, high);
}

/**
 * uprobe_area_holds() - does a slot have the copy that a site needs?
 * @own: current's process
 * @slot: address of a slot, which another area may have now
 * @vaddr: address of the instruction
 * @arch: the decision about it
 *
 * Context: task; mmap_lock and @own->lock held.
 */
bool uprobe_area_holds(struct uprobe_mm *own, unsigned long slot, unsigned long vaddr,
		       const struct arch_uprobe *arch)
{
	struct uprobe_area *area = area_at(own, slot);
	struct uprobe_area_page *page;
	u8 bytes[UPROBE_SLOT_SIZE];
	unsigned long offset;
	void *kaddr;
	bool same;

	lockdep_assert_held(&own->lock);
	if (!area || !is_mapped(own, area) || arch_uprobe_write_slot(arch, vaddr, slot, bytes))
		return false;
	offset = slot - area->start;
	page = area->pages[offset >> PAGE_SHIFT];
	if (!page)
		return false;
	kaddr = kmap_local_page(page->page);
	same = !memcmp(kaddr + offset_in_page(offset), bytes, UPROBE_SLOT_SIZE);
	kunmap_local(kaddr);
	return same;
}

/**
 * uprobe_area_lookup() - whose slot is at an address?
 * @own: current's process
 * @addr: any address
 *
 * Context: any, NMI too, while the process has threads.
 * Return: NULL if the address is in no used slot.
 */
const struct uprobe_slot *uprobe_area_lookup(struct uprobe_mm *own, unsigned long addr)
{
	struct uprobe_area_page *page;
	struct uprobe_area *area;
	struct uprobe_slot *slot;
	unsigned long offset;

	if (likely(addr < READ_ONCE(own->low) || addr >= READ_ONCE(own->high)))
		return NULL;
	guard(rcu)();
	area = area_at(own, addr);
	if (!area)
		return NULL;
	offset = addr - area->start;
	/* Pairs with the release in add_page(). */
	page = smp_load_acquire(&area->pages[offset >> PAGE_SHIFT]);
	if (!page)
		return NULL;
	slot = &page->slots[offset_in_page(offset) / UPROBE_SLOT_SIZE];
	/* Pairs with the release in use_slot(). */
	return smp_load_acquire(&slot->vaddr) ? slot : NULL;
}
