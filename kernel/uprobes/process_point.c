// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Points of a process: like those of a file, but found by address.
 *
 * &uprobe_mm.process is the container of all, as &struct uprobe_file is for those of a file;
 * offsets are addresses. It is protected by uprobe_points_lock alone: points leave it when their
 * text is unmapped or the process ends, without uprobe_mutex. All changes are made with mmap_lock
 * held, at least for reading, or when the process has no users. So with mmap_lock held for writing,
 * the points stay.
 *
 * A point of a file can be at the same address. The text has one breakpoint then, which stays
 * until neither wants it, and the site has both points.
 *
 * Fork copies breakpoints with the text. Those of points of the process are removed from the
 * child before it runs, because its memory is not probed.
 */
#include <linux/slab.h>

#include "call.h"
#include "point.h"
#include "process.h"
#include "table.h"
#include "trace.h"

/**
 * uprobe_process_point_find() - find a point of a process
 * @own: the process
 * @vaddr: the address
 *
 * Context: task; uprobe_points_lock held.
 * Return: NULL if there is none.
 */
struct uprobe_point *uprobe_process_point_find(struct uprobe_mm *own, unsigned long vaddr)
{
	return list_empty(&own->process.in_order) ? NULL : uprobe_point_at(&own->process, vaddr);
}

/* --- Text ------------------------------------------------------------------------- */

/*
 * Puts the original bytes of the points of a container in place of their breakpoints. @at is the
 * offset of the first byte.
 */
static void restore_from(struct uprobe_file *file, loff_t at, u8 *text, unsigned int len)
{
	struct uprobe_point *point = uprobe_point_first(file, at);

	for (; point && point->offset + UPROBE_SWBP_INSN_SIZE <= at + len;
	     point = uprobe_point_next(point)) {
		if (!uprobe_is_breakpoint(text + (point->offset - at)))
			continue;
		/*
		 * Orders the text before the instruction. Pairs with the locks between reading the
		 * instruction and writing its breakpoint.
		 */
		smp_rmb();
		if (READ_ONCE(point->len))
			memcpy(text + (point->offset - at), point->insn, UPROBE_SWBP_INSN_SIZE);
	}
}

static struct uprobe_file *file_of(struct vm_area_struct *vma)
{
	if (uprobe_vma_kind(vma, NULL) != UPROBE_VMA_PROBED)
		return NULL;
	return uprobe_file_find(file_inode(vma->vm_file));
}

/* Replaces the breakpoints of probes in text of a process by the original bytes. */
static void restore(struct vm_area_struct *vma, unsigned long vaddr, u8 *text, unsigned int len)
{
	struct uprobe_file *file = file_of(vma);

	restore_from(&vma->vm_mm->uprobes_state.own->process, vaddr, text, len);
	if (file)
		restore_from(file, uprobe_vma_offset(vma, vaddr), text, len);
}

/* Number of bytes that are probed at a point in a process, 0 if it has no breakpoint there. */
static unsigned int probed_bytes(struct uprobe_point *point, struct mm_struct *mm)
{
	const struct uprobe_decision *decision;

	if (!uprobe_point_wanted(point, mm))
		return 0;
	decision = uprobe_point_decision(point, arch_uprobe_mode(mm));
	return decision && decision->state == UPROBE_ACCEPTED ?
	       arch_uprobe_insn_len(&decision->arch) : 0;
}

/* Is another probe inside of the instruction, or the instruction inside of a probed one? */
static bool overlaps(struct uprobe_file *file, struct mm_struct *mm, loff_t at, unsigned int len)
{
	struct uprobe_point *point;
	unsigned int probed;

	point = uprobe_point_first(file, max_t(loff_t, at - MAX_UINSN_BYTES + 1, 0));
	for (; point && point->offset < at + len; point = uprobe_point_next(point)) {
		probed = point->offset == at ? 0 : probed_bytes(point, mm);
		if (probed && (point->offset > at || point->offset + probed > at))
			return true;
	}
	return false;
}

/*
 * Has no other point a byte of an instruction? @before and @after are the points of the process
 * around it, or NULL.
 */
static bool is_alone(struct uprobe_text_reader *reader, struct uprobe_point *before,
		     struct uprobe_point *after, unsigned long vaddr)
{
	return !reader->file && (!before || before->offset + MAX_UINSN_BYTES <= vaddr) &&
	       (!after || after->offset >= vaddr + MAX_UINSN_BYTES);
}

