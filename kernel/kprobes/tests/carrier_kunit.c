// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Carriers: probes on ftrace's instruction that the point after the instruction serves.
 */
#include <linux/ftrace.h>
#include <linux/jump_label.h>

#include "attempt.h"
#include "counted.h"
#include "optimized.h"
#include "points.h"

TRACED_TARGET(carrier_target, 1)

/* The register of the first argument, and the first byte of an instruction that decrements it. */
#ifdef CONFIG_X86_64
#define ARGUMENT	"edi"
#define DECREMENT	0xff
#else
#define ARGUMENT	"eax"
#define DECREMENT	0x48
#endif

/* The instruction after ftrace's is the head of a loop, unless the function needs a frame. */
static noinline __noclone int carrier_loop(int x)
{
	register int left asm(ARGUMENT) = x;

	asm volatile("1: dec %0; jnz 1b" : "+r" (left));
	return left;
}

static int plus_one(int x)
{
	return x + 1;
}

/* Compilers end it with a jump to the address in a register. */
static noinline __noclone int carrier_tail_call(int x, int (*fn)(int))
{
	return fn(x + 10);
}

static void *site_of(int (*fn)(int))
{
	return (void *)ftrace_location((unsigned long)fn);
}

static void *carrier_of(int (*fn)(int))
{
	return site_of(fn) + KPROBE_CARRIER_OFFSET;
}

/* A probe that records the registers, and the probe that kprobe_running() returns. */
struct observer {
	struct counted c;
	unsigned long ip, post_ip;
	void *running_addr;
	u32 running_flags;
};

static int observe(struct kprobe *p, struct pt_regs *regs)
{
	struct observer *o = container_of(p, struct observer, c.kp);
	struct kprobe *running = kprobe_running();

	o->ip = regs->ip;
	if (running) {
		o->running_addr = running->addr;
		o->running_flags = running->flags;
	}
	return counted_pre(p, regs);
}
NOKPROBE_SYMBOL(observe);

static void observe_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	container_of(p, struct observer, c.kp)->post_ip = regs->ip;
	counted_post(p, regs, flags);
}
NOKPROBE_SYMBOL(observe_post);

static struct observer observer_at(void *addr, bool post)
{
	return (struct observer) {
		.c.kp.addr = addr,
		.c.kp.pre_handler = observe,
		.c.kp.post_handler = post ? observe_post : NULL,
	};
}

/* Both hits, of the breakpoint and of the jump, show the registers of the entry. */
static void expect_hit(struct kunit *test, struct observer *o, void *addr)
{
	int before = o->c.pre;

	KUNIT_EXPECT_EQ(test, carrier_target(1), 2);
	KUNIT_EXPECT_EQ(test, o->c.pre, before + 1);
	KUNIT_EXPECT_EQ(test, o->ip, (unsigned long)addr + 1);
	KUNIT_EXPECT_PTR_EQ(test, o->running_addr, addr);
}

static void the_entry_gets_a_jump(struct kunit *test)
{
	struct observer o = observer_at(site_of(carrier_target), false);
	void *site = site_of(carrier_target), *carrier = carrier_of(carrier_target);
	unsigned int points = all_points();
	u8 text[TEXT_BYTES];

	text_save(text, site);
	KUNIT_ASSERT_EQ(test, register_kprobe(&o.c.kp), 0);
	KUNIT_EXPECT_EQ(test, state_at(site), KPROBE_CARRIED);
	KUNIT_EXPECT_FALSE(test, kprobe_ftrace(&o.c.kp));
	expect_hit(test, &o, site);
	KUNIT_EXPECT_TRUE(test, o.running_flags & KPROBE_FLAG_ON_FUNC_ENTRY);

	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, state_at(carrier), KPROBE_JUMP);
	KUNIT_EXPECT_TRUE(test, kprobe_optimized(&o.c.kp));
	KUNIT_EXPECT_PTR_EQ(test, o.c.kp.addr, (kprobe_opcode_t *)site);
	KUNIT_EXPECT_TRUE(test, !memcmp(text, site, MCOUNT_INSN_SIZE));
	expect_hit(test, &o, site);
	KUNIT_EXPECT_TRUE(test, o.running_flags & KPROBE_FLAG_ON_FUNC_ENTRY);

	unregister_kprobe(&o.c.kp);
	EXPECT_TEXT(test, text, site);
	KUNIT_EXPECT_EQ(test, all_points(), points);
	carrier_target(1);
	KUNIT_EXPECT_EQ(test, o.c.pre, 2);
}

