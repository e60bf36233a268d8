// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Are the arithmetic flags dead at an instruction: does the code overwrite all of them (CF, PF,
 * AF, ZF, SF, OF) before it reads one?
 *
 * No function takes flags, so a call ends their use, too.  The kernel relies on that already:
 * call depth tracking and ftrace change flags at calls.  A return ends it only in a function that
 * a compiler has made: assembly may return a flag (this_cpu_cmpxchg16b_emu).
 *
 * The answer is no for every instruction without a row in the table.  Code that is patched after
 * boot begins with a nop or a jump, which have none, or is a call to the compiler in all states.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <asm/insn.h>

#include "classify.h"
#include "plain.h"

enum effect {
	READS,		/* or changes some, or is not known */
	KEEPS,		/* neither reads nor changes flags */
	OVERWRITES,	/* the flags before it are not used afterwards */
	RETURNS,	/* likewise, if a compiler has made the function */
};

/**
 * struct flags_row - effect of the instructions with one opcode on the flags
 * @effect: &enum effect
 * @regs: values of the ModRM byte's reg field, BIT(0) to BIT(7); 0 for any
 * @ends: there is no immediate operand
 */
struct flags_row {
	u8 effect, regs;
	bool ends;
};

#define ROW(_effect)		{ .effect = _effect }
#define ROW_REGS(_effect, _regs) { .effect = _effect, .regs = _regs }
#define ROW_ENDS(_effect)	{ .effect = _effect, .ends = true }

/* Groups of opcodes whose operation is in the ModRM byte. */
#define ADD_TO_CMP	(BIT(0) | BIT(1) | BIT(4) | BIT(5) | BIT(6) | BIT(7)) /* not adc, sbb */
#define TEST_AND_NEG	(BIT(0) | BIT(3))

/* Opcodes of one byte. */
static const struct flags_row flags_rows[256] = {
	[0x00 ... 0x03] = ROW_ENDS(OVERWRITES),			/* add */
	[0x04 ... 0x05] = ROW(OVERWRITES),
	[0x08 ... 0x0b] = ROW_ENDS(OVERWRITES),			/* or */
	[0x0c ... 0x0d] = ROW(OVERWRITES),
	[0x20 ... 0x23] = ROW_ENDS(OVERWRITES),			/* and */
	[0x24 ... 0x25] = ROW(OVERWRITES),
	[0x28 ... 0x2b] = ROW_ENDS(OVERWRITES),			/* sub */
	[0x2c ... 0x2d] = ROW(OVERWRITES),
	[0x30 ... 0x33] = ROW_ENDS(OVERWRITES),			/* xor */
	[0x34 ... 0x35] = ROW(OVERWRITES),
	[0x38 ... 0x3b] = ROW_ENDS(OVERWRITES),			/* cmp */
	[0x3c ... 0x3d] = ROW(OVERWRITES),
	[0x50 ... 0x5f] = ROW(KEEPS),				/* push, pop */
	[0x63]		= ROW_ENDS(KEEPS),			/* movslq */
	[0x68]		= ROW(KEEPS),				/* push */
	[0x6a]		= ROW(KEEPS),				/* push */
	[0x80 ... 0x81] = ROW_REGS(OVERWRITES, ADD_TO_CMP),
	[0x83]		= ROW_REGS(OVERWRITES, ADD_TO_CMP),
	[0x84 ... 0x85] = ROW_ENDS(OVERWRITES),			/* test */
	[0x88 ... 0x8b] = ROW_ENDS(KEEPS),			/* mov */
	[0x8d]		= ROW_ENDS(KEEPS),			/* lea */
	[0x98 ... 0x99] = ROW(KEEPS),				/* cltq, cqto */
	[0xa8 ... 0xa9] = ROW(OVERWRITES),			/* test */
	[0xb0 ... 0xbf] = ROW(KEEPS),				/* mov */
	[0xc3]		= ROW(RETURNS),				/* ret */
	[0xc6 ... 0xc7] = ROW_REGS(KEEPS, BIT(0)),		/* mov */
	[0xe8]		= ROW(OVERWRITES),			/* call */
	[0xf6 ... 0xf7] = ROW_REGS(OVERWRITES, TEST_AND_NEG),
	[0xff]		= ROW_REGS(OVERWRITES, BIT(2)),		/* call */
};

