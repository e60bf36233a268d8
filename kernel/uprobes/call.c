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
 * before. Restoring the nop begins with the breakpoint (stop_call()), and ends like the disarming
 * of any probe. A thread may be about to execute the call for any length of time, so the bytes of
 * the call stay; see <linux/uprobes-call.h>. So a nop has one call for ever, or none.
 *
 * To all who read text, a replaced nop is shown with its breakpoint (uprobe_calls_hide()).
 */
#include <linux/highmem.h>
#include <linux/init.h>
#include <linux/leafops.h>
#include <linux/pagewalk.h>
#include <linux/rseq.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "call.h"
#include "point.h"
#include "table.h"

static struct page *call_pages[2];

/* The first byte of each call. */
static u8 call_opcode __ro_after_init;

static const struct vm_special_mapping call_mapping = {
	.name = "[uprobes-trampoline]",
	.pages = call_pages,
	.mremap = uprobe_mapping_mremap,
};

/* --- The call page ------------------------------------------------------------ */

/**
 * uprobe_call_page() - the call page of current's process at an address
 * @addr: any address
 *
 * Context: any, NMI too.
 * Return: its address, or 0 if the address is in none.
 */
unsigned long uprobe_call_page(unsigned long addr)
{
	unsigned long page = addr & PAGE_MASK;

	return current->mm && uprobe_is_call_page(current->mm, page) ? page : 0;
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
	int err;

	if (IS_ERR_VALUE(page))
		return page;
	err = uprobe_map_page(mm, page, &call_mapping);
	return err ? err : page;
}

/*
 * A call page that text can reach; it is mapped if necessary. Returns an error if there is none:
 * -ENOSPC if there is no room. mmap_lock is held for writing.
 */
static unsigned long get_page_near(struct mm_struct *mm, unsigned long vaddr)
{
	unsigned long *pages = mm->uprobes_state.call_pages, low, high, page;
	unsigned int i;

	arch_uprobe_slot_window(mm, vaddr, &low, &high);
	for (i = 0; i < UPROBE_CALL_PAGES && pages[i]; i++) {
		if (pages[i] >= low && pages[i] < high && is_mapped(mm, pages[i]))
			return pages[i];
	}
	if (i == UPROBE_CALL_PAGES)
		return -ENOSPC;
	page = map_page(mm, vaddr);
	if (!IS_ERR_VALUE(page))
		WRITE_ONCE(pages[i], page);
	return page;
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

/* --- Kinds of text ------------------------------------------------------------ */

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

	return target && uprobe_is_call_page(mm, target);
}

