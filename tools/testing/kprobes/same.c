// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Does a copy do the same as its region? The copy is decoded again, instruction by
 * instruction, and each is compared with the original; this file does not depend on how the
 * copy has been written. The originals are decoded again, too, and not taken from the region.
 */
#include <stddef.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "same.h"

/**
 * struct walk - one original, and the position in the copy
 * @copy: the copy
 * @bytes: the original
 * @insn: the original, decoded
 * @src: address of the original
 * @at: offset of the next instruction in the copy
 * @piece: bytes of the last instruction that has been read from the copy
 * @read: the last instruction, decoded
 */
struct walk {
	const struct probe_copy *copy;
	const u8 *bytes;
	struct probe_insn insn;
	u64 src;
	unsigned int at;
	const u8 *piece;
	struct probe_insn read;
};

static u64 mode_mask(const struct walk *w)
{
	return w->copy->mode == INSN_MODE_64 ? ~0ULL : 0xffffffff;
}

static u64 original_target(const struct walk *w)
{
	return (w->src + w->insn.len + w->insn.disp) & mode_mask(w);
}

static u64 here(const struct walk *w)
{
	return w->copy->dst + w->at;
}

/* Reads the next instruction of the copy; false if there is none. */
static bool read_on(struct walk *w)
{
	w->piece = w->copy->out + w->at;
	if (w->at >= w->copy->len ||
	    probe_classify(w->piece, w->copy->len - w->at, w->copy->mode, &w->read))
		return false;
	w->at += w->read.len;
	return true;
}

/* Is the next instruction of the copy a branch of that kind to @target? */
static bool read_branch(struct walk *w, enum probe_emul emul, u64 target)
{
	return read_on(w) && w->read.emul == emul &&
	       ((here(w) + w->read.disp) & mode_mask(w)) == (target & mode_mask(w));
}

/* Does the next instruction of the copy push the return address of the original call? */
static bool read_push(struct walk *w)
{
	u64 next = w->src + w->insn.len;

	return read_on(w) && w->read.len == 5 && w->piece[0] == 0x68 &&
	       (((s64)(s32)get_unaligned_le32(w->piece + 1) ^ next) & mode_mask(w)) == 0;
}

/* Are all bytes equal, except the one at index @except and the displacement? */
static bool same_bytes(const struct walk *w, int except)
{
	unsigned int i;

	if (w->read.len != w->insn.len || w->read.riprel != w->insn.riprel)
		return false;
	for (i = 0; i < w->insn.len; i++) {
		if (w->insn.riprel && i >= w->insn.riprel && i < w->insn.riprel + 4)
			continue;
		if (i != except && w->piece[i] != w->bytes[i])
			return false;
	}
	return true;
}

/* Does the displacement lead to the address that the original refers to? */
static bool same_reference(const struct walk *w)
{
	u64 mask = w->insn.asize == 4 ? 0xffffffff : ~0ULL;
	u64 want, got;

	if (!w->insn.riprel)
		return true;
	want = w->src + w->insn.len + (s32)get_unaligned_le32(w->bytes + w->insn.riprel);
	got = here(w) + (s32)get_unaligned_le32(w->piece + w->insn.riprel);
	return !((want ^ got) & mask);
}

static const char *flaw_of_verbatim(struct walk *w)
{
	if (!read_on(w) || !same_bytes(w, -1))
		return "an instruction has become another one";
	return same_reference(w) ? NULL : "an operand is another one";
}

static const char *flaw_of_jcc(struct walk *w)
{
	if (!read_branch(w, EMUL_JCC, original_target(w)))
		return "a conditional jump leads elsewhere";
	return w->read.cc == w->insn.cc ? NULL : "a condition is another one";
}

/*
 * A loop that is taken leads to the second jump. One that is not reaches the first jump, which
 * skips the second.
 */
static const char *flaw_of_loop(struct walk *w)
{
	u64 taken;

	if (!read_on(w) || w->read.emul != w->insn.emul || w->read.asize != w->insn.asize)
		return "a loop counts otherwise";
	taken = here(w) + w->read.disp;
	if (!read_on(w) || w->read.emul != EMUL_JMP || here(w) != taken)
		return "a loop that is taken meets no jump";
	taken += w->read.disp;
	if (!read_branch(w, EMUL_JMP, original_target(w)))
		return "a loop leads elsewhere";
	return here(w) == taken ? NULL : "a loop that ends does not continue after it";
}

