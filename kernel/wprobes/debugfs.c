// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * debugfs wprobes/list: the registered probes, in the order of their watches, and then those on
 * data of processes.
 *
 * See Documentation/trace/wprobes.rst for the format.  Addresses are shown to readers who may
 * see them in /proc/kallsyms.
 */
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/seq_file.h>

#include "user.h"

static const char *type_name(unsigned int type)
{
	static const char *const names[] = {
		[WPROBE_READ]	= "r",
		[WPROBE_WRITE]	= "w",
		[WPROBE_RW]	= "rw",
	};

	return names[type];
}

/* The address without a symbol, as %pS would print it, is not for all readers. */
static void show_symbol(struct seq_file *m, void *addr)
{
	if (kallsyms_lookup_size_offset((unsigned long)addr, NULL, NULL))
		seq_printf(m, "%pS", addr);
	else
		seq_puts(m, "-");
}

static void show_probe(struct seq_file *m, const struct wprobe_watch *watch,
		       const struct wprobe *wp)
{
	bool shared = watch->probes.first->next;

	seq_printf(m, "%px  w  ", kallsyms_show_value(m->file->f_cred) ? wp->addr : NULL);
	/* Data of a process, or memory that is gone: its address may be in another symbol. */
	if (wp->pid)
		seq_printf(m, "pid:%d", wp->pid);
	else if (watch->state != WPROBE_GONE)
		show_symbol(m, wp->addr);
	else
		seq_puts(m, wp->symbol_name ?: "-");
	seq_printf(m, "  %s:%u nmissed=%lu %s%s%s%s%s%s\n", type_name(watch->range.type), wp->len,
		   READ_ONCE(wp->nmissed),
		   watch->state == WPROBE_GONE ? "[GONE]" : "",
		   watch->state == WPROBE_PARKED ? "[PARKED]" : "",
		   wprobe_disabled(wp) ? "[DISABLED]" : "",
		   wp->flags & WPROBE_FLAG_CHANGED ? "[CHANGED]" : "",
		   watch->range.percpu ? "[PERCPU]" : "",
		   shared ? "[SHARED]" : "");
}

static void show_users(struct seq_file *m)
{
	struct wprobe_user *user;

	guard(mutex)(&wprobe_user_mutex);
	list_for_each_entry(user, &wprobe_users, list) {
		if (!user->ending)
			show_probe(m, &user->watch, wprobe_of_user(user));
	}
}

static void show_watches(struct seq_file *m)
{
	struct wprobe_watch *watch;
	struct wprobe *wp;

	guard(mutex)(&wprobe_mutex);
	list_for_each_entry(watch, &wprobe_watches, list) {
		hlist_for_each_entry(wp, &watch->probes, node)
			show_probe(m, watch, wp);
	}
}

static int list_show(struct seq_file *m, void *unused)
{
	show_watches(m);
	show_users(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(list);

static int __init wprobe_debugfs_init(void)
{
	debugfs_create_file("list", 0400, debugfs_create_dir("wprobes", NULL), NULL, &list_fops);
	return 0;
}
late_initcall(wprobe_debugfs_init);
