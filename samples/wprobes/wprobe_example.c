// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A watchpoint probe: show the code that writes to a variable of the kernel.
 *
 *	insmod wprobe_example.ko symbol=total_forks show=5
 *	rmmod wprobe_example
 *
 * The handler runs after each write, on the CPU that has written.  It runs in an exception: it
 * must not sleep, and watched accesses of its own are missed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/wprobes.h>

static char *symbol = "total_forks";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "variable to watch");

static unsigned int len = sizeof(long);
module_param(len, uint, 0444);
MODULE_PARM_DESC(len, "number of bytes of the variable");

static unsigned int show = 10;
module_param(show, uint, 0444);
MODULE_PARM_DESC(show, "number of writes to show; all are counted");

static atomic_t hits = ATOMIC_INIT(0);

static void written(struct wprobe *wp, struct pt_regs *regs, unsigned long old,
		    unsigned long new)
{
	if (atomic_inc_return(&hits) <= show)
		pr_info("%s: %lu -> %lu (%s/%d on CPU %d), before %pS\n", wp->symbol_name,
			old, new, current->comm, current->pid, raw_smp_processor_id(),
			(void *)instruction_pointer(regs));
}

static struct wprobe wp = {
	.type = WPROBE_WRITE,
	.handler = written,
};

static int __init example_init(void)
{
	int ret;

	wp.symbol_name = symbol;
	wp.len = len;
	ret = register_wprobe(&wp);
	if (ret)
		pr_err("cannot watch %s: %d\n", symbol, ret);
	else
		pr_info("watching %pS\n", wp.addr);
	return ret;
}

static void __exit example_exit(void)
{
	unregister_wprobe(&wp);
	pr_info("%s: %d writes, %lu missed\n", symbol, atomic_read(&hits), wp.nmissed);
}

module_init(example_init);
module_exit(example_exit);
MODULE_DESCRIPTION("Example of a watchpoint probe");
MODULE_LICENSE("GPL");
