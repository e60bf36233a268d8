// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * debugfs kprobes/: list, optimization, enabled, blacklist.
 *
 * Tools read these files.  See Documentation/trace/kprobes.rst, Interfaces, for the
 * formats.  Addresses are shown to readers who may see them in /proc/kallsyms.
 */
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "internal.h"

/* --- list ------------------------------------------------------------------ */

static char kind_letter(const struct kprobe *kp)
{
	if (kp->flags & KPROBE_FLAG_KIND_RETURN)
		return 'r';
	if (kp->flags & KPROBE_FLAG_KIND_JPROBE)
		return 'j';
	return 'k';
}

static void show_probe(struct seq_file *m, struct kprobe_point *point, struct kprobe *kp)
{
	char name[KSYM_NAME_LEN], *module = NULL;
	unsigned long offset = 0;
	const char *symbol = NULL;
	void *address = NULL;

	/* For a gone point, a look-up could only find the symbol of other text. */
	if (point->state != KPROBE_GONE)
		symbol = kallsyms_lookup(kprobe_point_addr(point), NULL, &offset, &module, name);
	if (kallsyms_show_value(m->file->f_cred))
		address = (void *)kprobe_point_addr(point);

	seq_printf(m, "%px  %c  ", address, kind_letter(kp));
	if (symbol)
		seq_printf(m, "%s+0x%lx  %s ", symbol, offset, module ?: " ");
	else if (point->state == KPROBE_GONE && kp->symbol_name)
		seq_printf(m, "%s+0x%x  ", kp->symbol_name, kp->offset);
	else
		seq_printf(m, "%px  ", address);

	seq_printf(m, "%s%s%s%s\n",
		   point->state == KPROBE_GONE ? "[GONE]" : "",
		   kp->flags & KPROBE_FLAG_DISABLED ? "[DISABLED]" : "",
		   kp->flags & KPROBE_FLAG_OPTIMIZED ? "[OPTIMIZED]" : "",
		   kp->flags & KPROBE_FLAG_FTRACE ? "[FTRACE]" : "");
}

static int list_show(struct seq_file *m, void *v)
{
	struct kprobe_point *point = v;
	struct kprobe *kp;

	for_each_probe(kp, point)
		show_probe(m, point, kp);
	return 0;
}

/* Returns the gone point that @node links, or NULL at the end of their list. */
static struct kprobe_point *gone_at(struct list_head *node)
{
	return node == &kprobe_gone_points ? NULL : list_entry(node, struct kprobe_point, op.list);
}

/* The list has first the points of the table, here those from *@table_pos on, then gone points. */
static struct kprobe_point *list_from(unsigned long *table_pos)
{
	return kprobe_table_next(table_pos) ?: gone_at(kprobe_gone_points.next);
}

static void *list_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct kprobe_point *point = v;
	unsigned long *table_pos = m->private;

	++*pos;
	if (point->state == KPROBE_GONE)
		return gone_at(point->op.list.next);
	++*table_pos;
	return list_from(table_pos);
}

static void *list_start(struct seq_file *m, loff_t *pos)
{
	unsigned long *table_pos = m->private;
	struct kprobe_point *point;
	loff_t i = 0;

	/* Held while one buffer is filled, not between reads. */
	mutex_lock(&kprobe_mutex);
	*table_pos = 0;
	point = list_from(table_pos);
	while (point && i < *pos)
		point = list_next(m, point, &i);
	return point;
}

static void list_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&kprobe_mutex);
}

static const struct seq_operations list_seq_ops = {
	.start = list_start,
	.next  = list_next,
	.stop  = list_stop,
	.show  = list_show,
};

/* --- optimization ------------------------------------------------------------ */

static int optimization_show(struct seq_file *m, void *v)
{
	static const char *const states[NR_KPROBE_STATES] = {
		[KPROBE_DISARMED]   = "disarmed",
		[KPROBE_BREAKPOINT] = "breakpoint",
		[KPROBE_JUMP]	    = "jump",
		[KPROBE_FTRACE]	    = "ftrace",
		[KPROBE_CARRIED]    = "carried",
		[KPROBE_GONE]	    = "gone",
	};
	struct kprobe_point *point = v;
	void *addr = point->kp.addr;

	seq_printf(m, "%px  ", kallsyms_show_value(m->file->f_cred) ? addr : NULL);
	if (point->state == KPROBE_GONE)
		seq_puts(m, "-");
	else
		seq_printf(m, "%pS", addr);
	seq_printf(m, "  %s  %s\n", states[point->state], kprobe_obstacle_shown(point));
	return 0;
}

static const struct seq_operations optimization_seq_ops = {
	.start = list_start,
	.next  = list_next,
	.stop  = list_stop,
	.show  = optimization_show,
};

/* Opens "list" or "optimization"; i_private has the seq_operations of the file. */
static int points_open(struct inode *inode, struct file *file)
{
	return seq_open_private(file, inode->i_private, sizeof(unsigned long));
}

static const struct file_operations points_fops = {
	.open	 = points_open,
	.read	 = seq_read,
	.llseek	 = seq_lseek,
	.release = seq_release_private,
};

/* --- blacklist -------------------------------------------------------------- */

static void *blacklist_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&kprobe_mutex);
	return kprobe_blacklist_has(*pos) ? pos : NULL;
}

static void *blacklist_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return kprobe_blacklist_has(*pos) ? pos : NULL;
}

static int blacklist_show(struct seq_file *m, void *v)
{
	kprobe_blacklist_show(m, *(loff_t *)v, kallsyms_show_value(m->file->f_cred));
	return 0;
}

static const struct seq_operations blacklist_sops = {
	.start = blacklist_start,
	.next  = blacklist_next,
	.stop  = list_stop,
	.show  = blacklist_show,
};
DEFINE_SEQ_ATTRIBUTE(blacklist);

/* --- enabled ----------------------------------------------------------------- */

static ssize_t enabled_read(struct file *file, char __user *buf, size_t count,
			    loff_t *pos)
{
	const char *text = READ_ONCE(kprobes_all_disarmed) ? "0\n" : "1\n";

	return simple_read_from_buffer(buf, count, pos, text, strlen(text));
}

static ssize_t enabled_write(struct file *file, const char __user *buf,
			     size_t count, loff_t *pos)
{
	bool enable;
	int ret;

	ret = kstrtobool_from_user(buf, count, &enable);
	if (!ret)
		ret = kprobe_rearm_all(enable);
	return ret ?: count;
}

static const struct file_operations enabled_fops = {
	.read	= enabled_read,
	.write	= enabled_write,
	.llseek	= default_llseek,
};

static int __init kprobe_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("kprobes", NULL);

	debugfs_create_file("list", 0400, dir, (void *)&list_seq_ops, &points_fops);
	debugfs_create_file("optimization", 0400, dir, (void *)&optimization_seq_ops,
			    &points_fops);
	debugfs_create_file("enabled", 0600, dir, NULL, &enabled_fops);
	debugfs_create_file("blacklist", 0400, dir, NULL, &blacklist_fops);
	return 0;
}
late_initcall(kprobe_debugfs_init);
