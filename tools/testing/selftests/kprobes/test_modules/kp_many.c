// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many probes at addresses that a script chooses.  In /sys/module/kp_many/parameters:
 *
 *	add	write lines "ADDRESS OFFSET KIND" to register probes: hexadecimal, decimal, and
 *		k for a pre handler, p for a pre and a post handler, r for a return probe.  Those
 *		of one write are registered in batches.  A write of a single line fails with
 *		the errno of its probe
 *	accepted number of registered probes
 *	jumps	number of those, without return probes, that are served by a jump; cheaper to
 *		read than debugfs, which finds the symbol of each address
 *	hits	number of calls of their handlers
 *
 * They are unregistered together when the module is unloaded.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>

#define MOST	32768
#define BATCH	64	/* probes that are registered together */

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

/* A probe for a line.  For the kinds without return, only the kprobe in it is used. */
static struct kretprobe *probe_of_line(const char *line, char *kind)
{
	unsigned long addr, offset;
	struct kretprobe *rp;

	if (sscanf(line, "%lx %lu %c", &addr, &offset, kind) != 3 || !strchr("kpr", *kind))
		return ERR_PTR(-EINVAL);
	rp = kzalloc(sizeof(*rp), GFP_KERNEL);
	if (!rp)
		return ERR_PTR(-ENOMEM);
	rp->kp.addr = (kprobe_opcode_t *)(addr + offset);
	if (*kind == 'r') {
		rp->handler = returned;
	} else {
		rp->kp.pre_handler = before;
		rp->kp.post_handler = *kind == 'p' ? after : NULL;
	}
	return rp;
}

static int add_return(struct kretprobe *rp)
{
	int ret;

	if (nr_returns == MOST)
		ret = -ENOSPC;
	else
		ret = register_kretprobe(rp);
	if (ret)
		kfree(rp);
	else
		returns[nr_returns++] = rp;
	return ret;
}

static int add_together(struct kprobe **batch, unsigned int nr)
{
	int ret;

	if (nr > MOST - nr_probes)
		return -ENOSPC;
	ret = register_kprobes(batch, nr);
	if (!ret) {
		memcpy(probes + nr_probes, batch, nr * sizeof(*batch));
		nr_probes += nr;
	}
	return ret;
}

/*
 * Register the probes together or, if one of them is refused, one by one.  Returns the last
 * error.
 */
static int add_batch(struct kprobe **batch, unsigned int nr)
{
	int ret, error = 0;
	unsigned int i;

	if (!nr || !add_together(batch, nr))
		return 0;
	for (i = 0; i < nr; i++) {
		ret = add_together(batch + i, 1);
		if (!ret)
			continue;
		kfree(container_of(batch[i], struct kretprobe, kp));
		error = ret;
	}
	return error;
}

/* Under the lock of our parameters, like nr_probes. */
static int set_add(const char *text, const struct kernel_param *param)
{
	static struct kprobe *batch[BATCH];
	unsigned int nr = 0, lines = 0;
	int ret = 0, error = 0;
	const char *line, *end;
	struct kretprobe *rp;
	char kind;

	for (line = text; *line; line = end) {
		end = strchrnul(line, '\n');
		end += *end == '\n';
		lines++;
		rp = probe_of_line(line, &kind);
		if (IS_ERR(rp)) {
			ret = PTR_ERR(rp);
		} else if (kind == 'r') {
			ret = add_return(rp);
		} else {
			batch[nr++] = &rp->kp;
			ret = 0;
			if (nr == BATCH) {
				ret = add_batch(batch, nr);
				nr = 0;
			}
		}
		error = ret ?: error;
	}
	ret = add_batch(batch, nr);
	error = ret ?: error;
	/* A script that writes many lines counts the accepted ones. */
	return lines > 1 && error != -ENOSPC ? 0 : error;
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

static int get_jumps(char *buffer, const struct kernel_param *param)
{
	unsigned int i, sum = 0;

	for (i = 0; i < nr_probes; i++)
		sum += !!(READ_ONCE(probes[i]->flags) & KPROBE_FLAG_OPTIMIZED);
	return sysfs_emit(buffer, "%u\n", sum);
}

static const struct kernel_param_ops jumps_ops = {
	.get = get_jumps,
};
module_param_cb(jumps, &jumps_ops, NULL, 0400);
MODULE_PARM_DESC(jumps, "number of probes that are served by a jump");

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
