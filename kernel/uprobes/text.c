// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text: writing breakpoints into a page of a process, and giving the page back.  text_read.c reads
 * text.
 *
 * A private mapping gets its own copy of a page when the first breakpoint is written, in the
 * way a debugger's write gets it. All breakpoints of a batch in the page are written at once;
 * each is a single store, so that other threads execute either the old instruction or the
 * breakpoint. When the last breakpoint of the page has gone, and the copy equals the page of
 * the file, the copy is dropped.
 */
#include <linux/highmem.h>
#include <linux/pagemap.h>
#include <linux/unaligned.h>
#include <linux/userfaultfd_k.h>

#include "arm.h"
#include "call.h"
#include "point.h"
#include "trace.h"

static const uprobe_opcode_t breakpoint = UPROBE_SWBP_INSN;

static unsigned long point_vaddr(struct vm_area_struct *vma, struct uprobe_point *point)
{
	if (uprobe_point_is_process(point))
		return point->offset;
	return uprobe_vma_addr(vma, point->offset);
}

/* One unit of text, with a single store that a processor may execute at any time. */
static __always_inline void write_opcode(u8 *at, const void *opcode)
{
	uprobe_opcode_t value;

	memcpy(&value, opcode, UPROBE_SWBP_INSN_SIZE);
	WRITE_ONCE(*(uprobe_opcode_t *)at, value);
}

/* Lets all processors execute the text that was written between two points of a page. */
static void sync_text(u8 *kaddr, struct uprobe_point *first, struct uprobe_point *last)
{
	unsigned int from = offset_in_page(first->offset);

	arch_uprobe_sync_text(kaddr + from,
			      offset_in_page(last->offset) + UPROBE_SWBP_INSN_SIZE - from);
}

/* --- Arming --------------------------------------------------------------------- */

/* Is the text the instruction of a point for which only the breakpoint has to be written? */
static __always_inline bool is_plain_insn(struct uprobe_point *point, u8 *at)
{
	/* Pairs with the release in decide(). */
	unsigned long bits = smp_load_acquire(&point->plain), differs;

	/* The word may end in another page. */
	if (unlikely(!bits))
		return false;
	differs = get_unaligned((unsigned long *)at) ^ get_unaligned((unsigned long *)point->insn);
	return likely(!(differs & bits));
}

/*
 * Is the text at @at the instruction that the file had when the point was made? Only its part in
 * this page is compared.
 */
static bool same_insn(const struct uprobe_point *point, const struct uprobe_decision *decision,
		      const u8 *at)
{
	unsigned int in_page = PAGE_SIZE - offset_in_page(point->offset);

	return !memcmp(at, point->insn,
		       min_t(unsigned int, in_page, arch_uprobe_insn_len(&decision->arch)));
}

static noinline int refuse(struct vm_area_struct *vma, struct uprobe_point *point,
			   const char *why, int err)
{
	trace_uprobe_refused(point->file->inode, point->offset, point_vaddr(vma, point), why,
			     err);
	return err;
}

static int note_counter(struct vm_area_struct *vma, struct uprobe_point *point)
{
	int err = 0;

	if (point->ref_ctr_offset)
		err = uprobe_counter_note(vma->vm_mm->uprobes_state.own, point);
	return err ? refuse(vma, point, "no memory for the reference counter", err) : 0;
}

/* The text is not the instruction of a point: a breakpoint is there already, or it has changed. */
static noinline int arm_changed(struct vm_area_struct *vma, struct uprobe_point *point,
				const u8 *at)
{
	if (!uprobe_is_breakpoint(at) &&
	    !uprobe_call_at(vma->vm_mm, at, point_vaddr(vma, point))) {
		refuse(vma, point, "text has changed, or a probe is inside", -EILSEQ);
		/* Other processes, and other text of this one, can have the probe of a file. */
		return uprobe_point_is_process(point) ? -EILSEQ : 0;
	}
	/* Nothing happens if this point has armed the text before. */
	return note_counter(vma, point);
}

/* Has the program changed the text, so that a point of the process has another instruction? */
static bool differs_from_process(struct vm_area_struct *vma, struct uprobe_point *point)
{
	struct uprobe_mm *own = vma->vm_mm->uprobes_state.own;
	struct uprobe_point *other;

	other = uprobe_process_point_find(own, point_vaddr(vma, point));
	return other && !uprobe_points_agree(point, other, arch_uprobe_mode(vma->vm_mm));
}

/* Has the process points of its own, beside points that are about to be armed? */
static bool meets_process(struct vm_area_struct *vma, struct uprobe_point *point)
{
	return !uprobe_point_is_process(point) &&
	       !list_empty(&vma->vm_mm->uprobes_state.own->process.in_order);
}

