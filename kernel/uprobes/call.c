// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls in place of nops: the call page, and the text.
 *
 * A nop that is long enough (USDT) is a breakpoint until its first hit. The task that hits it maps
 * the call page near the text, unless one is there, and replaces the nop:
 *
 *	1. the breakpoint is at its first byte		as any probe is armed
 *	2. the other bytes are written			write_call()
 *	3. the first byte is written			write_call()
 *
 * All processors are synchronized before 2, and before 3: none executes bytes that it has fetched
 * before. Restoring the nop begins with the breakpoint (restore()), and ends like the disarming of
 * any probe. A thread may be about to execute the call for any length of time, so the bytes of the
 * call stay; see <linux/uprobes-call.h>. So a nop has one call for ever, or none.
 *
 * To all who read text, a replaced nop is shown with its breakpoint (uprobe_calls_hide()).
 */
#include <linux/highmem.h>
#include <linux/init.h>
#include <linux/string.h>

#include "call.h"
#include "point.h"

static struct page *call_pages[2];

static int call_mremap(const struct vm_special_mapping *sm, struct vm_area_struct *vma)
{
	return -EPERM;
}

static const struct vm_special_mapping call_mapping = {
	.name = "[uprobes-trampoline]",
	.pages = call_pages,
	.mremap = call_mremap,
};

/* --- The call page ------------------------------------------------------------ */

/* Does a call page of a process begin at an address? */
static bool is_call_page(struct mm_struct *mm, unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < UPROBE_CALL_PAGES; i++) {
		if (READ_ONCE(mm->uprobes_state.call_pages[i]) == addr)
			return addr;
	}
	return false;
}

/* See <linux/uprobes-call.h>. */
unsigned long uprobe_call_page(unsigned long addr)
{
	unsigned long page = addr & PAGE_MASK;

	return current->mm && is_call_page(current->mm, page) ? page : 0;
}

/* The program may have unmapped it; then text that calls it is still recognized, and restored. */
static bool is_mapped(struct mm_struct *mm, unsigned long page)
{
	const struct vm_area_struct *vma = vma_lookup(mm, page);

	return vma && vma->vm_start == page && vma_is_special_mapping(vma, &call_mapping);
}

static unsigned long map_page(struct mm_struct *mm, unsigned long vaddr)
{
	unsigned long page = uprobe_area_place(mm, vaddr);
	struct vm_area_struct *vma;

	if (IS_ERR_VALUE(page))
		return 0;
	vma = _install_special_mapping(mm, page, PAGE_SIZE,
				       VM_READ | VM_EXEC | VM_MAYREAD | VM_MAYEXEC |
				       VM_SEALED_SYSMAP, &call_mapping);
	return IS_ERR(vma) ? 0 : page;
}

/*
 * A call page that text can reach; it is mapped if necessary and possible. Returns 0 if there is
 * none. mmap_lock is held for writing.
 */
static unsigned long get_page_near(struct mm_struct *mm, unsigned long vaddr)
{
	unsigned long *pages = mm->uprobes_state.call_pages, low, high;
	unsigned int i;

	arch_uprobe_slot_window(mm, vaddr, &low, &high);
	for (i = 0; i < UPROBE_CALL_PAGES && pages[i]; i++) {
		if (pages[i] >= low && pages[i] < high && is_mapped(mm, pages[i]))
			return pages[i];
	}
	if (i == UPROBE_CALL_PAGES)
		return 0;
	WRITE_ONCE(pages[i], map_page(mm, vaddr));
	return pages[i];
}

/**
 * uprobe_calls_fork() - a child inherits the call pages, with the text that calls them
 * @oldmm: the parent
 * @newmm: the child, which has not run
 *
 * Context: task; mmap_lock of @oldmm held for writing.
 */
void uprobe_calls_fork(struct mm_struct *oldmm, struct mm_struct *newmm)
{
	memcpy(newmm->uprobes_state.call_pages, oldmm->uprobes_state.call_pages,
	       sizeof(newmm->uprobes_state.call_pages));
}

