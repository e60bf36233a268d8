// SPDX-License-Identifier: GPL-2.0-only
/*
 * Are the arithmetic flags dead at an instruction: does the code overwrite all of them (CF, PF,
 * AF, ZF, SF, OF) before it reads one?
 *
 * No function takes flags, so a call ends their use, too.  The kernel relies on that already:
 * call depth tracking and ftrace change flags at calls.  A return does not: assembly may return a
 * flag (this_cpu_cmpxchg16b_emu).
 *
 * The answer is no for every instruction without a row in the table.  Code that is patched after
 * boot begins with a nop or a jump, which have none, or is a call to the compiler in all states.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <asm/insn.h>

#include "flags.h"

/**
 * struct flags_row - instructions with the same effect on the flags
 * @escape: the byte 0f precedes the opcode
 * @first: first opcode
 * @last: last opcode
 * @regs: values of the ModRM byte's reg field, BIT(0) to BIT(7); 0 for any
 * @overwrites: the flags before them are not used afterwards; otherwise they neither read nor
 *	change flags
 */
struct flags_row {
	bool escape;
	u8 first, last, regs;
	bool overwrites;
};

#define KEEPS(_first, _last)		{ .first = _first, .last = _last }
#define KEEPS_REG(_first, _last, _regs) { .first = _first, .last = _last, .regs = _regs }
#define KEEPS_0F(_first, _last)		{ .escape = true, .first = _first, .last = _last }
#define OVERWRITES(_first, _last) \
	{ .first = _first, .last = _last, .overwrites = true }
#define OVERWRITES_REG(_first, _last, _regs) \
	{ .first = _first, .last = _last, .regs = _regs, .overwrites = true }

/* Groups of opcodes whose operation is in the ModRM byte. */
#define ADD_TO_CMP	(BIT(0) | BIT(1) | BIT(4) | BIT(5) | BIT(6) | BIT(7)) /* not adc, sbb */
#define TEST_AND_NEG	(BIT(0) | BIT(3))

static const struct flags_row flags_rows[] = {
	OVERWRITES(0x00, 0x05),				/* add */
	OVERWRITES(0x08, 0x0d),				/* or */
	OVERWRITES(0x20, 0x25),				/* and */
	OVERWRITES(0x28, 0x2d),				/* sub */
	OVERWRITES(0x30, 0x35),				/* xor */
	OVERWRITES(0x38, 0x3d),				/* cmp */
	OVERWRITES_REG(0x80, 0x81, ADD_TO_CMP),
	OVERWRITES_REG(0x83, 0x83, ADD_TO_CMP),
	OVERWRITES(0x84, 0x85),				/* test */
	OVERWRITES(0xa8, 0xa9),				/* test */
	OVERWRITES_REG(0xf6, 0xf7, TEST_AND_NEG),
	OVERWRITES(0xe8, 0xe8),				/* call */
	OVERWRITES_REG(0xff, 0xff, BIT(2)),
	KEEPS(0x50, 0x5f),				/* push, pop */
	KEEPS(0x63, 0x63),				/* movslq */
	KEEPS(0x68, 0x68),				/* push */
	KEEPS(0x6a, 0x6a),				/* push */
	KEEPS(0x88, 0x8b),				/* mov */
	KEEPS(0x8d, 0x8d),				/* lea */
	KEEPS(0x98, 0x99),				/* cltq, cqto */
	KEEPS(0xb0, 0xbf),				/* mov */
	KEEPS_REG(0xc6, 0xc7, BIT(0)),			/* mov */
	KEEPS_0F(0xb6, 0xb7),				/* movzx */
	KEEPS_0F(0xbe, 0xbf),				/* movsx */
};

static bool row_matches(const struct flags_row *row, struct insn *insn)
{
	u8 opcode = insn->opcode.bytes[row->escape];

	return insn->opcode.nbytes == 1 + row->escape &&
	       (!row->escape || insn->opcode.bytes[0] == 0x0f) &&
	       opcode >= row->first && opcode <= row->last &&
	       (!row->regs || row->regs & BIT(X86_MODRM_REG(insn->modrm.bytes[0])));
}

static const struct flags_row *find_row(struct insn *insn)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flags_rows); i++) {
		if (row_matches(&flags_rows[i], insn))
			return &flags_rows[i];
	}
	return NULL;
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

/**
 * probe_flags_dead() - are the arithmetic flags dead at an instruction?
 * @bytes: the text from the instruction on, as it is without any probe, in 64-bit mode
 * @avail: number of bytes up to the end of the function; not more than 64 are read
 *
 * Context: any; pure.
 * Return: a bit for each byte at which an instruction begins, up to the instruction that
 * overwrites them; 0 if they may be read before.
 */
u64 probe_flags_dead(const u8 *bytes, size_t avail)
{
	const struct flags_row *row;
	unsigned int pos = 0;
	struct insn insn;
	u64 starts = 0;

	while (pos < avail && pos < BITS_PER_LONG_LONG &&
	       !insn_decode(&insn, bytes + pos, avail - pos, INSN_MODE_64) &&
	       usual_prefixes(&insn, bytes + pos)) {
		row = find_row(&insn);
		if (!row)
			return 0;
		starts |= BIT_ULL(pos);
		pos += insn.length;
		if (row->overwrites)
			return starts;
	}
	return 0;
}
