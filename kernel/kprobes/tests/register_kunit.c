// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registering and unregistering: single probes, batches, reuse of structs, enabling and
 * disabling, that a failed registration changes nothing, and the locks of a registration.
 */
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/static_call.h>

#include "../internal.h"
#include "attempt.h"
#include "counted.h"

int counted_calls;

int counted_pre(struct kprobe *p, struct pt_regs *regs)
{
	struct counted *c = container_of(p, struct counted, kp);

	c->pre++;
	c->order = ++counted_calls;
	return 0;
}
NOKPROBE_SYMBOL(counted_pre);

void counted_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	container_of(p, struct counted, kp)->post++;
}
NOKPROBE_SYMBOL(counted_post);

TRAP_TARGET(kprobes_kunit_one, 1)
TRAP_TARGET(kprobes_kunit_two, 1)
TRAP_TARGET(kprobes_kunit_three, 1)

typedef int (*target_fn)(int x);

static target_fn targets[] = {
	kprobes_kunit_one, kprobes_kunit_two, kprobes_kunit_three,
};

#define NR_TARGETS	ARRAY_SIZE(targets)

static void call_all(struct kunit *test)
{
	int i;

	for (i = 0; i < NR_TARGETS; i++)
		KUNIT_EXPECT_EQ(test, targets[i](i), i + 1);
}

static void one_probe_by_address(struct kunit *test)
{
	struct counted c = counted_at(kprobes_kunit_one, true, true);
	u8 text[TEXT_BYTES];

	text_save(text, kprobes_kunit_one);
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	KUNIT_EXPECT_NE(test, memcmp(text, c.kp.addr, TEXT_BYTES), 0);
	call_all(test);
	KUNIT_EXPECT_EQ(test, c.pre, 1);
	KUNIT_EXPECT_EQ(test, c.post, 1);

	unregister_kprobe(&c.kp);
	EXPECT_TEXT(test, text, kprobes_kunit_one);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(kprobes_kunit_one), NULL);
	call_all(test);
	KUNIT_EXPECT_EQ(test, c.pre, 1);
}

static void one_probe_by_symbol(struct kunit *test)
{
	struct counted c = counted_at(NULL, true, false);
	int i;

	c.kp.symbol_name = "kprobes_kunit_two";
	/* The same struct again, without clearing any member. */
	for (i = 1; i <= 3; i++) {
		KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
		KUNIT_EXPECT_TRUE(test, c.kp.flags & KPROBE_FLAG_ON_FUNC_ENTRY);
		call_all(test);
		KUNIT_EXPECT_EQ(test, c.pre, i);
		unregister_kprobe(&c.kp);
	}
}

/* Finds an instruction boundary after the entry. */
static void address_and_offset_can_be_used_again(struct kunit *test)
{
	struct counted c = counted_at(kprobes_kunit_one, true, false);
	void *entry = probe_entry(kprobes_kunit_one);
	int i, ret = -EILSEQ;

	for (c.kp.offset = 1; c.kp.offset < TEXT_BYTES && ret; c.kp.offset++) {
		ret = register_kprobe(&c.kp);
		if (!ret)
			break;
		KUNIT_EXPECT_PTR_EQ(test, (void *)c.kp.addr, entry);
	}
	KUNIT_ASSERT_EQ(test, ret, 0);
	for (i = 1; i <= 2; i++) {
		KUNIT_EXPECT_PTR_EQ(test, (void *)c.kp.addr,
				    entry + c.kp.offset);
		call_all(test);
		KUNIT_EXPECT_EQ(test, c.pre, i);
		unregister_kprobe(&c.kp);
		KUNIT_EXPECT_PTR_EQ(test, (void *)c.kp.addr, entry);
		if (i == 1)
			KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	}
}

/* If a function begins with a landing pad, the probe is placed after it. */
static void the_address_of_an_entry_is_restored(struct kunit *test)
{
	struct counted c = counted_at(kprobes_kunit_one, true, false);
	int i;

	/* The function's own address, with or without a landing pad. */
	c.kp.addr = text_at(kprobes_kunit_one, 0);
	for (i = 1; i <= 2; i++) {
		KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
		call_all(test);
		KUNIT_EXPECT_EQ(test, c.pre, i);
		unregister_kprobe(&c.kp);
		KUNIT_EXPECT_PTR_EQ(test, (void *)c.kp.addr, (void *)kprobes_kunit_one);
	}
}

