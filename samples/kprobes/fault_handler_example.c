// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A fault handler: see the faults of a handler that reads an unmapped address.
 *
 *	insmod fault_handler_example.ko func=kernel_clone address=0xffffffff81000000
 *	rmmod fault_handler_example
 *
 * At each call of the function the handler reads a word.  If that faults, the fault
 * handler of the same probe is called first.  It returns 0, because it has not resolved
 * the fault: the kernel then searches its exception tables, and the read fails.
 *
 * The read must be one that may fail, such as copy_from_kernel_nofault().  The fault
 * handler sees other faults, too, but for these there is no exception table entry.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>

static char *func = "kernel_clone";
module_param(func, charp, 0444);
MODULE_PARM_DESC(func, "function to probe");

/* By default in the last page of the address space, which no kernel maps. */
static unsigned long address = -4080UL;
module_param(address, ulong, 0444);
MODULE_PARM_DESC(address, "address of the word to read");

static atomic_t words = ATOMIC_INIT(0), failures = ATOMIC_INIT(0), faults = ATOMIC_INIT(0);
static unsigned long last_word;
static int last_trap;

static int read_a_word(struct kprobe *kp, struct pt_regs *regs)
{
	unsigned long word;

	if (copy_from_kernel_nofault(&word, (void *)address, sizeof(word))) {
		atomic_inc(&failures);
	} else {
		WRITE_ONCE(last_word, word);
		atomic_inc(&words);
	}
	return 0;
}

static int count_fault(struct kprobe *kp, struct pt_regs *regs, int trapnr)
{
	WRITE_ONCE(last_trap, trapnr);
	atomic_inc(&faults);
	return 0;
}
NOKPROBE_SYMBOL(count_fault);

static struct kprobe kp = {
	.pre_handler = read_a_word,
	.fault_handler = count_fault,
};

static int __init example_init(void)
{
	int ret;

	kp.symbol_name = func;
	ret = register_kprobe(&kp);
	if (ret)
		pr_err("cannot probe %s: %d\n", func, ret);
	return ret;
}

static void __exit example_exit(void)
{
	unregister_kprobe(&kp);
	pr_info("%d words read, %d reads failed, %d faults, %lu missed\n", atomic_read(&words),
		atomic_read(&failures), atomic_read(&faults), kp.nmissed);
	if (atomic_read(&words))
		pr_info("the last word was %#lx\n", last_word);
	if (atomic_read(&faults))
		pr_info("the last fault was trap %#x\n", last_trap);
}

module_init(example_init);
module_exit(example_exit);
MODULE_DESCRIPTION("Example of a fault handler");
MODULE_LICENSE("GPL");
