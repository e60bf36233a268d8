// SPDX-License-Identifier: GPL-2.0-or-later
/* Golden vectors of the relocator: input words and output words. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "classify.h"
#include "relocate.h"
#include "../tap.h"
#include "../vector.h"
#include "tests.h"

/* Words of eight digits, or the expected negative errno. */
static int parse_words(const char *text, u32 *words)
{
	int count = 0;
	char *end;

	if (!strcmp(text, "range"))
		return -ERANGE;
	if (!strcmp(text, "invalid"))
		return -EINVAL;
	while (*text && count < PROBE_RELOCATED_WORDS) {
		words[count++] = strtoul(text, &end, 16);
		if (end != text + 8)
			return 0;
		text = end + strspn(end, " ");
	}
	return *text ? 0 : count;
}

static void check_vector(struct vector_file *vectors)
{
	u32 insn = strtoul(vectors->column[0], NULL, 16);
	u64 src = strtoull(vectors->column[2], NULL, 16);
	u64 dst = strtoull(vectors->column[3], NULL, 16);
	u32 want[PROBE_RELOCATED_WORDS], got[PROBE_RELOCATED_WORDS];
	int want_count, count, i;
	struct probe_insn desc;
	bool ok;

	memset(want, UNTOUCHED, sizeof(want));
	memset(got, UNTOUCHED, sizeof(got));
	want_count = parse_words(vectors->column[4], want);
	probe_classify(insn, &desc);
	count = probe_relocate(insn, &desc, src, dst, got);
	ok = want_count && count == want_count && !memcmp(got, want, sizeof(got));
	if (!ok) {
		tap_note("%s:%u: returned %d, not %d", vectors->name, vectors->line, count,
			 want_count);
		for (i = 0; i < count; i++)
			tap_note("    %08x, not %08x", got[i], want[i]);
	}
	tap_ok(ok, "\"%s\" moves from %s to %s: %s", vectors->column[1], vectors->column[2],
	       vectors->column[3], vectors->column[4]);
}

static void test_branch_ends(void)
{
	const u64 from = 0xffff800080000000, reach = 0x8000000;
	u32 word = 0;

	tap_ok(probe_gen_branch(from, from + reach - 4, &word) == 1 && word == 0x15ffffff,
	       "a branch reaches 128 MiB less one instruction forth");
	tap_ok(probe_gen_branch(from, from - reach, &word) == 1 && word == 0x16000000,
	       "a branch reaches 128 MiB back");
	tap_ok(probe_gen_branch(from, from, &word) == 1 && word == 0x14000000,
	       "a branch reaches itself");
	tap_ok(probe_gen_branch(0xfffffffffffffffc, 4, &word) == 1 && word == 0x14000002,
	       "a branch goes round the end of the address space");
	word = 0x5a5a5a5a;
	tap_ok(probe_gen_branch(from, from + reach, &word) == -ERANGE && word == 0x5a5a5a5a &&
	       probe_gen_branch(from, from - reach - 4, &word) == -ERANGE &&
	       word == 0x5a5a5a5a && probe_gen_branch(from, 0, &word) == -ERANGE,
	       "a branch does not reach farther");
	tap_ok(probe_gen_branch(from, from + 2, &word) == -EINVAL &&
	       probe_gen_branch(from + 1, from, &word) == -EINVAL && word == 0x5a5a5a5a,
	       "a branch goes from instruction to instruction");
}

void test_relocations(const char *dir)
{
	struct vector_file vectors;

	test_branch_ends();
	if (!vector_open(&vectors, dir, "relocate.vec", 5))
		return;
	while (vector_next(&vectors))
		check_vector(&vectors);
}
