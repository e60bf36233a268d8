// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Let a kernel thread die of a load from a bad address or of a BUG(), or let it warn, so
 * that a script can check the kernel's messages with a probe on that instruction.  In
 * /sys/module/kp_oops/parameters:
 *
 *	oops		write "load", "wild", "bug" or "warn" to choose one of these; "wild" is
 *			a load from an address that x86-64 calls non-canonical; "handler" is a
 *			load in the handler of a breakpoint, on CPU 1
 *	masks		after "handler", the exceptions other than interrupts that stayed masked on
 *			that CPU; -1 if an interrupt was masked, too
 *	bug, warn	the address of that instruction; 0 if it is not known
 *
 * The thread holds no lock and no reference, so the module can be unloaded afterwards.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/task.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <asm/irq_regs.h>

#include "sites.h"

DEFINE_LOAD_FUNCTION(".text", kp_oops_load);

/* In the first page, which is never mapped, but not at its start. */
#define BAD_ADDRESS	((const void *)0x40)
#define WILD_ADDRESS	((const void *)(1UL << (BITS_PER_LONG - 1)))

static void die_of_load(void)
{
	kp_oops_load(BAD_ADDRESS);
}

static void die_of_wild_load(void)
{
	kp_oops_load(WILD_ADDRESS);
}

static noinline void kp_oops_bug(void)
{
	BUG();
}

static noinline void kp_oops_warn(void)
{
	WARN_ON(1);
}

static int die_in_handler(struct kprobe *kp, struct pt_regs *regs)
{
	READ_ONCE(*(const int *)BAD_ADDRESS);
	return 0;
}
NOKPROBE_SYMBOL(die_in_handler);

static noinline void kp_oops_deadly(void)
{
	barrier();
}

static struct kprobe deadly = {
	.addr = (kprobe_opcode_t *)kp_oops_deadly,
	.pre_handler = die_in_handler,
};

static void die_of_handler(void)
{
	if (!register_kprobe(&deadly))
		kp_oops_deadly();
}

static long masks;
module_param(masks, long, 0400);
MODULE_PARM_DESC(masks, "exceptions that the death of a handler has left masked");
static DECLARE_COMPLETION(seen);

#ifdef CONFIG_ARM64
static long masks_now(void)
{
	struct pt_regs *regs = get_irq_regs();

	return (regs ? regs->pstate : read_sysreg(daif)) & (PSR_D_BIT | PSR_A_BIT);
}
#else
static long masks_now(void)
{
	return 0;
}
#endif

static void see_masks(void *unused)
{
	masks = masks_now();
	complete(&seen);
}

/* Looks at the CPU at which the handler has died, before the CPU returns to user mode. */
static void after_handler(void)
{
	static call_single_data_t csd = CSD_INIT(see_masks, NULL);

	masks = -1;
	reinit_completion(&seen);
	if (!smp_call_function_single_async(1, &csd))
		wait_for_completion_timeout(&seen, 10 * HZ);
	unregister_kprobe(&deadly);
}

static const struct accident {
	const char *name;
	void (*happen)(void);
	void (*afterwards)(void);	/* if the thread has to run on CPU 1 */
} accidents[] = {
	{ "load",	die_of_load },
	{ "wild",	die_of_wild_load },
	{ "bug",	kp_oops_bug },
	{ "warn",	kp_oops_warn },
	{ "handler",	die_of_handler, after_handler },
};

struct victim {
	struct completion started;
	const struct accident *accident;
};

static int meet_with_it(void *data)
{
	struct victim *victim = data;
	const struct accident *accident = victim->accident;

	complete(&victim->started);
	accident->happen();
	return 0;
}

static int let_happen(const struct accident *accident)
{
	struct victim victim = { .accident = accident };
	struct task_struct *thread;

	init_completion(&victim.started);
	thread = kthread_create(meet_with_it, &victim, "kp_oops");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	get_task_struct(thread);
	if (accident->afterwards)
		kthread_bind(thread, 1);
	wake_up_process(thread);
	/* Wait, because a thread that is stopped before it has started never runs. */
	wait_for_completion(&victim.started);
	/* Also returns when the thread has died. */
	kthread_stop(thread);
	put_task_struct(thread);
	if (accident->afterwards)
		accident->afterwards();
	return 0;
}

static int oops(const char *value, const struct kernel_param *kp)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(accidents); i++) {
		if (sysfs_streq(value, accidents[i].name))
			return let_happen(&accidents[i]);
	}
	return -EINVAL;
}

static const struct kernel_param_ops oops_ops = {
	.set = oops,
};
module_param_cb(oops, &oops_ops, NULL, 0200);
MODULE_PARM_DESC(oops, "write load, wild, bug or handler: a kernel thread dies; warn: it warns");

#if defined(CONFIG_GENERIC_BUG_RELATIVE_POINTERS)
static unsigned long bug_site(const struct bug_entry *bug)
{
	return (unsigned long)&bug->bug_addr_disp + bug->bug_addr_disp;
}
#elif defined(CONFIG_GENERIC_BUG)
static unsigned long bug_site(const struct bug_entry *bug)
{
	return bug->bug_addr;
}
#endif

/* Returns the address of the module's WARN() or BUG(). */
static unsigned long find_site(bool warning)
{
#ifdef CONFIG_GENERIC_BUG
	const struct bug_entry *bug = THIS_MODULE->bug_table;
	unsigned int i;

	for (i = 0; i < THIS_MODULE->num_bugs; i++) {
		if (!!(bug[i].flags & BUGFLAG_WARNING) == warning)
			return bug_site(&bug[i]);
	}
#endif
	return 0;
}

static int get_bug(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "0x%lx\n", find_site(false));
}

static int get_warn(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "0x%lx\n", find_site(true));
}

static const struct kernel_param_ops bug_ops = { .get = get_bug };
static const struct kernel_param_ops warn_ops = { .get = get_warn };

module_param_cb(bug, &bug_ops, NULL, 0400);
MODULE_PARM_DESC(bug, "address of the instruction of BUG()");
module_param_cb(warn, &warn_ops, NULL, 0400);
MODULE_PARM_DESC(warn, "address of the instruction of WARN()");

MODULE_DESCRIPTION("Dies or warns in a probed instruction, for the kprobes selftests");
MODULE_LICENSE("GPL");
