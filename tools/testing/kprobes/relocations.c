// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Relocated instructions: relocate.vec has the expected bytes. An assembler made them from the
 * text beside them, linked to the address of the copy.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "region.h"
#include "tap.h"
#include "tests.h"
#include "vector.h"

static unsigned int relocated[INSN_MODE_64 + 1][NR_EMUL];

static void check_relocation(struct vector_file *vectors)
{
	unsigned char want[2 * PROBE_RELOCATED_MAX], out[2 * PROBE_RELOCATED_MAX];
	unsigned char bytes[MAX_INSN_SIZE];
	enum insn_mode mode = strcmp(vectors->column[0], "64") ? INSN_MODE_32 : INSN_MODE_64;
	unsigned int len = vector_hex(vectors->column[1], bytes, sizeof(bytes));
	u64 src = strtoull(vectors->column[2], NULL, 16);
	u64 dst = strtoull(vectors->column[3], NULL, 16);
	int expected = vector_bytes(vectors->column[4], want, sizeof(want)), got;
	struct probe_insn insn;
	unsigned int written;
	bool ok;

	probe_classify(bytes, len, mode, &insn);
	memset(out, UNTOUCHED, sizeof(out));
	got = probe_relocate(&insn, bytes, mode, src, dst, out);
	written = got > 0 ? got : 0;
	ok = expected && insn.len == len && got == expected && got <= PROBE_RELOCATED_MAX &&
	     !memcmp(out, want, written);
	/* After an error the output is undefined, but it is still bounded. */
	if (!all_untouched(out, got > 0 ? written : PROBE_RELOCATED_MAX, sizeof(out)))
		ok = false;
	if (!ok) {
		tap_note("%s:%u: returned %d, expected %d", vectors->name, vectors->line, got,
			 expected);
		tap_bytes(out, written);
	}
	if (got > 0)
		relocated[mode][insn.emul]++;
	tap_ok(ok, "in %s-bit mode at %s: %s", vectors->column[0], vectors->column[3],
	       vectors->column[5]);
}

static unsigned int unrelocated(enum insn_mode mode)
{
	unsigned int emul, missing = 0;

	for (emul = 0; emul < NR_EMUL; emul++)
		if (!relocated[mode][emul]) {
			tap_note("no vector relocates emulation %u", emul);
			missing++;
		}
	return missing;
}

void test_relocations(const char *dir)
{
	struct vector_file vectors;

	if (!vector_open(&vectors, dir, "relocate.vec", 6))
		return;
	while (vector_next(&vectors))
		check_relocation(&vectors);
	tap_ok(!unrelocated(INSN_MODE_32), "every kind of instruction is moved in 32-bit mode");
	tap_ok(!unrelocated(INSN_MODE_64), "every kind of instruction is moved in 64-bit mode");
}
