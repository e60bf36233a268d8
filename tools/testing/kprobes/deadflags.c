// SPDX-License-Identifier: GPL-2.0-only
/* Dead arithmetic flags: flags.vec has the expected results. */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "flags.h"
#include "tap.h"
#include "tests.h"
#include "vector.h"

void test_dead_flags(const char *dir)
{
	struct vector_file vectors;
	unsigned char bytes[64];
	unsigned int len, expected;
	bool at_return;
	u64 got;

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