/* Do the last bytes of a nop, replaced or not, call the call page? */
static __always_inline bool has_call(struct mm_struct *mm, const u8 *at, unsigned long vaddr)
{
	return at[UPROBE_CALL_KEPT] == call_opcode &&
	       uprobe_call_target(mm, at + UPROBE_CALL_KEPT, vaddr + UPROBE_CALL_KEPT);
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

/* uprobe_calls_hide() of a process that has a call page. */
void uprobe_calls_hide_some(struct mm_struct *mm, u8 *text, unsigned long vaddr, unsigned int len)
{
	const uprobe_opcode_t breakpoint = UPROBE_SWBP_INSN;
	unsigned int i;

	for (i = 0; i + UPROBE_CALL_BYTES <= len; i++) {
		if (likely(!has_call(mm, text + i, vaddr + i)))
			continue;
		if (is_replaced(text + i, vaddr + i))
			text[i] = breakpoint;
		memcpy(text + i + 1, arch_uprobe_call_nop + 1, UPROBE_CALL_BYTES - 1);
	}
}

/* --- Restoring nops ----------------------------------------------------------- */

/* Turns the call in the place of a nop into a breakpoint. Returns whether there was one. */
static bool stop_call(struct mm_struct *mm, u8 *at, unsigned long vaddr)
{
	if (!uprobe_call_at(mm, at, vaddr))
		return false;
	WRITE_ONCE(*at, (u8)UPROBE_SWBP_INSN);
	return true;
}

/* Restores the bytes of a nop after the breakpoint, up to those of the call. */
static void restore_nop(struct mm_struct *mm, u8 *at, unsigned long vaddr)
{
	if (uprobe_call_at(mm, at, vaddr))
		memcpy(at + 1, arch_uprobe_call_nop + 1, UPROBE_CALL_KEPT - 1);
}

/**
 * uprobe_calls_undo() - turn calls in place of nops into breakpoints
 * @mm: the process
 * @kaddr: a page of it, not shared with others
 * @page_addr: its address in the process
 * @points: points in that page
 * @which: of which points the calls are undone, a bit each
 *
 * Context: task, may sleep; text_lock of the process held.
 */
void uprobe_calls_undo(struct mm_struct *mm, u8 *kaddr, unsigned long page_addr,
		       struct uprobe_point **points, u64 which)
{
	unsigned long bits = which;
	unsigned int i, at;
	bool any = false;

	if (likely(!uprobe_mm_has_calls(mm)))
		return;
	for_each_set_bit(i, &bits, BITS_PER_LONG) {
		at = offset_in_page(points[i]->offset);
		any |= stop_call(mm, kaddr + at, page_addr + at);
	}
	if (!any)
		return;
	arch_uprobe_sync_cores();
	for_each_set_bit(i, &bits, BITS_PER_LONG) {
		at = offset_in_page(points[i]->offset);
		restore_nop(mm, kaddr + at, page_addr + at);
	}
	/* The first bytes are written by others, at any time. */
	arch_uprobe_sync_cores();
}

/* A page that is about to be moved: threads that are about to execute a call in it fail anyway. */
static void clear_page_calls(struct mm_struct *mm, u8 *kaddr, unsigned long page_addr)
{
	unsigned int i, end = PAGE_SIZE - UPROBE_CALL_BYTES;

	for (i = 0; i <= end; i++)
		stop_call(mm, kaddr + i, page_addr + i);
	arch_uprobe_sync_cores();
	for (i = 0; i <= end; i++) {
		if (!has_call(mm, kaddr + i, page_addr + i))
			continue;
		restore_nop(mm, kaddr + i, page_addr + i);
		memcpy(kaddr + i + UPROBE_CALL_KEPT, arch_uprobe_call_nop + UPROBE_CALL_KEPT,
		       UPROBE_CALL_BYTES - UPROBE_CALL_KEPT);
	}
	arch_uprobe_sync_cores();
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

/* Can pages have calls, or remains of calls? Data, of which there may be much, has none. */
static bool may_have_calls(struct vm_area_struct *vma, unsigned long start, unsigned long len)
{
	loff_t offset = uprobe_vma_offset(vma, start);
	struct uprobe_point *point;
	struct uprobe_file *file;

	if (vma->vm_flags & VM_EXEC)
		return true;
	guard(rwsem_read)(&uprobe_points_lock);
	file = uprobe_file_find(file_inode(vma->vm_file));
	point = file ? uprobe_point_first(file, offset) : NULL;
	return point && point->offset - offset < len;
}

/* A huge page has no call: patching splits it. */
static int skip_huge(pmd_t *pmd, unsigned long addr, unsigned long next, struct mm_walk *walk)
{
	if (pmd_leaf(pmdp_get(pmd)))
		walk->action = ACTION_CONTINUE;
	return 0;
}

static int find_page(pte_t *pte, unsigned long addr, unsigned long next, struct mm_walk *walk)
{
	unsigned long *found = walk->private;
	pte_t entry = ptep_get(pte);

	if (pte_none(entry) || pte_is_marker(entry))
		return 0;
	*found = addr;
	return 1;
}

static const struct mm_walk_ops find_page_ops = {
	.pmd_entry = skip_huge,
	.pte_entry = find_page,
	.walk_lock = PGWALK_RDLOCK,
};

/*
 * The address of the first page, which may be swapped out, that a process has from an address on;
 * or @end. A mapping may be much larger than the memory that is used for it.
 */
static unsigned long next_page(struct vm_area_struct *vma, unsigned long addr, unsigned long end)
{
	unsigned long found = end;

	if (addr < end)
		walk_page_range_vma(vma, addr, end, &find_page_ops, &found);
	return found;
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
	unsigned long addr = start, end = start + len;
	struct uprobe_mm *own;
	int err = 0;

	/* Calls are in pages that the process does not share with the file. */
	if (likely(!uprobe_mm_has_calls(vma->vm_mm)) || !vma->anon_vma || !uprobe_vma_armed(vma) ||
	    !may_have_calls(vma, start, len))
		return 0;
	own = uprobe_mm_get(vma->vm_mm);
	if (!own)
		return -ENOMEM;
	while (!err && (addr = next_page(vma, addr, end)) < end) {
		err = clear_moving(own, vma, addr);
		addr += PAGE_SIZE;
	}
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

/* The points of the site at an address, which stay while uprobe_points_lock is held. */
static struct uprobe_point *get_points(struct uprobe_mm *own, unsigned long vaddr,
				       struct uprobe_point **second)
{
	struct uprobe_site *site;

	lockdep_assert_held(&uprobe_points_lock);
	guard(mutex)(&own->lock);
	site = uprobe_table_find(own, vaddr);
	*second = site ? READ_ONCE(site->second) : NULL;
	return site ? READ_ONCE(site->point) : NULL;
}

/*
 * Can a call replace the nop of a site? Not if handlers of the process's own points have to run.
 * Returns 0, -EPERM, or -ENOENT if the point comes or goes.
 */
static int check_site(struct uprobe_mm *own, unsigned long vaddr)
{
	struct uprobe_point *second, *point = get_points(own, vaddr, &second);

	if (point && (second || uprobe_point_is_process(point)))
		return -EPERM;
	return point && point->file && uprobe_point_wanted(point, own->mm) ? 0 : -ENOENT;
}

static int check_first(struct uprobe_mm *own, unsigned long vaddr)
{
	guard(rwsem_read)(&uprobe_points_lock);
	return check_site(own, vaddr);
}

static int patch(struct uprobe_mm *own, unsigned long vaddr, unsigned long page)
{
	struct vm_area_struct *vma = vma_lookup(own->mm, vaddr);
	struct page *text;
	u8 *kaddr;
	int err;

	if (!vma || uprobe_vma_kind(vma, NULL) != UPROBE_VMA_PROBED)
		return -EPERM;
	text = uprobe_text_get_own(vma, vaddr);
	if (IS_ERR(text))
		return PTR_ERR(text);
	scoped_guard(rwsem_read, &uprobe_points_lock) {
		err = check_site(own, vaddr);
		if (err)
			break;
		guard(mutex)(&own->text_lock);
		kaddr = kmap_local_page(text);
		err = write_call(kaddr + offset_in_page(vaddr), vaddr, page);
		kunmap_local(kaddr);
	}
	uprobe_text_put_own(text);
	return err;
}

static int replace(struct uprobe_mm *own, unsigned long vaddr)
{
	unsigned long page;
	int err;

	if (offset_in_page(vaddr) > PAGE_SIZE - UPROBE_CALL_BYTES)
		return -ERANGE;
	/* Mapping and patching would stop the other threads. */
	err = check_first(own, vaddr);
	if (err)
		return err;
	if (mmap_write_lock_killable(own->mm))
		return -EINTR;
	page = get_page_near(own->mm, vaddr);
	/* The page stays mapped, and reading the text may take long. */
	mmap_write_downgrade(own->mm);
	err = IS_ERR_VALUE(page) ? (long)page : patch(own, vaddr, page);
	mmap_read_unlock(own->mm);
	return err;
}

/* Hits of the nop stay breakpoints, as long as it has this site. */
static void give_up(struct uprobe_mm *own, unsigned long vaddr)
{
	struct uprobe_site *site;

	guard(mutex)(&own->lock);
	site = uprobe_table_find(own, vaddr);
	if (site && site->way == UPROBE_COPIED_NOP)
		WRITE_ONCE(site->way, UPROBE_COPIED);
}

/*
 * Is a nop in the restartable sequence that current executes, or directly before it? The kernel
 * does not abort a sequence that is preempted in a system call. All threads that execute the nop
 * are expected to be in the sequence, or none.
 */
#ifdef CONFIG_RSEQ
static bool in_sequence(unsigned long vaddr)
{
	const struct rseq __user *rseq = current->rseq.usrptr;
	struct rseq_cs sequence;
	u64 addr;

	return rseq && !get_user(addr, &rseq->rseq_cs) && addr &&
	       !copy_from_user(&sequence, u64_to_user_ptr(addr), sizeof(sequence)) &&
	       vaddr + UPROBE_CALL_BYTES - sequence.start_ip <
	       sequence.post_commit_offset + UPROBE_CALL_BYTES;
}
#else
static bool in_sequence(unsigned long vaddr)
{
	return false;
}
#endif

/*
 * May a task with this memory have a debugger? If that has a breakpoint at the nop, it will write
 * the first byte of the nop there. The tasks are the threads of the process; others share its
 * memory seldom (vfork), and then count as debugged.
 */
static bool may_be_debugged(void)
{
	struct task_struct *thread;
	int users = 0;

	guard(rcu)();
	for_each_thread(current, thread) {
		if (READ_ONCE(thread->ptrace))
			return true;
		/* Those that have exited have no memory any more. */
		users += READ_ONCE(thread->mm) == current->mm;
	}
	return atomic_read(&current->mm->mm_users) > users;
}

static bool can_replace(unsigned long vaddr, struct pt_regs *regs)
{
	return arch_uprobe_can_call(regs) && !in_sequence(vaddr);
}

/**
 * uprobe_call_replace() - replace a nop by a call
 * @vaddr: address of the nop, whose breakpoint has been hit
 * @regs: user registers of current
 *
 * Context: task, after a hit, may sleep; no locks.
 */
void uprobe_call_replace(unsigned long vaddr, struct pt_regs *regs)
{
	struct uprobe_mm *own = current->mm->uprobes_state.own;

	if (may_be_debugged())
		return;
	switch (can_replace(vaddr, regs) ? replace(own, vaddr) : -EPERM) {
	case -EPERM:	/* not for this code, or these points */
	case -ERANGE:	/* in two pages */
	case -EILSEQ:	/* the program has changed the text */
	case -EFAULT:	/* or discards or protects it */
	case -ENOSPC:	/* no room for a call page in reach */
		give_up(own, vaddr);
	}
}

static int __init call_init(void)
{
	unsigned long size;
	void *code = arch_uprobe_call_page(&size);
	u8 call[UPROBE_CALL_BYTES];
	struct page *page = alloc_page(GFP_HIGHUSER | __GFP_ZERO | __GFP_ACCOUNT);

	if (!page || WARN_ON(size > PAGE_SIZE))
		panic("uprobes: no call page");
	memcpy_to_page(page, 0, code, size);
	call_pages[0] = page;
	arch_uprobe_write_call(call, 0, 0);
	call_opcode = call[UPROBE_CALL_KEPT];
	return 0;
}
core_initcall(call_init);