static const char *flaw_of_call(struct walk *w)
{
	if (!read_push(w))
		return "a call pushes another address";
	if (!read_branch(w, EMUL_JMP, original_target(w)))
		return "a call leads elsewhere";
	return NULL;
}

static const char *flaw_of_call_indirect(struct walk *w)
{
	const u8 *opcode = memchr(w->bytes, 0xff, w->insn.len);
	unsigned int modrm = opcode - w->bytes + 1;

	if (w->insn.reg == 4 || w->insn.base == 4)
		return "a call through the stack pointer, which the push has moved";
	if (!read_push(w))
		return "an indirect call pushes another address";
	if (!read_on(w) || w->read.emul != EMUL_JMP_INDIRECT || !same_bytes(w, modrm) ||
	    (w->piece[modrm] ^ w->bytes[modrm]) != (2 ^ 4) << 3)
		return "an indirect call is another jump";
	return same_reference(w) ? NULL : "an indirect call reads another target";
}

static const char *flaw_of_insn(struct walk *w)
{
	switch (w->insn.emul) {
	case EMUL_JMP:
		return read_branch(w, EMUL_JMP, original_target(w)) ? NULL :
			"a jump leads elsewhere";
	case EMUL_JCC:
		return flaw_of_jcc(w);
	case EMUL_LOOP:
	case EMUL_LOOPE:
	case EMUL_LOOPNE:
	case EMUL_JCXZ:
		return flaw_of_loop(w);
	case EMUL_CALL:
		return flaw_of_call(w);
	case EMUL_CALL_INDIRECT:
		return flaw_of_call_indirect(w);
	default:
		return flaw_of_verbatim(w);
	}
}

const char *copy_flaw(const struct probe_region *region, const u8 *bytes,
		      const struct probe_copy *copy)
{
	struct walk w = { .copy = copy };
	const char *flaw;
	unsigned int i;

	if (copy->len > copy->room)
		return "longer than its room";
	for (i = 0; i < region->nr; i++) {
		w.bytes = bytes + region->offset[i];
		w.src = copy->src + region->offset[i];
		if (probe_classify(w.bytes, region->len - region->offset[i], copy->mode, &w.insn))
			return "an instruction that no copy can be of";
		if (copy->offset[i] != w.at)
			return "an instruction of the copy begins elsewhere";
		flaw = flaw_of_insn(&w);
		if (flaw)
			return flaw;
		if (copy->post && !i && !read_branch(&w, EMUL_CALL, copy->post))
			return "no call after the first instruction";
		if (copy->post && !i && (!read_on(&w) || w.read.emul != EMUL_POPF))
			return "no popf after that call";
	}
	if (region->falls_through && !read_branch(&w, EMUL_JMP, copy->src + region->len))
		return "the copy does not continue after the region";
	return w.at == copy->len ? NULL : "the copy has more than it needs";
}

static bool falls_through(const struct probe_insn *insn)
{
	switch (insn->emul) {
	case EMUL_JMP:
	case EMUL_CALL:
	case EMUL_RET:
	case EMUL_JMP_INDIRECT:
	case EMUL_CALL_INDIRECT:
		return false;
	default:
		return true;
	}
}

const char *region_flaw(const struct probe_region *region, const u8 *bytes, enum insn_mode mode)
{
	struct probe_insn insn;
	unsigned int i, at = 0;

	if (!region->nr || region->nr > PROBE_REGION_INSNS)
		return "number of instructions";
	for (i = 0; i < region->nr; i++) {
		bool last = i == region->nr - 1;

		if (region->offset[i] != at || at >= PROBE_JUMP_LEN)
			return "an instruction begins elsewhere";
		if (probe_classify(bytes + at, region->len - at, mode, &insn) ||
		    memcmp(&insn, &region->insns[i], sizeof(insn)))
			return "an instruction is another one";
		if (i && probe_is_endbr(bytes + at, region->len - at))
			return "a landing pad in the tail";
		at += insn.len;
		if (!last && !falls_through(&insn))
			return "instructions after one that does not continue";
	}
	if (at != region->len)
		return "length";
	if (region->falls_through != falls_through(&insn))
		return "how it ends";
	if (insn.emul == EMUL_CALL || insn.emul == EMUL_CALL_INDIRECT || falls_through(&insn))
		if (at < PROBE_JUMP_LEN)
			return "shorter than the jump, and something gets there";
	return insn.emul == EMUL_STI ? "sti at its end" : NULL;
}
