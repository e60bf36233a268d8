// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes of code that a just-in-time compiler has written: count how often a process executes
 * some of its instructions.
 *
 *	insmod uprobe_jit_example.ko pid=PID code=ADDRESS[,ADDRESS...]
 *	rmmod uprobe_jit_example
 *
 * Many compilers list the addresses of their code in /tmp/perf-PID.map. All probes are
 * registered together, or none.
 *
 * The process may write other code over a probe, or unmap the code. A probe whose code is
 * overwritten has no more hits and stays registered. If the code is unmapped, the kernel
 * unregisters the probe.
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/uprobes.h>

#define MOST	16

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "process");

static unsigned long code[MOST];
static int nr_probes;
module_param_array(code, ulong, &nr_probes, 0400);
MODULE_PARM_DESC(code, "addresses of instructions");

struct jit_probe {
	struct uprobe uprobe;
	atomic_t nhits;
};

static struct jit_probe probes[MOST];
static struct uprobe *list[MOST];

/* Runs in the thread that has hit the probe, and may sleep. */
static void handler(struct uprobe *u, struct pt_regs *regs)
{
	atomic_inc(&container_of(u, struct jit_probe, uprobe)->nhits);
}

static int __init example_init(void)
{
	int i, ret;

	/* No probes would be registered, with success. */
	if (!nr_probes)
		return -EINVAL;
	for (i = 0; i < nr_probes; i++) {
		probes[i].uprobe.pid = pid;
		probes[i].uprobe.vaddr = code[i];
		probes[i].uprobe.handler = handler;
		list[i] = &probes[i].uprobe;
	}
	ret = register_uprobes(list, nr_probes);
	if (ret)
		pr_err("register_uprobes() failed, returned %d\n", ret);
	return ret;
}

static void __exit example_exit(void)
{
	int i;

	for (i = 0; i < nr_probes; i++) {
		/* If the text has been unmapped, the probe is registered no longer. */
		bool gone = !READ_ONCE(probes[i].uprobe.registration);

		unregister_uprobe(&probes[i].uprobe);
		pr_info("%#lx was executed %d times%s\n", code[i],
			atomic_read(&probes[i].nhits), gone ? ", its text is gone" : "");
	}
}

module_init(example_init);
module_exit(example_exit);
MODULE_DESCRIPTION("Example of probes of code that a process has written");
MODULE_LICENSE("GPL");
