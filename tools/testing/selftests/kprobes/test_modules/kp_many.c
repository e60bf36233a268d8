// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many probes at addresses that a script chooses.  In /sys/module/kp_many/parameters:
 *
 *	add	write lines "ADDRESS OFFSET KIND" to register probes: hexadecimal, decimal, and
 *		k for a pre handler, p for a pre and a post handler, r for a return probe.  A
 *		write of a single line fails with the errno of its probe
 *	accepted number of registered probes
 *	hits	number of calls of their handlers
 *
 * They are unregistered together when the module is unloaded.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>

#define MOST	32768

static struct kprobe *probes[MOST];
static struct kretprobe *returns[MOST];
static unsigned int nr_probes, nr_returns;	/* under the lock of our parameters */
static DEFINE_PER_CPU(unsigned long, kp_many_hits);

/* Calls no function, because that might be probed, too. */
static int before(struct kprobe *kp, struct pt_regs *regs)
{
	this_cpu_inc(kp_many_hits);
	return 0;
}
NOKPROBE_SYMBOL(before);

static void after(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	this_cpu_inc(kp_many_hits);
}
NOKPROBE_SYMBOL(after);

static int returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	this_cpu_inc(kp_many_hits);
	return 0;
}
NOKPROBE_SYMBOL(returned);

static int add(unsigned long addr, char kind)
{
	struct kretprobe *rp;
	int ret;

	if (nr_probes == MOST || nr_returns == MOST)
		return -ENOSPC;
	/* For the other kinds, only the kprobe in it is used. */
	rp = kzalloc(sizeof(*rp), GFP_KERNEL);
	if (!rp)
		return -ENOMEM;
	rp->kp.addr = (kprobe_opcode_t *)addr;
	if (kind == 'r') {
		rp->handler = returned;
		ret = register_kretprobe(rp);
	} else {
		rp->kp.pre_handler = before;
		rp->kp.post_handler = kind == 'p' ? after : NULL;
		ret = register_kprobe(&rp->kp);
	}
	if (ret)
		kfree(rp);
	else if (kind == 'r')
		returns[nr_returns++] = rp;
	else
		probes[nr_probes++] = &rp->kp;
	return ret;
}

static int add_line(const char *line)
{
	unsigned long addr, offset;
	char kind;

	if (sscanf(line, "%lx %lu %c", &addr, &offset, &kind) != 3 || !strchr("kpr", kind))
		return -EINVAL;
	return add(addr + offset, kind);
}

static int set_add(const char *text, const struct kernel_param *param)
{
	const char *line = text, *end = strchr(text, '\n');

	if (!end || !end[1])
		return add_line(text);
	for (; end; line = end + 1, end = strchr(line, '\n')) {
		if (add_line(line) == -ENOSPC)
			return -ENOSPC;
	}
	return 0;
}

static int get_accepted(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%u\n", nr_probes + nr_returns);
}

static const struct kernel_param_ops accepted_ops = {
	.get = get_accepted,
};
module_param_cb(accepted, &accepted_ops, NULL, 0400);
MODULE_PARM_DESC(accepted, "number of registered probes");

static const struct kernel_param_ops add_ops = {
	.set = set_add,
};
module_param_cb(add, &add_ops, NULL, 0200);
MODULE_PARM_DESC(add, "register a probe");

static int get_hits(char *buffer, const struct kernel_param *param)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(&kp_many_hits, cpu));
	return sysfs_emit(buffer, "%lu\n", sum);
}

static const struct kernel_param_ops hits_ops = {
	.get = get_hits,
};
module_param_cb(hits, &hits_ops, NULL, 0400);
MODULE_PARM_DESC(hits, "number of calls of handlers");

static int __init kp_many_init(void)
{
	return 0;
}
module_init(kp_many_init);

static void __exit kp_many_exit(void)
{
	unregister_kprobes(probes, nr_probes);
	unregister_kretprobes(returns, nr_returns);
	while (nr_probes)
		kfree(container_of(probes[--nr_probes], struct kretprobe, kp));
	while (nr_returns)
		kfree(returns[--nr_returns]);
}
module_exit(kp_many_exit);

MODULE_DESCRIPTION("Many probes anywhere, for the kprobes selftests");
MODULE_LICENSE("GPL");
