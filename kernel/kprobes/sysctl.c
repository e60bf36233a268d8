// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * debug.kprobes-optimization: may probepoints become jumps?
 *
 * The documents write it with a hyphen and with an underscore; both names
 * exist and are the same knob.  Spec: kprobes.txt, appendix B.
 */
#include <linux/init.h>
#include <linux/sysctl.h>

#include "internal.h"

static int set_optimization(const struct ctl_table *table, int write,
			    void *buffer, size_t *length, loff_t *ppos)
{
	int value = READ_ONCE(kprobe_optimization_allowed);
	struct ctl_table copy = *table;
	int ret;

	copy.data = &value;
	ret = proc_dointvec_minmax(&copy, write, buffer, length, ppos);
	if (ret || !write)
		return ret;

	kprobe_optimizer_allow(value);
	return 0;
}

static const struct ctl_table kprobe_sysctls[] = {
	{
		.procname	= "kprobes-optimization",
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= set_optimization,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
	{
		.procname	= "kprobes_optimization",
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= set_optimization,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
};

static int __init kprobe_sysctl_init(void)
{
	register_sysctl_init("debug", kprobe_sysctls);
	return 0;
}
subsys_initcall(kprobe_sysctl_init);
