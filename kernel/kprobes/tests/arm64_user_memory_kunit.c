// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Handlers and the memory of user space (arm64).  If the probed code has enabled access to
 * it, the access is disabled while handlers run, with or without an exception, and enabled
 * again afterwards.  And a probed instruction may sleep until a page of user space is
 * present.
 */
#include <kunit/test.h>
#include <linux/kprobes.h>
#include <linux/mman.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>
#include <asm/asm-extable.h>
#include <asm/cpufeature.h>

#include "asm_text.h"
#include "optimized.h"

/* Returns 5; 7 if entered at OTHER_END. */
int kprobes_user_site(void);
TEXT_FUNCTION(kprobes_user_site,
	      "mov	w0, #5\n"
	      "ret\n"
	      "mov	w0, #7\n"
	      "ret\n");

#define OTHER_END	((unsigned long)kprobes_user_site + 8)

/*
 * If page tables emulate PAN, TTBR0 has an ASID only while the page tables of user space
 * are in use.
 */
static bool is_open(void)
{
	if (system_uses_ttbr0_pan())
		return read_sysreg(ttbr0_el1) & TTBRx_EL1_ASID_MASK;
	return !read_sysreg_s(SYS_PSTATE_PAN);
}

/* --- Handlers ---------------------------------------------------------------------- */

enum place {
	IN_PRE,
	IN_POST,
	IN_ENTRY,
	IN_RETURN,
	NR_PLACES
};

static const char *const place_names[] = { "pre", "post", "entry", "return" };

/* Access as a handler finds it: its own, and that in the saved PSTATE. */
static struct {
	unsigned int calls;
	bool open;
	bool was_open;
} seen[NR_PLACES];

static void see(enum place place, struct pt_regs *regs)
{
	seen[place].calls++;
	seen[place].open |= is_open();
	seen[place].was_open = !(regs->pstate & PSR_PAN_BIT);
}

static int see_pre(struct kprobe *kp, struct pt_regs *regs)
{
	see(IN_PRE, regs);
	return 0;
}

static int see_and_go(struct kprobe *kp, struct pt_regs *regs)
{
	see(IN_PRE, regs);
	regs->pc = OTHER_END;
	return 1;
}

static void see_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	see(IN_POST, regs);
}

static int see_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	see(IN_ENTRY, regs);
	return 0;
}

static int see_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	see(IN_RETURN, regs);
	return 0;
}

/* --- Cases ------------------------------------------------------------------------- */

static const struct user_case {
	const char *name;
	kprobe_pre_handler_t pre;
	kprobe_post_handler_t post;
	kretprobe_handler_t entry, ret;
	int result;
} user_cases[] = {
	{ "pre handler", .pre = see_pre, .result = 5 },
	{ "post handler", .pre = see_pre, .post = see_post, .result = 5 },
	{ "changed path", .pre = see_and_go, .result = 7 },
	{ "return handler", .ret = see_return, .result = 5 },
	{ "entry handler", .entry = see_entry, .ret = see_return, .result = 5 },
};

KUNIT_ARRAY_PARAM_DESC(user, user_cases, name);

/*
 * Between uaccess_*_privileged() and is_open() there must be no call that can sleep: a
 * context switch does not restore this state of a task.  Access is enabled until the first
 * task has disabled it.
 */
static int visit(bool open, bool *still_open)
{
	int ret;

	if (open)
		uaccess_enable_privileged();
	else
		uaccess_disable_privileged();
	ret = kprobes_user_site();
	*still_open = is_open();
	uaccess_disable_privileged();
	return ret;
}

static void expect_closed(struct kunit *test, const struct user_case *c, bool open, bool jump)
{
	const bool wanted[] = { c->pre, c->post, c->entry, c->ret };
	bool still_open;
	int i;

	memset(seen, 0, sizeof(seen));
	KUNIT_EXPECT_EQ(test, visit(open, &still_open), c->result);
#define EXPECT(left, right)						\
	KUNIT_EXPECT_EQ_MSG(test, left, right, "%s, open %d, jump %d", place_names[i], open, jump)
	for (i = 0; i < NR_PLACES; i++) {
		EXPECT(seen[i].calls, wanted[i]);
		EXPECT(seen[i].open, false);
		EXPECT(seen[i].was_open, wanted[i] && open);
	}
#undef EXPECT
	KUNIT_EXPECT_EQ_MSG(test, still_open, open, "jump %d", jump);
}