/* Can an instruction be probed in the text around it? Returns the reason if it cannot. */
static const char *check_context(struct uprobe_text_reader *reader, unsigned long vaddr)
{
	struct uprobe_context *context = &reader->context;

	if (!UPROBE_CONTEXT_BYTES || !context->len)
		return NULL;
	restore(reader->vma, vaddr - context->before, context->text, context->len);
	return arch_uprobe_check_context(context->text, context->before, context->len);
}

/* --- Creation --------------------------------------------------------------------- */

static int check_vma(struct vm_area_struct *vma, const char **why)
{
	*why = "nothing is mapped there";
	if (!vma)
		return -EFAULT;
	*why = "the mapping is not executable";
	if (!(vma->vm_flags & VM_EXEC))
		return -EACCES;
	*why = "the mapping is shared";
	if (vma->vm_flags & VM_MAYSHARE)
		return -EPERM;
	*why = "huge pages";
	if (vma->vm_flags & VM_HUGETLB)
		return -EOPNOTSUPP;
	*why = "the mapping can never be made writable";
	return vma->vm_flags & VM_MAYWRITE ? 0 : -EACCES;
}

/* The room may be used up before the first hit, so that one look for each page is enough. */
static bool has_room(struct uprobe_text_reader *reader, struct uprobe_mm *own,
		     unsigned long vaddr)
{
	unsigned long page = vaddr & PAGE_MASK;

	if (page && reader->room == page)
		return true;
	if (!uprobe_area_has_room(own, vaddr))
		return false;
	reader->room = page;
	return true;
}

/* Does the instruction of a point overlap others, also those that are probed for the file? */
static bool overlaps_any(struct uprobe_text_reader *reader, struct uprobe_point *point,
			 unsigned int len)
{
	loff_t at = uprobe_vma_offset(reader->vma, point->offset);

	return overlaps(point->file, reader->mm, point->offset, len) ||
	       (reader->file && overlaps(reader->file, reader->mm, at, len));
}

/* Can a point be published? */
static int check_point(struct uprobe_text_reader *reader, struct uprobe_point *point,
		       bool alone, const char **why)
{
	struct mm_struct *mm = reader->mm;
	const struct uprobe_decision *decision;

	decision = uprobe_point_decide_new(point, arch_uprobe_mode(mm));
	*why = decision->why;
	if (decision->state != UPROBE_ACCEPTED)
		return decision->err;
	*why = check_context(reader, point->offset);
	if (*why)
		return -EOPNOTSUPP;
	*why = "the instruction overlaps another probed instruction";
	if (!alone && overlaps_any(reader, point, arch_uprobe_insn_len(&decision->arch)))
		return -EILSEQ;
	*why = "no room for a copy in reach of the text";
	if (uprobe_must_copy(decision->way) &&
	    !has_room(reader, mm->uprobes_state.own, point->offset))
		return -ENOSPC;
	return 0;
}

/**
 * uprobe_process_text() - read text of a process as it is without probes
 * @own: the process
 * @vaddr: address
 * @text: buffer
 * @len: number of bytes
 * @why: set on failure
 *
 * Context: task, may sleep; mmap_lock of the process held.
 * Return: 0, or an error of register_uprobe(): the text must be executable, and in one mapping.
 */
int uprobe_process_text(struct uprobe_mm *own, unsigned long vaddr, u8 *text, unsigned int len,
			const char **why)
{
	struct vm_area_struct *vma = vma_lookup(own->mm, vaddr);
	int err = check_vma(vma, why);

	if (err)
		return err;
	*why = "it is not in one mapping";
	if (len > vma->vm_end - vaddr)
		return -EFAULT;
	*why = "the text cannot be read";
	if (uprobe_text_read(own->mm, vaddr, text, len) != len)
		return -EFAULT;
	guard(rwsem_read)(&uprobe_points_lock);
	restore(vma, vaddr, text, len);
	return 0;
}

/**
 * uprobe_process_read() - read the instruction for uprobe_process_point_get()
 * @reader: of the process
 * @vaddr: address of the instruction
 * @why: set on failure
 *
 * Context: task, may sleep; mmap_lock of the process and uprobe_mutex held. Not
 * uprobe_points_lock, because the file system may ask a program.
 * Return: 0, or an error of register_uprobe().
 */
int uprobe_process_read(struct uprobe_text_reader *reader, unsigned long vaddr, const char **why)
{
	struct vm_area_struct *vma = reader->vma;
	int err;

	if (!vma || vaddr < vma->vm_start || vaddr >= vma->vm_end) {
		vma = vma_lookup(reader->mm, vaddr);
		err = check_vma(vma, why);
		if (err)
			return err;
		reader->vma = vma;
		reader->file = file_of(vma);
	}
	*why = "the text cannot be read";
	return uprobe_text_read_insn(reader, vaddr) ? 0 : reader->err;
}

