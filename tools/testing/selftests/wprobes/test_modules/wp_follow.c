// SPDX-License-Identifier: GPL-2.0
/*
 * The handler of a user-space probe retargets a watchpoint probe to another word, and writes both
 * words at once.
 *
 * Parameters: pid and address: the instruction that is probed.  Results: moved: return value of
 * wprobe_retarget(), or 1; hits, old, new: calls of the watchpoint probe's handler, and its last
 * arguments.
 */
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/uprobes.h>
#include <linux/wprobes.h>

static int pid;
module_param(pid, int, 0400);
static ulong address;
module_param(address, ulong, 0400);
static int moved = 1;
module_param(moved, int, 0400);
static int hits;
module_param(hits, int, 0400);
static ulong last_old;
module_param_named(old, last_old, ulong, 0400);
static ulong last_new;
module_param_named(new, last_new, ulong, 0400);

static unsigned long words[] = { 0, 0, 3 };

static void hit(struct wprobe *wp, struct pt_regs *regs, unsigned long old, unsigned long new)
{
	hits++;
	last_old = old;
	last_new = new;
}

static struct wprobe follower = {
	.addr = &words[0],
	.len = sizeof(long),
	.flags = WPROBE_FLAG_MOVABLE,
	.handler = hit,
};

/* The CPU that retargets the probe watches the new word at once, and the old one no longer. */
static void follow(struct uprobe *u, struct pt_regs *regs)
{
	preempt_disable();
	moved = wprobe_retarget(&follower, &words[2]);
	WRITE_ONCE(words[0], 1);
	WRITE_ONCE(words[2], 4);
	preempt_enable();
}

static struct uprobe called = {
	.handler = follow,
};

static int __init wp_follow_init(void)
{
	int ret = register_wprobe(&follower);

	if (ret)
		return ret;
	called.pid = pid;
	called.vaddr = address;
	ret = register_uprobe(&called);
	if (ret)
		unregister_wprobe(&follower);
	return ret;
}

static void __exit wp_follow_exit(void)
{
	unregister_uprobe(&called);
	unregister_wprobe(&follower);
}

module_init(wp_follow_init);
module_exit(wp_follow_exit);
MODULE_DESCRIPTION("Retargets a watchpoint probe in a handler of a user-space probe");
MODULE_LICENSE("GPL");