static int skip_the_nop(struct kprobe *p, struct pt_regs *regs)
{
	counted_pre(p, regs);
	instruction_pointer_set(regs, (unsigned long)carrier_of(carrier_target));
	return 1;
}
NOKPROBE_SYMBOL(skip_the_nop);

/* Execution continues at the carrier's instruction, without another hit. */
static void a_handler_skips_the_nop(struct kunit *test)
{
	struct counted c = counted_at(site_of(carrier_target), true, false);
	struct counted other = counted_at(site_of(carrier_target), true, false);

	c.kp.pre_handler = skip_the_nop;
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	KUNIT_EXPECT_EQ(test, state_at(c.kp.addr), KPROBE_CARRIED);
	KUNIT_EXPECT_EQ(test, carrier_target(1), 2);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, kprobe_optimized(&c.kp));
	KUNIT_EXPECT_EQ(test, carrier_target(1), 2);
	KUNIT_EXPECT_EQ(test, c.pre, 2);

	/* The other handler is not called. */
	KUNIT_ASSERT_EQ(test, register_kprobe(&other.kp), 0);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, carrier_target(1), 2);
	KUNIT_EXPECT_EQ(test, c.pre, 3);
	KUNIT_EXPECT_EQ(test, other.pre, 0);
	unregister_kprobe(&other.kp);
	unregister_kprobe(&c.kp);
}

static void post_handlers_are_called_after_the_nop(struct kunit *test)
{
	struct observer o = observer_at(site_of(carrier_target), true);

	KUNIT_ASSERT_EQ(test, register_kprobe(&o.c.kp), 0);
	KUNIT_EXPECT_EQ(test, state_at(o.c.kp.addr), KPROBE_CARRIED);
	expect_hit(test, &o, o.c.kp.addr);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, kprobe_optimized(&o.c.kp));
	expect_hit(test, &o, o.c.kp.addr);
	KUNIT_EXPECT_EQ(test, o.c.post, 2);
	KUNIT_EXPECT_EQ(test, o.post_ip, (unsigned long)carrier_of(carrier_target));
	unregister_kprobe(&o.c.kp);
}

/* Registers both probes in the order of @first, and unregisters the first one first. */
static void share_carrier(struct kunit *test, struct observer *first, struct observer *second)
{
	void *first_addr = first->c.kp.addr, *second_addr = second->c.kp.addr;
	unsigned int points = all_points();
	int i;

	KUNIT_ASSERT_EQ(test, register_kprobe(&first->c.kp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&second->c.kp), 0);
	for (i = 0; i < 2; i++) {
		expect_hit(test, first, first_addr);
		KUNIT_EXPECT_EQ(test, first->c.pre, i + 1);
		KUNIT_EXPECT_EQ(test, second->c.pre, i + 1);
		KUNIT_EXPECT_EQ(test, second->ip, (unsigned long)second_addr + 1);
		KUNIT_EXPECT_PTR_EQ(test, second->running_addr, second_addr);
		wait_for_kprobe_optimizer();
		KUNIT_EXPECT_TRUE(test, kprobe_optimized(&first->c.kp));
		KUNIT_EXPECT_TRUE(test, kprobe_optimized(&second->c.kp));
	}
	unregister_kprobe(&first->c.kp);
	expect_hit(test, second, second_addr);
	KUNIT_EXPECT_EQ(test, first->c.pre, 2);
	unregister_kprobe(&second->c.kp);
	KUNIT_EXPECT_EQ(test, all_points(), points);
}

static void a_carrier_can_have_probes_of_its_own(struct kunit *test)
{
	struct observer entry = observer_at(site_of(carrier_target), false);
	struct observer after = observer_at(carrier_of(carrier_target), false);

	share_carrier(test, &entry, &after);
	KUNIT_EXPECT_LT(test, entry.c.order, after.c.order);
	entry = observer_at(site_of(carrier_target), false);
	after = observer_at(carrier_of(carrier_target), false);
	share_carrier(test, &after, &entry);
}

static void a_batch_has_both(struct kunit *test)
{
	struct observer entry = observer_at(site_of(carrier_target), true);
	struct observer after = observer_at(carrier_of(carrier_target), true);
	struct observer again = observer_at(site_of(carrier_target), false);
	struct kprobe *kps[] = { &after.c.kp, &entry.c.kp, &again.c.kp };
	unsigned int points = all_points();

	KUNIT_ASSERT_EQ(test, register_kprobes(kps, ARRAY_SIZE(kps)), 0);
	expect_hit(test, &entry, entry.c.kp.addr);
	wait_for_kprobe_optimizer();
	expect_hit(test, &again, again.c.kp.addr);
	KUNIT_EXPECT_EQ(test, entry.c.pre, 2);
	KUNIT_EXPECT_EQ(test, entry.c.post, 2);
	KUNIT_EXPECT_EQ(test, after.c.pre, 2);
	KUNIT_EXPECT_EQ(test, after.c.post, 2);
	/* On i386 the instruction has one byte, as the breakpoint. */
	KUNIT_EXPECT_GE(test, after.post_ip, after.ip);
	unregister_kprobes(kps, ARRAY_SIZE(kps));
	KUNIT_EXPECT_EQ(test, all_points(), points);
}