/* After the byte 0f only movzx and movsx are known: b6, b7, be and bf. */
static enum effect effect_after_0f(u8 opcode)
{
	return (opcode & 0xf6) == 0xb6 ? KEEPS : READS;
}

static enum effect effect_of(u8 opcode, u8 modrm)
{
	const struct flags_row *row = &flags_rows[opcode];

	return !row->regs || row->regs & BIT(X86_MODRM_REG(modrm)) ? row->effect : READS;
}

/*
 * Returns the effect of an instruction that needs no decoder, and sets @len: after one REX prefix
 * or none, a push, a pop, or an instruction with a ModRM byte and no immediate operand.  Most
 * functions begin with these.  Sets @len to 0 for all others.
 */
static enum effect simple_effect(const u8 *bytes, size_t avail, unsigned int *len)
{
	unsigned int rex = (bytes[0] & 0xf0) == 0x40;
	u8 opcode, modrm;

	*len = 0;
	if (avail < rex + 3)
		return READS;
	opcode = bytes[rex];
	modrm = bytes[rex + 1];
	if ((opcode & 0xf0) == 0x50)
		*len = rex + 1;
	else if (flags_rows[opcode].ends)
		*len = rex + 1 + probe_operands_len(bytes + rex + 1);
	if (*len > avail)
		*len = 0;
	return effect_of(opcode, modrm);
}

/* Are all legacy prefixes an operand size, or the segment of per-CPU variables? */
static bool usual_prefixes(struct insn *insn, const u8 *bytes)
{
	unsigned int i;

	for (i = 0; i < insn->prefixes.nbytes; i++) {
		if (bytes[i] != 0x66 && bytes[i] != 0x65)
			return false;
	}
	return !insn_is_avx_or_xop(insn) && !insn_is_rex2(insn);
}

static enum effect decoded_effect(const u8 *bytes, size_t avail, unsigned int *len)
{
	struct insn insn __uninitialized;

	if (insn_decode(&insn, bytes, avail, INSN_MODE_64) || !usual_prefixes(&insn, bytes))
		return READS;
	*len = insn.length;
	if (insn.opcode.nbytes == 1)
		return effect_of(insn.opcode.bytes[0], insn.modrm.bytes[0]);
	if (insn.opcode.nbytes == 2)
		return effect_after_0f(insn.opcode.bytes[1]);
	return READS;
}

/**
 * probe_flags_dead() - are the arithmetic flags dead at an instruction?
 * @bytes: the text from the instruction on, as it is without any probe, in 64-bit mode
 * @avail: number of bytes up to the end of the function; not more than 64 are read
 * @at_return: set if a return ends the use of the flags, so that the answer is only right if a
 *	compiler has made the function
 *
 * Context: any; pure.
 * Return: a bit for each byte at which an instruction begins, up to the instruction that
 * overwrites them or returns; 0 if they may be read before.
 */
u64 probe_flags_dead(const u8 *bytes, size_t avail, bool *at_return)
{
	unsigned int pos = 0, len;
	enum effect effect;
	u64 starts = 0;

	for (; pos < avail && pos < BITS_PER_LONG_LONG; pos += len) {
		effect = simple_effect(bytes + pos, avail - pos, &len);
		if (!len)
			effect = decoded_effect(bytes + pos, avail - pos, &len);
		if (effect == READS)
			return 0;
		starts |= BIT_ULL(pos);
		*at_return = effect == RETURNS;
		if (effect != KEEPS)
			return starts;
	}
	return 0;
}