/* Publishes a point after the point @before, with the instruction that has been read. */
static struct uprobe_point *create_point(struct uprobe_file *process,
					 struct uprobe_text_reader *reader, unsigned long vaddr,
					 struct uprobe_point *before, bool alone,
					 const char **why)
{
	struct uprobe_point *point;
	int err;

	*why = "no memory";
	point = uprobe_point_new(process, vaddr, reader->left);
	if (!point)
		return ERR_PTR(-ENOMEM);
	point->len = reader->len;
	memcpy(point->insn, reader->insn, sizeof(point->insn));
	if (!alone)
		restore(reader->vma, vaddr, point->insn, point->len);
	err = check_point(reader, point, alone, why);
	if (!err) {
		*why = "no memory";
		err = uprobe_point_insert(point, before);
	}
	if (!err)
		return point;
	kfree(point->other);
	kfree(point);
	return ERR_PTR(err);
}

/* Is the instruction that has been read that of a point? The program may have written another. */
static bool has_its_text(struct uprobe_text_reader *reader, struct uprobe_point *point)
{
	const struct uprobe_decision *decision;
	u8 insn[MAX_UINSN_BYTES];

	memcpy(insn, reader->insn, sizeof(insn));
	restore(reader->vma, point->offset, insn, reader->len);
	decision = uprobe_point_decision(point, arch_uprobe_mode(reader->mm));
	return !memcmp(insn, point->insn, arch_uprobe_insn_len(&decision->arch));
}

/**
 * uprobe_process_point_get() - find or create the point for a registration
 * @own: the process
 * @reader: of the process, after uprobe_process_read()
 * @vaddr: address of the instruction
 * @why: set on failure
 *
 * The caller adds a consumer before it releases the locks. The point stays while mmap_lock is
 * held, so that the reader can start the next search there.
 *
 * Context: task, may sleep; mmap_lock of the process, uprobe_mutex and uprobe_points_lock (for
 * writing) held.
 * Return: the point, or an ERR_PTR(): see register_uprobe().
 */
struct uprobe_point *uprobe_process_point_get(struct uprobe_mm *own,
					      struct uprobe_text_reader *reader,
					      unsigned long vaddr, const char **why)
{
	struct uprobe_file *process = &own->process;
	struct uprobe_point *point, *before;

	before = uprobe_point_before(process, reader->last, vaddr);
	point = uprobe_point_after(process, before);
	if (point && point->offset == vaddr && !has_its_text(reader, point)) {
		*why = "another probe, whose text was overwritten, is there";
		/* A breakpoint that could not be removed yet needs its point. */
		if (!list_empty(&point->consumers) || uprobe_is_breakpoint(reader->insn))
			return ERR_PTR(-EILSEQ);
		uprobe_point_put(point);
		point = uprobe_point_after(process, before);
	}
	if (!point || point->offset != vaddr) {
		point = create_point(process, reader, vaddr, before,
				     is_alone(reader, before, point, vaddr), why);
		if (IS_ERR(point))
			return point;
		/* Only a point of the file can have a site there. */
		if (reader->file)
			uprobe_site_renew(own, vaddr, point);
	}
	reader->last = point;
	return point;
}

/* --- Hooks ------------------------------------------------------------------------- */

typedef void end_function(struct uprobe_registration *registration);

static void end_point(struct uprobe_point *point, end_function *end)
{
	struct uprobe_consumer *uc, *next;

	list_for_each_entry_safe(uc, next, &point->consumers, cons_node)
		end(container_of(uc, struct uprobe_registration, consumer));
	uprobe_point_put(point);
}

/**
 * uprobe_process_unmapped() - end the registrations for text that is unmapped
 * @own: the process
 * @start: first address
 * @end: address after the last
 *
 * Context: task, may sleep; mmap_lock held, or the process has no users.
 */
void uprobe_process_unmapped(struct uprobe_mm *own, unsigned long start, unsigned long end)
{
	struct uprobe_point *point, *next;

	guard(rwsem_write)(&uprobe_points_lock);
	for (point = uprobe_point_first(&own->process, start); point && point->offset < end;
	     point = next) {
		next = uprobe_point_next(point);
		trace_uprobe_refused(NULL, 0, point->offset, "the text was unmapped", -EFAULT);
		end_point(point, uprobe_registration_gone);
	}
}

