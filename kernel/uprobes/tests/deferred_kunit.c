// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the operations that handlers ask for. The probes are of processes that do not exist,
 * so that registrations fail.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "../hit.h"
#include "../internal.h"
#include "../process.h"

static struct uprobe probes[3];

/* The case that runs; other threads may call callbacks for it. */
static struct kunit *running;

/* The callbacks so far, in the notation of &struct scenario. */
static char history[64];

/* The probe that the callbacks of another probe unregister, or NULL. */
static struct uprobe *victim;

static void never_called(struct uprobe *u, struct pt_regs *regs)
{
}

static void callback(struct uprobe *u, int reg, int result)
{
	struct kunit *test = running;
	size_t len = strlen(history);

	scnprintf(history + len, sizeof(history) - len, "%c%td ", reg ? '+' : '-', u - probes);
	KUNIT_EXPECT_EQ(test, result, reg ? -ESRCH : 0);
	KUNIT_EXPECT_TRUE(test, uprobe_in_callback());
	if (victim && u != victim)
		KUNIT_EXPECT_EQ(test, unregister_uprobe(victim), 0);
}

static int deferred_init(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		probes[i] = (struct uprobe) {
			.handler = never_called,
			.registration_callback = callback,
		};
	}
	running = test;
	history[0] = '\0';
	victim = NULL;
	/* Freed when the thread of the test case exits. */
	return uprobe_task_create() ? 0 : -ENOMEM;
}

/* Asks for operations, as the handlers of a hit do; see &struct scenario. */
static void request(struct kunit *test, const char *requests)
{
	struct uprobe *u;
	int err;

	for (; *requests; requests += strlen("+0 ")) {
		u = &probes[requests[1] - '0'];
		err = *requests == '+' ? register_uprobe(u) : unregister_uprobe(u);
		KUNIT_EXPECT_EQ(test, err, -EINPROGRESS);
	}
}

static void end_hit(void)
{
	uprobe_hit_end(current->utask);
	uprobe_deferred_run(current->utask);
}

/**
 * struct scenario - operations that the handlers of a hit ask for
 * @name: of the case
 * @requests: the operations: + is a registration, - a removal; a digit is the index of the probe
 * @callbacks: the wanted callbacks, in the same notation
 */
struct scenario {
	const char	*name;
	const char	*requests;
	const char	*callbacks;
};

static const struct scenario scenarios[] = {
	{ "nothing", "", "" },
	{ "in the order of the requests", "-2 +0 +1 -0 ", "-2 +0 +1 -0 " },
	{ "a probe is removed once", "-0 -1 -0 -0 -1 ", "-0 -1 " },
	{ "each registration has a callback", "+0 +0 ", "+0 +0 " },
	{ "a registration after a removal", "-0 +0 ", "-0 +0 " },
	{ "a removal after that registration", "-0 -0 +0 -0 -0 ", "-0 +0 -0 " },
};

KUNIT_ARRAY_PARAM_DESC(scenarios, scenarios, name);

static void callbacks_follow_the_hit(struct kunit *test)
{
	const struct scenario *scenario = test->param_value;

	uprobe_hit_begin(current->utask);
	request(test, scenario->requests);
	KUNIT_EXPECT_STREQ(test, history, "");
	end_hit();
	KUNIT_EXPECT_STREQ(test, history, scenario->callbacks);
	KUNIT_EXPECT_NULL(test, current->utask->deferred);
	KUNIT_EXPECT_FALSE(test, uprobe_deferred_wait());
}

static void probes_of_an_array_have_their_own_callbacks(struct kunit *test)
{
	struct uprobe *us[] = { &probes[2], &probes[0], &probes[1] };

	uprobe_hit_begin(current->utask);
	KUNIT_EXPECT_EQ(test, register_uprobes(us, ARRAY_SIZE(us)), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, unregister_uprobes(us, ARRAY_SIZE(us)), -EINPROGRESS);
	end_hit();
	KUNIT_EXPECT_STREQ(test, history, "+2 +0 +1 -2 -0 -1 ");
}

static void callback_cancels_the_requests_for_a_probe(struct kunit *test)
{
	victim = &probes[1];
	uprobe_hit_begin(current->utask);
	request(test, "-0 -1 +1 +2 ");
	end_hit();
	KUNIT_EXPECT_STREQ(test, history, "-0 +2 ");
}

