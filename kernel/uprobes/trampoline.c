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

#include "internal.h"

static struct page *trampoline_pages[2];

static int trampoline_mremap(const struct vm_special_mapping *sm, struct vm_area_struct *vma)
{
	return -EPERM;
}

static const struct vm_special_mapping trampoline_mapping = {
	.name = "[uprobes]",
	.pages = trampoline_pages,
	.mremap = trampoline_mremap,
};

static unsigned long map_trampoline(struct mm_struct *mm)
{
	struct vm_area_struct *vma;
	unsigned long addr;

	if (mmap_write_lock_killable(mm))
		return 0;
	addr = mm->uprobes_state.trampoline;
	if (addr)
		goto unlock;
	/* The highest place, as for other mappings of the kernel's own. */
	addr = get_unmapped_area(NULL, TASK_SIZE - PAGE_SIZE, PAGE_SIZE, 0, 0);
	if (IS_ERR_VALUE(addr)) {
		addr = 0;
		goto unlock;
	}
	vma = _install_special_mapping(mm, addr, PAGE_SIZE,
				       VM_READ | VM_EXEC | VM_MAYREAD | VM_MAYEXEC |
				       VM_SEALED_SYSMAP, &trampoline_mapping);
	if (IS_ERR(vma))
		addr = 0;
	else
		WRITE_ONCE(mm->uprobes_state.trampoline, addr);
unlock:
	mmap_write_unlock(mm);
	return addr;
}

/**
 * uprobe_trampoline_get() - entry of the trampoline, mapped if it is not yet
 *
 * Context: task, may sleep.
 * Return: 0 if it cannot be mapped.
 */
unsigned long uprobe_trampoline_get(void)
{
	unsigned long addr = READ_ONCE(current->mm->uprobes_state.trampoline);

	if (unlikely(!addr))
		addr = map_trampoline(current->mm);
	return addr ? arch_uretprobe_entry(addr, arch_uprobe_mode(current->mm)) : 0;
}

/* See <linux/uprobes-arch.h>. */
unsigned long uprobe_get_trampoline_vaddr(void)
{
	struct mm_struct *mm = current->mm;
	unsigned long addr = mm ? READ_ONCE(mm->uprobes_state.trampoline) : 0;

	return addr ? arch_uretprobe_entry(addr, arch_uprobe_mode(mm)) :
		      UPROBE_NO_TRAMPOLINE_VADDR;
}

static int __init trampoline_init(void)
{
	unsigned long size;
	void *code = arch_uretprobe_trampoline(&size);
	struct page *page = alloc_page(GFP_HIGHUSER | __GFP_ZERO);

	if (!page || WARN_ON(size > PAGE_SIZE))
		panic("uprobes: no trampoline");
	memcpy_to_page(page, 0, code, size);
	trampoline_pages[0] = page;
	return 0;
}
core_initcall(trampoline_init);
