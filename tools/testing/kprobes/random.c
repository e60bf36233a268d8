// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random bytes. They end at the end of a page that is followed by an unmapped page, so reading
 * one byte too many ends the program.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "classify.h"
#include "random.h"
#include "tap.h"
#include "tests.h"

unsigned char *page_end(void)
{
	long page = sysconf(_SC_PAGESIZE);
	unsigned char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || mprotect(map + page, page, PROT_NONE))
		return NULL;
	return map + page;
}

/* Random bytes rarely have prefixes, escapes or RIP-relative operands, so add some. */
void random_bytes(unsigned char *bytes, unsigned int len)
{
	static const unsigned char leads[] = {
		0x0f, 0x26, 0x2e, 0x36, 0x38, 0x3a, 0x3e, 0x48, 0x4f, 0x62, 0x64, 0x65, 0x66,
		0x67, 0x8f, 0xc4, 0xc5, 0xd5, 0xf0, 0xf2, 0xf3, 0xff,
	};
	unsigned int i;

	for (i = 0; i < len; i++) {
		u64 dice = random_next();

		bytes[i] = dice;
		if (i < 5 && !(dice & 0x300))
			bytes[i] = leads[(dice >> 16) % sizeof(leads)];
		else if (i < 5 && !(dice & 0xc00))
			bytes[i] = (dice & 0x38) | 0x05;
	}
}

/* Laws that hold for any bytes. */
static const char *broken_law(const unsigned char *bytes, unsigned int avail, enum insn_mode mode,
			      int ret, const struct probe_insn *insn)
{
	bool refused = insn->action == PROBE_REFUSE, emulated = insn->action == PROBE_EMULATE;
	struct probe_insn again, shorter;

	if (insn->len > avail || insn->len > MAX_INSN_SIZE)
		return "length";
	if (ret != (!insn->refusal ? 0 : insn->refusal == REFUSE_UNDECODABLE ? -EILSEQ : -EINVAL))
		return "return value";
	if (refused != !!insn->refusal)
		return "refusal without reason, or reason without refusal";
	if (emulated != !!insn->emul)
		return "emulation";
	if (!ret && !insn->len)
		return "accepted without a length";
	if (insn->action == PROBE_REBASE && (!insn->riprel || mode != INSN_MODE_64))
		return "relocation";
	if (insn->riprel && insn->riprel + 4 > insn->len)
		return "displacement beyond the end";
	if (probe_classify(bytes, avail, mode, &again) != ret ||
	    memcmp(&again, insn, sizeof(again)))
		return "not deterministic";
	/* The verdict depends on all bytes of the instruction and on no others. */
	if (ret)
		return NULL;
	if (probe_classify(bytes, insn->len, mode, &again) || memcmp(&again, insn, sizeof(again)))
		return "depends on the bytes after it";
	if (probe_classify(bytes, insn->len - 1, mode, &shorter) != -EILSEQ)
		return "does without its last byte";
	return NULL;
}

static const char *broken_copy(const unsigned char *bytes, const struct probe_insn *insn,
			       enum insn_mode mode)
{
	unsigned char out[MAX_INSN_SIZE];
	struct probe_insn copy;
	u64 src = random_next(), dst = src + (s32)random_next();
	u64 mask = insn->asize == 4 ? 0xffffffff : ~0ULL;
	s32 disp = insn->riprel ? get_unaligned_le32(bytes + insn->riprel) : 0, moved;
	int ret = probe_rebase(insn, bytes, src, dst, out);

	if (insn->action == PROBE_EMULATE && !probe_reads_target(insn))
		return ret == -EINVAL ? NULL : "an emulated instruction was copied";
	if (ret == -ERANGE)
		return disp + (s64)(src - dst) == (s32)(disp + (s64)(src - dst)) ?
			"refused although in range" : NULL;
	if (ret != insn->len || probe_classify(out, ret, mode, &copy))
		return "the copy is another instruction";
	/* The displacement may differ; it is checked below. */
	if (insn->riprel)
		copy.disp = insn->disp;
	if (memcmp(&copy, insn, sizeof(copy)))
		return "the copy is another instruction";
	if (!insn->riprel)
		return memcmp(out, bytes, ret) ? "the copy differs" : NULL;
	moved = get_unaligned_le32(out + insn->riprel);
	if (((src + disp) ^ (dst + moved)) & mask)
		return "the copy refers to something else";
	return NULL;
}

void test_random(unsigned long long seed, unsigned long rounds)
{
	unsigned long i, broken = 0, action_count[PROBE_REFUSE + 1] = { 0 };
	unsigned char *end = page_end();

	tap_note("random bytes: seed %llu, %lu rounds", seed, rounds);
	random_seed(seed);
	if (!end) {
		tap_ok(false, "there is a page with no page after it");
		return;
	}
	for (i = 0; i < rounds && broken < 10; i++) {
		unsigned int avail = random_next() % (MAX_INSN_SIZE + 3);
		enum insn_mode mode = random_next() & 1 ? INSN_MODE_64 : INSN_MODE_32;
		unsigned char *bytes = end - avail;
		struct probe_insn insn;
		const char *law;
		int ret;

		random_bytes(bytes, avail);
		ret = probe_classify(bytes, avail, mode, &insn);
		law = broken_law(bytes, avail, mode, ret, &insn);
		if (!law && !ret)
			law = broken_copy(bytes, &insn, mode);
		if (law) {
			unsigned int k;

			broken++;
			tap_note("round %lu, %u bytes, mode %d: %s", i, avail, mode, law);
			for (k = 0; k < avail; k++)
				tap_note("  %02x", bytes[k]);
		}
		action_count[insn.action]++;
	}
	tap_note("%lu copied, %lu rebased, %lu emulated, %lu refused", action_count[PROBE_COPY],
		 action_count[PROBE_REBASE], action_count[PROBE_EMULATE],
		 action_count[PROBE_REFUSE]);
	tap_ok(!broken, "random bytes break no law");
	tap_ok(action_count[PROBE_COPY] && action_count[PROBE_REBASE] &&
	       action_count[PROBE_EMULATE] && action_count[PROBE_REFUSE],
	       "random bytes reach every action");
}
