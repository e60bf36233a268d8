// SPDX-License-Identifier: GPL-2.0-or-later
/* Dead arithmetic flags: flags.vec has the expected results. */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <asm/insn.h>

#include "classify.h"
#include "tap.h"
#include "tests.h"
#include "vector.h"

/*
 * Is the length of mov with this ModRM and SIB byte that of the decoder?  Then the two instructions
 * after it are found.
 */
static bool is_known_length(unsigned int operand, bool rex)
{
	unsigned char text[16], *bytes = text + !rex;
	size_t avail = sizeof(text) - !rex;
	bool at_return = false;
	struct insn insn;

	memset(text, 0x90, sizeof(text));
	text[0] = 0x4c;
	text[1] = 0x8b;
	text[2] = operand;
	text[3] = operand >> 8;
	if (insn_decode(&insn, bytes, avail, INSN_MODE_64))
		return false;
	bytes[insn.length] = 0x50;		/* push %rax */
	bytes[insn.length + 1] = 0xc3;		/* ret */
	return probe_flags_dead(bytes, avail, &at_return) == (1 | 3ull << insn.length) && at_return;
}

static void test_operands(void)
{
	unsigned int operand, wrong = 0;

	for (operand = 0; operand < 0x10000; operand++)
		wrong += !is_known_length(operand, false) + !is_known_length(operand, true);
	tap_ok(!wrong, "dead flags: lengths of all memory operands");
}

void test_dead_flags(const char *dir)
{
	struct vector_file vectors;
	unsigned char bytes[64];
	unsigned int len, expected;
	bool at_return;
	u64 got;

	test_operands();
	if (!vector_open(&vectors, dir, "flags.vec", 3))
		return;
	while (vector_next(&vectors)) {
		len = vector_hex(vectors.column[0], bytes, sizeof(bytes));
		at_return = false;
		got = probe_flags_dead(bytes, len, &at_return);
		expected = strcmp(vectors.column[1], "live") ?
			   strtoul(vectors.column[1], NULL, 0) : 0;
		tap_ok(len && __builtin_popcountll(got) == expected && (got & 1) == !!expected &&
		       (!got || at_return == !!strstr(vectors.column[1], "return")),
		       "flags.vec:%u: %s: %s", vectors.line, vectors.column[2],
		       vectors.column[1]);
	}
}