/* --- What text is ------------------------------------------------------------- */

/**
 * uprobe_call_target() - are these bytes a call of the call page?
 * @mm: the process
 * @insn: UPROBE_CALL_BYTES - UPROBE_CALL_KEPT bytes of its text
 * @vaddr: their address
 *
 * Context: any, NMI too.
 */
bool uprobe_call_target(struct mm_struct *mm, const u8 *insn, unsigned long vaddr)
{
	unsigned long target = arch_uprobe_call_target(insn, vaddr);

	return target && is_call_page(mm, target);
}

/* Do the last bytes of what is or was a nop call the call page? */
static bool has_call(struct mm_struct *mm, const u8 *at, unsigned long vaddr)
{
	return uprobe_call_target(mm, at + UPROBE_CALL_KEPT, vaddr + UPROBE_CALL_KEPT);
}

/* Has a nop with a call been replaced, beside the first byte, which may be a breakpoint? */
static bool is_replaced(const u8 *at, unsigned long vaddr)
{
	u8 call[UPROBE_CALL_BYTES];

	arch_uprobe_write_call(call, vaddr, 0);
	return (*at == *call || uprobe_is_breakpoint(at)) &&
	       !memcmp(at + 1, call + 1, UPROBE_CALL_KEPT - 1);
}

/**
 * uprobe_call_at() - has a nop been replaced by a call?
 * @mm: the process
 * @at: text, up to the end of the page at least
 * @vaddr: its address
 *
 * The first byte may be a breakpoint.
 *
 * Context: any.
 */
bool uprobe_call_at(struct mm_struct *mm, const u8 *at, unsigned long vaddr)
{
	return uprobe_mm_has_calls(mm) &&
	       offset_in_page(vaddr) <= PAGE_SIZE - UPROBE_CALL_BYTES &&
	       has_call(mm, at, vaddr) && is_replaced(at, vaddr);
}

/**
 * uprobe_calls_hide() - show text as it would be with breakpoints only
 * @mm: the process
 * @text: a copy of its text, which is changed
 * @vaddr: its address
 * @len: number of bytes
 *
 * Context: any.
 */
void uprobe_calls_hide(struct mm_struct *mm, u8 *text, unsigned long vaddr, unsigned int len)
{
	const uprobe_opcode_t breakpoint = UPROBE_SWBP_INSN;
	unsigned int i;

	if (likely(!uprobe_mm_has_calls(mm)))
		return;
	for (i = 0; i + UPROBE_CALL_BYTES <= len; i++) {
		if (!has_call(mm, text + i, vaddr + i))
			continue;
		if (is_replaced(text + i, vaddr + i))
			text[i] = breakpoint;
		memcpy(text + i + 1, arch_uprobe_call_nop + 1, UPROBE_CALL_BYTES - 1);
	}
}

/* --- Restoring nops ----------------------------------------------------------- */

/*
 * Turns the calls in the place of nops that begin at these offsets of a page into breakpoints.
 * text_lock is held.
 */
static void restore(struct mm_struct *mm, u8 *kaddr, unsigned long page_addr, unsigned int from,
		    unsigned int to)
{
	bool any = false;
	unsigned int i;

	for (i = from; i <= to; i++) {
		if (uprobe_call_at(mm, kaddr + i, page_addr + i)) {
			WRITE_ONCE(kaddr[i], (u8)UPROBE_SWBP_INSN);
			any = true;
		}
	}
	if (!any)
		return;
	arch_uprobe_sync_cores();
	for (i = from; i <= to; i++) {
		if (uprobe_call_at(mm, kaddr + i, page_addr + i))
			memcpy(kaddr + i + 1, arch_uprobe_call_nop + 1, UPROBE_CALL_KEPT - 1);
	}
	/* The first bytes are written by others, at any time. */
	arch_uprobe_sync_cores();
}