static void disabled_at_registration(struct kunit *test)
{
	struct counted c = counted_at(kprobes_kunit_one, true, false);
	u8 text[TEXT_BYTES];

	text_save(text, kprobes_kunit_one);
	c.kp.flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	KUNIT_EXPECT_TRUE(test, kprobe_disabled(&c.kp));
	EXPECT_TEXT(test, text, kprobes_kunit_one);
	call_all(test);
	KUNIT_EXPECT_EQ(test, c.pre, 0);

	KUNIT_EXPECT_EQ(test, enable_kprobe(&c.kp), 0);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&c.kp), 0);
	call_all(test);
	KUNIT_EXPECT_EQ(test, c.pre, 1);

	KUNIT_EXPECT_EQ(test, disable_kprobe(&c.kp), 0);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&c.kp), 0);
	EXPECT_TEXT(test, text, kprobes_kunit_one);
	call_all(test);
	KUNIT_EXPECT_EQ(test, c.pre, 1);

	unregister_kprobe(&c.kp);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&c.kp), -EINVAL);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&c.kp), -EINVAL);
}

static void a_batch(struct kunit *test)
{
	struct counted c[NR_TARGETS];
	struct kprobe *kps[NR_TARGETS];
	int i;

	for (i = 0; i < NR_TARGETS; i++) {
		c[i] = counted_at(targets[i], true, i == 1);
		kps[i] = &c[i].kp;
	}
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, NR_TARGETS), 0);
	call_all(test);
	unregister_kprobes(kps, NR_TARGETS);
	call_all(test);
	for (i = 0; i < NR_TARGETS; i++) {
		KUNIT_EXPECT_EQ(test, c[i].pre, 1);
		KUNIT_EXPECT_EQ(test, c[i].post, i == 1);
	}
}

/* The bad probe is at each index of the batch in turn. */
static void a_bad_batch_registers_nothing(struct kunit *test)
{
	struct counted c[NR_TARGETS];
	struct kprobe *kps[NR_TARGETS];
	u8 text[NR_TARGETS][TEXT_BYTES];
	int i, bad;

	for (i = 0; i < NR_TARGETS; i++)
		text_save(text[i], targets[i]);
	for (bad = 0; bad < NR_TARGETS; bad++) {
		for (i = 0; i < NR_TARGETS; i++) {
			c[i] = counted_at(targets[i], true, true);
			kps[i] = &c[i].kp;
		}
		c[bad].kp.addr = NULL;
		c[bad].kp.symbol_name = "there_is_no_such_function";
		KUNIT_EXPECT_EQ(test, register_kprobes(kps, NR_TARGETS), -ENOENT);
		for (i = 0; i < NR_TARGETS; i++) {
			EXPECT_TEXT(test, text[i], targets[i]);
			KUNIT_EXPECT_PTR_EQ(test, probe_at(targets[i]), NULL);
			KUNIT_EXPECT_EQ(test, c[i].kp.flags, 0);
			if (i != bad)
				KUNIT_EXPECT_PTR_EQ(test, (void *)c[i].kp.addr,
						    probe_entry(targets[i]));
		}
		call_all(test);
		/* The structs can be registered again. */
		c[bad].kp.addr = (void *)targets[bad];
		c[bad].kp.symbol_name = NULL;
		KUNIT_ASSERT_EQ(test, register_kprobes(kps, NR_TARGETS), 0);
		call_all(test);
		unregister_kprobes(kps, NR_TARGETS);
		for (i = 0; i < NR_TARGETS; i++)
			KUNIT_EXPECT_EQ(test, c[i].pre, 1);
	}
}

#ifdef CONFIG_X86
/* Returns an offset into @fn at which no instruction begins, 0 if there is none. */
static unsigned int offset_inside_an_instruction(void *fn)
{
	unsigned int offset;

	for (offset = 1; offset < 4; offset++) {
		struct counted c = counted_at(fn + offset, true, false);

		if (register_kprobe(&c.kp) == -EILSEQ)
			return offset;
		unregister_kprobe(&c.kp);
	}
	return 0;
}

