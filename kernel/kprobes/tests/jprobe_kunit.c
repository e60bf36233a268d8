// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jprobes: the handler gets the arguments, and changes that it makes to them do not reach the
 * function.
 */
#include <linux/ptrace.h>
#include <linux/hrtimer.h>
#include <linux/sched/task_stack.h>

#include "counted.h"
#include "../internal.h"

/* --- Functions to be probed ----------------------------------------------------- */

#define MANY_PARAMETERS	long a, long b, long c, long d, long e,		\
			long f, long g, long h, long i, long j
#define MANY_ARGUMENTS	1, 2, 3, 4, 5, 6, 7, 8, 9, 10
#define MANY_SUM	(1 + 4 + 9 + 16 + 25 + 36 + 49 + 64 + 81 + 100)

/* Different weights distinguish the parameters. */
#define WEIGHTED_SUM							\
	(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j)

/* Targets with a breakpoint, and with ftrace. */
#define DEFINE_TARGETS(prefix, attribute)				\
static noinline __noclone attribute long prefix##_many(MANY_PARAMETERS)	\
{									\
	barrier();							\
	return WEIGHTED_SUM;						\
}									\
									\
static noinline __noclone attribute int prefix##_one(int x)		\
{									\
	KEEP_CALL(x);							\
	return x + 1;							\
}

DEFINE_TARGETS(plain, notrace)
DEFINE_TARGETS(traced, /* nothing */)

typedef long (*many_fn)(MANY_PARAMETERS);
typedef int (*one_fn)(int x);

static const struct target {
	const char *name;
	many_fn many;
	one_fn one;
} targets[] = {
	{ "breakpoint", plain_many, plain_one },
	{ "traced entry", traced_many, traced_one },
};

KUNIT_ARRAY_PARAM_DESC(target, targets, name);

/* --- Handlers --------------------------------------------------------------------- */

static struct {
	int calls;
	long sum;
	bool ended;		/* the handler continued after jprobe_return() */
} seen;

static long many_handler(MANY_PARAMETERS)
{
	seen.calls++;
	seen.sum = WEIGHTED_SUM;
	jprobe_return();
	seen.ended = true;
	return 0;
}

/* A function may overwrite its arguments, in registers and on the stack. */
static long clobbering_handler(MANY_PARAMETERS)
{
	seen.calls++;
	WRITE_ONCE(g, -1);
	WRITE_ONCE(h, -1);
	WRITE_ONCE(i, -1);
	WRITE_ONCE(j, -1);
	asm volatile("" : "+r" (a), "+r" (b), "+r" (c) : : "memory");
	jprobe_return();
	return 0;
}

static int one_handler(int x)
{
	seen.calls++;
	seen.sum += x;
	jprobe_return();
	seen.ended = true;
	return 0;
}

static int returning_handler(int x)
{
	seen.calls++;
	seen.sum += x;
	return 4711;
}

static noinline __noclone void return_from_below(int depth)
{
	char room[64];

	barrier_data(room);
	if (depth)
		return_from_below(depth - 1);
	else
		jprobe_return();
	barrier_data(room);
	seen.ended = true;
}

static int deep_handler(int x)
{
	seen.calls++;
	return_from_below(5);
	return 0;
}

static struct jprobe jprobe_on(void *fn, void *handler)
{
	return (struct jprobe) { .kp.addr = fn, .entry = JPROBE_ENTRY(handler) };
}

static int jprobe_init(struct kunit *test)
{
	memset(&seen, 0, sizeof(seen));
	return 0;
}

/* --- Cases ---------------------------------------------------------------------------- */

static void handlers_see_all_arguments(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct jprobe jp = jprobe_on(target->many, many_handler);

	KUNIT_ASSERT_EQ(test, register_jprobe(&jp), 0);
	KUNIT_EXPECT_EQ(test, target->many(MANY_ARGUMENTS), (long)MANY_SUM);
	KUNIT_EXPECT_EQ(test, seen.calls, 1);
	KUNIT_EXPECT_EQ(test, seen.sum, (long)MANY_SUM);
	KUNIT_EXPECT_FALSE(test, seen.ended);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());

	KUNIT_EXPECT_EQ(test, disable_jprobe(&jp), 0);
	target->many(MANY_ARGUMENTS);
	KUNIT_EXPECT_EQ(test, seen.calls, 1);
	KUNIT_EXPECT_EQ(test, enable_jprobe(&jp), 0);
	target->many(MANY_ARGUMENTS);
	KUNIT_EXPECT_EQ(test, seen.calls, 2);
	unregister_jprobe(&jp);
	KUNIT_EXPECT_EQ(test, target->many(MANY_ARGUMENTS), (long)MANY_SUM);
	KUNIT_EXPECT_EQ(test, seen.calls, 2);
	KUNIT_EXPECT_EQ(test, jp.kp.nmissed, 0UL);
}

