// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A kprobe: count the calls of a kernel function, and show the first ones.
 *
 *	insmod kprobe_example.ko symbol=do_sys_openat2 show=5
 *	rmmod kprobe_example
 *
 * The pre handler runs before the function's first instruction, the post
 * handler after it.  Both may run in a trap: they must not sleep, and probes on
 * functions that they call are missed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

static char *symbol = "kernel_clone";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "function to probe");

static unsigned int show = 10;
module_param(show, uint, 0444);
MODULE_PARM_DESC(show, "number of hits to show; all are counted");

static atomic_t hits = ATOMIC_INIT(0);

static int before(struct kprobe *p, struct pt_regs *regs)
{
	if (atomic_inc_return(&hits) <= show)
		pr_info("pre: %s (%s/%d on CPU %d) at %pS\n", p->symbol_name,
			current->comm, current->pid, raw_smp_processor_id(),
			p->addr);
	/* 0: continue with the probed instruction. */
	return 0;
}

static void after(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	if (atomic_read(&hits) <= show)
		pr_info("post: %s, next is %pS\n", p->symbol_name,
			(void *)instruction_pointer(regs));
}

static struct kprobe kp = {
	.pre_handler = before,
	.post_handler = after,
};

static int __init example_init(void)
{
	int ret;

	kp.symbol_name = symbol;
	ret = register_kprobe(&kp);
	if (ret)
		pr_err("cannot probe %s: %d\n", symbol, ret);
	else
		pr_info("probing %pS\n", kp.addr);
	return ret;
}

static void __exit example_exit(void)
{
	unregister_kprobe(&kp);
	pr_info("%s: %d hits, %lu missed\n", symbol, atomic_read(&hits), kp.nmissed);
}

module_init(example_init);
module_exit(example_exit);
MODULE_DESCRIPTION("Example of a kprobe");
MODULE_LICENSE("GPL");