/**
 * uprobe_calls_undo() - turn calls in place of nops into breakpoints
 * @mm: the process
 * @kaddr: a page of its own
 * @page_addr: its address in the process
 * @from: first offset of a nop
 * @to: last offset of a nop
 *
 * Context: task, may sleep; text_lock of the process held.
 */
void uprobe_calls_undo(struct mm_struct *mm, u8 *kaddr, unsigned long page_addr,
		       unsigned int from, unsigned int to)
{
	if (unlikely(uprobe_mm_has_calls(mm)))
		restore(mm, kaddr, page_addr, from, to);
}

/* A page that is about to be moved: threads that are about to execute a call in it fail anyway. */
static void clear_page_calls(struct mm_struct *mm, u8 *kaddr, unsigned long page_addr)
{
	unsigned int i;

	restore(mm, kaddr, page_addr, 0, PAGE_SIZE - UPROBE_CALL_BYTES);
	for (i = 0; i <= PAGE_SIZE - UPROBE_CALL_BYTES; i++) {
		if (has_call(mm, kaddr + i, page_addr + i))
			memcpy(kaddr + i + UPROBE_CALL_KEPT,
			       arch_uprobe_call_nop + UPROBE_CALL_KEPT,
			       UPROBE_CALL_BYTES - UPROBE_CALL_KEPT);
	}
}

static bool page_has_call(struct mm_struct *mm, struct page *page, unsigned long page_addr)
{
	unsigned int i;
	bool found = false;
	u8 *kaddr;

	if (!PageAnon(page))
		return false;
	kaddr = kmap_local_page(page);
	for (i = 0; i <= PAGE_SIZE - UPROBE_CALL_BYTES && !found; i++)
		found = has_call(mm, kaddr + i, page_addr + i);
	kunmap_local(kaddr);
	return found;
}

static int clear_moving(struct uprobe_mm *own, struct vm_area_struct *vma, unsigned long addr)
{
	struct page *page = uprobe_text_get_armed(vma, addr);
	bool found;
	u8 *kaddr;

	if (IS_ERR_OR_NULL(page))
		return PTR_ERR_OR_ZERO(page);
	found = page_has_call(own->mm, page, addr);
	put_page(page);
	if (!found)
		return 0;
	page = uprobe_text_get_own(vma, addr);
	if (IS_ERR(page))
		return PTR_ERR(page);
	scoped_guard(mutex, &own->text_lock) {
		kaddr = kmap_local_page(page);
		clear_page_calls(own->mm, kaddr, addr);
		kunmap_local(kaddr);
	}
	uprobe_text_put_own(page);
	return 0;
}

/**
 * uprobe_calls_moving() - pages of a process are about to be moved
 * @vma: their mapping
 * @start: first address
 * @len: number of bytes
 *
 * At their new address the calls would lead elsewhere. The breakpoints can move.
 *
 * Context: task, may sleep; mmap_lock held for writing.
 * Return: 0; -ENOMEM, -EINTR or -EAGAIN if a call cannot be removed, and the pages must stay.
 */
int uprobe_calls_moving(struct vm_area_struct *vma, unsigned long start, unsigned long len)
{
	unsigned long addr;
	struct uprobe_mm *own;
	int err = 0;

	if (likely(!uprobe_mm_has_calls(vma->vm_mm)) || !uprobe_vma_armed(vma))
		return 0;
	own = uprobe_mm_get(vma->vm_mm);
	if (!own)
		return -ENOMEM;
	for (addr = start; addr < start + len && !err; addr += PAGE_SIZE)
		err = clear_moving(own, vma, addr);
	return err == -EFAULT ? -EAGAIN : err;
}

/* --- Replacing a nop ---------------------------------------------------------- */

/* Is a part of a nop as it was, or as it shall be? */
static bool fits(const u8 *at, const u8 *call, unsigned int from, unsigned int to)
{
	return !memcmp(at + from, arch_uprobe_call_nop + from, to - from) ||
	       !memcmp(at + from, call + from, to - from);
}

