// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arguments of handlers and the effects that handlers can have, at a breakpoint and at an
 * instruction of ftrace, alone and with others at the same address.
 */
#include <linux/irqflags.h>
#include <linux/ptrace.h>
#include <linux/slab.h>

#include "counted.h"

TRAP_TARGET(trap_target, 1)
TRACED_TARGET(call_target, 1)

/* The target of a changed path: the same prototype, another result. */
TRAP_TARGET(elsewhere, 1000)

struct site {
	const char *name;
	int (*fn)(int x);
};

static const struct site sites[] = {
	{ "breakpoint", trap_target },
	{ "traced entry", call_target },
};

#define for_each_site(s)	\
	for ((s) = sites; (s) < sites + ARRAY_SIZE(sites); (s)++)

static struct seen {
	unsigned long pre_ip, post_ip, flags;
	bool preemptible, running_is_here;
	int pre, post;
} seen;

static int look_pre(struct kprobe *p, struct pt_regs *regs)
{
	seen.pre++;
	seen.pre_ip = instruction_pointer(regs);
	seen.preemptible = preemptible();
	seen.running_is_here = kprobe_running() && kprobe_running()->addr == p->addr;
	return 0;
}
NOKPROBE_SYMBOL(look_pre);

static void look_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	seen.post++;
	seen.post_ip = instruction_pointer(regs);
	seen.flags = flags;
	seen.preemptible |= preemptible();
}
NOKPROBE_SYMBOL(look_post);

static void values_that_handlers_get(struct kunit *test)
{
	const struct site *s;

	for_each_site(s) {
		struct kprobe kp = {
			.addr = (void *)s->fn,
			.pre_handler = look_pre,
			.post_handler = look_post,
		};
		unsigned long addr;

		memset(&seen, 0, sizeof(seen));
		KUNIT_ASSERT_EQ_MSG(test, register_kprobe(&kp), 0, "%s", s->name);
		KUNIT_EXPECT_EQ(test, s->fn(4), 5);
		addr = (unsigned long)kp.addr;
		unregister_kprobe(&kp);

		KUNIT_EXPECT_EQ(test, seen.pre, 1);
		KUNIT_EXPECT_EQ(test, seen.post, 1);
		KUNIT_EXPECT_EQ(test, seen.flags, 0);
		KUNIT_EXPECT_FALSE(test, seen.preemptible);
		KUNIT_EXPECT_TRUE(test, seen.running_is_here);
		KUNIT_EXPECT_GT(test, seen.post_ip, addr);
		KUNIT_EXPECT_LE(test, seen.post_ip, addr + 15);
		if (IS_ENABLED(CONFIG_X86))
			KUNIT_EXPECT_EQ(test, seen.pre_ip, addr + 1);
		preempt_disable();
		KUNIT_EXPECT_PTR_EQ(test, kprobe_running(), NULL);
		preempt_enable();
	}
}

/* After a hit, the interrupt flag is that of the caller. */
static void interrupts_are_as_before(struct kunit *test)
{
	const struct site *s;
	unsigned long flags;
	int post;

	for_each_site(s) {
		for (post = 0; post < 2; post++) {
			struct counted c = counted_at(s->fn, true, post);
			bool off;

			KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
			s->fn(1);
			KUNIT_EXPECT_FALSE(test, irqs_disabled());
			local_irq_save(flags);
			s->fn(1);
			off = irqs_disabled();
			local_irq_restore(flags);
			unregister_kprobe(&c.kp);
			KUNIT_EXPECT_TRUE(test, off);
			KUNIT_EXPECT_FALSE(test, irqs_disabled());
			KUNIT_EXPECT_EQ(test, c.pre, 2);
			KUNIT_EXPECT_EQ(test, c.post, 2 * post);
		}
	}
}

static int divert_pre(struct kprobe *p, struct pt_regs *regs)
{
	counted_pre(p, regs);
	instruction_pointer_set(regs, (unsigned long)elsewhere);
	return 1;
}
NOKPROBE_SYMBOL(divert_pre);

