// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * debugfs uprobes/: list, areas, missed.
 *
 * See Documentation/trace/uprobes.rst for the formats.
 */
#include <linux/dcache.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/kdev_t.h>
#include <linux/seq_file.h>

#include "internal.h"
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
	static const char * const ways[] = {
		[UPROBE_COPIED] = "copied",
		[UPROBE_COPIED_SYSCALL] = "copied",
		[UPROBE_EMULATED] = "emulated",
	};

	return decision->state == UPROBE_ACCEPTED ? ways[decision->way] : decision->why;
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

static void show_process_point(struct seq_file *m, struct uprobe_mm *own,
			       struct uprobe_point *point)
{
	const struct uprobe_decision *decision;
	struct uprobe_registration *registration;
	unsigned int mode = arch_uprobe_mode(own->mm);
	struct uprobe_consumer *uc;

	decision = uprobe_point_decision(point, mode);
	list_for_each_entry(uc, &point->consumers, cons_node) {
		registration = container_of(uc, struct uprobe_registration, consumer);
		seq_printf(m, "pid:%d:0x%llx %s nmissed %lu [%u: %s]%s\n",
			   registration->user->pid, point->offset,
			   uc->ret_handler ? "return" : "handler", registration->user->nmissed,
			   mode, decision ? decision_name(decision) : "?",
			   registration->disabled ? " [DISABLED]" : "");
	}
}

static void show_process(struct uprobe_mm *own, void *data)
{
	struct uprobe_point *point;

	for (point = uprobe_point_first(&own->process, 0); point;
	     point = uprobe_point_next(point))
		show_process_point(data, own, point);
}

static int list_show(struct seq_file *m, void *unused)
{
	uprobe_files_for_each(show_file, m);
	guard(rwsem_read)(&uprobe_points_lock);
	uprobe_mms_for_each(show_process, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(list);

static void show_areas(struct uprobe_mm *own, void *data)
{
	struct uprobe_area *area;
	struct seq_file *m = data;

	guard(mutex)(&own->lock);
	list_for_each_entry(area, &own->areas, node)
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
	seq_printf(m, "%lu\n", uprobe_returns_missed());
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
