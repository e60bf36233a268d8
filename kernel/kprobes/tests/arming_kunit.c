// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arming that fails. ftrace has already given a function to an owner that changes the
 * instruction pointer.  A post handler needs the same, so the probe is refused after
 * everything else of its batch has been published.
 */
#include <linux/ftrace.h>

#include "counted.h"
#include "jumps.h"
#include "points.h"
#include "../trace.h"

TRACED_TARGET(arming_traced, 1)
TRACED_TARGET(arming_other, 3)
TRAP_TARGET(arming_plain, 2)

/* The function's owner redirects callers to this address, as a live patch does; 0: nowhere. */
static unsigned long detour;

static void owner_callback(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (detour)
		instruction_pointer_set(ftrace_get_regs(fregs), detour);
}
NOKPROBE_SYMBOL(owner_callback);

static struct ftrace_ops owner = {
	.func = owner_callback,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
};

static void *site(void)
{
	return (void *)ftrace_location((unsigned long)arming_traced);
}

static void take_site(struct kunit *test, void *ip)
{
	KUNIT_ASSERT_NOT_NULL(test, ip);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&owner, (unsigned long)ip, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&owner), 0);
}

static void take_function(struct kunit *test)
{
	take_site(test, site());
}

/* The filter of @owner stays set; the next take_function() replaces it. */
static void give_function_back(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&owner), 0);
}

/* Registers the probe, expects a hit, and unregisters it. */
static void expect_works(struct kunit *test, struct counted *c, int (*fn)(int))
{
	int before = c->pre, ret = register_kprobe(&c->kp);

	KUNIT_EXPECT_EQ(test, ret, 0);
	if (ret)
		return;
	fn(1);
	unregister_kprobe(&c->kp);
	KUNIT_EXPECT_EQ(test, c->pre, before + 1);
}

static void a_whole_batch_is_undone(struct kunit *test)
{
	struct counted plain = counted_at(arming_plain, true, true);
	struct counted traced = counted_at(site(), true, true);
	struct counted beside = counted_at(arming_plain, true, false);
	struct kprobe *kps[] = { &plain.kp, &traced.kp, &beside.kp };
	unsigned int points = all_points();
	u8 text[2][TEXT_BYTES];
	int i;

	text_save(text[0], arming_plain);
	take_function(test);
	text_save(text[1], arming_traced);

	KUNIT_EXPECT_EQ(test, register_kprobes(kps, ARRAY_SIZE(kps)), -EBUSY);
	EXPECT_TEXT(test, text[0], arming_plain);
	EXPECT_TEXT(test, text[1], arming_traced);
	KUNIT_EXPECT_EQ(test, all_points(), points);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(arming_plain), NULL);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(site()), NULL);
	for (i = 0; i < ARRAY_SIZE(kps); i++) {
		KUNIT_EXPECT_EQ(test, kps[i]->flags, 0);
		KUNIT_EXPECT_TRUE(test, list_empty(&kps[i]->list));
	}
	arming_plain(1);
	arming_traced(1);
	KUNIT_EXPECT_EQ(test, plain.pre + traced.pre + beside.pre, 0);

	/*
	 * The other probes of the batch can be registered, and the refused one after the
	 * owner has left.
	 */
	expect_works(test, &plain, arming_plain);
	give_function_back(test);
	expect_works(test, &traced, arming_traced);
}

/* Address of the last refusal that was traced. */
static unsigned long refused;

static void note_refusal(void *unused, unsigned long addr, const char *reason, int err)
{
	refused = addr;
}

/* Of several probes that ftrace might refuse, the tracepoint has the one that it has refused. */
static void the_refused_probe_is_traced(struct kunit *test)
{
	void *sites[] = { site(), (void *)ftrace_location((unsigned long)arming_other) };
	struct counted plain = counted_at(arming_plain, true, true);
	struct counted first = counted_at(sites[0], true, true);
	struct counted second = counted_at(sites[1], true, true);
	struct kprobe *kps[] = { &plain.kp, &first.kp, &second.kp };
	bool before;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, sites[0]);
	KUNIT_ASSERT_NOT_NULL(test, sites[1]);
	if (!IS_ENABLED(CONFIG_TRACEPOINTS))
		kunit_skip(test, "the kernel has no tracepoints");
	KUNIT_ASSERT_EQ(test, register_trace_kprobe_refused(note_refusal, NULL), 0);
	/* Without jumps, the points have no carriers. */
	before = allow_jumps(false);
	for (i = 0; i < ARRAY_SIZE(sites); i++) {
		take_site(test, sites[i]);
		KUNIT_EXPECT_EQ(test, register_kprobes(kps, ARRAY_SIZE(kps)), -EBUSY);
		KUNIT_EXPECT_EQ(test, refused, (unsigned long)sites[i]);
		give_function_back(test);
	}
	allow_jumps(before);
	unregister_trace_kprobe_refused(note_refusal, NULL);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, arming_traced(1) + arming_other(1), 6);
}

/* The point exists already; it and its other probe stay unchanged. */
static void a_point_that_exists_keeps_its_probe(struct kunit *test)
{
	struct counted off = counted_at(site(), true, true);
	struct counted on = counted_at(site(), true, false);

	off.kp.flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, register_kprobe(&off.kp), 0);
	take_function(test);

	/* The disabled probe has a post handler, so the point needs the instruction pointer. */
	KUNIT_EXPECT_EQ(test, register_kprobe(&on.kp), -EBUSY);
	arming_traced(1);
	KUNIT_EXPECT_EQ(test, on.pre, 0);
	KUNIT_EXPECT_NOT_NULL(test, probe_at(site()));

	give_function_back(test);
	expect_works(test, &on, arming_traced);
	unregister_kprobe(&off.kp);
	KUNIT_EXPECT_EQ(test, off.pre, 0);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(site()), NULL);
}

