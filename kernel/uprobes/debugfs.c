// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * debugfs uprobes/: list, areas, missed.
 *
 * See Documentation/trace/uprobes.rst for the formats.
 */
#include <linux/dcache.h>
#include <linux/debugfs.h>
#include <linux/highmem.h>
#include <linux/init.h>
#include <linux/kdev_t.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "call.h"
#include "point.h"
#include "process.h"

static void show_file_name(struct seq_file *m, struct inode *inode)
{
	struct dentry *dentry = d_find_any_alias(inode);

	seq_printf(m, "%u:%u:%lu ", MAJOR(inode->i_sb->s_dev), MINOR(inode->i_sb->s_dev),
		   (unsigned long)inode->i_ino);
	if (dentry) {
		seq_dentry(m, dentry, " \t\n\\");
		dput(dentry);
	} else {
		seq_puts(m, "?");
	}
}

static const char *decision_name(const struct uprobe_decision *decision)
{
	if (decision->state != UPROBE_ACCEPTED)
		return decision->why;
	return decision->way == UPROBE_EMULATED ? "emulated" : "copied";
}

static void show_point(struct seq_file *m, struct uprobe_point *point)
{
	unsigned int entries = 0, returns = 0, mode;
	const struct uprobe_decision *decision;
	struct uprobe_consumer *uc;

	list_for_each_entry(uc, &point->consumers, cons_node) {
		entries += !!uc->handler;
		returns += !!uc->ret_handler;
	}
	show_file_name(m, point->file->inode);
	seq_printf(m, "+0x%llx handlers %u returns %u", point->offset, entries, returns);
	if (point->ref_ctr_offset)
		seq_printf(m, " counter 0x%llx", point->ref_ctr_offset);
	for (mode = 0; mode < UPROBE_MODES; mode++) {
		decision = uprobe_point_decision(point, mode);
		if (decision)
			seq_printf(m, " [%u: %s]", mode, decision_name(decision));
	}
	seq_putc(m, '\n');
}

static void show_file(struct uprobe_file *file, void *data)
{
	struct uprobe_point *point;

	for (point = uprobe_point_first(file, 0); point; point = uprobe_point_next(point))
		show_point(data, point);
}

/* --- Probes of processes ---------------------------------------------------------- */

static const char * const kinds[] = {
	[UPROBE_KIND_HIT]	= "handler",
	[UPROBE_KIND_RETURN]	= "return",
	[UPROBE_KIND_EXIT]	= "exit",
};

static bool has_breakpoint(struct vm_area_struct *vma, unsigned long vaddr)
{
	/* Under uprobe_points_lock, no page fault may ask a file system. */
	struct page *page = uprobe_text_get(vma->vm_mm, vaddr, FOLL_NOFAULT);
	unsigned int in_page = PAGE_SIZE - offset_in_page(vaddr);
	unsigned int len = min_t(unsigned int, MAX_UINSN_BYTES, in_page);
	u8 text[MAX_UINSN_BYTES];

	/* It keeps the breakpoint while it is swapped out. */
	if (IS_ERR(page))
		return !uprobe_text_is_none(vma, vaddr & PAGE_MASK);
	/* The breakpoint is aligned, and so in one page. */
	memcpy_from_page(text, page, offset_in_page(vaddr), len);
	put_page(page);
	uprobe_calls_hide(vma->vm_mm, text, vaddr, len);
	return uprobe_is_breakpoint(text);
}

/* Has the program replaced a breakpoint by other text? */
static bool is_overwritten(struct mm_struct *mm, struct uprobe_point *point)
{
	struct vm_area_struct *vma = vma_lookup(mm, point->offset);

	return uprobe_point_wanted(point, mm) && !(vma && has_breakpoint(vma, point->offset));
}

static unsigned long missed(const struct uprobe_registration *registration)
{
	const struct uprobe *u = registration->user;

	if (registration->kind != UPROBE_KIND_RETURN)
		return u->nmissed;
	return u->nmissed + atomic_read(&container_of(u, struct uretprobe, up)->nmissed);
}