static unsigned long returned;
static unsigned int returns;

static int note_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	returned = regs_return_value(regs);
	returns++;
	return 0;
}
NOKPROBE_SYMBOL(note_return);

static void return_probes_follow_calls(struct kunit *test)
{
	struct kretprobe rp = { .kp.addr = site_of(carrier_target), .handler = note_return };
	struct observer entry = observer_at(site_of(carrier_target), false);

	returns = 0;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, state_at(rp.kp.addr), KPROBE_CARRIED);
	KUNIT_EXPECT_EQ(test, carrier_target(1), 2);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, kprobe_optimized(&rp.kp));
	KUNIT_EXPECT_EQ(test, carrier_target(2), 3);
	KUNIT_EXPECT_EQ(test, returns, 2);
	KUNIT_EXPECT_EQ(test, returned, 3);

	/* The detour for a return probe alone does not serve a second probe. */
	KUNIT_ASSERT_EQ(test, register_kprobe(&entry.c.kp), 0);
	expect_hit(test, &entry, entry.c.kp.addr);
	wait_for_kprobe_optimizer();
	expect_hit(test, &entry, entry.c.kp.addr);
	KUNIT_EXPECT_EQ(test, returns, 4);
	unregister_kprobe(&entry.c.kp);
	unregister_kretprobe(&rp);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 0);
}

static void a_loop_at_the_entry_is_left_to_ftrace(struct kunit *test)
{
	struct counted c = counted_at(site_of(carrier_loop), true, false);

	if (*(u8 *)carrier_of(carrier_loop) != DECREMENT)
		kunit_skip(test, "the loop is not at the entry");
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	KUNIT_EXPECT_EQ(test, state_at(c.kp.addr), KPROBE_FTRACE);
	KUNIT_EXPECT_TRUE(test, kprobe_ftrace(&c.kp));
	KUNIT_EXPECT_STREQ(test, said_at(c.kp.addr),
			   kprobe_obstacle_text(KPROBE_OBSTACLE_TARGET));
	KUNIT_EXPECT_EQ(test, carrier_loop(5), 0);
	KUNIT_EXPECT_EQ(test, c.pre, 1);
	unregister_kprobe(&c.kp);
}

/* In a kernel with IBT such a jump leads to landing pads only, so it does not forbid jumps. */
static void an_indirect_tail_call(struct kunit *test)
{
	void *site = (void *)ftrace_location((unsigned long)carrier_tail_call);
	struct counted c = counted_at(site, true, false);
	int (*fn)(int) = plus_one;

	/* Or clang makes a copy of the function that calls plus_one() only. */
	OPTIMIZER_HIDE_VAR(fn);
	if (!IS_ENABLED(CONFIG_X86_KERNEL_IBT))
		kunit_skip(test, "an indirect jump may lead to any instruction");
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, state_at(site + KPROBE_CARRIER_OFFSET), KPROBE_JUMP);
	KUNIT_EXPECT_EQ(test, carrier_tail_call(1, fn), 12);
	KUNIT_EXPECT_EQ(test, c.pre, 1);
	unregister_kprobe(&c.kp);
}

static void disabled_probes_leave_the_text(struct kunit *test)
{
	struct observer o = observer_at(site_of(carrier_target), false);
	u8 text[TEXT_BYTES];

	text_save(text, o.c.kp.addr);
	KUNIT_ASSERT_EQ(test, register_kprobe(&o.c.kp), 0);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, disable_kprobe(&o.c.kp), 0);
	EXPECT_TEXT(test, text, o.c.kp.addr);
	KUNIT_EXPECT_FALSE(test, kprobe_optimized(&o.c.kp));
	carrier_target(1);
	KUNIT_EXPECT_EQ(test, o.c.pre, 0);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&o.c.kp), 0);
	expect_hit(test, &o, o.c.kp.addr);

	KUNIT_EXPECT_EQ(test, kprobe_rearm_all(false), 0);
	EXPECT_TEXT(test, text, o.c.kp.addr);
	carrier_target(1);
	KUNIT_EXPECT_EQ(test, o.c.pre, 1);
	KUNIT_EXPECT_EQ(test, kprobe_rearm_all(true), 0);
	expect_hit(test, &o, o.c.kp.addr);
	unregister_kprobe(&o.c.kp);
	EXPECT_TEXT(test, text, site_of(carrier_target));
}

