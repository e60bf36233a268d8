// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instructions that cannot be separated from their neighbours (arm64): which of them are
 * refused because of the instruction before them, and which are not.
 */
#include <kunit/test.h>
#include <linux/kprobes.h>

#include "asm_text.h"
#include "counted.h"
#include "optimized.h"

/* Never executed.  The rows of the table have line numbers in it. */
extern char kprobes_apart[];
TEXT_FUNCTION(kprobes_apart,
	      "nop\n"
	      "ldxr	x0, [x1]\n"
	      "add	x0, x0, #1\n"
	      "stxr	w2, x0, [x1]\n"
	      "nop\n"
	      "ldaxp	x0, x2, [x1]\n"
	      "nop\n"
	      "clrex\n"
	      "nop\n"
	      ".inst	0x0420bc20\n"		/* movprfx z0, z1 */
	      ".inst	0x04a10000\n"		/* add z0.s, z0.s, z1.s */
	      "nop\n"
	      ".inst	0x04912020\n"		/* movprfx z0.s, p0/m, z1.s */
	      ".inst	0x04900020\n"		/* mul z0.s, p0/m, z0.s, z1.s */
	      "ret\n");

/* A loop that is entered at its load: the store is at a lower address than the load. */
extern char kprobes_apart_entered[];
TEXT_FUNCTION(kprobes_apart_entered,
	      "b	2f\n"
	      "1: nop\n"
	      "stxr	w2, x0, [x1]\n"
	      "cbnz	w2, 2f\n"
	      "ret\n"
	      "2: ldxr	x0, [x1]\n"
	      "b	1b\n");

/* The path that gives up (clrex) is at a lower address than the path to the store. */
extern char kprobes_apart_given_up[];
TEXT_FUNCTION(kprobes_apart_given_up,
	      "ldxr	x0, [x1]\n"
	      "cbz	x0, 2f\n"
	      "b	3f\n"
	      "2: clrex\n"
	      "ret\n"
	      "3: tbz	x0, #3, 4f\n"
	      "b.eq	5f\n"
	      "4: stxr	w2, x0, [x1]\n"
	      "ret\n"
	      "5: nop\n"
	      "ret\n");

static const struct apart {
	const char *name;
	unsigned int line;
	bool refused;
	char *text;		/* NULL: kprobes_apart */
} rows[] = {
	{ "before a sequence", 0, false },
	{ "entering a loop at its load", 0, false, kprobes_apart_entered },
	{ "between a branch and the store", 1, true, kprobes_apart_entered },
	{ "after the store", 3, false, kprobes_apart_entered },
	{ "end of the loop", 4, false, kprobes_apart_entered },
	{ "between the load and a branch", 6, true, kprobes_apart_entered },
	{ "clrex in front of the store", 3, true, kprobes_apart_given_up },
	{ "given up", 4, false, kprobes_apart_given_up },
	{ "between, after clrex", 5, true, kprobes_apart_given_up },
	{ "between, after tbz", 6, true, kprobes_apart_given_up },
	{ "after the sequence", 8, false, kprobes_apart_given_up },
	{ "load exclusive", 1, true },
	{ "within a sequence", 2, true },
	{ "store exclusive", 3, true },
	{ "after a sequence", 4, false },
	{ "load exclusive, a pair", 5, true },
	{ "within another sequence", 6, true },
	{ "clrex that gives it up", 7, true },
	{ "after clrex", 8, false },
	{ "movprfx", 9, true },
	{ "after movprfx", 10, true },
	{ "two after movprfx", 11, false },
	{ "predicated movprfx", 12, true },
	{ "after predicated movprfx", 13, true },
	{ "the end", 14, false },
};

KUNIT_ARRAY_PARAM_DESC(apart, rows, name);

static void neighbours(struct kunit *test)
{
	const struct apart *row = test->param_value;
	char *text = row->text ?: kprobes_apart;
	struct counted c = counted_at(text + row->line * AARCH64_INSN_SIZE, true, false);
	int ret = register_kprobe(&c.kp);

	KUNIT_EXPECT_EQ(test, ret, row->refused ? -EINVAL : 0);
	if (!ret)
		unregister_kprobe(&c.kp);
}

/* Adds 1 to the word at @to and returns 1.  Gives up after 1,000 tries and returns 0. */
int kprobes_apart_add(u64 *to);
TEXT_FUNCTION(kprobes_apart_add,
	      "mov	x1, x0\n"
	      "mov	w3, #1000\n"
	      "b	2f\n"
	      "1: add	x0, x0, #1\n"
	      "stxr	w2, x0, [x1]\n"
	      "cbz	w2, 4f\n"
	      "sub	w3, w3, #1\n"
	      "cbz	w3, 3f\n"
	      "2: nop\n"
	      "ldxr	x0, [x1]\n"
	      "tbz	x0, #63, 1b\n"
	      "clrex\n"
	      "3: mov	w0, #0\n"
	      "ret\n"
	      "4: mov	w0, #1\n"
	      "ret\n");

#define ADD_INSNS	16

/* The loop ends although it is probed, at each instruction that is not refused. */
static void exclusive_loops_end(struct kunit *test)
{
	unsigned int line, accepted = 0;
	u64 value = 0;

	for (line = 0; line < ADD_INSNS; line++) {
		struct counted c = counted_at((char *)kprobes_apart_add +
					      line * AARCH64_INSN_SIZE, true, false);

		if (register_kprobe(&c.kp))
			continue;
		accepted++;
		KUNIT_EXPECT_EQ_MSG(test, kprobes_apart_add(&value), 1, "line %u", line);
		wait_for_kprobe_optimizer();
		KUNIT_EXPECT_EQ_MSG(test, kprobes_apart_add(&value), 1, "line %u", line);
		unregister_kprobe(&c.kp);
		KUNIT_EXPECT_EQ_MSG(test, value, 2 * accepted, "line %u", line);
		value = 2 * accepted;
	}
	KUNIT_EXPECT_EQ(test, accepted, ADD_INSNS - 5U);
}

static struct kunit_case apart_cases[] = {
	KUNIT_CASE_PARAM(neighbours, apart_gen_params),
	KUNIT_CASE(exclusive_loops_end),
	{}
};

static struct kunit_suite apart_suite = {
	.name = "kprobes_arm64_apart",
	.test_cases = apart_cases,
};

kunit_test_suite(apart_suite);
