// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: exclude branches into a range of text without decoding instructions.
 *
 * To decode a function is expensive.  Nearly always there is no branch into a range, and the
 * bytes alone show it: whatever instructions they are, none of them can have a displacement that
 * leads there.  Where a byte leaves a doubt, the text is decoded up to that byte: nearly always
 * it is the middle of another instruction.
 */
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/unaligned.h>
#include <asm/insn.h>
#include <asm/text-patching.h>

#include "targets.h"
#include "text.h"

#define CHUNK		256
/* The longest opcode, ModRM byte and displacement that are looked at. */
#define LONGEST		5

enum kind {
	NO_BRANCH,
	SHORT_BRANCH,	/* followed by a displacement of one byte */
	GROUP_5,	/* followed by a ModRM byte; some of the group are indirect jumps */
	NEAR_JUMP,	/* the jump of a tail call, to a thunk, or of a probe */
	BREAKPOINT,	/* may be that of a probe, which hides a byte */
};

/* Byte at which an instruction may begin that sends execution elsewhere. */
static const u8 kinds[256] = {
	[0x70 ... 0x7f] = SHORT_BRANCH,
	[0xe0 ... 0xe3] = SHORT_BRANCH,
	[JMP8_INSN_OPCODE] = SHORT_BRANCH,
	[0xff] = GROUP_5,
	[JMP32_INSN_OPCODE] = NEAR_JUMP,
	[INT3_INSN_OPCODE] = BREAKPOINT,
};

static bool is_probe(unsigned long addr)
{
	return get_kprobe((void *)addr);
}

/*
 * May a jump lead to a thunk of a mitigation?  Such a jump is an indirect one.  Bytes that are
 * no jump in truth lead anywhere, nearly always to an address where there is nothing.
 */
static bool may_be_thunk(unsigned long target)
{
	u8 byte;

	if (!IS_ENABLED(CONFIG_MITIGATION_RETPOLINE))
		return false;
	return !get_kernel_nofault(byte, (u8 *)target) && probe_is_thunk(target);
}

/*
 * Is FF @modrm @sib a jump to the address in a register, or in a table?  A jump to an address
 * in memory without an index is a tail call.
 */
static bool is_computed_jump(u8 modrm, u8 sib)
{
	if (X86_MODRM_REG(modrm) != 4)
		return false;
	return X86_MODRM_MOD(modrm) == 3 || (X86_MODRM_RM(modrm) == 4 && X86_SIB_INDEX(sib) != 4);
}

/**
 * struct search - a search for branches into a range of text
 * @start: first address of the range
 * @end: address after the range
 * @text_end: address after the text that is searched
 * @known: address in that text at which an instruction begins
 */
struct search {
	unsigned long start, end;
	unsigned long text_end;
	unsigned long known;
};

static bool is_in(const struct search *s, unsigned long target)
{
	return target - s->start < s->end - s->start;
}

/* May the bytes at @at be an instruction that sends execution to an unknown place? */
static bool is_doubtful(const struct search *s, unsigned long at, const u8 *bytes)
{
	if (is_in(s, at + 4 + get_unaligned((s32 *)bytes)))
		return true;

	switch (kinds[bytes[0]]) {
	case SHORT_BRANCH:
		return is_in(s, at + 2 + (s8)bytes[1]);
	case GROUP_5:
		return is_computed_jump(bytes[1], bytes[2]);
	case NEAR_JUMP:
		return is_probe(at) ||
		       may_be_thunk(at + JMP32_INSN_SIZE + get_unaligned((s32 *)&bytes[1]));
	case BREAKPOINT:
		return is_probe(at);
	}
	return false;
}

/* May @insn at @at send execution into the range, or to an unknown place? */
static bool may_send(const struct search *s, unsigned long at, const struct probe_insn *insn)
{
	unsigned long target = at + insn->len + insn->disp;

	if (insn->emul == EMUL_JMP && may_be_thunk(target))
		return true;
	if (probe_is_relative(insn))
		return is_in(s, target);
	if (insn->emul == EMUL_JMP_INDIRECT)
		return insn->reg != PROBE_REG_NONE || insn->index != PROBE_REG_NONE;
	return insn->refusal == REFUSE_TRANSACTION;
}

/* Decodes up to the instruction that has the byte at @at.  Is that instruction a branch? */
static bool is_confirmed(struct search *s, unsigned long at)
{
	u8 bytes[MAX_INSN_SIZE];
	struct probe_insn branch;
	struct insn insn;
	size_t avail;

	for (;; s->known += insn.length) {
		avail = probe_read_insn(s->known, s->text_end, bytes);
		if (!avail || insn_decode(&insn, bytes, avail, INSN_MODE_KERN))
			return true;
		if (at < s->known + insn.length)
			break;
	}
	return probe_classify(bytes, avail, INSN_MODE_KERN, &branch) == -EILSEQ ||
	       may_send(s, s->known, &branch);
}

static bool may_branch(struct search *s, unsigned long at, const u8 *bytes, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		/* A displacement of four bytes, of any instruction, ends after these four. */
		if (!kinds[bytes[i]] &&
		    !is_in(s, at + i + 4 + get_unaligned((s32 *)&bytes[i])))
			continue;
		if (is_doubtful(s, at + i, bytes + i) && is_confirmed(s, at + i))
			return true;
	}
	return false;
}

static bool search(struct search *s, unsigned long text)
{
	u8 bytes[CHUNK + LONGEST];
	unsigned int nr, len;

	for (; text < s->text_end; text += nr) {
		nr = min(CHUNK, s->text_end - text);
		len = min(sizeof(bytes), s->text_end - text);
		if (copy_from_kernel_nofault(bytes, (void *)text, len))
			return true;
		memset(bytes + len, 0, sizeof(bytes) - len);
		if (may_branch(s, text, bytes, nr))
			return true;
	}
	return false;
}

/**
 * probe_bytes_may_branch() - may there be a branch into a range of text?
 * @text: start of the text that may have the branch; an instruction begins there
 * @text_end: address after that text
 * @insn: address of an instruction; if it is in that text, not after @start
 * @start: first address of the range
 * @end: address after the range
 *
 * Context: task, kprobe_mutex and text_mutex held.
 * Return: false if @text has no branch into the range, and no indirect jump; true if it may
 * have one.
 */
bool probe_bytes_may_branch(unsigned long text, unsigned long text_end, unsigned long insn,
			    unsigned long start, unsigned long end)
{
	struct search s = { .start = start, .end = end };

	/* After @insn there is no need to decode from the beginning. */
	if (insn > text && insn < text_end) {
		s.text_end = insn;
		s.known = text;
		if (search(&s, text))
			return true;
		text = insn;
	}
	s.text_end = text_end;
	s.known = text;
	return search(&s, text);
}