/*
 * A point of a file is about to be armed. A point of the process can be at the same address, also
 * without a breakpoint: it is disabled, or the program has written or discarded the text. Then it
 * may have a site, and hits find its instruction. Returns false if that is another one.
 */
static noinline bool joins_process(struct vm_area_struct *vma, struct uprobe_point *point)
{
	if (differs_from_process(vma, point)) {
		refuse(vma, point, "a probe of the process has another instruction", -EILSEQ);
		return false;
	}
	uprobe_site_renew(vma->vm_mm->uprobes_state.own, point_vaddr(vma, point), point);
	return true;
}

static __always_inline void write_breakpoint(struct vm_area_struct *vma,
					     struct uprobe_point *point, u8 *at)
{
	write_opcode(at, &breakpoint);
	if (trace_uprobe_text_enabled())
		trace_uprobe_text(point_vaddr(vma, point), true);
}

/* The same as same_insn(), of text as it would be without calls. */
static noinline bool same_without_calls(struct vm_area_struct *vma, struct uprobe_point *point,
					const struct uprobe_decision *decision, const u8 *at)
{
	unsigned int in_page = PAGE_SIZE - offset_in_page(point->offset);
	unsigned int len = min_t(unsigned int, MAX_UINSN_BYTES, in_page);
	u8 text[MAX_UINSN_BYTES];

	if (!uprobe_mm_has_calls(vma->vm_mm))
		return false;
	memcpy(text, at, len);
	uprobe_calls_hide(vma->vm_mm, text, point_vaddr(vma, point), len);
	return same_insn(point, decision, text);
}

/* Arms a point that has been accepted for a mode. */
static noinline int arm_accepted(struct vm_area_struct *vma, struct uprobe_point *point, u8 *at,
				 unsigned int mode)
{
	const struct uprobe_decision *decision = mode ? point->other : &point->native;
	int err;

	/* A point whose instruction is a breakpoint is refused. */
	if (!same_insn(point, decision, at) && !same_without_calls(vma, point, decision, at))
		return arm_changed(vma, point, at);
	err = note_counter(vma, point);
	if (err)
		return err;
	write_breakpoint(vma, point, at);
	return 0;
}

/*
 * A page cannot be armed, which is reported, unless the caller is being killed. Returns the error;
 * -EPERM if userfaultfd protects the page, which lasts.
 */
static noinline int cannot_arm(struct vm_area_struct *vma, unsigned long page_addr,
			       struct uprobe_point **points, unsigned int nr, int err)
{
	const char *why = err == -ENOMEM ? "no memory" : "the page cannot be read";
	unsigned int i;

	/* The memory of a process that is being killed cannot be written either. */
	if (err == -EINTR || mm_flags_test(MMF_UNSTABLE, vma->vm_mm))
		return err;
	if (err == -EFAULT && uprobe_text_is_present(vma, page_addr)) {
		why = "the page is protected";
		err = -EPERM;
	}
	for (i = 0; i < nr; i++)
		refuse(vma, points[i], why, err);
	return err;
}

static int arm_page(struct vm_area_struct *vma, struct page *page, unsigned long page_addr,
		    struct uprobe_point **points, unsigned int nr)
{
	unsigned int mode = arch_uprobe_mode(vma->vm_mm), i;
	bool meets = meets_process(vma, points[0]);
	bool plain = !mode && !meets;
	u8 *kaddr, *at;
	int err = 0, ret;

	if (IS_ERR(page))
		return cannot_arm(vma, page_addr, points, nr, PTR_ERR(page));
	kaddr = kmap_local_page(page);
	for (i = 0; i < nr; i++) {
		at = kaddr + offset_in_page(points[i]->offset);
		if (likely(plain && is_plain_insn(points[i], at))) {
			write_breakpoint(vma, points[i], at);
			continue;
		}
		if (meets && !joins_process(vma, points[i]))
			continue;
		ret = arm_accepted(vma, points[i], at, mode);
		err = uprobe_first_error(err, ret);
	}
	sync_text(kaddr, points[0], points[nr - 1]);
	kunmap_local(kaddr);
	return err;
}

/* Arms the wanted points of a page, from @first on; see uprobe_text_arm_mapped(). */
static struct uprobe_point *arm_wanted(struct vm_area_struct *vma, u8 *kaddr,
				       struct uprobe_point *first, bool *undecided)
{
	loff_t end = (first->offset & PAGE_MASK) + PAGE_SIZE;
	unsigned int mode = arch_uprobe_mode(vma->vm_mm);
	bool meets = meets_process(vma, first);
	struct uprobe_point *point = first;
	u8 *at;

