// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A module to be probed: functions in its text and in its init text, and some
 * that must not be probed.
 *
 *	echo plain  > /sys/module/kp_target/parameters/call
 *	echo traced > /sys/module/kp_target/parameters/call
 *
 * Loading it calls the two functions in its init text, once each.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/static_call.h>
#include <linux/string.h>

#include "sites.h"

DEFINE_PLAIN_FUNCTION(".text", kp_target_plain);
DEFINE_PLAIN_FUNCTION(".init.text", kp_target_setup);

#ifdef CONFIG_X86
/*
 * A function with two names, as when the compiler merges equal functions.  Its cold part branches
 * to the second instruction, and has the name that kallsyms does not find first: a local symbol
 * is before a global one.
 */
DEFINE_ASM_FUNCTION(".text", kp_target_named,
		    "	xorl %eax, %eax\n"
		    "	addl $3, %eax\n"
		    "	js kp_target_named.cold\n"
		    "	" ASM_RET);
asm("	.set kp_target_aliased, kp_target_named\n"
	"	.pushsection .text.unlikely, \"ax\"\n"
	"	.type kp_target_named.cold, @function\n"
	"kp_target_named.cold:\n"
	"	jmp kp_target_named + 2\n"
	"	.size kp_target_named.cold, . - kp_target_named.cold\n"
	"	.balign 16, 0xcc\n"
	"	.popsection\n");
#endif

/* A variable that keeps the compiler from removing the functions below. */
static int number = 1;

/* Has an instruction of ftrace at its entry. */
static noinline int kp_target_traced(void)
{
	return READ_ONCE(number) + 1;
}

static noinline int __init kp_target_setup_traced(void)
{
	return READ_ONCE(number) + 2;
}

static noinline int kp_target_nokprobe(void)
{
	return READ_ONCE(number) + 3;
}
NOKPROBE_SYMBOL(kp_target_nokprobe);

static noinline int __kprobes kp_target_section(void)
{
	return READ_ONCE(number) + 4;
}

static int kp_target_before(void)
{
	return READ_ONCE(number) + 5;
}

static int kp_target_after(void)
{
	return READ_ONCE(number) + 6;
}

/* Architectures with static calls have a trampoline for it, a symbol of this module. */
DEFINE_STATIC_CALL(kp_target_static, kp_target_before);

static DEFINE_STATIC_KEY_FALSE(kp_target_key);

/* Has a jump label. */
static noinline int kp_target_branch(void)
{
	if (static_branch_unlikely(&kp_target_key))
		return READ_ONCE(number);
	return READ_ONCE(number) + 7;
}

static int call(const char *name, const struct kernel_param *kp)
{
	if (sysfs_streq(name, "plain"))
		return kp_target_plain() == 42 ? 0 : -EIO;
	if (sysfs_streq(name, "traced"))
		return kp_target_traced() == 2 ? 0 : -EIO;
	if (sysfs_streq(name, "nokprobe"))
		return kp_target_nokprobe() == 4 ? 0 : -EIO;
	if (sysfs_streq(name, "section"))
		return kp_target_section() == 5 ? 0 : -EIO;
	if (sysfs_streq(name, "branch"))
		return kp_target_branch() == 8 ? 0 : -EIO;
	if (sysfs_streq(name, "static")) {
		if (static_call(kp_target_static)() != 6)
			return -EIO;
		static_call_update(kp_target_static, kp_target_after);
		if (static_call(kp_target_static)() != 7)
			return -EIO;
		static_call_update(kp_target_static, kp_target_before);
		return 0;
	}
	return -EINVAL;
}

static const struct kernel_param_ops call_ops = {
	.set = call,
};
module_param_cb(call, &call_ops, NULL, 0200);
MODULE_PARM_DESC(call, "function to call: plain, traced, nokprobe, section, branch, static");

static int __init target_init(void)
{
	if (kp_target_setup() != 42 || kp_target_setup_traced() != 3)
		return -EIO;
	return 0;
}

static void __exit target_exit(void)
{
}

module_init(target_init);
module_exit(target_exit);
MODULE_DESCRIPTION("Functions to probe, for the kprobes selftests");
MODULE_LICENSE("GPL");
