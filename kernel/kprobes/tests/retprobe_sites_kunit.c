// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes whose entry is a breakpoint, and those whose entry may be ftrace's: both must
 * behave the same.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/ptrace.h>

#include "counted.h"

#define WAIT		msecs_to_jiffies(10000)

/* --- Functions to be probed ---------------------------------------------- */

/* Return address of the function when nothing is probed. */
static unsigned long real_return;

static noinline notrace __noclone unsigned long plain_double(unsigned long x)
{
	real_return = _RET_IP_;
	OPTIMIZER_HIDE_VAR(x);
	return 2 * x;
}

static noinline __noclone unsigned long traced_double(unsigned long x)
{
	real_return = _RET_IP_;
	OPTIMIZER_HIDE_VAR(x);
	return 2 * x;
}

typedef unsigned long (*target_t)(unsigned long x);

/* Direct calls may come to another entry than that of a pointer: on powerpc they do. */
static __always_inline unsigned long call_by_pointer(target_t fn, unsigned long x)
{
	OPTIMIZER_HIDE_VAR(fn);
	return fn(x);
}

/* The sum of 1 to @x, with one call for each number. */
static noinline notrace __noclone unsigned long plain_sum(unsigned long x)
{
	OPTIMIZER_HIDE_VAR(x);
	if (x > 1)
		x += call_by_pointer(plain_sum, x - 1);
	OPTIMIZER_HIDE_VAR(x);
	return x;
}

static noinline __noclone unsigned long traced_sum(unsigned long x)
{
	OPTIMIZER_HIDE_VAR(x);
	if (x > 1)
		x += call_by_pointer(traced_sum, x - 1);
	OPTIMIZER_HIDE_VAR(x);
	return x;
}

static DECLARE_COMPLETION(blocked_entered);
static DECLARE_COMPLETION(blocked_leave);

static noinline notrace __noclone unsigned long plain_blocked(unsigned long x)
{
	complete(&blocked_entered);
	if (!wait_for_completion_timeout(&blocked_leave, 5 * WAIT))
		return 0;
	OPTIMIZER_HIDE_VAR(x);
	return 2 * x;
}

static noinline __noclone unsigned long traced_blocked(unsigned long x)
{
	complete(&blocked_entered);
	if (!wait_for_completion_timeout(&blocked_leave, 5 * WAIT))
		return 0;
	OPTIMIZER_HIDE_VAR(x);
	return 2 * x;
}

/* The handlers of a kprobe on these functions call a function with a return probe. */
TRAP_TARGET(plain_outer, 1)
TRACED_TARGET(traced_outer, 1)

static const struct target {
	const char *name;
	target_t twice;
	target_t sum;
	target_t blocked;
	int (*outer)(int x);
} targets[] = {
	{ "breakpoint", plain_double, plain_sum, plain_blocked, plain_outer },
	{ "traced entry", traced_double, traced_sum, traced_blocked, traced_outer },
};

KUNIT_ARRAY_PARAM_DESC(target, targets, name);

/* The only caller of @fn whose return address is checked. */
static noinline notrace unsigned long call(target_t fn, unsigned long x)
{
	x = fn(x);
	barrier();
	return x;
}

/* --- The probe ------------------------------------------------------------ */

#define COOKIE	0x5eed0000UL

/* Data that the entry of a call passes to its return. */
struct call_data {
	unsigned long cookie;
};

static struct {
	unsigned int entries;
	unsigned int returns;
	unsigned long cookie;
	unsigned long value;
	unsigned long ret_addr;
	struct kretprobe *rp;
	bool preemptible;
} seen;

/* Entries whose number has one of these bits set are skipped. */
static unsigned int skip_mask;

static int note_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call_data *data = (struct call_data *)ri->data;

	data->cookie = COOKIE + ++seen.entries;
	seen.preemptible |= preemptible();
	return !!(seen.entries & skip_mask);
}

static int note_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call_data *data = (struct call_data *)ri->data;

	seen.returns++;
	seen.cookie = data->cookie;
	seen.value = regs_return_value(regs);
	seen.ret_addr = get_kretprobe_retaddr(ri);
	seen.rp = get_kretprobe(ri);
	seen.preemptible |= preemptible();
	return 0;
}

static int change_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
#ifdef CONFIG_MIPS
	/* MIPS has no regs_set_return_value(). */
	regs->regs[2]++;
#else
	regs_set_return_value(regs, regs_return_value(regs) + 1);
#endif
	return 0;
}

static struct kretprobe make_probe(target_t fn)
{
	return (struct kretprobe) {
		.kp.addr = (kprobe_opcode_t *)fn,
		.entry_handler = note_entry,
		.handler = note_return,
		.data_size = sizeof(struct call_data),
	};
}

static int retprobe_init(struct kunit *test)
{
	memset(&seen, 0, sizeof(seen));
	skip_mask = 0;
	reinit_completion(&blocked_entered);
	reinit_completion(&blocked_leave);
	return 0;
}

