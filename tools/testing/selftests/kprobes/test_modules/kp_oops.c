// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes a kernel thread of its own die of a load from a bad address, so that a
 * script can look at what the kernel says when the load is probed.
 *
 *	echo 1 > /sys/module/kp_oops/parameters/oops
 *
 * The thread holds no lock and no reference: the module can be unloaded after.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/task.h>

#include "sites.h"

DEFINE_LOAD_FUNCTION(".text", kp_oops_load);

/* In the page that is never mapped, and not its start. */
#define BAD_ADDRESS	((const void *)0x40)

static int die(void *started)
{
	complete(started);
	return kp_oops_load(BAD_ADDRESS) != 0;
}

static int oops(const char *value, const struct kernel_param *kp)
{
	DECLARE_COMPLETION_ONSTACK(started);
	struct task_struct *thread;

	thread = kthread_create(die, &started, "kp_oops");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	get_task_struct(thread);
	wake_up_process(thread);
	/* A thread that is stopped before it has started never runs. */
	wait_for_completion(&started);
	/* Also returns when the thread has died. */
	kthread_stop(thread);
	put_task_struct(thread);
	return 0;
}

static const struct kernel_param_ops oops_ops = {
	.set = oops,
};
module_param_cb(oops, &oops_ops, NULL, 0200);
MODULE_PARM_DESC(oops, "write anything: a kernel thread dies");

MODULE_DESCRIPTION("Dies in a probed instruction, for the kprobes selftests");
MODULE_LICENSE("GPL");
