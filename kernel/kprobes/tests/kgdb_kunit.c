// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Breakpoints of kgdb and probes: neither writes where the other does.
 *
 * The suite calls kgdb's functions as the debugger does, while all other CPUs are stopped.  No CPU
 * executes the text while a breakpoint of kgdb is there.
 */
#include <linux/kgdb.h>
#include <linux/memory.h>
#include <linux/stop_machine.h>

#include "../../debug/debug_core.h"
#include "jumps.h"
#include "opt_functions.h"

struct order {
	int (*fn)(unsigned long addr);
	unsigned long addr;
};

static int carry_out(void *data)
{
	const struct order *order = data;

	/* kgdb does not write while another task does. */
	return mutex_is_locked(&text_mutex) ? -EAGAIN : order->fn(order->addr);
}

static int debugger(int (*fn)(unsigned long addr), void *addr)
{
	struct order order = { .fn = fn, .addr = (unsigned long)addr };
	int ret;

	do {
		ret = stop_machine(carry_out, &order, NULL);
	} while (ret == -EAGAIN);
	return ret;
}

/* Writes breakpoints, as the debugger does when it lets the kernel continue. */
static int go_on(unsigned long unused)
{
	return dbg_activate_sw_breakpoints();
}

static int stop(unsigned long unused)
{
	return dbg_deactivate_sw_breakpoints();
}

static void expect_free(struct kunit *test, void *addr)
{
	KUNIT_EXPECT_EQ(test, debugger(dbg_set_sw_break, addr), 0);
	KUNIT_EXPECT_EQ(test, debugger(dbg_remove_sw_break, addr), 0);
}

static void expect_refused(struct kunit *test, void *addr)
{
	if (debugger(dbg_set_sw_break, addr) == -EBUSY)
		return;
	KUNIT_FAIL(test, "a breakpoint is accepted at %pS", addr);
	debugger(dbg_remove_sw_break, addr);
}

static void none_on_a_breakpoint(struct kunit *test)
{
	struct counted c = counted_at(kprobes_opt_three, true, false);
	bool before = allow_jumps(false);

	KUNIT_EXPECT_EQ(test, register_kprobe(&c.kp), 0);
	expect_refused(test, c.kp.addr);
	expect_free(test, OPT_SECOND);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&c.kp), 0);
	expect_refused(test, c.kp.addr);
	unregister_kprobe(&c.kp);
	expect_free(test, probe_entry(kprobes_opt_three));
	allow_jumps(before);
}

static void none_in_a_jump(struct kunit *test)
{
	struct counted c = counted_at(kprobes_opt_three, true, false);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	EXPECT_JUMP(test, &c.kp, true);
	for (i = 0; i < MAX_OPTIMIZED_LENGTH; i += sizeof(kprobe_opcode_t))
		expect_refused(test, text_at(c.kp.addr, i));
	expect_free(test, text_at(c.kp.addr, MAX_OPTIMIZED_LENGTH));
	KUNIT_EXPECT_EQ(test, kprobes_opt_call(kprobes_opt_three), 3);
	KUNIT_EXPECT_EQ(test, c.pre, 1);
	unregister_kprobe(&c.kp);
}

/* A breakpoint that was set at @offset before the probe came is written after it has gone. */
static void expect_later(struct kunit *test, long offset)
{
	struct counted c = counted_at(kprobes_opt_three, true, false);
	void *addr = text_at(c.kp.addr, offset);
	u8 text[TEXT_BYTES], armed[TEXT_BYTES];

	text_save(text, c.kp.addr);
	KUNIT_EXPECT_EQ(test, debugger(dbg_set_sw_break, addr), 0);
	KUNIT_EXPECT_EQ(test, register_kprobe(&c.kp), 0);
	EXPECT_JUMP(test, &c.kp, true);
	text_save(armed, c.kp.addr);

	KUNIT_EXPECT_EQ(test, debugger(go_on, NULL), -EBUSY);
	EXPECT_TEXT(test, armed, c.kp.addr);
	KUNIT_EXPECT_EQ(test, debugger(stop, NULL), 0);
	EXPECT_TEXT(test, armed, c.kp.addr);
	unregister_kprobe(&c.kp);

	KUNIT_EXPECT_EQ(test, debugger(go_on, NULL), 0);
	KUNIT_EXPECT_FALSE(test, text_same(text, text_at(probe_entry(kprobes_opt_three), 0)));
	KUNIT_EXPECT_EQ(test, debugger(stop, NULL), 0);
	EXPECT_TEXT(test, text, probe_entry(kprobes_opt_three));
	KUNIT_EXPECT_EQ(test, debugger(dbg_remove_sw_break, addr), 0);
}

static void the_breakpoint_was_first(struct kunit *test)
{
	long offset;

	for (offset = 0; offset < MAX_OPTIMIZED_LENGTH; offset += sizeof(kprobe_opcode_t))
		expect_later(test, offset);
}

static struct kunit_case kgdb_cases[] = {
	KUNIT_CASE(none_on_a_breakpoint),
	KUNIT_CASE(none_in_a_jump),
	KUNIT_CASE(the_breakpoint_was_first),
	{}
};

static struct kunit_suite kgdb_suite = {
	.name = "kprobes_kgdb",
	.init = opt_init,
	.test_cases = kgdb_cases,
};

kunit_test_suite(kgdb_suite);