/*
 * At the entry of a function the stack is that of a call, so a handler may change the path to
 * another function.
 */
static void a_changed_path_is_obeyed(struct kunit *test)
{
	const struct site *s;

	for_each_site(s) {
		struct counted first = counted_at(s->fn, true, true);
		struct counted last = counted_at(s->fn, true, true);

		first.kp.pre_handler = divert_pre;
		KUNIT_ASSERT_EQ(test, register_kprobe(&first.kp), 0);
		KUNIT_ASSERT_EQ(test, register_kprobe(&last.kp), 0);
		KUNIT_EXPECT_EQ_MSG(test, s->fn(1), 1001, "%s", s->name);
		unregister_kprobe(&first.kp);
		KUNIT_EXPECT_EQ(test, first.pre, 1);
		KUNIT_EXPECT_EQ(test, first.post, 0);
		/* After the handler that has changed the path, no other is called. */
		KUNIT_EXPECT_EQ(test, last.pre, 0);
		KUNIT_EXPECT_EQ(test, last.post, 0);
		KUNIT_EXPECT_EQ(test, s->fn(1), 2);
		KUNIT_EXPECT_EQ(test, last.pre, 1);
		unregister_kprobe(&last.kp);
	}
}

#ifdef CONFIG_X86
/* The kernel passes the first argument in di, or in ax on i386 (-mregparm). */
static int set_argument_pre(struct kprobe *p, struct pt_regs *regs)
{
#ifdef CONFIG_X86_64
	regs->di = 41;
#else
	regs->ax = 41;
#endif
	return 0;
}
NOKPROBE_SYMBOL(set_argument_pre);

static void changed_registers_take_effect(struct kunit *test)
{
	const struct site *s;
	int post;

	for_each_site(s) {
		for (post = 0; post < 2; post++) {
			struct counted c = counted_at(s->fn, true, post);

			c.kp.pre_handler = set_argument_pre;
			KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
			KUNIT_EXPECT_EQ_MSG(test, s->fn(1), 42, "%s", s->name);
			unregister_kprobe(&c.kp);
		}
	}
}
#endif

/* --- Several at one address ------------------------------------------------- */

#define MANY	32

/* Every third probe has a post handler only, every fifth is disabled. */
static void many_at_one_address(struct kunit *test)
{
	const int counts[] = { 1, 2, 8, MANY };
	struct counted *c = kunit_kcalloc(test, MANY, sizeof(*c), GFP_KERNEL);
	struct kprobe **kps = kunit_kcalloc(test, MANY, sizeof(*kps), GFP_KERNEL);
	const struct site *s;
	int i, n;

	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_ASSERT_NOT_NULL(test, kps);
	for_each_site(s) {
		for (n = 0; n < ARRAY_SIZE(counts); n++) {
			int order = counted_calls;

			for (i = 0; i < counts[n]; i++) {
				c[i] = counted_at(s->fn, i % 3 != 2, i % 3);
				if (i % 5 == 4)
					c[i].kp.flags = KPROBE_FLAG_DISABLED;
				kps[i] = &c[i].kp;
			}
			KUNIT_ASSERT_EQ(test, register_kprobes(kps, counts[n]), 0);
			KUNIT_EXPECT_EQ(test, s->fn(1), 2);
			unregister_kprobes(kps, counts[n]);
			KUNIT_EXPECT_EQ(test, s->fn(1), 2);
			for (i = 0; i < counts[n]; i++) {
				bool on = i % 5 != 4;

				KUNIT_EXPECT_EQ(test, c[i].pre, on && i % 3 != 2);
				KUNIT_EXPECT_EQ(test, c[i].post, on && i % 3);
				if (!c[i].pre)
					continue;
				KUNIT_EXPECT_GT(test, c[i].order, order);
				order = c[i].order;
			}
		}
	}
}

