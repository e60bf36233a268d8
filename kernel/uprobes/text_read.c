// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text: reading it from a process, with its breakpoints, and from the file into the page cache.
 */
#include <linux/highmem.h>
#include <linux/leafops.h>
#include <linux/pagemap.h>
#include <linux/pagewalk.h>
#include <linux/uaccess.h>

#include "call.h"
#include "point.h"

/**
 * uprobe_text_get() - get a page of text
 * @mm: the process
 * @addr: an address in the page
 * @flags: more flags for get_user_pages_remote()
 *
 * Context: task, may sleep; mmap_lock of the process held.
 * Return: the page, with a reference; or an ERR_PTR(): -EFAULT, -ENOMEM or -EINTR.
 */
struct page *uprobe_text_get(struct mm_struct *mm, unsigned long addr, unsigned int flags)
{
	struct page *page;
	long got = get_user_pages_remote(mm, addr, 1, FOLL_FORCE | flags, &page, NULL);

	return got == 1 ? page : ERR_PTR(got ? got : -EFAULT);
}

/**
 * uprobe_text_is_cached() - is a page of a file in the page cache, ready to use?
 * @mapping: of the file
 * @offset: an offset in the page
 *
 * It may be evicted again at any time.
 *
 * Context: task.
 */
bool uprobe_text_is_cached(struct address_space *mapping, loff_t offset)
{
	struct folio *folio;
	unsigned long flags;

	/* Files without this operation are in memory. */
	if (!mapping->a_ops->read_folio)
		return true;
	guard(rcu)();
	folio = xa_load(&mapping->i_pages, offset >> PAGE_SHIFT);
	if (!folio || xa_is_value(folio))
		return false;
	/* Without a reference: the page may be reused, and the answer out of date, at any time. */
	flags = READ_ONCE(folio->flags.f);
	/* A page fault at the mark of the read-ahead asks for more. */
	return flags & BIT(PG_uptodate) && !(flags & BIT(PG_readahead));
}

static int find_entry(pte_t *pte, unsigned long addr, unsigned long next, struct mm_walk *walk)
{
	pte_t *found = walk->private;

	*found = ptep_get(pte);
	return 0;
}

static const struct mm_walk_ops find_entry_ops = {
	.pte_entry = find_entry,
	.walk_lock = PGWALK_RDLOCK,
};

/* The entry of the page table for a page. */
static pte_t entry_of(struct vm_area_struct *vma, unsigned long page_addr)
{
	pte_t entry = __pte(0);

	walk_page_range_vma(vma, page_addr, page_addr + PAGE_SIZE, &find_entry_ops, &entry);
	return entry;
}

/**
 * uprobe_text_is_none() - has a process no page at an address, not even a swapped one?
 * @vma: any mapping
 * @page_addr: address of the page
 *
 * Context: task, may sleep; mmap_lock of the process held.
 */
bool uprobe_text_is_none(struct vm_area_struct *vma, unsigned long page_addr)
{
	pte_t entry = entry_of(vma, page_addr);

	/* userfaultfd marks entries without a page, too. */
	return pte_none(entry) || pte_is_uffd_wp_marker(entry);
}

/**
 * uprobe_text_is_absent() - would a look at a page ask the file system?
 * @vma: any mapping
 * @addr: an address in the page
 *
 * The process has never had such a page, or has discarded it. A page that is there may be evicted
 * at any time.
 *
 * Context: task, may sleep; mmap_lock of the process held.
 */
bool uprobe_text_is_absent(struct vm_area_struct *vma, unsigned long addr)
{
	unsigned long page_addr = addr & PAGE_MASK;

	if (!vma->vm_file ||
	    uprobe_text_is_cached(vma->vm_file->f_mapping, uprobe_vma_offset(vma, page_addr)))
		return false;
	return uprobe_text_is_none(vma, page_addr);
}

/**
 * uprobe_text_get_own() - get a process's own copy of a page, to write to it
 * @vma: a private mapping
 * @addr: an address in the page
 *
 * The process gets a copy if it has none. While the caller has the reference and mmap_lock, the
 * copy stays that of the process, unless the program discards or truncates it. So it can be
 * patched under uprobe_points_lock, without a page fault.
 *
 * Context: task, may sleep; mmap_lock of the process held, but no lock inside of it, because the
 * file system may ask a program.
 * Return: the page, with a reference, for uprobe_text_put_own(); or an ERR_PTR() of
 * uprobe_text_get().
 */
struct page *uprobe_text_get_own(struct vm_area_struct *vma, unsigned long addr)
{
	lockdep_assert_not_held(&uprobe_points_lock);
	/* Unlike a page fault, this ends when the caller is killed. */
	if (uprobe_text_is_absent(vma, addr))
		uprobe_text_bring_in(vma->vm_file, uprobe_vma_offset(vma, addr));
	return uprobe_text_get(vma->vm_mm, addr, FOLL_WRITE | FOLL_SPLIT_PMD);
}