/* Removes one breakpoint. A page that cannot be read has no breakpoint. */
static int leave_point(struct vm_area_struct *vma, struct uprobe_point *point)
{
	int err = uprobe_text_page(vma, point->offset & PAGE_MASK, &point, 1, UPROBE_LEAVE);

	return err == -EFAULT ? 0 : err;
}

/* Removes breakpoints. If one cannot be removed, @end becomes its address. */
static noinline int leave_range(struct uprobe_mm *own, struct vm_area_struct *vma,
				unsigned long start, unsigned long *end)
{
	struct uprobe_point *point;
	int err;

	for (point = uprobe_point_first(&own->process, start); point && point->offset < *end;
	     point = uprobe_point_next(point)) {
		err = leave_point(vma, point);
		if (err) {
			*end = point->offset;
			return err;
		}
	}
	return 0;
}

/**
 * uprobe_text_moves() - pages of a process are about to be moved
 * @vma: their mapping
 * @start: first address
 * @len: number of bytes
 *
 * Breakpoints would move with the text, away from their points. They are removed, and the probes
 * are unregistered.
 *
 * Context: task, may sleep; mmap_lock held for writing.
 * Return: 0; -ENOMEM, -EINTR or -EAGAIN if a breakpoint cannot be removed. Then the pages must stay
 * where they are, but the probes before it are unregistered.
 */
int uprobe_text_moves(struct vm_area_struct *vma, unsigned long start, unsigned long len)
{
	/* Pairs with the release in uprobe_mm_get(). */
	struct uprobe_mm *own = smp_load_acquire(&vma->vm_mm->uprobes_state.own);
	/* An operation in all processes may not find the text at its new address. */
	int err = uprobe_arm_moving(vma) ?: uprobe_calls_moving(vma, start, len);
	unsigned long end = start + len;

	if (err || likely(!own || list_empty(&own->process.in_order)))
		return err;
	err = leave_range(own, vma, start, &end);
	uprobe_process_unmapped(own, start, end);
	return err;
}

/**
 * uprobe_text_moved() - pages of a process have been moved
 * @vma: their new mapping, or NULL
 *
 * An operation in all processes that has begun since uprobe_text_moves() may not have found the new
 * mapping. If a breakpoint cannot be removed there, because memory is short, it stays.
 *
 * Context: task, may sleep; mmap_lock held for writing.
 */
void uprobe_text_moved(struct vm_area_struct *vma)
{
	if (vma)
		uprobe_arm_moving(vma);
}

/**
 * uprobe_process_end() - unregister all probes of a process without threads
 * @own: the process
 *
 * Context: task, may sleep.
 */
void uprobe_process_end(struct uprobe_mm *own)
{
	struct uprobe_point *point;

	if (!own->has_process)
		return;
	guard(rwsem_write)(&uprobe_points_lock);
	while ((point = uprobe_point_first(&own->process, 0)))
		end_point(point, uprobe_registration_end);
	uprobe_registrations_forget(own, NULL);
}

/* Removes the breakpoints of a process from its child. */
static int leave_child(struct uprobe_mm *own, struct mm_struct *newmm)
{
	struct uprobe_point *point, *next;
	struct vm_area_struct *vma;
	int err = 0;

	if (likely(list_empty(&own->process.in_order)))
		return 0;
	for (point = uprobe_point_first(&own->process, 0); point && !err; point = next) {
		vma = vma_lookup(newmm, point->offset);
		if (vma)
			err = leave_point(vma, point);
		next = uprobe_point_next(point);
		if (!next || (next->offset ^ point->offset) & PAGE_MASK)
			uprobe_process_give_back(newmm, point->offset);
	}
	return err;
}

/**
 * uprobe_fork_text() - the memory of a process has been copied
 * @oldmm: the parent
 * @newmm: the child, which has not run
 *
 * Removes the breakpoints of the parent's probes from the child, and gives it those of points of
 * files that are being armed.
 *
 * Context: task, may sleep; mmap_lock of both held for writing.
 * Return: 0, -ENOMEM, -EINTR or -EAGAIN, and the child must not run.
 */
int uprobe_fork_text(struct mm_struct *oldmm, struct mm_struct *newmm)
{
	/* Pairs with the release in uprobe_mm_get(). */
	struct uprobe_mm *own = smp_load_acquire(&oldmm->uprobes_state.own);
	int err = own ? uprobe_counters_fork(own, newmm) : 0;

	/* First: these points have the bytes of text that the program has changed. */
	if (!err && own)
		err = leave_child(own, newmm);
	return err ? err : uprobe_arm_forked(newmm);
}