/* --- Cases ----------------------------------------------------------------- */

static void handlers_see_the_call(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct kretprobe rp = make_probe(target->twice);
	unsigned long ret_addr, flags;
	bool off;

	KUNIT_ASSERT_EQ(test, call(target->twice, 1), 2UL);
	ret_addr = real_return;

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, call(target->twice, 21), 42UL);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	local_irq_save(flags);
	KUNIT_EXPECT_EQ(test, call(target->twice, 22), 44UL);
	off = irqs_disabled();
	local_irq_restore(flags);
	KUNIT_EXPECT_TRUE(test, off);
	KUNIT_EXPECT_EQ(test, seen.entries, 2U);
	KUNIT_EXPECT_EQ(test, seen.returns, 2U);
	KUNIT_EXPECT_EQ(test, seen.cookie, COOKIE + 2);
	KUNIT_EXPECT_EQ(test, seen.value, 44UL);
	KUNIT_EXPECT_EQ(test, seen.ret_addr, ret_addr);
	KUNIT_EXPECT_PTR_EQ(test, seen.rp, &rp);
	KUNIT_EXPECT_FALSE(test, seen.preemptible);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 0);

	unregister_kretprobe(&rp);
	KUNIT_EXPECT_EQ(test, call(target->twice, 23), 46UL);
	KUNIT_EXPECT_EQ(test, real_return, ret_addr);
	KUNIT_EXPECT_EQ(test, seen.returns, 2U);
}

static void changed_return_value_is_obeyed(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct kretprobe rp = {
		.kp.addr = (kprobe_opcode_t *)target->twice,
		.handler = change_return,
	};

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, call(target->twice, 21), 43UL);
	unregister_kretprobe(&rp);
	KUNIT_EXPECT_EQ(test, call(target->twice, 21), 42UL);
}

/* A call that the entry handler skips returns its instance. */
static void skipped_entries_cost_nothing(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct kretprobe rp = make_probe(target->twice);
	unsigned int i;

	skip_mask = 1;
	rp.maxactive = 1;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_EQ(test, call(target->twice, i), 2UL * i);
	KUNIT_EXPECT_EQ(test, seen.entries, 20U);
	KUNIT_EXPECT_EQ(test, seen.returns, 10U);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 0);
	unregister_kretprobe(&rp);
}

static void recursion_beyond_maxactive_is_counted(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct kretprobe rp = make_probe(target->sum);

	rp.maxactive = 1;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, call(target->sum, 6), 21UL);
	KUNIT_EXPECT_EQ(test, seen.entries, 1U);
	KUNIT_EXPECT_EQ(test, seen.returns, 1U);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 5);
	/* The outermost call was followed. */
	KUNIT_EXPECT_EQ(test, seen.value, 21UL);

	KUNIT_EXPECT_EQ(test, call(target->sum, 3), 6UL);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 7);
	unregister_kretprobe(&rp);
}

static void recursion_within_maxactive_is_followed(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct kretprobe rp = make_probe(target->sum);

	rp.maxactive = 6;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, call(target->sum, 6), 21UL);
	KUNIT_EXPECT_EQ(test, seen.entries, 6U);
	KUNIT_EXPECT_EQ(test, seen.returns, 6U);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 0);
	/* Every call got its own data: the last entry was the first to return. */
	KUNIT_EXPECT_EQ(test, seen.cookie, COOKIE + 1);
	KUNIT_EXPECT_EQ(test, seen.value, 21UL);
	unregister_kretprobe(&rp);
}

static target_t nested_target;

static int call_nested(struct kprobe *kp, struct pt_regs *regs)
{
	call(nested_target, 1);
	return 0;
}

/* The entry is missed like that of any nested probe, so the call is not followed. */
static void calls_in_handlers_are_missed(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct kprobe outer = { .addr = (void *)target->outer, .pre_handler = call_nested };
	struct kretprobe rp = make_probe(target->twice);

	nested_target = target->twice;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, register_kprobe(&outer), 0);
	KUNIT_EXPECT_EQ(test, target->outer(1), 2);
	unregister_kprobe(&outer);
	KUNIT_EXPECT_EQ(test, seen.entries, 0U);
	KUNIT_EXPECT_EQ(test, seen.returns, 0U);
	KUNIT_EXPECT_EQ(test, rp.kp.nmissed, 1UL);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 0);
	KUNIT_EXPECT_EQ(test, call(target->twice, 4), 8UL);
	KUNIT_EXPECT_EQ(test, seen.returns, 1U);
	unregister_kretprobe(&rp);
}