	list_for_each_entry_from(point, &first->file->in_order, entry) {
		if (point->offset >= end)
			return point;
		if (unlikely(!uprobe_point_wanted(point, vma->vm_mm)))
			continue;
		at = kaddr + offset_in_page(point->offset);
		if (likely(!mode && !meets && is_plain_insn(point, at)))
			write_breakpoint(vma, point, at);
		else if (!uprobe_point_decision(point, mode))
			*undecided = true;
		else if (uprobe_point_is_accepted(point, mode) &&
			 (!meets || joins_process(vma, point)))
			arm_accepted(vma, point, at, mode);
	}
	return NULL;
}

/* A page of a new mapping stays without breakpoints. Returns the first point after it. */
static noinline struct uprobe_point *skip_page(struct vm_area_struct *vma, unsigned long page_addr,
					       struct uprobe_point *first, int err)
{
	struct uprobe_point *next = uprobe_next_page(first), *point;

	for (point = first; point != next; point = uprobe_point_next(point)) {
		if (uprobe_point_wanted(point, vma->vm_mm))
			cannot_arm(vma, page_addr, &point, 1, err);
	}
	return next;
}

/**
 * uprobe_text_arm_mapped() - arm the points of a page of a new mapping
 * @vma: text, see uprobe_vma_kind()
 * @page: from uprobe_text_get_own(), also an ERR_PTR()
 * @first: first point of the page
 * @undecided: set to true if there are points that have not been decided; they are not armed
 *
 * Context: task, may sleep; mmap_lock of the process and uprobe_points_lock held.
 * Return: the first point after the page, or NULL.
 */
struct uprobe_point *uprobe_text_arm_mapped(struct vm_area_struct *vma, struct page *page,
					    struct uprobe_point *first, bool *undecided)
{
	unsigned long page_addr = uprobe_vma_addr(vma, first->offset) & PAGE_MASK;
	struct uprobe_mm *own = uprobe_mm_get(vma->vm_mm);
	struct uprobe_point *next;
	u8 *kaddr;

	if (!own)
		page = ERR_PTR(-ENOMEM);
	if (IS_ERR(page))
		return skip_page(vma, page_addr, first, PTR_ERR(page));
	guard(mutex)(&own->text_lock);
	kaddr = kmap_local_page(page);
	next = arm_wanted(vma, kaddr, first, undecided);
	sync_text(kaddr, first, next ? list_prev_entry(next, entry) :
		  list_last_entry(&first->file->in_order, struct uprobe_point, entry));
	kunmap_local(kaddr);
	return next;
}

/* --- Disarming ------------------------------------------------------------------ */

/* The points may leave their files meanwhile. */
static bool any_breakpoint(struct mm_struct *mm, struct page *page, unsigned long page_addr,
			   struct uprobe_point **points, unsigned int nr)
{
	bool found = false;
	unsigned int i, at;
	u8 *kaddr;

	if (!PageAnon(page))
		return false;
	kaddr = kmap_local_page(page);
	for (i = 0; i < nr && !found; i++) {
		at = offset_in_page(points[i]->offset);
		found = uprobe_is_breakpoint(kaddr + at) ||
			uprobe_call_at(mm, kaddr + at, page_addr + at);
	}
	kunmap_local(kaddr);
	return found;
}

/* The point at the same address: one of the file for one of the process, and vice versa. */
static struct uprobe_point *other_point(struct vm_area_struct *vma, struct uprobe_point *point,
					unsigned long vaddr)
{
	struct uprobe_mm *own = vma->vm_mm->uprobes_state.own;

	if (!uprobe_point_is_process(point))
		return uprobe_process_point_find(own, vaddr);
	if (uprobe_vma_kind(vma, NULL) != UPROBE_VMA_PROBED)
		return NULL;
	return uprobe_point_find(file_inode(vma->vm_file), uprobe_vma_offset(vma, vaddr));
}

/*
 * Does a point at the same address need the breakpoint? One of the file is not armed in text that
 * the program has changed.
 */
static bool also_wanted(struct vm_area_struct *vma, struct uprobe_point *point,
			unsigned long vaddr)
{
	struct uprobe_point *other = other_point(vma, point, vaddr);

	if (!other || !uprobe_point_wanted(other, vma->vm_mm))
		return false;
	return !uprobe_point_is_process(point) ||
	       uprobe_points_agree(point, other, arch_uprobe_mode(vma->vm_mm));
}