static void enabling_fails_and_the_probe_stays_disabled(struct kunit *test)
{
	struct counted c = counted_at(site(), true, true);

	c.kp.flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	take_function(test);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&c.kp), -EBUSY);
	KUNIT_EXPECT_TRUE(test, kprobe_disabled(&c.kp));
	arming_traced(1);
	KUNIT_EXPECT_EQ(test, c.pre, 0);

	give_function_back(test);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&c.kp), 0);
	arming_traced(1);
	KUNIT_EXPECT_EQ(test, c.pre, 1);
	unregister_kprobe(&c.kp);
}

static void the_global_switch_arms_all_that_can_be_armed(struct kunit *test)
{
	struct counted plain = counted_at(arming_plain, true, false);
	struct counted traced = counted_at(site(), true, true);
	struct kprobe *kps[] = { &plain.kp, &traced.kp };
	u8 text[TEXT_BYTES];

	text_save(text, arming_plain);
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, ARRAY_SIZE(kps)), 0);
	KUNIT_EXPECT_EQ(test, kprobe_rearm_all(false), 0);
	EXPECT_TEXT(test, text, arming_plain);
	take_function(test);
	KUNIT_EXPECT_EQ(test, kprobe_rearm_all(true), -EBUSY);
	arming_plain(1);
	arming_traced(1);
	KUNIT_EXPECT_EQ(test, plain.pre, 1);
	KUNIT_EXPECT_EQ(test, traced.pre, 0);

	give_function_back(test);
	KUNIT_EXPECT_EQ(test, kprobe_rearm_all(false), 0);
	KUNIT_EXPECT_EQ(test, kprobe_rearm_all(true), 0);
	arming_plain(1);
	arming_traced(1);
	KUNIT_EXPECT_EQ(test, plain.pre, 2);
	KUNIT_EXPECT_EQ(test, traced.pre, 1);
	unregister_kprobes(kps, ARRAY_SIZE(kps));
}

/*
 * Probes without a post handler share a function with its owner, in either order of
 * registration, and do not change the owner's redirection.
 */
static void probes_without_post_handler_share_a_function(struct kunit *test)
{
	struct counted first = counted_at(site(), true, false);
	struct counted c = counted_at(site(), true, false);

	KUNIT_ASSERT_EQ(test, register_kprobe(&first.kp), 0);
	take_function(test);
	expect_works(test, &c, arming_traced);
	detour = (unsigned long)arming_plain;
	/* The backend of s390 sets the instruction pointer after each hit, also on the base. */
	KUNIT_EXPECT_EQ(test, arming_traced(1), IS_ENABLED(CONFIG_S390) ? 2 : 3);
	unregister_kprobe(&first.kp);
	KUNIT_EXPECT_EQ(test, first.pre, 2);
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	KUNIT_EXPECT_EQ(test, arming_traced(1), 3);
	unregister_kprobe(&c.kp);
	KUNIT_EXPECT_EQ(test, c.pre, 2);
	detour = 0;
	give_function_back(test);
}

/*
 * After ftrace has shut itself down, it must not be called, and its calls are no hits.  Here it
 * only seems so.
 */
static void ftrace_has_shut_down(struct kunit *test)
{
	struct counted armed = counted_at(site(), true, false);
	struct counted late = counted_at(site(), true, true);
	bool before = allow_jumps(false);
	struct kprobe_point *point;
	LIST_HEAD(points);
	u8 text[TEXT_BYTES];

	KUNIT_EXPECT_EQ(test, register_kprobe(&armed.kp), 0);
	text_save(text, arming_traced);
	kprobe_ftrace_disabled = true;
	arming_traced(1);
	KUNIT_EXPECT_EQ(test, armed.pre, 0);
	mutex_lock(&kprobe_mutex);
	point = kprobe_table_find((unsigned long)armed.kp.addr);
	KUNIT_EXPECT_NOT_NULL(test, point);
	if (point) {
		KUNIT_EXPECT_TRUE(test, point->state == KPROBE_FTRACE);
		kprobe_collect(point, &points);
		kprobe_disarm_ftrace(&points);
		kprobe_uncollect_all(&points);
	}
	mutex_unlock(&kprobe_mutex);
	EXPECT_TEXT(test, text, arming_traced);
	kprobe_ftrace_disabled = false;
	arming_traced(1);
	KUNIT_EXPECT_EQ(test, armed.pre, 1);
	unregister_kprobe(&armed.kp);

	kprobe_ftrace_disabled = true;
	KUNIT_EXPECT_EQ(test, register_kprobe(&late.kp), -ENODEV);
	kprobe_ftrace_disabled = false;
	KUNIT_EXPECT_PTR_EQ(test, probe_at(site()), NULL);
	expect_works(test, &late, arming_traced);
	allow_jumps(before);
}

static struct kunit_case arming_cases[] = {
	KUNIT_CASE(a_whole_batch_is_undone),
	KUNIT_CASE(the_refused_probe_is_traced),
	KUNIT_CASE(a_point_that_exists_keeps_its_probe),
	KUNIT_CASE(enabling_fails_and_the_probe_stays_disabled),
	KUNIT_CASE(the_global_switch_arms_all_that_can_be_armed),
	KUNIT_CASE(probes_without_post_handler_share_a_function),
	KUNIT_CASE(ftrace_has_shut_down),
	{}
};

static struct kunit_suite arming_suite = {
	.name = "kprobes_arming",
	.test_cases = arming_cases,
};
kunit_test_suite(arming_suite);
