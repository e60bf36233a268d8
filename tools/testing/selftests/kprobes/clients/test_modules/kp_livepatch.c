// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A live patch: /proc/cmdline has the text "kp_livepatch" while it is enabled.
 */
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/seq_file.h>

static int patched_cmdline_show(struct seq_file *m, void *unused)
{
	seq_puts(m, "kp_livepatch\n");
	return 0;
}

static struct klp_func functions[] = {
	{
		.old_name = "cmdline_proc_show",
		.new_func = patched_cmdline_show,
	},
	{}
};

/* Without a name, an object is the kernel. */
static struct klp_object objects[] = {
	{ .funcs = functions },
	{}
};

static struct klp_patch patch = {
	.mod = THIS_MODULE,
	.objs = objects,
};

static int __init patch_init(void)
{
	return klp_enable_patch(&patch);
}

static void __exit patch_exit(void)
{
}

module_init(patch_init);
module_exit(patch_exit);
MODULE_DESCRIPTION("A live patch, for the kprobes selftests");
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
