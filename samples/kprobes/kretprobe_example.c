// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A return probe: show the duration and the return value of a function's calls.
 *
 *	insmod kretprobe_example.ko func=do_sys_openat2
 *	rmmod kretprobe_example
 *
 * The entry handler stores the time in the instance's private data.  For kernel threads
 * it returns non-zero, so that their calls are not followed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

static char *func = "kernel_clone";
module_param(func, charp, 0444);
MODULE_PARM_DESC(func, "function to measure");

/* The private data of an instance, from entry to return. */
struct call {
	u64 entered;
};

static int entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *call = (struct call *)ri->data;

	if (!current->mm)
		return 1;
	/* A handler may interrupt an update of the clock, and must not wait for its end. */
	call->entered = ktime_get_mono_fast_ns();
	return 0;
}

static int returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *call = (struct call *)ri->data;

	pr_info("%s returned %ld to %pS after %llu ns\n", func,
		(long)regs_return_value(regs), (void *)get_kretprobe_retaddr(ri),
		ktime_get_mono_fast_ns() - call->entered);
	return 0;
}

static struct kretprobe rp = {
	.entry_handler = entered,
	.handler = returned,
	.data_size = sizeof(struct call),
};

static int __init example_init(void)
{
	int ret;

	rp.kp.symbol_name = func;
	ret = register_kretprobe(&rp);
	if (ret)
		pr_err("cannot probe the return of %s: %d\n", func, ret);
	return ret;
}

static void __exit example_exit(void)
{
	unregister_kretprobe(&rp);
	pr_info("%s: %d calls missed\n", func, rp.nmissed);
}

module_init(example_init);
module_exit(example_exit);
MODULE_DESCRIPTION("Example of a return probe");
MODULE_LICENSE("GPL");