static void disarm_one(struct vm_area_struct *vma, u8 *kaddr, struct uprobe_point *point)
{
	unsigned long vaddr = point_vaddr(vma, point);
	u8 *at = kaddr + offset_in_page(vaddr);

	if (!uprobe_is_breakpoint(at))
		return;
	if (also_wanted(vma, point, vaddr))
		return;
	write_opcode(at, point->insn);
	trace_uprobe_text(vaddr, false);
}

/* Is a point that this process needs in the page? */
static bool still_probed(struct vm_area_struct *vma, unsigned long page_addr)
{
	loff_t offset = uprobe_vma_offset(vma, page_addr);
	struct uprobe_point *point;
	struct uprobe_file *file;

	guard(rwsem_read)(&uprobe_points_lock);
	file = uprobe_file_find(file_inode(vma->vm_file));
	if (!file)
		return false;
	for (point = uprobe_point_first(file, offset); point && point->offset < offset + PAGE_SIZE;
	     point = uprobe_point_next(point)) {
		if (uprobe_point_wanted(point, vma->vm_mm))
			return true;
	}
	return false;
}

static bool equals_file(struct vm_area_struct *vma, unsigned long page_addr, struct page *page)
{
	pgoff_t index = uprobe_vma_offset(vma, page_addr) >> PAGE_SHIFT;
	struct folio *folio = filemap_get_folio(vma->vm_file->f_mapping, index);
	bool same = false;
	void *ours, *theirs;

	if (IS_ERR(folio))
		return false;
	if (folio_test_uptodate(folio)) {
		ours = kmap_local_page(page);
		theirs = kmap_local_page(folio_file_page(folio, index));
		same = !memcmp(ours, theirs, PAGE_SIZE);
		kunmap_local(theirs);
		kunmap_local(ours);
	}
	folio_put(folio);
	return same;
}

/*
 * Which points are to be disarmed, a bit each? Since the caller has looked, one may have left its
 * file, or a consumer may have been registered.
 */
static u64 leaving(struct vm_area_struct *vma, struct uprobe_point **points, unsigned int nr,
		   enum uprobe_text_op op)
{
	unsigned int i;
	u64 which = 0;

	for (i = 0; i < nr; i++) {
		if (points[i]->file &&
		    (op == UPROBE_LEAVE || !uprobe_point_wanted(points[i], vma->vm_mm)))
			which |= BIT_ULL(i);
	}
	return which;
}

/* Decreases the counters of points. Returns 0, or an error if one is left as it was. */
static int uncount(struct vm_area_struct *vma, struct uprobe_point **points, unsigned int nr,
		   u64 which)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		if (points[i]->ref_ctr_offset && (which & BIT_ULL(i)))
			err = uprobe_counter_decrease(vma->vm_mm->uprobes_state.own, points[i]);
	}
	return err;
}

/* Returns the error of uprobe_text_get(), or -EAGAIN if the page may have a breakpoint. */
static int cannot_disarm(struct vm_area_struct *vma, unsigned long page_addr, int err)
{
	return err == -EFAULT && uprobe_text_is_present(vma, page_addr) ? -EAGAIN : err;
}

static int disarm_page(struct vm_area_struct *vma, struct page *page, unsigned long page_addr,
		       struct uprobe_point **points, unsigned int nr, enum uprobe_text_op op)
{
	u64 which = leaving(vma, points, nr, op);
	unsigned int i;
	u8 *kaddr;
	int err;

	/* Also if the program has discarded or overwritten the breakpoint. */
	err = uncount(vma, points, nr, which);
	if (err || !page)
		return err;
	if (IS_ERR(page))
		return cannot_disarm(vma, page_addr, PTR_ERR(page));
	kaddr = kmap_local_page(page);
	uprobe_calls_undo(vma->vm_mm, kaddr, page_addr, points, which);
	for (i = 0; i < nr; i++) {
		if (which & BIT_ULL(i))
			disarm_one(vma, kaddr, points[i]);
	}
	sync_text(kaddr, points[0], points[nr - 1]);
	kunmap_local(kaddr);
	return 0;
}

/**
 * uprobe_text_give_back() - drop the copy of a page that is as in the file again
 * @vma: text, see uprobe_vma_armed()
 * @page_addr: address of the page
 *
 * A debugger may write a breakpoint of its own into the page, with mmap_lock held for reading.
 *
 * Context: task, may sleep; mmap_lock of the process held for writing; not uprobe_points_lock,
 * because the page may have to be swapped in.
 */