/*
 * Replaces a nop. Returns 0, also if another task has been faster; or -EILSEQ if the program has
 * written to the text, or the nop has the call of another page.
 */
static int write_call(u8 *at, unsigned long vaddr, unsigned long page)
{
	u8 call[UPROBE_CALL_BYTES];

	if (!uprobe_is_breakpoint(at))
		return 0;
	arch_uprobe_write_call(call, vaddr, page);
	if (!fits(at, call, 1, UPROBE_CALL_KEPT) ||
	    !fits(at, call, UPROBE_CALL_KEPT, UPROBE_CALL_BYTES))
		return -EILSEQ;
	arch_uprobe_sync_cores();
	memcpy(at + 1, call + 1, UPROBE_CALL_BYTES - 1);
	arch_uprobe_sync_cores();
	WRITE_ONCE(*at, *call);
	return 0;
}

/* Is the point of a file still the one at the site, alone, and wanted? */
static bool is_wanted(struct uprobe_site *site, struct mm_struct *mm)
{
	struct uprobe_point *point = READ_ONCE(site->point);

	lockdep_assert_held(&uprobe_points_lock);
	return point && !READ_ONCE(site->second) && point->file &&
	       !uprobe_point_is_process(point) && uprobe_point_wanted(point, mm);
}

static int patch(struct uprobe_site *site, unsigned long page)
{
	struct vm_area_struct *vma = vma_lookup(current->mm, site->vaddr);
	struct uprobe_mm *own = current->mm->uprobes_state.own;
	struct page *text;
	int err = 0;
	u8 *kaddr;

	if (!vma || uprobe_vma_kind(vma, NULL) != UPROBE_VMA_PROBED)
		return 0;
	text = uprobe_text_get_own(vma, site->vaddr);
	if (IS_ERR(text))
		return PTR_ERR(text);
	scoped_guard(rwsem_read, &uprobe_points_lock) {
		guard(mutex)(&own->text_lock);
		kaddr = kmap_local_page(text);
		if (is_wanted(site, current->mm))
			err = write_call(kaddr + offset_in_page(site->vaddr), site->vaddr, page);
		kunmap_local(kaddr);
	}
	uprobe_text_put_own(text);
	return err;
}

static int replace(struct uprobe_site *site)
{
	struct mm_struct *mm = current->mm;
	unsigned long page;
	int err;

	if (offset_in_page(site->vaddr) > PAGE_SIZE - UPROBE_CALL_BYTES)
		return -ERANGE;
	if (mmap_write_lock_killable(mm))
		return 0;
	page = get_page_near(mm, site->vaddr);
	/* The page stays mapped, and reading the text may take long. */
	mmap_write_downgrade(mm);
	err = page ? patch(site, page) : -ENOSPC;
	mmap_read_unlock(mm);
	return err;
}

/**
 * uprobe_call_replace() - replace a nop by a call
 * @site: of %UPROBE_COPIED_NOP, whose breakpoint has been hit
 * @regs: user registers of current
 *
 * If that is not possible, it is not tried again.
 *
 * Context: a hit, may sleep; no locks.
 */
void uprobe_call_replace(struct uprobe_site *site, struct pt_regs *regs)
{
	if (!arch_uprobe_can_call(regs) || replace(site))
		WRITE_ONCE(site->way, UPROBE_COPIED);
}

static int __init call_init(void)
{
	unsigned long size;
	void *code = arch_uprobe_call_page(&size);
	struct page *page = alloc_page(GFP_HIGHUSER | __GFP_ZERO | __GFP_ACCOUNT);

	if (!page || WARN_ON(size > PAGE_SIZE))
		panic("uprobes: no call page");
	memcpy_to_page(page, 0, code, size);
	call_pages[0] = page;
	return 0;
}
core_initcall(call_init);
