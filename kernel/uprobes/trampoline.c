// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The trampoline to which probed functions return.
 *
 * All processes share one page. It is mapped into a process at the first entry of a function
 * with a return probe, and stays at its address in all children, because their stacks may have
 * return addresses there.
 */
#include <linux/highmem.h>
#include <linux/init.h>

#include "call.h"

static struct page *trampoline_pages[2];

/* No mapping of the engine moves: return addresses, slots and calls lead there. */
int uprobe_mapping_mremap(const struct vm_special_mapping *sm, struct vm_area_struct *vma)
{
	return -EPERM;
}

/**
 * uprobe_map_page() - map a page of instructions that all processes share
 * @mm: current's process
 * @addr: a free address
 * @mapping: describes the page
 *
 * Context: task; mmap_lock held for writing.
 * Return: 0, or an error of _install_special_mapping().
 */
int uprobe_map_page(struct mm_struct *mm, unsigned long addr,
		    const struct vm_special_mapping *mapping)
{
	return PTR_ERR_OR_ZERO(_install_special_mapping(mm, addr, PAGE_SIZE,
							VM_READ | VM_EXEC | VM_MAYREAD |
							VM_MAYEXEC | VM_SEALED_SYSMAP, mapping));
}

static const struct vm_special_mapping trampoline_mapping = {
	.name = "[uprobes]",
	.pages = trampoline_pages,
	.mremap = uprobe_mapping_mremap,
};

/* Maps the trampoline. Returns its entry, or 0. Context: mmap_lock held for writing. */
static unsigned long install_trampoline(struct mm_struct *mm)
{
	unsigned long addr;

	/* The highest place, as for other mappings of the kernel's own. */
	addr = get_unmapped_area(NULL, TASK_SIZE - PAGE_SIZE, PAGE_SIZE, 0, 0);
	if (IS_ERR_VALUE(addr))
		return 0;
	if (uprobe_map_page(mm, addr, &trampoline_mapping))
		return 0;
	return arch_uretprobe_entry(addr, arch_uprobe_mode(mm));
}

/**
 * uprobe_trampoline_map() - map the trampoline into current's process
 *
 * Context: task, may sleep.
 * Return: its entry, or 0 if it cannot be mapped.
 */
unsigned long uprobe_trampoline_map(void)
{
	struct mm_struct *mm = current->mm;
	unsigned long entry;

	if (mmap_write_lock_killable(mm))
		return 0;
	/* Another thread may have been faster. */
	entry = mm->uprobes_state.trampoline ?: install_trampoline(mm);
	WRITE_ONCE(mm->uprobes_state.trampoline, entry);
	mmap_write_unlock(mm);
	return entry;
}

/* See <linux/uprobes-arch.h>. */
unsigned long uprobe_get_trampoline_vaddr(void)
{
	struct mm_struct *mm = current->mm;

	return (mm ? READ_ONCE(mm->uprobes_state.trampoline) : 0) ?: UPROBE_NO_TRAMPOLINE_VADDR;
}

static int __init trampoline_init(void)
{
	unsigned long size;
	void *code = arch_uretprobe_trampoline(&size);
	struct page *page = alloc_page(GFP_HIGHUSER | __GFP_ZERO | __GFP_ACCOUNT);

	if (!page || WARN_ON(size > PAGE_SIZE))
		panic("uprobes: no trampoline");
	memcpy_to_page(page, 0, code, size);
	trampoline_pages[0] = page;
	return 0;
}
core_initcall(trampoline_init);
