// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A direct caller of ftrace that does not continue in the function, like a BPF program that decides
 * the result.  While the module is loaded, the function at @address returns 77.
 */
#include <linux/ftrace.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/objtool.h>
#include <asm/ibt.h>

void kp_skip_call(void);
int kp_skip_calls;

/* The stack has the address in the function, and that in its caller. */
asm("	.pushsection .text, \"ax\", @progbits\n"
	"	.globl	kp_skip_call\n"
	"	.type	kp_skip_call, @function\n"
	"kp_skip_call:\n"
	ASM_ENDBR
	"	incl	kp_skip_calls(%rip)\n"
	"	movl	$77, %eax\n"
	"	addq	$8, %rsp\n"
	ASM_RET
	"	.size	kp_skip_call, . - kp_skip_call\n"
	"	.popsection\n");
STACK_FRAME_NON_STANDARD(kp_skip_call);

static unsigned long address;
module_param(address, ulong, 0);
module_param_named(calls, kp_skip_calls, int, 0444);

static struct ftrace_ops ops;

static int __init skip_init(void)
{
	int ret = ftrace_set_filter_ip(&ops, address, 0, 0);

	return ret ?: register_ftrace_direct(&ops, (unsigned long)kp_skip_call);
}

static void __exit skip_exit(void)
{
	unregister_ftrace_direct(&ops, (unsigned long)kp_skip_call, true);
}

module_init(skip_init);
module_exit(skip_exit);
MODULE_DESCRIPTION("A direct caller that skips a function, for the kprobes selftests");
MODULE_LICENSE("GPL");
