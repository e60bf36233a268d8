// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Re-based operands: rebase.vec has the expected bytes, computed by hand. Also the limits of
 * the reach of jumps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

#include "classify.h"
#include "tap.h"
#include "tests.h"
#include "vector.h"

static void check_rebase(struct vector_file *vectors)
{
	unsigned char bytes[MAX_INSN_SIZE], want[MAX_INSN_SIZE], out[MAX_INSN_SIZE + 1];
	unsigned int len = vector_hex(vectors->column[0], bytes, sizeof(bytes));
	u64 src = strtoull(vectors->column[1], NULL, 16);
	u64 dst = strtoull(vectors->column[2], NULL, 16);
	int expected = vector_bytes(vectors->column[3], want, sizeof(want)), got;
	struct probe_insn insn;
	unsigned int written;
	bool ok;

	probe_classify(bytes, len, INSN_MODE_64, &insn);
	memset(out, UNTOUCHED, sizeof(out));
	got = probe_rebase(&insn, bytes, src, dst, out);
	written = got > 0 ? got : 0;
	ok = expected && insn.len == len && got == expected &&
	     !memcmp(out, want, written) && all_untouched(out, written, sizeof(out));
	if (ok && written)
		/* The same result in place, because a caller may have one buffer only. */
		ok = probe_rebase(&insn, bytes, src, dst, bytes) == got &&
		     !memcmp(bytes, want, written);
	if (!ok)
		tap_note("%s:%u: returned %d, expected %d", vectors->name, vectors->line, got,
			 expected);
	tap_ok(ok, "%s from %s at %s becomes %s", vectors->column[0], vectors->column[1],
	       vectors->column[2], vectors->column[3]);
}

static bool jump_written(enum insn_mode mode, u64 at, u64 target, int want, u32 distance)
{
	unsigned char out[PROBE_JUMP_LEN + 1];
	int got;

	memset(out, UNTOUCHED, sizeof(out));
	got = probe_put_jump(mode, out, at, target);
	if (got != want)
		return false;
	if (want < 0)
		return all_untouched(out, 0, sizeof(out));
	return out[0] == 0xe9 && out[1] == (distance & 0xff) &&
	       out[2] == (distance >> 8 & 0xff) && out[3] == (distance >> 16 & 0xff) &&
	       out[4] == distance >> 24 && out[5] == UNTOUCHED;
}

static bool jump_is(u64 at, u64 target, int want, u32 distance)
{
	return jump_written(INSN_MODE_64, at, target, want, distance);
}

/* Does the jump, as the classifier decodes it, lead to @target? */
static bool leads_to(const unsigned char *bytes, int len, enum probe_emul emul, u8 cc, u64 at,
		     u64 target)
{
	struct probe_insn insn;

	return len > 0 && !probe_classify(bytes, len, INSN_MODE_64, &insn) &&
	       insn.len == len && insn.emul == emul && insn.cc == cc &&
	       at + insn.len + insn.disp == target;
}

static void test_jump(void)
{
	const u64 at = 0xffffffff81000000;
	unsigned char out[PROBE_JUMP_LEN];
	int len;

	tap_ok(jump_is(at, at + 5, 5, 0), "a jump to its own end has distance 0");
	tap_ok(jump_is(at, at, 5, -5), "a jump to itself has distance -5");
	tap_ok(jump_is(at, at + 0x12345, 5, 0x12340), "a jump counts from its end");
	tap_ok(jump_is(0x1000, 0x1005 + 0x7fffffffULL, 5, 0x7fffffff),
	       "a jump reaches 2 GiB less a byte forward");
	tap_ok(jump_is(0x1000, 0x1005 + 0x80000000ULL, -ERANGE, 0), "and no byte more");
	tap_ok(jump_is(0x100000000, 0x100000005 - 0x80000000ULL, 5, 0x80000000),
	       "a jump reaches 2 GiB back");
	tap_ok(jump_is(0x100000000, 0x100000004 - 0x80000000ULL, -ERANGE, 0), "and no byte more");
	tap_ok(jump_is(-3ULL, 0x10, 5, 0xe), "a jump may lead over the end of the address space");
	len = probe_put_jump(INSN_MODE_64, out, at, at - 0x777);
	tap_ok(leads_to(out, len, EMUL_JMP, 0, at, at - 0x777),
	       "the classifier sees the jump lead to its target");
}

static void test_jcc(void)
{
	const u64 at = 0xffffffff81000000;
	const enum insn_mode mode = INSN_MODE_64;
	unsigned char out[PROBE_JCC_LEN + 1];
	unsigned int cc, bad = 0;

	for (cc = 0; cc < 16; cc++) {
		int len = probe_put_jcc(mode, out, at, cc, at + 0x4321);

		bad += !leads_to(out, len, EMUL_JCC, cc, at, at + 0x4321);
	}
	tap_ok(!bad, "a conditional jump has each condition and its target");
	memset(out, UNTOUCHED, sizeof(out));
	tap_ok(probe_put_jcc(mode, out, at, 16, at) == -EINVAL &&
	       all_untouched(out, 0, sizeof(out)),
	       "there is no 17th condition");
	tap_ok(probe_put_jcc(mode, out, 0x1000, 4, 0x1006 + 0x80000000ULL) == -ERANGE &&
	       all_untouched(out, 0, sizeof(out)), "a conditional jump out of reach is refused");
	tap_ok(probe_put_jcc(mode, out, 0x1000, 4, 0x1006 + 0x7fffffffULL) == PROBE_JCC_LEN,
	       "the last one in reach is not");
}

/* With CONFIG_VMSPLIT_1G, text is at 41000000 and slots are at f8000000. */
static void test_reach_of_32_bits(void)
{
	unsigned char out[PROBE_JCC_LEN];

	tap_ok(jump_written(INSN_MODE_32, 0xf8000000, 0x41000000, 5, 0x48fffffb) &&
	       jump_written(INSN_MODE_32, 0x41000000, 0xf8000000, 5, 0xb6fffffb),
	       "in 32-bit mode a jump reaches more than 2 GiB");
	tap_ok(jump_written(INSN_MODE_32, 0, 0x80000005, 5, 0x80000000),
	       "in 32-bit mode a jump reaches the address that is farthest away");
	tap_ok(probe_put_jcc(INSN_MODE_32, out, 0xf8000000, 4, 0x41000000) == PROBE_JCC_LEN &&
	       !memcmp(out, "\x0f\x84\xfa\xff\xff\x48", PROBE_JCC_LEN),
	       "in 32-bit mode a conditional jump reaches as far");
}

void test_rebases(const char *dir)
{
	struct vector_file vectors;

	if (!vector_open(&vectors, dir, "rebase.vec", 4))
		return;
	while (vector_next(&vectors))
		check_rebase(&vectors);
	test_jump();
	test_jcc();
	test_reach_of_32_bits();
}