/*
 * The registration fails after the points of the previous probes have been prepared and
 * published.
 */
static void a_batch_that_fails_late_registers_nothing(struct kunit *test)
{
	struct counted c[NR_TARGETS];
	struct kprobe *kps[NR_TARGETS];
	int i, last = NR_TARGETS - 1;

	for (i = 0; i < NR_TARGETS; i++) {
		c[i] = counted_at(targets[i], true, true);
		kps[i] = &c[i].kp;
	}
	c[last].kp.offset = offset_inside_an_instruction(probe_entry(targets[last]));
	KUNIT_ASSERT_NE(test, c[last].kp.offset, 0);
	KUNIT_EXPECT_EQ(test, register_kprobes(kps, NR_TARGETS), -EILSEQ);
	for (i = 0; i < NR_TARGETS; i++)
		KUNIT_EXPECT_PTR_EQ(test, probe_at(targets[i]), NULL);
	c[last].kp.offset = 0;
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, NR_TARGETS), 0);
	call_all(test);
	unregister_kprobes(kps, NR_TARGETS);
	for (i = 0; i < NR_TARGETS; i++)
		KUNIT_EXPECT_EQ(test, c[i].pre, 1);
}
#endif

static void twice_in_a_batch(struct kunit *test)
{
	struct counted c = counted_at(kprobes_kunit_one, true, false);
	struct counted other = counted_at(kprobes_kunit_two, true, false);
	struct kprobe *kps[] = { &c.kp, &other.kp, &c.kp };
	void *given = c.kp.addr, *where;

	KUNIT_EXPECT_EQ(test, register_kprobes(kps, 3), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(kprobes_kunit_one), NULL);
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, 2), 0);
	/* After the landing pad, if the function begins with one. */
	where = c.kp.addr;
	KUNIT_EXPECT_NOT_NULL(test, probe_at(where));
	/* Already registered: refused, and the first registration stays. */
	KUNIT_EXPECT_EQ(test, register_kprobe(&c.kp), -EINVAL);
	call_all(test);
	KUNIT_EXPECT_EQ(test, c.pre, 1);
	unregister_kprobes(kps, 3);
	KUNIT_EXPECT_PTR_EQ(test, (void *)c.kp.addr, given);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(where), NULL);
}

static void unregistering_an_unregistered_probe(struct kunit *test)
{
	struct counted c = counted_at(kprobes_kunit_one, true, false);
	struct counted never = counted_at(kprobes_kunit_two, true, false);
	struct kprobe *kps[] = { &never.kp, &c.kp, NULL };

	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	unregister_kprobes(kps, 3);
	KUNIT_EXPECT_PTR_EQ(test, (void *)never.kp.addr, NULL);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(kprobes_kunit_one), NULL);
	call_all(test);
	KUNIT_EXPECT_EQ(test, c.pre, 0);
	/* Unregister a second time, when the probe is not registered. */
	unregister_kprobe(&c.kp);
	KUNIT_EXPECT_PTR_EQ(test, (void *)c.kp.addr, NULL);
}

/* --- Probes of freed text ---------------------------------------------------------- */

#define SEARCHES	1000
#define GONE		30000
#define FEW_GONE	300

struct gone {
	struct kprobe_point point;
	struct kprobe kp;
};

/* Returns the least time, in nanoseconds, of SEARCHES for a struct that is not registered. */
static u64 time_searches(struct kunit *test, struct kprobe *kp)
{
	u64 least = U64_MAX, start;
	int round, i, found = 0;

	for (round = 0; round < 5; round++) {
		start = ktime_get_ns();
		for (i = 0; i < SEARCHES; i++)
			found += !!kprobe_point_of(kp, (unsigned long)kp->addr);
		least = min(least, ktime_get_ns() - start);
	}
	KUNIT_EXPECT_EQ(test, found, 0);
	return least;
}

static void add_gone(struct gone *gone, int nr)
{
	for (; nr; gone++, nr--) {
		gone->point.state = KPROBE_GONE;
		hlist_add_head(&gone->kp.node, &gone->point.probes);
		kprobe_point_add_gone(&gone->point);
	}
}

