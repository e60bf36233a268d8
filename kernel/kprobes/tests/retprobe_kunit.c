// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes, for each engine that keeps their instances.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/ptrace.h>

#include "../internal.h"
#include "attempt.h"
#include "counted.h"

TRACED_TARGET(return_target, 1)
TRACED_TARGET(return_other, 2)

/* Direct calls may come to another entry than that of a pointer: on powerpc they do. */
static __always_inline int call_by_pointer(int (*fn)(int), int x)
{
	OPTIMIZER_HIDE_VAR(fn);
	return fn(x);
}

static noinline __noclone int recursive_target(int depth)
{
	int below = depth ? call_by_pointer(recursive_target, depth - 1) : 0;

	barrier();
	return below + 1;
}

static int entered, returned, skip;
static unsigned long result;
static bool own_probe, data_kept;

static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	entered++;
	*(int *)ri->data = entered;
	return skip;
}
NOKPROBE_SYMBOL(entry);

static int leave(struct kretprobe_instance *ri, struct pt_regs *regs);
NOKPROBE_SYMBOL(leave);

static struct kretprobe rp = {
	.entry_handler = entry,
	.handler = leave,
	.data_size = sizeof(int),
};

static int leave(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	returned++;
	result = regs_return_value(regs);
	own_probe = get_kretprobe(ri) == &rp;
	data_kept = *(int *)ri->data > 0;
	return 0;
}

static int retprobe_init(struct kunit *test)
{
	entered = 0;
	returned = 0;
	skip = 0;
	result = 0;
	rp.kp.addr = (void *)return_target;
	rp.maxactive = 0;
	return 0;
}

static void handlers_are_called(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, return_target(6), 7);
	KUNIT_EXPECT_EQ(test, entered, 1);
	KUNIT_EXPECT_EQ(test, returned, 1);
	KUNIT_EXPECT_EQ(test, (int)result, 7);
	KUNIT_EXPECT_TRUE(test, own_probe);
	KUNIT_EXPECT_TRUE(test, data_kept);

	/* The entry handler skips this call. */
	skip = 1;
	KUNIT_EXPECT_EQ(test, return_target(6), 7);
	KUNIT_EXPECT_EQ(test, entered, 2);
	KUNIT_EXPECT_EQ(test, returned, 1);
	skip = 0;

	KUNIT_EXPECT_EQ(test, disable_kretprobe(&rp), 0);
	return_target(1);
	KUNIT_EXPECT_EQ(test, entered, 2);
	KUNIT_EXPECT_EQ(test, enable_kretprobe(&rp), 0);
	return_target(1);
	KUNIT_EXPECT_EQ(test, returned, 2);
	KUNIT_EXPECT_EQ(test, register_kretprobe(&rp), -EINVAL);
	unregister_kretprobe(&rp);
	return_target(1);
	KUNIT_EXPECT_EQ(test, entered, 3);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 0);
}

static void more_calls_than_instances(struct kunit *test)
{
	rp.kp.addr = (void *)recursive_target;
	rp.maxactive = 1;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, call_by_pointer(recursive_target, 9), 10);
	KUNIT_EXPECT_EQ(test, entered, 1);
	KUNIT_EXPECT_EQ(test, returned, 1);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 9);
	unregister_kretprobe(&rp);
}

static void beside_a_kprobe(struct kunit *test)
{
	struct counted c = counted_at(return_target, true, true);

	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, return_target(6), 7);
	unregister_kprobe(&c.kp);
	KUNIT_EXPECT_EQ(test, return_target(6), 7);
	unregister_kretprobe(&rp);
	KUNIT_EXPECT_EQ(test, c.pre, 1);
	KUNIT_EXPECT_EQ(test, c.post, 1);
	KUNIT_EXPECT_EQ(test, returned, 2);
}

static void refusals(struct kunit *test)
{
	struct kretprobe bad = {
		.kp.addr = (void *)return_other,
		.data_size = KRETPROBE_MAX_DATA_SIZE + 1,
	};
	struct kretprobe *rps[] = { &rp, &bad };

	KUNIT_EXPECT_EQ(test, register_kretprobes(rps, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_kretprobes(rps, 2), -E2BIG);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(return_target), NULL);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(return_other), NULL);

	bad.data_size = 0;
	bad.kp.addr = NULL;
	bad.kp.symbol_name = "there_is_no_such_function";
	KUNIT_EXPECT_EQ(test, register_kretprobe(&bad), -ENOENT);
	bad.kp.symbol_name = NULL;
	bad.kp.addr = NULL;
	KUNIT_EXPECT_EQ(test, register_kretprobe(&bad), -EINVAL);

	/* The same probe twice in one batch. */
	rps[1] = &rp;
	KUNIT_EXPECT_EQ(test, register_kretprobes(rps, 2), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(return_target), NULL);
	KUNIT_ASSERT_EQ(test, register_kretprobes(rps, 1), 0);
	return_target(1);
	unregister_kretprobes(rps, 1);
	KUNIT_EXPECT_EQ(test, returned, 1);
}