static int find_obstacle(void *carrier)
{
	enum kprobe_obstacle obstacle;

	guard(mutex)(&kprobe_mutex);
	obstacle = arch_carrier_obstacle((unsigned long)carrier);
	arch_prepare_kprobes_end();
	return obstacle;
}

/* Loading a module sorts its jump labels, so a search for targets waits for the lock. */
static void jump_labels_are_read_under_their_lock(struct kunit *test)
{
	struct attempt search;

	if (!IS_ENABLED(CONFIG_JUMP_LABEL))
		kunit_skip(test, "there are no jump labels");
	attempt_prepare(test, &search, find_obstacle, carrier_of(carrier_target));
	attempt_measure(&search);
	jump_label_lock();
	attempt_start(&search);
	KUNIT_EXPECT_TRUE(test, attempt_waits(&search));
	jump_label_unlock();
	KUNIT_EXPECT_EQ(test, attempt_end(&search), KPROBE_OBSTACLE_NONE);
}

/* --- Other users of ftrace --------------------------------------------------- */

static unsigned int traced;

static void owner_callback(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	traced++;
}
NOKPROBE_SYMBOL(owner_callback);

static struct ftrace_ops tracer = {
	.func = owner_callback,
	.flags = FTRACE_OPS_FL_SAVE_REGS,
};

static struct ftrace_ops owner = {
	.func = owner_callback,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
};

static void start(struct kunit *test, struct ftrace_ops *ops)
{
	unsigned long site = (unsigned long)site_of(carrier_target);

	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(ops, site, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(ops), 0);
	traced = 0;
}

static void a_tracer_shares_the_function(struct kunit *test)
{
	struct observer o = observer_at(site_of(carrier_target), false);

	KUNIT_ASSERT_EQ(test, register_kprobe(&o.c.kp), 0);
	start(test, &tracer);
	KUNIT_EXPECT_EQ(test, state_at(o.c.kp.addr), KPROBE_CARRIED);
	expect_hit(test, &o, o.c.kp.addr);
	unregister_kprobe(&o.c.kp);

	KUNIT_ASSERT_EQ(test, register_kprobe(&o.c.kp), 0);
	KUNIT_EXPECT_EQ(test, state_at(o.c.kp.addr), KPROBE_CARRIED);
	expect_hit(test, &o, o.c.kp.addr);
	KUNIT_EXPECT_EQ(test, traced, 2);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&tracer), 0);
	expect_hit(test, &o, o.c.kp.addr);
	unregister_kprobe(&o.c.kp);
}

static void an_owner_of_the_function_takes_over(struct kunit *test)
{
	struct observer o = observer_at(site_of(carrier_target), false);
	struct observer after = observer_at(carrier_of(carrier_target), false);

	KUNIT_ASSERT_EQ(test, register_kprobe(&o.c.kp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&after.c.kp), 0);
	wait_for_kprobe_optimizer();
	start(test, &owner);
	KUNIT_EXPECT_EQ(test, state_at(o.c.kp.addr), KPROBE_FTRACE);
	KUNIT_EXPECT_TRUE(test, kprobe_ftrace(&o.c.kp));
	KUNIT_EXPECT_FALSE(test, kprobe_optimized(&o.c.kp));
	expect_hit(test, &o, o.c.kp.addr);
	KUNIT_EXPECT_EQ(test, after.c.pre, 1);
	KUNIT_EXPECT_EQ(test, traced, 1);
	unregister_kprobe(&after.c.kp);
	unregister_kprobe(&o.c.kp);

	o = observer_at(site_of(carrier_target), false);
	KUNIT_ASSERT_EQ(test, register_kprobe(&o.c.kp), 0);
	KUNIT_EXPECT_EQ(test, state_at(o.c.kp.addr), KPROBE_FTRACE);
	expect_hit(test, &o, o.c.kp.addr);
	unregister_kprobe(&o.c.kp);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&owner), 0);

	KUNIT_ASSERT_EQ(test, register_kprobe(&o.c.kp), 0);
	KUNIT_EXPECT_EQ(test, state_at(o.c.kp.addr), KPROBE_CARRIED);
	unregister_kprobe(&o.c.kp);
}

