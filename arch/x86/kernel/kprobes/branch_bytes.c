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
/* The longest opcode, ModRM byte, SIB byte and displacement that are looked at. */
#define LONGEST		7

enum kind {
	NO_BRANCH,
	SHORT_BRANCH,	/* followed by a displacement of one byte */
	NEAR_CALL,	/* followed by a displacement of four bytes */
	NEAR_JUMP,	/* the same; may be a jump to a thunk, or that of a probe */
	ESCAPE,		/* followed by an opcode; some are conditional branches */
	GROUP_5,	/* followed by a ModRM byte; some of the group are indirect jumps */
	GROUP_11,	/* followed by a ModRM byte; one of the group is xbegin */
	BREAKPOINT,	/* may be that of a probe, which hides a byte */
};

/* Byte at which an instruction may begin that sends execution elsewhere. */
static const u8 kinds[256] = {
	[0x70 ... 0x7f] = SHORT_BRANCH,
	[0xe0 ... 0xe3] = SHORT_BRANCH,
	[JMP8_INSN_OPCODE] = SHORT_BRANCH,
	[CALL_INSN_OPCODE] = NEAR_CALL,
	[JMP32_INSN_OPCODE] = NEAR_JUMP,
	[0x0f] = ESCAPE,
	[0xff] = GROUP_5,
	[0xc7] = GROUP_11,
	[INT3_INSN_OPCODE] = BREAKPOINT,
};

static bool is_probe(unsigned long addr)
{
	return get_kprobe((void *)addr);
}

/*
 * May FF @modrm be a jump to the address in a register, or in a table?  A jump to an address in
 * memory without an index is a tail call; but a prefix before FF may make the index of a SIB byte
 * that seems to have none.
 */
static bool is_computed_jump(u8 modrm)
{
	return X86_MODRM_REG(modrm) == 4 &&
	       (X86_MODRM_MOD(modrm) == 3 || X86_MODRM_RM(modrm) == 4);
}

/**
 * struct search - a search for branches into a range of text
 * @f: the function
 * @start: first address of the range
 * @end: address after the range
 * @landing_pads: indirect jumps do not lead into the range
 * @text_end: address after the text that is searched
 * @known: address in that text at which an instruction begins
 */
struct search {
	struct function_targets *f;
	unsigned long start, end;
	bool landing_pads;
	unsigned long text_end;
	unsigned long known;
};

/*
 * May a jump lead to a thunk of a mitigation?  Such a jump is an indirect one.  Bytes that are
 * no jump in truth lead anywhere, nearly always to an address where there is no code.
 */
static bool may_be_thunk(const struct search *s, unsigned long target)
{
	return IS_ENABLED(CONFIG_MITIGATION_RETPOLINE) && !s->landing_pads &&
	       probe_may_be_code(target) && probe_is_thunk(target);
}

static bool is_in(const struct search *s, unsigned long target)
{
	return target - s->start < s->end - s->start;
}

/* The target of a branch at @at whose displacement of four bytes is after @len bytes. */
static unsigned long near_target(unsigned long at, const u8 *bytes, unsigned int len)
{
	return at + len + 4 + get_unaligned((s32 *)(bytes + len));
}

/* Is FF @modrm @sib jmp *table(,index,word)? */
static bool has_table(u8 modrm, u8 sib)
{
	return X86_MODRM_MOD(modrm) == 0 && X86_MODRM_RM(modrm) == 4 && X86_SIB_BASE(sib) == 5 &&
	       1 << X86_SIB_SCALE(sib) == sizeof(long);
}

/* May FF be a jump to an unknown place?  If it may be one through a table, read that. */
static bool may_be_computed(const struct search *s, const u8 *bytes)
{
	if (s->landing_pads || !is_computed_jump(bytes[1]))
		return false;
	return !has_table(bytes[1], bytes[2]) ||
	       !probe_table_excludes(s->f, (long)get_unaligned((s32 *)(bytes + 3)));
}

/* May the bytes at @at be an instruction that sends execution to an unknown place? */
static bool is_doubtful(const struct search *s, unsigned long at, const u8 *bytes)
{
	switch (kinds[bytes[0]]) {
	case SHORT_BRANCH:
		return is_in(s, at + 2 + (s8)bytes[1]);
	case NEAR_CALL:
		return is_in(s, near_target(at, bytes, 1));
	case NEAR_JUMP:
		return is_in(s, near_target(at, bytes, 1)) || is_probe(at) ||
		       may_be_thunk(s, near_target(at, bytes, 1));
	case ESCAPE:
		return (bytes[1] & 0xf0) == 0x80 && is_in(s, near_target(at, bytes, 2));
	case GROUP_5:
		return may_be_computed(s, bytes);
	case GROUP_11:
		return bytes[1] == 0xf8 && is_in(s, near_target(at, bytes, 2));
	case BREAKPOINT:
		return is_probe(at) || probe_debugger_in(at, 1);
	}
	return false;
}