#ifdef CONFIG_X86
/*
 * Expects a refusal.  A probe that is accepted is unregistered, so that it does not outlive
 * the test.
 */
static void expect_no_return_probe(struct kunit *test, void *addr, const char *symbol)
{
	struct kretprobe bad = { .kp.addr = addr, .kp.symbol_name = symbol };
	int ret = register_kretprobe(&bad);

	KUNIT_EXPECT_EQ_MSG(test, ret, -EINVAL, "%s at %pS", symbol ?: "", addr);
	if (!ret)
		unregister_kretprobe(&bad);
}

/* x86 decides which addresses are entries of functions, and which functions cannot return. */
static void places_that_do_not_return(struct kunit *test)
{
	int i;

	expect_no_return_probe(test, NULL, "__switch_to");
	/* No address in a function except its entry. */
	for (i = 8; i < TEXT_BYTES; i++)
		expect_no_return_probe(test, text_at(recursive_target, i), NULL);
}
#endif

/* --- A call that is in flight when its probe is unregistered ------------------- */

static DECLARE_COMPLETION(inside);
static DECLARE_COMPLETION(may_return);
static DECLARE_COMPLETION(has_returned);

static noinline __noclone int blocking_target(int x)
{
	complete(&inside);
	wait_for_completion(&may_return);
	return x + 1;
}

static int blocked_result;

static int blocked_thread(void *unused)
{
	blocked_result = call_by_pointer(blocking_target, 1);
	complete(&has_returned);
	return 0;
}

static void unregistering_under_a_call(struct kunit *test)
{
	struct task_struct *task;

	reinit_completion(&inside);
	reinit_completion(&may_return);
	reinit_completion(&has_returned);
	blocked_result = 0;
	rp.kp.addr = (void *)blocking_target;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	task = kthread_run(blocked_thread, NULL, "kprobe_blocked");
	if (IS_ERR(task)) {
		unregister_kretprobe(&rp);
		KUNIT_FAIL_AND_ABORT(test, "no thread");
	}
	wait_for_completion(&inside);
	unregister_kretprobe(&rp);
	complete(&may_return);
	wait_for_completion(&has_returned);
	KUNIT_EXPECT_EQ(test, blocked_result, 2);
	KUNIT_EXPECT_EQ(test, entered, 1);
	KUNIT_EXPECT_EQ(test, returned, 0);
}

/* --- The flags of a probe that is registered ----------------------------------- */

static int register_again(void *probe)
{
	return register_kretprobe(probe);
}

/* A registration that is going to be refused must not write to the struct without the lock. */
static void flags_are_written_under_the_lock(struct kunit *test)
{
	struct attempt again;
	u32 flags;

	attempt_prepare(test, &again, register_again, &rp);
	rp.kp.addr = (void *)return_target;
	KUNIT_EXPECT_EQ(test, register_kretprobe(&rp), 0);
	attempt_measure(&again);
	mutex_lock(&kprobe_mutex);
	/* The flag that a registration removes. */
	rp.kp.flags |= KPROBE_FLAG_STAGED;
	attempt_start(&again);
	KUNIT_EXPECT_TRUE(test, attempt_waits(&again));
	flags = rp.kp.flags;
	rp.kp.flags &= ~KPROBE_FLAG_STAGED;
	mutex_unlock(&kprobe_mutex);
	KUNIT_EXPECT_TRUE(test, flags & KPROBE_FLAG_STAGED);
	KUNIT_EXPECT_EQ(test, attempt_end(&again), -EINVAL);
	KUNIT_EXPECT_EQ(test, return_target(1), 2);
	unregister_kretprobe(&rp);
	KUNIT_EXPECT_EQ(test, returned, 1);
}

static struct kunit_case retprobe_cases[] = {
	KUNIT_CASE(handlers_are_called),
	KUNIT_CASE(more_calls_than_instances),
	KUNIT_CASE(beside_a_kprobe),
	KUNIT_CASE(refusals),
#ifdef CONFIG_X86
	KUNIT_CASE(places_that_do_not_return),
#endif
	KUNIT_CASE(unregistering_under_a_call),
	KUNIT_CASE(flags_are_written_under_the_lock),
	{}
};

static struct kunit_suite retprobe_suite = {
	.name = "kprobes_retprobe",
	.init = retprobe_init,
	.test_cases = retprobe_cases,
};
kunit_test_suite(retprobe_suite);
