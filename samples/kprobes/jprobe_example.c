// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A jprobe: show the arguments of kernel_clone().
 *
 *	insmod jprobe_example.ko
 *	rmmod jprobe_example
 *
 * The handler has the prototype of the probed function, gets the arguments of that
 * function as its own, and ends with jprobe_return().  It must not sleep.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

static unsigned int show = 10;
module_param(show, uint, 0444);
MODULE_PARM_DESC(show, "number of calls to show; all are counted");

static atomic_t calls = ATOMIC_INIT(0);

static pid_t on_kernel_clone(struct kernel_clone_args *args)
{
	if (atomic_inc_return(&calls) <= show)
		pr_info("%s/%d calls kernel_clone: flags %#llx, exit signal %d\n",
			current->comm, current->pid, args->flags, args->exit_signal);
	jprobe_return();
	/* Never reached, but the compiler requires a value. */
	return 0;
}

static struct jprobe jp = {
	.kp.symbol_name = "kernel_clone",
	.entry = on_kernel_clone,
};

static int __init example_init(void)
{
	int ret = register_jprobe(&jp);

	if (ret)
		pr_err("cannot probe kernel_clone: %d\n", ret);
	return ret;
}

static void __exit example_exit(void)
{
	unregister_jprobe(&jp);
	pr_info("kernel_clone: %d calls, %lu missed\n", atomic_read(&calls), jp.kp.nmissed);
}

module_init(example_init);
module_exit(example_exit);
MODULE_DESCRIPTION("Example of a jprobe");
MODULE_LICENSE("GPL");