/* May @insn at @at send execution into the range, or to an unknown place? */
static bool may_send(const struct search *s, unsigned long at, const struct probe_insn *insn)
{
	unsigned long target = at + insn->len + insn->disp;

	if (insn->emul == EMUL_JMP && may_be_thunk(s, target))
		return true;
	if (probe_is_relative(insn))
		return is_in(s, target);
	if (insn->emul == EMUL_JMP_INDIRECT && !s->landing_pads)
		return insn->reg != PROBE_REG_NONE || insn->index != PROBE_REG_NONE;
	/* The debugger's breakpoint may hide a branch. */
	if (insn->refusal == REFUSE_BREAKPOINT)
		return probe_debugger_in(at, 1);
	return insn->refusal == REFUSE_TRANSACTION;
}

/* Decodes one instruction.  Returns 0 if it cannot be decoded. */
static unsigned int decode(struct search *s, struct insn *insn, u8 *bytes, size_t *avail)
{
	*avail = probe_read_insn(s->known, s->text_end, bytes);
	if (!*avail || insn_decode(insn, bytes, *avail, INSN_MODE_KERN))
		return 0;
	return insn->length;
}

/*
 * Decodes the text up to @end.  Is an instruction a branch that has one of the bytes from @at to
 * @end?
 */
static noinline bool is_confirmed(struct search *s, unsigned long at, unsigned long end)
{
	u8 bytes[MAX_INSN_SIZE];
	struct probe_insn branch;
	unsigned int len;
	struct insn insn __uninitialized;
	size_t avail;

	for (; s->known < end; s->known += len) {
		len = decode(s, &insn, bytes, &avail);
		if (!len)
			return true;
		if (s->known + len > at &&
		    (probe_classify(bytes, avail, INSN_MODE_KERN, &branch) == -EILSEQ ||
		     may_send(s, s->known, &branch)))
			return true;
	}
	return false;
}

/* The jump of a probe may cover several instructions. */
static unsigned int hidden_bytes(unsigned long at, u8 byte)
{
	return byte == JMP32_INSN_OPCODE && is_probe(at) ? JMP32_INSN_SIZE : 1;
}

/*
 * Returns the next byte that may begin a branch, or @end.  Most time is spent here, so the loop has
 * one condition: the byte at @end is replaced meanwhile by one that begins a branch.
 */
static noinline u8 *find_branch(u8 *byte, u8 *end)
{
	u8 last = *end;

	*end = JMP32_INSN_OPCODE;
	while (!kinds[*byte])
		byte++;
	*end = last;
	return byte;
}

/* @bytes has at least one byte more than @nr. */
static bool may_branch(struct search *s, unsigned long text, u8 *bytes, unsigned int nr)
{
	u8 *byte, *end = bytes + nr;
	unsigned long at, stop;

	for (byte = find_branch(bytes, end); byte < end; byte = find_branch(byte + 1, end)) {
		at = text + (byte - bytes);
		if (!is_doubtful(s, at, byte))
			continue;
		stop = at + hidden_bytes(at, *byte);
		if (is_confirmed(s, at, min(stop, s->text_end)))
			return true;
	}
	return false;
}

static bool search(struct search *s, unsigned long text)
{
	u8 bytes[CHUNK + LONGEST] __uninitialized;
	unsigned int nr, len;

	for (; text < s->text_end; text += nr) {
		nr = min(CHUNK, s->text_end - text);
		len = min(sizeof(bytes), s->text_end - text);
		if (copy_from_kernel_nofault(bytes, (void *)text, len))
			return true;
		memset(bytes + len, 0, nr + LONGEST - len);
		if (may_branch(s, text, bytes, nr))
			return true;
	}
	return false;
}

/**
 * probe_bytes_may_branch() - may there be a branch into a range of text?
 * @f: the function to which the range belongs, for probe_table_excludes()
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
bool probe_bytes_may_branch(struct function_targets *f, unsigned long text,
			    unsigned long text_end, unsigned long insn, unsigned long start,
			    unsigned long end)
{
	struct search s = {
		.f = f, .start = start, .end = end,
		.landing_pads = probe_needs_landing_pads(f),
	};

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
