// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A return probe of one process: show the results of a function and how long its calls took.
 *
 *	insmod uretprobe_example.ko pid=PID vaddr=ADDRESS
 *	rmmod uretprobe_example
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/uprobes.h>

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "process");

static unsigned long vaddr;
module_param(vaddr, ulong, 0400);
MODULE_PARM_DESC(vaddr, "address of the function");

/* Each call has data of its own. */
struct call {
	ktime_t start;
};

static int on_entry(struct uretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *call = (struct call *)ri->data;

	call->start = ktime_get();
	return 0;
}

static int on_return(struct uretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *call = (struct call *)ri->data;

	pr_info("%#lx returned %lu after %lld ns\n", ri->func, regs_return_value(regs),
		ktime_to_ns(ktime_sub(ktime_get(), call->start)));
	return 0;
}

static struct uretprobe rp = {
	.handler = on_return,
	.entry_handler = on_entry,
	.data_size = sizeof(struct call),
};

static int __init example_init(void)
{
	int ret;

	rp.up.pid = pid;
	rp.up.vaddr = vaddr;
	ret = register_uretprobe(&rp);
	if (ret)
		pr_err("register_uretprobe() failed: %d\n", ret);
	return ret;
}

static void __exit example_exit(void)
{
	unregister_uretprobe(&rp);
	pr_info("%d calls missed\n", atomic_read(&rp.nmissed));
}

module_init(example_init);
module_exit(example_exit);
MODULE_DESCRIPTION("Example of a return probe of a process");
MODULE_LICENSE("GPL");
