// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Regions of random bytes. The input and the output both end at the end of a page that is
 * followed by an unmapped page: an access one byte too far ends the program.
 */
#include <errno.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "random.h"
#include "region.h"
#include "same.h"
#include "tap.h"
#include "tests.h"
#include "vector.h"

#define AVAIL_MAX	40
#define ROOM_MAX	160	/* longer than any copy */

/**
 * struct round - one region
 * @bytes: its text, up to the end of a page
 * @avail: number of bytes
 * @mode: mode in which it runs
 * @region: result of probe_region_find()
 * @copy: arguments and result of the copy; its output also ends at the end of a page
 */
struct round {
	u8 *bytes;
	unsigned int avail;
	enum insn_mode mode;
	struct probe_region region;
	struct probe_copy copy;
};

static unsigned long found[NR_KPROBE_OBSTACLES], copied[NR_KPROBE_OBSTACLES];

/*
 * Adds patterns that are rare in random bytes: kinds of branches, short instructions, padding.
 */
static void random_text(u8 *bytes, unsigned int len)
{
	static const struct {
		u8 len, bytes[4];
	} snippets[] = {
		{ 1, { 0x50 } }, { 1, { 0x90 } }, { 1, { 0xc3 } }, { 1, { 0xcc } },
		{ 1, { 0x9c } }, { 1, { 0x9d } }, { 1, { 0xfa } }, { 1, { 0xfb } },
		{ 1, { 0xe8 } }, { 1, { 0xe9 } }, { 1, { 0xeb } }, { 1, { 0x74 } },
		{ 1, { 0xe2 } }, { 1, { 0xe3 } }, { 1, { 0xc2 } }, { 1, { 0x2e } },
		{ 2, { 0x0f, 0x85 } }, { 2, { 0xff, 0xd0 } }, { 2, { 0xff, 0xd4 } },
		{ 2, { 0xff, 0xe2 } }, { 2, { 0xff, 0x15 } }, { 2, { 0xff, 0x25 } },
		{ 2, { 0x67, 0xe2 } }, { 2, { 0x31, 0xc0 } }, { 2, { 0x66, 0x90 } },
		{ 3, { 0x48, 0x8b, 0x05 } }, { 3, { 0xff, 0x14, 0x24 } },
		{ 3, { 0x41, 0xff, 0xd3 } }, { 3, { 0x0f, 0x1f, 0x00 } },
		{ 4, { 0xf3, 0x0f, 0x1e, 0xfa } }, { 4, { 0xc5, 0xf8, 0x90, 0xc1 } },
		{ 4, { 0x2e, 0x2e, 0x2e, 0x2e } },
	};
	unsigned int pos = 0, i;

	random_bytes(bytes, len);
	while (pos < len) {
		u64 dice = random_next();

		i = (dice >> 8) % ARRAY_SIZE(snippets);
		if (dice & 1 && snippets[i].len <= len - pos) {
			memcpy(bytes + pos, snippets[i].bytes, snippets[i].len);
			pos += snippets[i].len;
		} else if (dice & 6) {
			pos += 1 + (dice >> 4) % 4;
		}
	}
}

/* An address: in 64-bit mode mostly in the upper 2 GiB, like those of kernels. */
static u64 random_address(enum insn_mode mode)
{
	u64 dice = random_next();

	if (mode == INSN_MODE_32)
		return (u32)dice;
	return dice >> 60 ? (dice & 0x7fffffff) | 0xffffffff80000000 : dice;
}

static const char *broken_relocation(const struct round *r, unsigned int i)
{
	const struct probe_region *region = &r->region;
	u8 out[2 * PROBE_RELOCATED_MAX];
	int len;

	memset(out, UNTOUCHED, sizeof(out));
	len = probe_relocate(&region->insns[i], r->bytes + region->offset[i], r->mode,
			     r->copy.src, r->copy.dst, out);
	if (len < 0 && len != -ERANGE && len != -EINVAL)
		return "a strange error";
	if (len > PROBE_RELOCATED_MAX || !all_untouched(out, PROBE_RELOCATED_MAX, sizeof(out)))
		return "an instruction becomes longer than PROBE_RELOCATED_MAX";
	return NULL;
}

static bool same_found(const struct probe_region *a, const struct probe_region *b)
{
	return a->len == b->len && a->nr == b->nr && a->falls_through == b->falls_through &&
	       !memcmp(a->offset, b->offset, a->nr) &&
	       !memcmp(a->insns, b->insns, a->nr * sizeof(a->insns[0]));
}

static const char *broken_find(const struct round *r, enum kprobe_obstacle got)
{
	struct probe_region again;
	unsigned int i, need = max_t(unsigned int, r->region.len, PROBE_JUMP_LEN);
	const char *flaw;

	if (probe_region_find(r->bytes, r->avail, r->mode, &again) != got)
		return "not deterministic";
	if (got)
		return NULL;
	if (!same_found(&again, &r->region))
		return "not deterministic";
	if (need > r->avail)
		return "a region beyond the end";
	flaw = region_flaw(&r->region, r->bytes, r->mode);
	/* The result may depend on the bytes of the region and of the jump only. */
	if (!flaw && r->region.len >= PROBE_JUMP_LEN &&
	    (probe_region_find(r->bytes, need, r->mode, &again) ||
	     !same_found(&again, &r->region)))
		flaw = "depends on the bytes after it";
	for (i = 0; i < r->region.nr && !flaw; i++)
		flaw = broken_relocation(r, i);
	return flaw;
}