static void clobbered_arguments_are_a_copy(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct jprobe jp = jprobe_on(target->many, clobbering_handler);

	KUNIT_ASSERT_EQ(test, register_jprobe(&jp), 0);
	KUNIT_EXPECT_EQ(test, target->many(MANY_ARGUMENTS), (long)MANY_SUM);
	KUNIT_EXPECT_EQ(test, seen.calls, 1);
	unregister_jprobe(&jp);
}

static void handlers_end_in_every_way(struct kunit *test)
{
	const struct target *target = test->param_value;
	void *handlers[] = { one_handler, returning_handler, deep_handler };
	int i;

	for (i = 0; i < ARRAY_SIZE(handlers); i++) {
		struct jprobe jp = jprobe_on(target->one, handlers[i]);

		seen.calls = 0;
		KUNIT_ASSERT_EQ(test, register_jprobe(&jp), 0);
		KUNIT_EXPECT_EQ(test, target->one(20), 21);
		KUNIT_EXPECT_EQ(test, target->one(21), 22);
		KUNIT_EXPECT_EQ(test, seen.calls, 2);
		unregister_jprobe(&jp);
	}
	KUNIT_EXPECT_FALSE(test, seen.ended);
}

static one_fn probed_in_handler;

static int calling_handler(int x)
{
	seen.calls++;
	seen.sum += probed_in_handler(x);
	jprobe_return();
	return 0;
}

static void probed_functions_in_handlers_are_missed(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct jprobe jp = jprobe_on(target->many, calling_handler);
	struct jprobe inner = jprobe_on(target->one, one_handler);

	probed_in_handler = target->one;
	KUNIT_ASSERT_EQ(test, register_jprobe(&jp), 0);
	KUNIT_ASSERT_EQ(test, register_jprobe(&inner), 0);
	KUNIT_EXPECT_EQ(test, target->many(MANY_ARGUMENTS), (long)MANY_SUM);
	KUNIT_EXPECT_EQ(test, seen.calls, 1);
	KUNIT_EXPECT_EQ(test, seen.sum, 2L);
	KUNIT_EXPECT_EQ(test, inner.kp.nmissed, 1UL);
	KUNIT_EXPECT_EQ(test, target->one(1), 2);
	KUNIT_EXPECT_EQ(test, seen.calls, 2);
	unregister_jprobe(&inner);
	unregister_jprobe(&jp);
}

static int returned;

static int count_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	returned++;
	return 0;
}

static void beside_all_other_probes(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct jprobe jp = jprobe_on(target->one, one_handler);
	struct counted before = counted_at(target->one, true, true);
	struct counted after = counted_at(target->one, true, false);
	struct kretprobe rp = { .kp.addr = (void *)target->one, .handler = count_return };

	returned = 0;
	KUNIT_ASSERT_EQ(test, register_kprobe(&before.kp), 0);
	KUNIT_ASSERT_EQ(test, register_jprobe(&jp), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&after.kp), 0);
	KUNIT_EXPECT_EQ(test, target->one(5), 6);
	KUNIT_EXPECT_EQ(test, before.pre, 1);
	KUNIT_EXPECT_EQ(test, before.post, 1);
	KUNIT_EXPECT_EQ(test, after.pre, 1);
	KUNIT_EXPECT_EQ(test, seen.calls, 1);
	KUNIT_EXPECT_EQ(test, returned, 1);
	unregister_kprobe(&before.kp);
	unregister_kretprobe(&rp);
	KUNIT_EXPECT_EQ(test, target->one(5), 6);
	KUNIT_EXPECT_EQ(test, seen.calls, 2);
	KUNIT_EXPECT_EQ(test, seen.sum, 10L);
	unregister_jprobe(&jp);
	unregister_kprobe(&after.kp);
}

static void one_jprobe_per_function(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct jprobe a = jprobe_on(target->one, one_handler);
	struct jprobe b = jprobe_on(target->one, returning_handler);
	struct jprobe c = jprobe_on(target->many, many_handler);
	struct jprobe *twice[] = { &a, &c, &b }, *both[] = { &a, &c };

	KUNIT_ASSERT_EQ(test, register_jprobe(&a), 0);
	KUNIT_EXPECT_EQ(test, register_jprobe(&b), -EEXIST);
	KUNIT_EXPECT_EQ(test, target->one(1), 2);
	KUNIT_EXPECT_EQ(test, seen.calls, 1);
	KUNIT_EXPECT_EQ(test, register_jprobe(&a), -EINVAL);
	unregister_jprobe(&a);

	KUNIT_EXPECT_EQ(test, register_jprobes(twice, 3), -EEXIST);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(target->one), NULL);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(target->many), NULL);
	KUNIT_ASSERT_EQ(test, register_jprobes(both, 2), 0);
	KUNIT_EXPECT_EQ(test, register_jprobe(&b), -EEXIST);
	target->one(1);
	target->many(MANY_ARGUMENTS);
	KUNIT_EXPECT_EQ(test, seen.calls, 3);
	unregister_jprobes(both, 2);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(target->one), NULL);
	KUNIT_ASSERT_EQ(test, register_jprobe(&b), 0);
	unregister_jprobe(&b);
}