static void user_memory_is_closed_for_handlers(struct kunit *test)
{
	const struct user_case *c = test->param_value;
	struct kretprobe rp = {
		.kp.addr = (void *)kprobes_user_site, .entry_handler = c->entry, .handler = c->ret,
	};
	struct kprobe kp = {
		.addr = (void *)kprobes_user_site, .pre_handler = c->pre, .post_handler = c->post,
	};
	bool before = kprobe_optimization_allowed;
	int open, jump;

	KUNIT_ASSERT_EQ(test, c->ret ? register_kretprobe(&rp) : register_kprobe(&kp), 0);
	for (jump = 0; jump < 2; jump++) {
		kprobe_optimizer_allow(jump);
		EXPECT_JUMP(test, c->ret ? &rp.kp : &kp, jump);
		for (open = 0; open < 2; open++)
			expect_closed(test, c, open, jump);
	}
	if (c->ret)
		unregister_kretprobe(&rp);
	else
		unregister_kprobe(&kp);
	kprobe_optimizer_allow(before);
}

/* --- A page that is not present ------------------------------------------------------ */

/* Loads from @from; access to user space must be enabled. */
int kprobes_user_load(unsigned long from);
TEXT_FUNCTION(kprobes_user_load,
	      "kprobes_user_load_insn:\n"
	      "ldr	w0, [x0]\n"
	      "ret\n"
	      "1: mov	w0, #-1\n"
	      "ret\n"
	      _ASM_EXTABLE_UACCESS(kprobes_user_load_insn, 1b));

static int load(struct kunit *test)
{
	unsigned long page;
	int ret;

	page = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ, MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, page, 0);
	uaccess_enable_privileged();
	ret = kprobes_user_load(page);
	uaccess_disable_privileged();
	return ret;
}

/*
 * The instruction restarts after the fault.  That is a second hit, and only the second one
 * is completed.  Debug kernels complain if the fault cannot sleep because the first hit has
 * left interrupts masked.
 */
static void waits_for_a_page(struct kunit *test)
{
	struct kprobe kp = { .addr = (void *)kprobes_user_load, .pre_handler = see_pre };
	bool before = kprobe_optimization_allowed;
	int post, jump;

	for (post = 0; post < 2; post++) {
		kp.post_handler = post ? see_post : NULL;
		KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
		for (jump = 0; jump < 2; jump++) {
			kprobe_optimizer_allow(jump);
			EXPECT_JUMP(test, &kp, jump);
			memset(seen, 0, sizeof(seen));
			KUNIT_EXPECT_EQ(test, load(test), 0);
			KUNIT_EXPECT_EQ(test, seen[IN_PRE].calls, 2);
			KUNIT_EXPECT_EQ(test, seen[IN_POST].calls, post);
			KUNIT_EXPECT_FALSE(test, irqs_disabled());
			KUNIT_EXPECT_EQ(test, read_sysreg(daif), 0);
		}
		unregister_kprobe(&kp);
	}
	kprobe_optimizer_allow(before);
}

/* A kernel thread has no user space of its own; the mapping creates one. */
static int user_memory_init(struct kunit *test)
{
	if (!system_uses_hw_pan() && !system_uses_ttbr0_pan())
		kunit_skip(test, "user space's memory is always open in this kernel");
	return kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ, MAP_ANONYMOUS | MAP_PRIVATE, 0) ?
	       0 : -ENOMEM;
}

static struct kunit_case user_memory_cases[] = {
	KUNIT_CASE_PARAM(user_memory_is_closed_for_handlers, user_gen_params),
	KUNIT_CASE(waits_for_a_page),
	{}
};

static struct kunit_suite user_memory_suite = {
	.name = "kprobes_arm64_user_memory",
	.init = user_memory_init,
	.test_cases = user_memory_cases,
};

kunit_test_suite(user_memory_suite);
