// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A probe of one process: count how often it executes an instruction.
 *
 *	insmod uprobe_example.ko pid=PID vaddr=ADDRESS [verbose=0]
 *	rmmod uprobe_example
 *
 * nm shows the address of a function; for a program that is loaded anywhere, add the start of its
 * first mapping in /proc/PID/maps. The address may also be in text that the program has written.
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/uprobes.h>

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "process");

static unsigned long vaddr;
module_param(vaddr, ulong, 0400);
MODULE_PARM_DESC(vaddr, "address of the instruction");

static bool verbose = true;
module_param(verbose, bool, 0644);
MODULE_PARM_DESC(verbose, "show each hit");

static atomic_t nhits = ATOMIC_INIT(0);

/* Runs in the thread that has hit the probe, and may sleep. */
static void handler(struct uprobe *u, struct pt_regs *regs)
{
	int nr = atomic_inc_return(&nhits);

	if (verbose)
		pr_info("Hit #%d on probepoint at %#lx\n", nr, u->vaddr);
}

static struct uprobe probe = {
	.handler = handler,
};

static int __init example_init(void)
{
	int ret;

	probe.pid = pid;
	probe.vaddr = vaddr;
	pr_info("Registering uprobe on pid %d, vaddr %#lx\n", pid, vaddr);
	ret = register_uprobe(&probe);
	if (ret)
		pr_err("register_uprobe() failed, returned %d\n", ret);
	return ret;
}

static void __exit example_exit(void)
{
	pr_info("Unregistering uprobe on pid %d, vaddr %#lx\n", pid, vaddr);
	/* Has no effect if the process has ended. */
	unregister_uprobe(&probe);
	pr_info("Probepoint was hit %d times\n", atomic_read(&nhits));
}

module_init(example_init);
module_exit(example_exit);
MODULE_DESCRIPTION("Example of a probe of a process");
MODULE_LICENSE("GPL");
