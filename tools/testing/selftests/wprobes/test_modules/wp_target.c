// SPDX-License-Identifier: GPL-2.0
/*
 * A module with data to be watched.  A write to the parameter "word" writes the variable, and one
 * to "copies" the copy of each CPU of a per-CPU variable, on that CPU.  With "late", the module
 * registers a probe on the variable while it is unloaded.
 */
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/wprobes.h>

unsigned long wp_target_word;
module_param_named(word, wp_target_word, ulong, 0600);

DEFINE_PER_CPU(unsigned long, wp_target_copies);

static void write_copy(void *value)
{
	this_cpu_write(wp_target_copies, (unsigned long)value);
}

static int set_copies(const char *text, const struct kernel_param *param)
{
	unsigned long value;
	int ret = kstrtoul(text, 0, &value);

	if (!ret)
		on_each_cpu(write_copy, (void *)value, true);
	return ret;
}

static const struct kernel_param_ops copies_ops = {
	.set = set_copies,
};
module_param_cb(copies, &copies_ops, NULL, 0200);

static bool late;
module_param(late, bool, 0600);

static void hit(struct wprobe *wp, struct pt_regs *regs, unsigned long old, unsigned long new)
{
}

static void __exit wp_target_exit(void)
{
	struct wprobe wp = {
		.addr = &wp_target_word, .len = sizeof(wp_target_word), .handler = hit,
	};

	if (late && !register_wprobe(&wp))
		unregister_wprobe(&wp);
}
module_exit(wp_target_exit);

MODULE_DESCRIPTION("Data to be watched");
MODULE_LICENSE("GPL");