static void show_process_point(struct seq_file *m, struct mm_struct *mm,
			       struct uprobe_point *point)
{
	const char *mark = is_overwritten(mm, point) ? " [GONE]" : "";
	const struct uprobe_decision *decision;
	struct uprobe_registration *registration;
	unsigned int mode = arch_uprobe_mode(mm);
	struct uprobe_consumer *uc;

	decision = uprobe_point_decision(point, mode);
	list_for_each_entry(uc, &point->consumers, cons_node) {
		registration = container_of(uc, struct uprobe_registration, consumer);
		seq_printf(m, "pid:%d:0x%llx %s nmissed %lu [%u: %s]%s%s\n",
			   registration->pid, point->offset, kinds[registration->kind],
			   missed(registration), mode,
			   decision ? decision_name(decision) : "?",
			   registration->disabled ? " [DISABLED]" : "", mark);
	}
}

static void show_gone(struct uprobe_registration *registration, void *data)
{
	seq_printf(data, "pid:%d:0x%lx %s [GONE]\n", registration->pid, registration->vaddr,
		   kinds[registration->kind]);
}

static void show_process(struct seq_file *m, struct mm_struct *mm)
{
	struct uprobe_mm *own = mm->uprobes_state.own;
	struct uprobe_point *point;

	guard(mmap_read_lock)(mm);
	guard(rwsem_read)(&uprobe_points_lock);
	for (point = uprobe_point_first(&own->process, 0); point;
	     point = uprobe_point_next(point))
		show_process_point(m, mm, point);
	uprobe_registrations_gone_for_each(own, show_gone, m);
}

/* Processes to be shown, with a reference to each. */
struct processes {
	struct mm_struct **mms;
	unsigned int nr, room;
};

static void count_process(struct uprobe_mm *own, void *data)
{
	struct processes *processes = data;

	processes->room++;
}

static void add_process(struct uprobe_mm *own, void *data)
{
	struct processes *processes = data;

	if (processes->nr < processes->room && mmget_not_zero(own->mm))
		processes->mms[processes->nr++] = own->mm;
}

/* Their text is looked at under mmap_lock, which is not taken inside of the list's lock. */
static int show_processes(struct seq_file *m)
{
	struct processes processes = { };
	unsigned int i;

	uprobe_mms_for_each(count_process, &processes);
	processes.mms = kvmalloc_array(processes.room, sizeof(*processes.mms), GFP_KERNEL);
	if (!processes.mms)
		return -ENOMEM;
	uprobe_mms_for_each(add_process, &processes);
	for (i = 0; i < processes.nr; i++) {
		show_process(m, processes.mms[i]);
		mmput(processes.mms[i]);
		cond_resched();
	}
	kvfree(processes.mms);
	return 0;
}

static int list_show(struct seq_file *m, void *unused)
{
	uprobe_files_for_each(show_file, m);
	return show_processes(m);
}
DEFINE_SHOW_ATTRIBUTE(list);

static void show_areas(struct uprobe_mm *own, void *data)
{
	struct uprobe_area *area;
	struct seq_file *m = data;
	unsigned long index;

	guard(mutex)(&own->lock);
	xa_for_each(&own->areas, index, area)
		seq_printf(m, "%p %lx-%lx slots %u of %lu\n", own->mm, area->start,
			   area->start + UPROBE_AREA_SIZE, area->used, UPROBE_AREA_SLOTS);
}

static int areas_show(struct seq_file *m, void *unused)
{
	uprobe_mms_for_each(show_areas, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(areas);

static int missed_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "%lu\n", atomic_long_read(&uprobe_returns_missed));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(missed);

static int __init debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("uprobes", NULL);

	debugfs_create_file("list", 0400, dir, NULL, &list_fops);
	debugfs_create_file("areas", 0400, dir, NULL, &areas_fops);
	debugfs_create_file("missed", 0400, dir, NULL, &missed_fops);
	return 0;
}
late_initcall(debugfs_init);