/**
 * uprobe_text_put_own() - put a page that may have been written to
 * @page: from uprobe_text_get_own(), also an ERR_PTR(), or NULL
 *
 * Context: task, may sleep.
 */
void uprobe_text_put_own(struct page *page)
{
	if (IS_ERR_OR_NULL(page))
		return;
	set_page_dirty_lock(page);
	put_page(page);
}

/**
 * uprobe_text_get_armed() - get a page of text that may have breakpoints
 * @vma: any mapping
 * @page_addr: address of the page
 *
 * A page that the process does not have now has none. It is not asked for, so that the file system
 * is not, either.
 *
 * Context: task, may sleep; mmap_lock of the process held.
 * Return: the page, with a reference; NULL if the process does not have it; or an ERR_PTR() of
 * uprobe_text_get().
 */
struct page *uprobe_text_get_armed(struct vm_area_struct *vma, unsigned long page_addr)
{
	struct page *page = uprobe_text_get(vma->vm_mm, page_addr, FOLL_NOFAULT);

	if (!IS_ERR(page) || PTR_ERR(page) != -EFAULT)
		return page;
	/* It may be swapped out, or on the way to another place. */
	if (uprobe_text_is_none(vma, page_addr))
		return NULL;
	return uprobe_text_get(vma->vm_mm, page_addr, 0);
}

/**
 * uprobe_text_is_present() - is a page present, although get_user_pages() cannot get it?
 * @vma: any mapping
 * @page_addr: address of the page
 *
 * userfaultfd may protect it for a while, also against reading.
 *
 * Context: task, may sleep; mmap_lock of the process held.
 */
bool uprobe_text_is_present(struct vm_area_struct *vma, unsigned long page_addr)
{
	pte_t entry = entry_of(vma, page_addr);

	return pte_present(entry);
}

/**
 * uprobe_text_bring_in() - read a page of a file into the page cache
 * @file: the file
 * @offset: an offset in the page
 *
 * Context: task, may sleep; no locks but mmap_lock and uprobe_mutex, because the file system may
 * ask a program.
 * Return: 0, or an error of the file system.
 */
int uprobe_text_bring_in(struct file *file, loff_t offset)
{
	struct address_space *mapping = file->f_mapping;
	struct page *page;

	if (uprobe_text_is_cached(mapping, offset))
		return 0;
	/* Until truncation has freed the blocks, they must not be read again. */
	filemap_invalidate_lock_shared(mapping);
	page = read_mapping_page(mapping, offset >> PAGE_SHIFT, file);
	filemap_invalidate_unlock_shared(mapping);
	if (IS_ERR(page))
		return PTR_ERR(page);
	folio_clear_readahead(page_folio(page));
	put_page(page);
	return 0;
}

#if UPROBE_CONTEXT_BYTES
/**
 * uprobe_text_is_untied() - can an instruction be probed, whatever follows it?
 * @untied: a part of the page that has been looked at; changes
 * @page: the page
 * @at: offset of the instruction
 *
 * The probes of a batch are often in the order of addresses; then each word is looked at once.
 *
 * Context: task.
 * Return: false if the text around the instruction has to be looked at.
 */
bool uprobe_text_is_untied(struct uprobe_untied *untied, struct page *page, unsigned int at)
{
	unsigned int from = at - UPROBE_CONTEXT_BYTES;
	u8 *kaddr;
	bool ties;

	if (at < UPROBE_CONTEXT_BYTES)
		return false;
	if (from < untied->from || from > untied->to)
		*untied = (struct uprobe_untied) { from, from };
	if (untied->to >= at)
		return true;
	kaddr = kmap_local_page(page);
	ties = arch_uprobe_ties(kaddr + untied->to, at - untied->to);
	kunmap_local(kaddr);
	if (!ties)
		untied->to = at;
	return !ties;
}
#endif

/**
 * uprobe_text_reader_end() - put the page that a reader keeps
 * @reader: any
 *
 * Context: task.
 */
void uprobe_text_reader_end(struct uprobe_text_reader *reader)
{
	if (reader->page)
		put_page(reader->page);
	reader->page = NULL;
}

/* The page at an address, or NULL. */
static struct page *reader_page(struct uprobe_text_reader *reader, unsigned long addr)
{
	struct page *page;

	addr &= PAGE_MASK;
	if (reader->page && reader->addr == addr)
		return reader->page;
	uprobe_text_reader_end(reader);
	page = uprobe_text_get(reader->mm, addr, 0);
	if (IS_ERR(page)) {
		reader->err = PTR_ERR(page);
		return NULL;
	}
	reader->addr = addr;
	reader->page = page;
	reader->untied = (struct uprobe_untied) { 0 };
	return page;
}

