// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A watchpoint probe on data of a process: show the threads that write to a variable of it.
 *
 *	insmod wprobe_process_example.ko pid=1234 address=0x404028 len=4 show=5
 *	rmmod wprobe_process_example
 *
 * The handler runs in the thread that has written, before its next instruction: it may sleep,
 * and access the memory of the process.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/wprobes.h>

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "process; any of its threads");

static unsigned long address;
module_param(address, ulong, 0400);
MODULE_PARM_DESC(address, "address of the variable");

static unsigned int len = 4;
module_param(len, uint, 0444);
MODULE_PARM_DESC(len, "number of bytes of the variable");

static unsigned int show = 10;
module_param(show, uint, 0444);
MODULE_PARM_DESC(show, "number of writes to show; all are counted");

static atomic_t hits = ATOMIC_INIT(0);

static void written(struct wprobe *wp, struct pt_regs *regs, unsigned long old,
		    unsigned long new)
{
	unsigned long ip = instruction_pointer(regs);
	u8 code[4];

	if (atomic_inc_return(&hits) > show)
		return;
	if (copy_from_user(code, (void __user *)ip, sizeof(code)))
		memset(code, 0, sizeof(code));
	pr_info("0x%lx: %lu -> %lu (%s/%d), before 0x%lx: %*ph\n", (unsigned long)wp->addr, old,
		new, current->comm, current->pid, ip, (int)sizeof(code), code);
}

static struct wprobe wp = {
	.type = WPROBE_WRITE,
	.handler = written,
};

static int __init example_init(void)
{
	int ret;

	/* Without a pid, an address of the kernel would be watched, and handlers cannot sleep. */
	if (pid <= 0)
		return -EINVAL;
	wp.pid = pid;
	wp.addr = (void *)address;
	wp.len = len;
	ret = register_wprobe(&wp);
	if (ret)
		pr_err("cannot watch 0x%lx of process %d: %d\n", address, pid, ret);
	else
		pr_info("watching 0x%lx of process %d\n", address, pid);
	return ret;
}

static void __exit example_exit(void)
{
	unregister_wprobe(&wp);
	pr_info("process %d%s: %d writes, %lu missed\n", pid,
		wp.flags & WPROBE_FLAG_GONE ? " (ended)" : "", atomic_read(&hits), wp.nmissed);
}

module_init(example_init);
module_exit(example_exit);
MODULE_DESCRIPTION("Example of a watchpoint probe on data of a process");
MODULE_LICENSE("GPL");
