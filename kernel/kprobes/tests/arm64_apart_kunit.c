// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instructions that cannot be parted from their neighbours (arm64): what is refused because
 * of what stands in front of it, and what is not.
 */
#include <kunit/test.h>
#include <linux/kprobes.h>

#include "asm_text.h"
#include "counted.h"

/* Never executed.  Rows have the number of a line. */
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

static const struct apart {
	const char *name;
	unsigned int line;
	bool refused;
} rows[] = {
	{ "before a sequence", 0, false },
	{ "load exclusive", 1, true },
	{ "within a sequence", 2, true },
	{ "store exclusive", 3, true },
	{ "behind a sequence", 4, false },
	{ "load exclusive, a pair", 5, true },
	{ "within another sequence", 6, true },
	{ "clrex that gives it up", 7, true },
	{ "behind clrex", 8, false },
	{ "movprfx", 9, true },
	{ "behind movprfx", 10, true },
	{ "behind what was behind movprfx", 11, false },
	{ "predicated movprfx", 12, true },
	{ "behind predicated movprfx", 13, true },
	{ "the end", 14, false },
};

KUNIT_ARRAY_PARAM_DESC(apart, rows, name);

static void neighbours(struct kunit *test)
{
	const struct apart *row = test->param_value;
	struct counted c = counted_at(kprobes_apart + row->line * AARCH64_INSN_SIZE, true, false);
	int ret = register_kprobe(&c.kp);

	KUNIT_EXPECT_EQ(test, ret, row->refused ? -EINVAL : 0);
	if (!ret)
		unregister_kprobe(&c.kp);
}

static struct kunit_case apart_cases[] = {
	KUNIT_CASE_PARAM(neighbours, apart_gen_params),
	{}
};

static struct kunit_suite apart_suite = {
	.name = "kprobes_arm64_apart",
	.test_cases = apart_cases,
};

kunit_test_suite(apart_suite);
