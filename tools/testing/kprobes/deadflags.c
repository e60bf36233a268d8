// SPDX-License-Identifier: GPL-2.0-only
/* Dead arithmetic flags: flags.vec has the expected results. */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <asm/insn.h>

#include "flags.h"
#include "tap.h"
#include "tests.h"
#include "vector.h"

/*
 * The lengths of all forms of operands must be those of the decoder: after mov, two more
 * instructions are found exactly where it ends.
 */
static void test_operands(void)
{
	unsigned int modrm, sib, rex, wrong = 0;
	bool at_return;

	for (modrm = 0; modrm < 256; modrm++) {
		for (sib = 0; sib < 256; sib++) {
			for (rex = 0; rex < 2; rex++) {
				unsigned char bytes[] = { 0x4c, 0x8b, modrm, sib, [4 ... 15] = 0x90 };
				struct insn insn;

				if (insn_decode(&insn, bytes + !rex, sizeof(bytes) - !rex,
						INSN_MODE_64)) {
					wrong++;
					continue;
				}
				/* push %rax; ret */
				bytes[!rex + insn.length] = 0x50;
				bytes[!rex + insn.length + 1] = 0xc3;
				at_return = false;
				if (probe_flags_dead(bytes + !rex, sizeof(bytes) - !rex, &at_return) !=
				    (1 | 3ull << insn.length) || !at_return)
					wrong++;
			}
		}
	}
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