static void works_beside_a_kprobe(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct kretprobe rp = make_probe(target->twice);
	struct counted probe = counted_at(target->twice, true, true);

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&probe.kp), 0);
	KUNIT_EXPECT_EQ(test, call(target->twice, 21), 42UL);
	unregister_kretprobe(&rp);
	KUNIT_EXPECT_EQ(test, call(target->twice, 22), 44UL);
	unregister_kprobe(&probe.kp);

	KUNIT_EXPECT_EQ(test, seen.entries, 1U);
	KUNIT_EXPECT_EQ(test, seen.returns, 1U);
	KUNIT_EXPECT_EQ(test, probe.pre, 2);
	KUNIT_EXPECT_EQ(test, probe.post, 2);
	KUNIT_EXPECT_EQ(test, probe.kp.nmissed, 0UL);
}

static void disabled_probe_is_silent(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct kretprobe rp = make_probe(target->twice);

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, disable_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, call(target->twice, 1), 2UL);
	KUNIT_EXPECT_EQ(test, seen.entries, 0U);
	KUNIT_EXPECT_EQ(test, seen.returns, 0U);

	KUNIT_EXPECT_EQ(test, enable_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, call(target->twice, 1), 2UL);
	KUNIT_EXPECT_EQ(test, seen.entries, 1U);
	KUNIT_EXPECT_EQ(test, seen.returns, 1U);
	unregister_kretprobe(&rp);
}

struct blocked_call {
	target_t fn;
	unsigned long result;
	struct completion done;
};

static int blocked_thread(void *arg)
{
	struct blocked_call *blocked = arg;

	blocked->result = blocked->fn(21);
	complete(&blocked->done);
	return 0;
}

static void unregister_leaves_calls_in_flight_alone(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct kretprobe rp = make_probe(target->blocked);
	struct blocked_call blocked = { .fn = target->blocked };
	struct task_struct *task;

	init_completion(&blocked.done);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	task = kthread_run(blocked_thread, &blocked, "kprobe_blocked");
	if (IS_ERR(task)) {
		unregister_kretprobe(&rp);
		KUNIT_FAIL_AND_ABORT(test, "no thread");
	}
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&blocked_entered, WAIT), 0UL);
	unregister_kretprobe(&rp);
	complete(&blocked_leave);
	/* The wait has a limit, because the function itself does not wait for ever. */
	wait_for_completion(&blocked.done);

	KUNIT_EXPECT_EQ(test, blocked.result, 42UL);
	KUNIT_EXPECT_EQ(test, seen.entries, 1U);
	KUNIT_EXPECT_EQ(test, seen.returns, 0U);
}

static void a_failed_batch_registers_nothing(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct kretprobe good = make_probe(target->twice);
	struct kretprobe bad = make_probe(target->sum);
	struct kretprobe *batch[] = { &good, &bad };

	bad.data_size = KRETPROBE_MAX_DATA_SIZE + 1;
	KUNIT_EXPECT_EQ(test, register_kretprobes(batch, 2), -E2BIG);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(good.kp.addr), NULL);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(bad.kp.addr), NULL);
	KUNIT_EXPECT_EQ(test, call(target->twice, 1), 2UL);
	KUNIT_EXPECT_EQ(test, call(target->sum, 2), 3UL);
	KUNIT_EXPECT_EQ(test, seen.entries, 0U);

	/* The same structs are accepted after they have been corrected. */
	bad.data_size = KRETPROBE_MAX_DATA_SIZE;
	KUNIT_ASSERT_EQ(test, register_kretprobes(batch, 2), 0);
	KUNIT_EXPECT_EQ(test, call(target->twice, 1), 2UL);
	KUNIT_EXPECT_EQ(test, call(target->sum, 1), 1UL);
	KUNIT_EXPECT_EQ(test, seen.returns, 2U);
	unregister_kretprobes(batch, 2);
}

static struct kunit_case retprobe_cases[] = {
	KUNIT_CASE_PARAM(handlers_see_the_call, target_gen_params),
	KUNIT_CASE_PARAM(changed_return_value_is_obeyed, target_gen_params),
	KUNIT_CASE_PARAM(skipped_entries_cost_nothing, target_gen_params),
	KUNIT_CASE_PARAM(recursion_beyond_maxactive_is_counted, target_gen_params),
	KUNIT_CASE_PARAM(recursion_within_maxactive_is_followed, target_gen_params),
	KUNIT_CASE_PARAM(calls_in_handlers_are_missed, target_gen_params),
	KUNIT_CASE_PARAM(works_beside_a_kprobe, target_gen_params),
	KUNIT_CASE_PARAM(disabled_probe_is_silent, target_gen_params),
	KUNIT_CASE_PARAM(unregister_leaves_calls_in_flight_alone, target_gen_params),
	KUNIT_CASE_PARAM(a_failed_batch_registers_nothing, target_gen_params),
	{}
};

static struct kunit_suite retprobe_suite = {
	.name = "kprobes_retprobe_sites",
	.init = retprobe_init,
	.test_cases = retprobe_cases,
};

kunit_test_suite(retprobe_suite);