/* Each registration checks whether its struct is in use.  Gone probes must not slow that down. */
static void many_gone_probes_cost_little(struct kunit *test)
{
	struct counted c = counted_at(kprobes_kunit_one, true, false);
	struct gone *gone = kvcalloc(GONE, sizeof(*gone), GFP_KERNEL);
	int i, wrong = 0;
	u64 few, many;

	KUNIT_ASSERT_NOT_NULL(test, gone);
	mutex_lock(&kprobe_mutex);
	add_gone(gone, FEW_GONE);
	few = time_searches(test, &c.kp);
	add_gone(gone + FEW_GONE, GONE - FEW_GONE);
	many = time_searches(test, &c.kp);
	for (i = 0; i < GONE; i++) {
		wrong += kprobe_point_of(&gone[i].kp, 0) != &gone[i].point;
		kprobe_gone_forget(&gone[i].kp);
		wrong += !!kprobe_point_of(&gone[i].kp, 0);
		list_del(&gone[i].point.op.list);
	}
	mutex_unlock(&kprobe_mutex);
	kvfree(gone);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	kunit_info(test, "%d searches: %llu ns with %d gone probes, %llu ns with %d\n", SEARCHES,
		   few, FEW_GONE, many, GONE);
	/* A hundred times as many probes: linear costs would show. */
	KUNIT_EXPECT_LT(test, many, 5 * few);
}

/* --- Tables that other code sorts --------------------------------------------------- */

#ifdef CONFIG_MODULES
/* Collects the reserved addresses of a module, as the first registration in it does. */
static int collect_reserved(void *mod)
{
	struct kprobe_place place = { .addr = (unsigned long)kprobes_kunit_one, .mod = mod };
	int ret;

	guard(mutex)(&kprobe_mutex);
	ret = kprobe_reserved_check(&place);
	/* The next call collects them again. */
	kprobe_reserved_forget();
	return ret;
}

static void expect_wait(struct kunit *test, void (*lock)(void), void (*unlock)(void))
{
	/* Its tables are empty. */
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);
	struct attempt collect;

	KUNIT_ASSERT_NOT_NULL(test, mod);
	attempt_prepare(test, &collect, collect_reserved, mod);
	attempt_measure(&collect);
	lock();
	attempt_start(&collect);
	KUNIT_EXPECT_TRUE(test, attempt_waits(&collect));
	unlock();
	KUNIT_EXPECT_EQ(test, attempt_end(&collect), KPROBE_REFUSE_NONE);
}

static void jump_labels_are_collected_under_their_lock(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_JUMP_LABEL))
		kunit_skip(test, "there are no jump labels");
	expect_wait(test, jump_label_lock, jump_label_unlock);
}

static void static_calls_are_collected_under_their_lock(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_HAVE_STATIC_CALL_INLINE))
		kunit_skip(test, "static calls have no table of their sites");
	expect_wait(test, static_call_lock, static_call_unlock);
}
#endif

static struct kunit_case register_cases[] = {
	KUNIT_CASE(one_probe_by_address),
	KUNIT_CASE(one_probe_by_symbol),
	KUNIT_CASE(address_and_offset_can_be_used_again),
	KUNIT_CASE(the_address_of_an_entry_is_restored),
	KUNIT_CASE(disabled_at_registration),
	KUNIT_CASE(a_batch),
	KUNIT_CASE(a_bad_batch_registers_nothing),
#ifdef CONFIG_X86
	KUNIT_CASE(a_batch_that_fails_late_registers_nothing),
#endif
	KUNIT_CASE(twice_in_a_batch),
	KUNIT_CASE(unregistering_an_unregistered_probe),
	KUNIT_CASE(many_gone_probes_cost_little),
#ifdef CONFIG_MODULES
	KUNIT_CASE(jump_labels_are_collected_under_their_lock),
	KUNIT_CASE(static_calls_are_collected_under_their_lock),
#endif
	{}
};

static struct kunit_suite register_suite = {
	.name = "kprobes_register",
	.test_cases = register_cases,
};
kunit_test_suite(register_suite);