/* Returns the number of bytes that could be read. */
static unsigned int read_text(struct uprobe_text_reader *reader, unsigned long addr, u8 *to,
			      unsigned int len)
{
	unsigned int done, in_page;
	struct page *page;

	for (done = 0; done < len; done += in_page) {
		page = reader_page(reader, addr + done);
		if (!page)
			break;
		in_page = min_t(unsigned int, len - done, PAGE_SIZE - offset_in_page(addr + done));
		memcpy_from_page(to + done, page, offset_in_page(addr + done), in_page);
	}
	uprobe_calls_hide(reader->mm, to, addr, done);
	return done;
}

/**
 * uprobe_text_read() - read text of a process, with its breakpoints
 * @mm: the process
 * @addr: address
 * @to: buffer
 * @len: bytes to read
 *
 * Context: task, may sleep; mmap_lock of the process held.
 * Return: number of bytes that could be read.
 */
unsigned int uprobe_text_read(struct mm_struct *mm, unsigned long addr, u8 *to, unsigned int len)
{
	struct uprobe_text_reader reader = { .mm = mm };
	unsigned int done = read_text(&reader, addr, to, len);

	uprobe_text_reader_end(&reader);
	return done;
}

/**
 * uprobe_breakpoint_at() - is there a breakpoint in current's text?
 * @vaddr: address
 *
 * A call in place of a nop is one, too. Text that the program can execute, but not read, is read
 * through the kernel's mapping.
 *
 * Context: task, may sleep; no mmap_lock.
 * Return: false also if nothing is mapped there.
 */
bool uprobe_breakpoint_at(unsigned long vaddr)
{
	unsigned int in_page = PAGE_SIZE - offset_in_page(vaddr);
	u8 text[MAX_UINSN_BYTES];

	if (uprobe_mm_has_calls(current->mm) ||
	    copy_from_user(text, (void __user *)vaddr, UPROBE_SWBP_INSN_SIZE)) {
		guard(mmap_read_lock)(current->mm);
		/* Memory below a stack must not be asked for. */
		if (!vma_lookup(current->mm, vaddr) ||
		    uprobe_text_read(current->mm, vaddr, text,
				     min_t(unsigned int, in_page, sizeof(text))) <
		    UPROBE_SWBP_INSN_SIZE)
			return false;
	}
	return uprobe_is_breakpoint(text);
}

/* Reads the text before an instruction, from @before bytes on, and after it. */
static bool read_around(struct uprobe_text_reader *reader, unsigned long addr, unsigned int before)
{
	struct uprobe_context *context = &reader->context;
	unsigned long start = addr - before;
	unsigned int len = before + MAX_UINSN_BYTES + UPROBE_CONTEXT_BYTES;

	context->before = before;
	context->len = read_text(reader, start, context->text,
				 min(len, reader->vma->vm_end - start));
	return context->len > before;
}

/* Text that cannot be read is not executed before the instruction. */
static bool read_context(struct uprobe_text_reader *reader, unsigned long addr)
{
	unsigned int before = min_t(unsigned long, addr - reader->vma->vm_start,
				    UPROBE_CONTEXT_BYTES);

	return !UPROBE_CONTEXT_BYTES || read_around(reader, addr, before) ||
	       read_around(reader, addr, min(before, offset_in_page(addr)));
}

/**
 * uprobe_text_read_next() - read an instruction from the page that the reader has
 * @reader: of the process
 * @addr: address of the instruction
 *
 * The page is kept for the next instruction, so that text that the program changes meanwhile may
 * be read as it was.
 *
 * Context: task.
 * Return: false if uprobe_text_read_insn() is needed: the instruction is not in that page, or the
 * backend has to look at the text around it.
 */
bool uprobe_text_read_next(struct uprobe_text_reader *reader, unsigned long addr)
{
	unsigned int at = offset_in_page(addr);

	if (!reader->page || reader->addr != addr - at || at > PAGE_SIZE - sizeof(reader->insn) ||
	    (UPROBE_CONTEXT_BYTES && !uprobe_text_is_untied(&reader->untied, reader->page, at)))
		return false;
	memcpy_from_page(reader->insn, reader->page, at, sizeof(reader->insn));
	uprobe_calls_hide(reader->mm, reader->insn, addr, sizeof(reader->insn));
	reader->len = sizeof(reader->insn);
	reader->context.len = 0;
	return true;
}

/**
 * uprobe_text_read_insn() - read an instruction, with breakpoints, into the reader
 * @reader: of the process, whose mmap_lock is held until uprobe_text_reader_end()
 * @addr: address of the instruction, in @reader->vma
 *
 * The text around the instruction is read too if the backend looks at it.
 *
 * Context: task, may sleep.
 * Return: false if nothing could be read; @reader->err is the error of uprobe_text_get().
 */
bool uprobe_text_read_insn(struct uprobe_text_reader *reader, unsigned long addr)
{
	reader->context.len = 0;
	if (!read_context(reader, addr))
		return false;
	memset(reader->insn, 0, sizeof(reader->insn));
	reader->len = read_text(reader, addr, reader->insn,
				min(sizeof(reader->insn), reader->vma->vm_end - addr));
	return reader->len;
}