static void probe_needs_no_callback(struct kunit *test)
{
	probes[0].registration_callback = NULL;
	uprobe_hit_begin(current->utask);
	request(test, "+0 -0 +1 ");
	end_hit();
	KUNIT_EXPECT_STREQ(test, history, "+1 ");
}

static void wrong_probe_is_refused_at_once(struct kunit *test)
{
	probes[0].handler = NULL;
	uprobe_hit_begin(current->utask);
	KUNIT_EXPECT_EQ(test, register_uprobe(&probes[0]), -EINVAL);
	KUNIT_EXPECT_NULL(test, current->utask->deferred);
	end_hit();
	KUNIT_EXPECT_STREQ(test, history, "");
}

static void operations_outside_of_a_handler_are_done_at_once(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, register_uprobe(&probes[0]), -ESRCH);
	KUNIT_EXPECT_EQ(test, unregister_uprobe(&probes[0]), 0);
	KUNIT_EXPECT_NULL(test, current->utask->deferred);
	KUNIT_EXPECT_STREQ(test, history, "");
}

static void requests_of_a_handler_that_dies_are_dropped(struct kunit *test)
{
	uprobe_hit_begin(current->utask);
	request(test, "+0 -1 ");
	uprobe_handler_died();
	KUNIT_EXPECT_NULL(test, current->utask->deferred);
	KUNIT_EXPECT_FALSE(test, uprobe_deferred_wait());
	KUNIT_EXPECT_STREQ(test, history, "");
}

struct remover {
	struct work_struct	work;
	char			history[sizeof(history)];
};

/* Unregisters a probe, and then copies the history. */
static void remove_probe(struct work_struct *work)
{
	struct remover *remover = container_of(work, struct remover, work);

	unregister_uprobe(&probes[0]);
	strscpy(remover->history, history);
}

static void removal_waits_for_the_requests_of_other_tasks(struct kunit *test)
{
	struct remover remover = { };

	INIT_WORK_ONSTACK(&remover.work, remove_probe);
	uprobe_hit_begin(current->utask);
	request(test, "+0 +1 ");
	schedule_work(&remover.work);
	/* The work waits for the end of the hit, and then for the operations. */
	msleep(20);
	end_hit();
	flush_work(&remover.work);
	destroy_work_on_stack(&remover.work);
	/* It has forgotten the registration of its own probe. */
	KUNIT_EXPECT_STREQ(test, remover.history, "+1 ");
}

/* Removes a probe in a handler, whose hit ends while another one is not over. */
static void remove_in_a_hit(struct work_struct *work)
{
	if (uprobe_task_create()) {
		uprobe_hit_begin(current->utask);
		unregister_uprobe(&probes[0]);
		end_hit();
	}
	uprobe_free_utask(current);
}

/* Returns whether the registration was done after the removal, as if that had come before it. */
static bool registration_is_done(struct kunit *test)
{
	struct work_struct work;

	history[0] = '\0';
	INIT_WORK_ONSTACK(&work, remove_in_a_hit);
	uprobe_hit_begin(current->utask);
	request(test, "+0 +1 ");
	schedule_work(&work);
	/* The work waits for the end of this hit, before the callback. */
	msleep(20);
	end_hit();
	flush_work(&work);
	destroy_work_on_stack(&work);
	KUNIT_EXPECT_NOT_NULL(test, strstr(history, "+1"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(history, "-0"));
	return strstr(history, "+0");
}

static void removal_forgets_a_registration_that_was_noted_before(struct kunit *test)
{
	int tries = 20;

	/* On a busy machine, the work may begin late. */
	while (registration_is_done(test) && --tries)
		;
	KUNIT_EXPECT_GT(test, tries, 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(callbacks_follow_the_hit, scenarios_gen_params),
	KUNIT_CASE(probes_of_an_array_have_their_own_callbacks),
	KUNIT_CASE(callback_cancels_the_requests_for_a_probe),
	KUNIT_CASE(probe_needs_no_callback),
	KUNIT_CASE(wrong_probe_is_refused_at_once),
	KUNIT_CASE(operations_outside_of_a_handler_are_done_at_once),
	KUNIT_CASE(requests_of_a_handler_that_dies_are_dropped),
	KUNIT_CASE(removal_waits_for_the_requests_of_other_tasks),
	KUNIT_CASE(removal_forgets_a_registration_that_was_noted_before),
	{}
};

static struct kunit_suite suite = {
	.name = "uprobes_deferred",
	.init = deferred_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