static void an_owner_of_another_function_gets_this_one(struct kunit *test)
{
	struct observer o = observer_at(site_of(carrier_target), false);
	unsigned long other = (unsigned long)site_of(carrier_loop);
	unsigned long site = (unsigned long)site_of(carrier_target);

	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&owner, other, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&owner), 0);
	KUNIT_EXPECT_EQ(test, register_kprobe(&o.c.kp), 0);
	KUNIT_EXPECT_EQ(test, state_at(o.c.kp.addr), KPROBE_CARRIED);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&owner, site, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, state_at(o.c.kp.addr), KPROBE_FTRACE);
	expect_hit(test, &o, o.c.kp.addr);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&owner), 0);
	unregister_kprobe(&o.c.kp);
}

static void claimed_functions_are_left_to_ftrace(struct kunit *test)
{
	struct observer o = observer_at(site_of(carrier_target), false);
	unsigned long ips[] = {
		(unsigned long)site_of(carrier_loop), (unsigned long)site_of(carrier_target),
	};
	struct kprobe_claim *claim;

	KUNIT_ASSERT_EQ(test, register_kprobe(&o.c.kp), 0);
	claim = kprobe_claim(ips, ARRAY_SIZE(ips));
	KUNIT_EXPECT_FALSE(test, IS_ERR_OR_NULL(claim));
	KUNIT_EXPECT_EQ(test, state_at(o.c.kp.addr), KPROBE_FTRACE);
	expect_hit(test, &o, o.c.kp.addr);
	unregister_kprobe(&o.c.kp);

	KUNIT_EXPECT_EQ(test, register_kprobe(&o.c.kp), 0);
	KUNIT_EXPECT_EQ(test, state_at(o.c.kp.addr), KPROBE_FTRACE);
	expect_hit(test, &o, o.c.kp.addr);
	unregister_kprobe(&o.c.kp);

	kprobe_unclaim(claim);
	KUNIT_EXPECT_EQ(test, register_kprobe(&o.c.kp), 0);
	KUNIT_EXPECT_EQ(test, state_at(o.c.kp.addr), KPROBE_CARRIED);
	unregister_kprobe(&o.c.kp);

	ips[0] = 0;
	claim = kprobe_claim(ips, 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(claim), -EINVAL);
}

static void a_post_handler_keeps_owners_out(struct kunit *test)
{
	struct observer o = observer_at(site_of(carrier_target), true);
	unsigned long site = (unsigned long)site_of(carrier_target);

	KUNIT_ASSERT_EQ(test, register_kprobe(&o.c.kp), 0);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&owner, site, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&owner), -EBUSY);
	KUNIT_EXPECT_EQ(test, state_at(o.c.kp.addr), KPROBE_FTRACE);
	expect_hit(test, &o, o.c.kp.addr);
	KUNIT_EXPECT_EQ(test, o.c.post, 1);
	unregister_kprobe(&o.c.kp);
}

static void without_jumps_ftrace_serves(struct kunit *test)
{
	struct observer o = observer_at(site_of(carrier_target), false);

	kprobe_optimizer_allow(false);
	KUNIT_EXPECT_EQ(test, register_kprobe(&o.c.kp), 0);
	KUNIT_EXPECT_EQ(test, state_at(o.c.kp.addr), KPROBE_FTRACE);
	expect_hit(test, &o, o.c.kp.addr);
	kprobe_optimizer_allow(true);
	unregister_kprobe(&o.c.kp);
}

static struct kunit_case carrier_cases[] = {
	KUNIT_CASE(the_entry_gets_a_jump),
	KUNIT_CASE(a_handler_skips_the_nop),
	KUNIT_CASE(post_handlers_are_called_after_the_nop),
	KUNIT_CASE(a_carrier_can_have_probes_of_its_own),
	KUNIT_CASE(a_batch_has_both),
	KUNIT_CASE(return_probes_follow_calls),
	KUNIT_CASE(a_loop_at_the_entry_is_left_to_ftrace),
	KUNIT_CASE(an_indirect_tail_call),
	KUNIT_CASE(disabled_probes_leave_the_text),
	KUNIT_CASE(jump_labels_are_read_under_their_lock),
	KUNIT_CASE(a_tracer_shares_the_function),
	KUNIT_CASE(an_owner_of_the_function_takes_over),
	KUNIT_CASE(an_owner_of_another_function_gets_this_one),
	KUNIT_CASE(claimed_functions_are_left_to_ftrace),
	KUNIT_CASE(a_post_handler_keeps_owners_out),
	KUNIT_CASE(without_jumps_ftrace_serves),
	{}
};

static struct kunit_suite carrier_suite = {
	.name = "kprobes_carrier",
	.test_cases = carrier_cases,
};
kunit_test_suite(carrier_suite);