/* A call that reads its target through the stack pointer. */
static bool calls_by_stack(const struct probe_region *region)
{
	const struct probe_insn *last = &region->insns[region->nr - 1];

	return last->emul == EMUL_CALL_INDIRECT && (last->reg == 4 || last->base == 4);
}

static bool calls_through_memory(const struct probe_insn *insn)
{
	return insn->emul == EMUL_CALL_INDIRECT && probe_reads_target(insn);
}

static const char *broken_copy(struct round *r, enum kprobe_obstacle *got)
{
	u8 all[ROOM_MAX];
	struct probe_copy large = r->copy;
	enum kprobe_obstacle with_room;
	bool refused_post, refused_call;
	const char *flaw;

	*got = probe_region_copy(&r->region, r->bytes, &r->copy);
	large.out = all;
	large.room = ROOM_MAX;
	with_room = probe_region_copy(&r->region, r->bytes, &large);
	if (with_room == KPROBE_OBSTACLE_ROOM)
		return "a copy is longer than any";
	refused_post = with_room == KPROBE_OBSTACLE_POST_BRANCH;
	if (refused_post != (r->copy.post && r->region.insns[0].emul))
		return "post handler";
	refused_call = with_room == KPROBE_OBSTACLE_ENCODING;
	if (!refused_post && refused_call != calls_through_memory(&r->region.insns[0]))
		return "a probed call through memory";
	if (with_room == KPROBE_OBSTACLE_STACK && !calls_by_stack(&r->region))
		return "no call through the stack pointer";
	if (with_room != *got)
		return *got == KPROBE_OBSTACLE_ROOM &&
		       (with_room || large.len > r->copy.room) ? NULL :
			"the answer depends on the room";
	if (*got)
		return NULL;
	flaw = copy_flaw(&r->region, r->bytes, &r->copy);
	if (!flaw && (large.len != r->copy.len || memcmp(all, r->copy.out, large.len)))
		flaw = "the bytes written depend on the room";
	return flaw;
}

static void make_round(struct round *r, u8 *text_end, u8 *out_end)
{
	u64 dice = random_next();

	r->mode = dice & 1 ? INSN_MODE_64 : INSN_MODE_32;
	r->avail = (dice >> 8) % (AVAIL_MAX + 1);
	r->bytes = text_end - r->avail;
	random_text(r->bytes, r->avail);
	r->copy = (struct probe_copy) {
		.mode = r->mode,
		.src = random_address(r->mode),
		.room = (dice >> 16) % 80,
	};
	r->copy.dst = dice & 2 ? random_address(r->mode) : r->copy.src + (dice >> 40);
	if (r->mode == INSN_MODE_32)
		r->copy.dst = (u32)r->copy.dst;
	if (dice & 4)
		r->copy.post = r->copy.dst ^ 0x10000;
	r->copy.out = out_end - r->copy.room;
}

static void report(unsigned long number, const struct round *r, const char *law)
{
	tap_note("round %lu, mode %d, at %llx to %llx: %s", number, r->mode,
		 (unsigned long long)r->copy.src, (unsigned long long)r->copy.dst, law);
	tap_bytes(r->bytes, r->avail);
}

static unsigned int unreached(void)
{
	static const enum kprobe_obstacle by_find[] = {
		KPROBE_OBSTACLE_NONE, KPROBE_OBSTACLE_INSN, KPROBE_OBSTACLE_CALL,
		KPROBE_OBSTACLE_END, KPROBE_OBSTACLE_SHADOW, KPROBE_OBSTACLE_PAD,
	}, by_copy[] = {
		KPROBE_OBSTACLE_NONE, KPROBE_OBSTACLE_STACK, KPROBE_OBSTACLE_ROOM,
		KPROBE_OBSTACLE_OPERAND, KPROBE_OBSTACLE_POST_BRANCH,
		KPROBE_OBSTACLE_ENCODING,
	};
	unsigned int i, missing = 0;

	for (i = 0; i < ARRAY_SIZE(by_find); i++)
		missing += !found[by_find[i]];
	for (i = 0; i < ARRAY_SIZE(by_copy); i++)
		missing += !copied[by_copy[i]];
	return missing;
}

void test_random_regions(unsigned long rounds)
{
	unsigned char *text_end = page_end(), *out_end = page_end();
	unsigned long i, broken = 0;
	struct round r;

	if (!text_end || !out_end) {
		tap_ok(false, "there are pages with no page after them");
		return;
	}
	for (i = 0; i < rounds && broken < 10; i++) {
		enum kprobe_obstacle got;
		const char *law;

		make_round(&r, text_end, out_end);
		got = probe_region_find(r.bytes, r.avail, r.mode, &r.region);
		found[got]++;
		law = broken_find(&r, got);
		if (!law && !got) {
			law = broken_copy(&r, &got);
			copied[got]++;
		}
		if (law) {
			broken++;
			report(i, &r, law);
		}
	}
	tap_note("%lu regions, %lu copied", found[KPROBE_OBSTACLE_NONE],
		 copied[KPROBE_OBSTACLE_NONE]);
	tap_ok(!broken, "regions of random bytes break no law");
	tap_ok(!unreached(), "random bytes reach every obstacle of instructions");
}