void uprobe_text_give_back(struct vm_area_struct *vma, unsigned long page_addr)
{
	struct page *page;
	bool drop;

	/* The program may write to the page at any time if the mapping lets it. */
	if (!vma->vm_file || (vma->vm_flags & (VM_WRITE | VM_LOCKED)) ||
	    userfaultfd_missing(vma) || still_probed(vma, page_addr))
		return;
	page = uprobe_text_get_armed(vma, page_addr);
	if (IS_ERR_OR_NULL(page))
		return;
	drop = PageAnon(page) && !folio_maybe_dma_pinned(page_folio(page)) &&
	       equals_file(vma, page_addr, page);
	put_page(page);
	if (drop)
		zap_vma_range(vma, page_addr, PAGE_SIZE);
}

/*
 * Gets a page that is to be patched, and the counters that are to be decreased. Returns NULL if the
 * page has no breakpoint that is to be removed.
 */
static struct page *prepare(struct vm_area_struct *vma, unsigned long page_addr,
			    struct uprobe_point **points, unsigned int nr, enum uprobe_text_op op)
{
	struct page *page;
	unsigned int i;
	bool found;

	if (op == UPROBE_ARM)
		return uprobe_text_get_own(vma, page_addr);
	for (i = 0; i < nr; i++) {
		if (points[i]->ref_ctr_offset)
			uprobe_counter_prepare(vma->vm_mm->uprobes_state.own, points[i]);
	}
	page = uprobe_text_get_armed(vma, page_addr);
	if (IS_ERR_OR_NULL(page))
		return page;
	found = any_breakpoint(vma->vm_mm, page, page_addr, points, nr);
	put_page(page);
	/* After fork the page may be shared with another process; get one of our own. */
	return found ? uprobe_text_get_own(vma, page_addr) : NULL;
}

/* Increases the counter of a point that has been armed, or disarms the point again. */
static noinline int count(struct vm_area_struct *vma, unsigned long page_addr,
			  struct uprobe_point *point)
{
	int err = uprobe_counter_increase(vma->vm_mm->uprobes_state.own, point);

	/* After other errors the caller withdraws the registration. */
	if (!err || err == -ENOMEM || err == -EINTR)
		return err;
	uprobe_text_page(vma, page_addr, &point, 1, UPROBE_LEAVE);
	return refuse(vma, point, "the reference counter cannot be changed", -EINVAL);
}

static int count_all(struct vm_area_struct *vma, unsigned long page_addr,
		     struct uprobe_point **points, unsigned int nr)
{
	int err = 0, ret;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (points[i]->ref_ctr_offset) {
			ret = count(vma, page_addr, points[i]);
			err = uprobe_first_error(err, ret);
		}
	}
	return err;
}

/**
 * uprobe_text_page() - arm or disarm points in a page of a process
 * @vma: text, see uprobe_vma_kind()
 * @page_addr: address of the page
 * @points: points in that page; to be armed, they have been accepted for the process's mode
 * @nr: number of points
 * @op: the operation
 *
 * Points that are armed, or disarmed, already are left as they are. The page fault comes
 * before uprobe_points_lock is taken, so that a file system that does not answer delays no hit.
 *
 * Context: task, may sleep; mmap_lock of the process held, but not uprobe_points_lock. The points
 * are not freed, because uprobe_mutex is held, see uprobe_arm_vma(), or current is in a hit, or
 * mmap_lock of the process whose points they are is held for writing. To arm, uprobe_mutex is held.
 * Return: 0; -ENOMEM, -EINTR, -EFAULT if the page cannot be read; -EAGAIN if it cannot be written
 * now; -EPERM if userfaultfd protects it, to be armed; -EINVAL if a reference counter cannot be
 * increased; -EILSEQ if the text is not the instruction of a point of the process.
 */
int uprobe_text_page(struct vm_area_struct *vma, unsigned long page_addr,
		     struct uprobe_point **points, unsigned int nr, enum uprobe_text_op op)
{
	struct uprobe_mm *own = uprobe_mm_get(vma->vm_mm);
	struct page *page;
	int err;

	if (!own)
		return -ENOMEM;
	page = prepare(vma, page_addr, points, nr, op);
	scoped_guard(rwsem_read, &uprobe_points_lock) {
		guard(mutex)(&own->text_lock);
		err = op == UPROBE_ARM ? arm_page(vma, page, page_addr, points, nr) :
					 disarm_page(vma, page, page_addr, points, nr, op);
	}
	uprobe_text_put_own(page);
	/* Points with counters have noted them. */
	if (op == UPROBE_ARM && !xa_empty(&own->counters))
		err = uprobe_first_error(err, count_all(vma, page_addr, points, nr));
	return err;
}
