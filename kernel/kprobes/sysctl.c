// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sysctl debug.kprobes-optimization: may probepoints become jumps?
 *
 * Documents use the name with a hyphen and with an underscore.  Both names exist and set
 * the same value.  See Documentation/trace/kprobes.rst, Interfaces.
 */
#include <linux/init.h>
#include <linux/sysctl.h>

#include "internal.h"

/* Value of debug.kprobes-optimization. */
bool kprobe_optimization_allowed = true;

/* Removes all jumps in one batch, so that points that share a page are patched together. */
static void unoptimize_all(void)
{
	struct kprobe_point *point;
	LIST_HEAD(points);
	unsigned long pos;

	for_each_kprobe_point(point, pos) {
		if (point->state == KPROBE_JUMP || point->opt)
			kprobe_collect(point, &points);
	}
	kprobe_unoptimize_points(&points, KPROBE_OBSTACLE_OFF);
	kprobe_uncollect_all(&points);
}

static void queue_all(void)
{
	struct kprobe_point *point;
	unsigned long pos;

	for_each_kprobe_point(point, pos)
		kprobe_optimizer_queue(point);
}

/**
 * kprobe_optimizer_allow() - allow or forbid jumps, for debug.kprobes-optimization
 * @allow: true if jumps are allowed
 *
 * With @allow false, all jumps have been removed on return.  With @allow true, points
 * have been queued, and get their jumps later.
 *
 * See Documentation/trace/kprobes.rst, Interfaces.
 *
 * Context: task, may sleep.
 */
void kprobe_optimizer_allow(bool allow)
{
	guard(mutex)(&kprobe_mutex);

	kprobe_optimization_allowed = allow;
	if (allow)
		queue_all();
	else
		unoptimize_all();
}

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