static void one_of_three_is_unregistered(struct kunit *test)
{
	const struct site *s;
	int i, gone;

	for_each_site(s) {
		for (gone = 0; gone < 3; gone++) {
			struct counted c[3];

			for (i = 0; i < 3; i++) {
				c[i] = counted_at(s->fn, true, i == 1);
				KUNIT_ASSERT_EQ(test, register_kprobe(&c[i].kp), 0);
			}
			s->fn(1);
			unregister_kprobe(&c[gone].kp);
			s->fn(1);
			for (i = 0; i < 3; i++) {
				KUNIT_EXPECT_EQ(test, c[i].pre, i == gone ? 1 : 2);
				if (i != gone)
					unregister_kprobe(&c[i].kp);
			}
		}
	}
}

/* The second trap is taken only while there are post handlers. */
static void a_post_handler_comes_later(struct kunit *test)
{
	const struct site *s;

	for_each_site(s) {
		struct counted plain = counted_at(s->fn, true, false);
		struct counted late = counted_at(s->fn, false, true);

		KUNIT_ASSERT_EQ(test, register_kprobe(&plain.kp), 0);
		KUNIT_EXPECT_EQ(test, s->fn(1), 2);
		KUNIT_ASSERT_EQ(test, register_kprobe(&late.kp), 0);
		KUNIT_EXPECT_EQ(test, s->fn(1), 2);
		KUNIT_EXPECT_EQ(test, late.post, 1);
		KUNIT_EXPECT_EQ(test, disable_kprobe(&late.kp), 0);
		KUNIT_EXPECT_EQ(test, s->fn(1), 2);
		KUNIT_EXPECT_EQ(test, enable_kprobe(&late.kp), 0);
		KUNIT_EXPECT_EQ(test, s->fn(1), 2);
		unregister_kprobe(&late.kp);
		KUNIT_EXPECT_EQ(test, s->fn(1), 2);
		unregister_kprobe(&plain.kp);
		KUNIT_EXPECT_EQ(test, plain.pre, 5);
		KUNIT_EXPECT_EQ(test, late.post, 2);
	}
}

static void disabling_one_of_two_keeps_the_other(struct kunit *test)
{
	const struct site *s;

	for_each_site(s) {
		struct counted a = counted_at(s->fn, true, false);
		struct counted b = counted_at(s->fn, true, false);
		u8 text[TEXT_BYTES];

		text_save(text, s->fn);
		KUNIT_ASSERT_EQ(test, register_kprobe(&a.kp), 0);
		KUNIT_ASSERT_EQ(test, register_kprobe(&b.kp), 0);
		KUNIT_EXPECT_EQ(test, disable_kprobe(&a.kp), 0);
		s->fn(1);
		KUNIT_EXPECT_EQ(test, disable_kprobe(&b.kp), 0);
		EXPECT_TEXT(test, text, s->fn);
		s->fn(1);
		KUNIT_EXPECT_EQ(test, enable_kprobe(&a.kp), 0);
		s->fn(1);
		unregister_kprobe(&a.kp);
		EXPECT_TEXT(test, text, s->fn);
		unregister_kprobe(&b.kp);
		KUNIT_EXPECT_EQ(test, a.pre, 1);
		KUNIT_EXPECT_EQ(test, b.pre, 1);
	}
}

static struct kunit_case handler_cases[] = {
	KUNIT_CASE(values_that_handlers_get),
	KUNIT_CASE(interrupts_are_as_before),
	KUNIT_CASE(a_changed_path_is_obeyed),
#ifdef CONFIG_X86
	KUNIT_CASE(changed_registers_take_effect),
#endif
	KUNIT_CASE(many_at_one_address),
	KUNIT_CASE(one_of_three_is_unregistered),
	KUNIT_CASE(a_post_handler_comes_later),
	KUNIT_CASE(disabling_one_of_two_keeps_the_other),
	{}
};

static struct kunit_suite handler_suite = {
	.name = "kprobes_handler",
	.test_cases = handler_cases,
};
kunit_test_suite(handler_suite);