static void refusals(struct kunit *test)
{
	struct jprobe jp = jprobe_on(plain_one, NULL), *jps[] = { &jp, NULL };
	static int no_function;
	int i;

	KUNIT_EXPECT_EQ(test, register_jprobe(&jp), -EINVAL);
	jp.entry = &no_function;
	KUNIT_EXPECT_EQ(test, register_jprobe(&jp), -EINVAL);
	jp.entry = one_handler;
	KUNIT_EXPECT_EQ(test, register_jprobes(jps, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_jprobes(jps, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_jprobes(NULL, 1), -EINVAL);
	for (i = 8; i < TEXT_BYTES; i++) {
		jp.kp.addr = (void *)plain_many + i;
		KUNIT_EXPECT_EQ(test, register_jprobe(&jp), -EINVAL);
	}
	jp.kp.addr = NULL;
	jp.kp.symbol_name = "there_is_no_such_function";
	KUNIT_EXPECT_EQ(test, register_jprobe(&jp), -ENOENT);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(plain_one), NULL);

	/* A jprobe that was never registered: only its address is set to NULL. */
	jp = jprobe_on(plain_one, one_handler);
	unregister_jprobe(&jp);
	KUNIT_EXPECT_PTR_EQ(test, jp.kp.addr, NULL);
}

static enum hrtimer_restart call_many(struct hrtimer *timer)
{
	seen.ended = plain_many(MANY_ARGUMENTS) != MANY_SUM;
	return HRTIMER_NORESTART;
}

/* An interrupt has its own stack. */
static void arguments_on_another_stack(struct kunit *test)
{
	struct jprobe jp = jprobe_on(plain_many, many_handler);
	struct hrtimer timer;

	hrtimer_setup_on_stack(&timer, call_many, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	KUNIT_ASSERT_EQ(test, register_jprobe(&jp), 0);
	hrtimer_start(&timer, ms_to_ktime(1), HRTIMER_MODE_REL_HARD);
	while (hrtimer_active(&timer))
		cpu_relax();
	unregister_jprobe(&jp);
	destroy_hrtimer_on_stack(&timer);
	KUNIT_EXPECT_EQ(test, seen.calls, 1);
	KUNIT_EXPECT_EQ(test, seen.sum, (long)MANY_SUM);
	KUNIT_EXPECT_FALSE(test, seen.ended);
}

/* The first argument on the stack, and its distance from the stack pointer in words. */
#if defined(CONFIG_X86_64)
#define FIRST_ON_STACK	g
#define RETURN_WORDS	1
#elif defined(CONFIG_X86_32)
#define FIRST_ON_STACK	d
#define RETURN_WORDS	1
#else
#define FIRST_ON_STACK	i
#define RETURN_WORDS	0
#endif

static long top_seen;

static long top_handler(MANY_PARAMETERS)
{
	seen.calls++;
	top_seen = FIRST_ON_STACK;
	jprobe_return();
	return 0;
}

/*
 * Registers as if a call had put its return address this many words before the end of the
 * stack.  Where stacks have guard pages (64 bit), a read beyond the end would fault.
 */
static void nothing_beyond_the_stack_is_read(struct kunit *test)
{
	unsigned long *end = task_stack_page(current) + THREAD_SIZE;
	struct jprobe jp = { .entry = top_handler };
	struct pt_regs regs = {};
	int words;

	for (words = 1; words < 6; words++) {
		unsigned long *slot = end - words, kept = words > 1 ? slot[1] : 0;

		if (words > 1)
			slot[1] = 0x5eed;
		top_seen = 0;
		regs.sp = (unsigned long)(slot + 1 - RETURN_WORDS);
		preempt_disable();
		kprobe_enter_jprobe(&jp.kp, &regs);
		preempt_enable();
		if (words > 1) {
			slot[1] = kept;
			KUNIT_EXPECT_EQ(test, top_seen, 0x5eedL);
		}
	}
	KUNIT_EXPECT_EQ(test, seen.calls, 5);
}

static struct kunit_case jprobe_cases[] = {
	KUNIT_CASE_PARAM(handlers_see_all_arguments, target_gen_params),
	KUNIT_CASE_PARAM(clobbered_arguments_are_a_copy, target_gen_params),
	KUNIT_CASE_PARAM(handlers_end_in_every_way, target_gen_params),
	KUNIT_CASE_PARAM(probed_functions_in_handlers_are_missed, target_gen_params),
	KUNIT_CASE_PARAM(beside_all_other_probes, target_gen_params),
	KUNIT_CASE_PARAM(one_jprobe_per_function, target_gen_params),
	KUNIT_CASE(refusals),
	KUNIT_CASE(arguments_on_another_stack),
	KUNIT_CASE(nothing_beyond_the_stack_is_read),
	{}
};

static struct kunit_suite jprobe_suite = {
	.name = "kprobes_jprobe",
	.init = jprobe_init,
	.test_cases = jprobe_cases,
};
kunit_test_suite(jprobe_suite);
