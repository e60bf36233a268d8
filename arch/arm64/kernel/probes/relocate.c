// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Re-encode an A64 instruction for another address.
 *
 * No register is free, and the flags belong to the probed code, so an address can be
 * built only in a register that the instruction itself writes. All instructions that
 * need such a register have one, except blr x30.
 *
 * The encoders of <asm/insn.h> are not used, because they print messages about
 * operands that they refuse, and cannot be built on a host. Encodings: Arm ARM, C6.2.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include "classify.h"
#include "fields.h"
#include "relocate.h"

#define A64_NOP		0xd503201f
#define A64_B		0x14000000
#define A64_BR		0xd61f0000
#define A64_MOVN	0x92800000
#define A64_MOVZ	0xd2800000
#define A64_MOVK	0xf2800000
#define A64_LDR_W	0xb9400000
#define A64_LDR_X	0xf9400000
#define A64_LDRSW	0xb9800000

/* Fields of conditional branches, and the bits that invert the condition. */
#define IMM19_FIELD	(0x7ffff << 5)
#define IMM14_FIELD	(0x3fff << 5)
#define COND_INVERT	1
#define ZERO_INVERT	BIT(24)
#define OVER_ONE_INSN	(2 << 5)	/* imm19 and imm14 of a branch over one instruction */
#define COND_AL		0xe

/* B has 26 bits, in words: the distance it reaches backwards; forwards it is one word less. */
#define B_REACH		((s64)BIT_ULL(27))

/**
 * probe_gen_branch() - encode an unconditional branch
 * @from: address where the branch will run
 * @to: address to which it leads
 * @out: room for one word
 *
 * Context: any; pure.
 * Return: the number of words, which is 1, or, with @out untouched,
 *	-EINVAL if an address is not aligned to instructions,
 *	-ERANGE if the addresses are too far from each other.
 */
int probe_gen_branch(u64 from, u64 to, u32 *out)
{
	s64 distance = to - from;

	if ((from | to) % A64_LEN)
		return -EINVAL;
	if (distance < -B_REACH || distance >= B_REACH)
		return -ERANGE;
	*out = A64_B | (distance / A64_LEN & 0x3ffffff);
	return 1;
}

/* Encodes a move of @part, a 16-bit part of a constant, shifted by @shift bits. */
static u32 gen_mov_wide(u32 opcode, u32 reg, u16 part, unsigned int shift)
{
	return opcode | shift / 16 << 21 | (u32)part << 5 | reg;
}

/*
 * Writes moves that build a constant in an X register from its 16-bit parts. The first one
 * sets the other parts to all ones, as in kernel addresses, or to all zeros, whichever leaves
 * fewer parts to be written. Returns the number of instructions.
 */
static int gen_constant(u32 reg, u64 value, u32 *out)
{
	unsigned int shift, zeros = 0, ones = 0, words = 0;
	u16 part, rest;

	for (shift = 0; shift < 64; shift += 16) {
		part = value >> shift;
		zeros += part == 0;
		ones += part == 0xffff;
	}
	rest = ones > zeros ? 0xffff : 0;

	for (shift = 0; shift < 64; shift += 16) {
		part = value >> shift;
		if (part == rest)
			continue;
		if (words)
			out[words] = gen_mov_wide(A64_MOVK, reg, part, shift);
		else
			out[words] = rest ? gen_mov_wide(A64_MOVN, reg, ~part, shift) :
					    gen_mov_wide(A64_MOVZ, reg, part, shift);
		words++;
	}
	if (!words)
		out[words++] = gen_mov_wide(rest ? A64_MOVN : A64_MOVZ, reg, 0, 0);
	return words;
}

typedef int (*relocate_fn)(u32 insn, u64 src, u64 dst, u32 *out);

/* Unchanged: its target is in a register. */
static int relocate_copy(u32 insn, u64 src, u64 dst, u32 *out)
{
	out[0] = insn;
	return 1;
}

static int relocate_nop(u32 insn, u64 src, u64 dst, u32 *out)
{
	out[0] = A64_NOP;
	return 1;
}

static int relocate_b(u32 insn, u64 src, u64 dst, u32 *out)
{
	return probe_gen_branch(dst, a64_target26(insn, src), out);
}

static int relocate_bl(u32 insn, u64 src, u64 dst, u32 *out)
{
	int words = gen_constant(A64_LINK, src + A64_LEN, out);
	int ret = probe_gen_branch(dst + words * A64_LEN, a64_target26(insn, src), out + words);

	return ret < 0 ? ret : words + ret;
}

/* Writes the inverse branch, over an unconditional branch to the target. */
static int relocate_conditional(u32 inverse, u64 target, u64 dst, u32 *out)
{
	int ret = probe_gen_branch(dst + A64_LEN, target, out + 1);

	out[0] = inverse | OVER_ONE_INSN;
	return ret < 0 ? ret : 1 + ret;
}

static int relocate_b_cond(u32 insn, u64 src, u64 dst, u32 *out)
{
	u64 target = a64_target19(insn, src);

	/* Condition "never" (nv) also means always, so it cannot be inverted. */
	if (a64_cond(insn) >= COND_AL)
		return probe_gen_branch(dst, target, out);
	return relocate_conditional((insn & ~IMM19_FIELD) ^ COND_INVERT, target, dst, out);
}

static int relocate_cbz(u32 insn, u64 src, u64 dst, u32 *out)
{
	return relocate_conditional((insn & ~IMM19_FIELD) ^ ZERO_INVERT,
				    a64_target19(insn, src), dst, out);
}

static int relocate_tbz(u32 insn, u64 src, u64 dst, u32 *out)
{
	return relocate_conditional((insn & ~IMM14_FIELD) ^ ZERO_INVERT,
				    a64_target14(insn, src), dst, out);
}

static int relocate_adr(u32 insn, u64 src, u64 dst, u32 *out)
{
	if (a64_reg0(insn) == A64_ZR)
		return relocate_nop(insn, src, dst, out);
	return gen_constant(a64_reg0(insn), a64_adr(insn, src), out);
}

static int relocate_adrp(u32 insn, u64 src, u64 dst, u32 *out)
{
	if (a64_reg0(insn) == A64_ZR)
		return relocate_nop(insn, src, dst, out);
	return gen_constant(a64_reg0(insn), a64_adrp(insn, src), out);
}

/* Builds the literal's address in the register that is then loaded. */
static int relocate_load(u32 opcode, u32 insn, u64 src, u64 dst, u32 *out)
{
	u32 reg = a64_reg0(insn);
	int words;

	/* The value is discarded, and reading text has no side effects. */
	if (reg == A64_ZR)
		return relocate_nop(insn, src, dst, out);
	words = gen_constant(reg, a64_target19(insn, src), out);
	out[words] = opcode | reg << 5 | reg;
	return words + 1;
}

static int relocate_ldr(u32 insn, u64 src, u64 dst, u32 *out)
{
	return relocate_load(a64_literal_is_64(insn) ? A64_LDR_X : A64_LDR_W, insn, src, dst, out);
}

static int relocate_ldrsw(u32 insn, u64 src, u64 dst, u32 *out)
{
	return relocate_load(A64_LDRSW, insn, src, dst, out);
}

static int relocate_blr(u32 insn, u64 src, u64 dst, u32 *out)
{
	u32 reg = a64_reg5(insn);
	int words;

	if (reg == A64_LINK)
		return -EINVAL;
	words = gen_constant(A64_LINK, src + A64_LEN, out);
	out[words] = A64_BR | reg << 5;
	return words + 1;
}

static const relocate_fn relocators[NR_KINDS] = {
	[KIND_NONE]		= relocate_copy,
	[KIND_B]		= relocate_b,
	[KIND_BL]		= relocate_bl,
	[KIND_B_COND]		= relocate_b_cond,
	[KIND_CBZ]		= relocate_cbz,
	[KIND_TBZ]		= relocate_tbz,
	[KIND_ADR]		= relocate_adr,
	[KIND_ADRP]		= relocate_adrp,
	[KIND_LDR_LITERAL]	= relocate_ldr,
	[KIND_LDRSW_LITERAL]	= relocate_ldrsw,
	[KIND_PRFM_LITERAL]	= relocate_nop,
	[KIND_BR]		= relocate_copy,
	[KIND_BLR]		= relocate_blr,
	[KIND_RET]		= relocate_copy,
};

/**
 * probe_relocate() - re-encode an instruction for another address
 * @insn: the instruction
 * @desc: result of probe_classify() for @insn
 * @src: address of the instruction
 * @dst: address where the words will run, not necessarily where they are written
 * @out: room for %PROBE_RELOCATED_WORDS words
 *
 * Executed at @dst, the words have the same effect on registers, flags and memory as
 * @insn at @src. If @insn continues with the next instruction, they run to their end,
 * where the caller puts a branch to @src + 4; otherwise they branch to the target of @insn.
 *
 * blr becomes br, which sets another BTYPE. A "bti c" accepts a br from
 * an unguarded page, or by x16 or x17; so @dst must be in an unguarded page.
 *
 * Context: any; pure.
 * Return: the number of words, or, with @out untouched,
 *	-EINVAL if @insn is refused, or cannot be moved: blr x30,
 *	-ERANGE if @dst is too far from the target of @insn.
 */
int probe_relocate(u32 insn, const struct probe_insn *desc, u64 src, u64 dst, u32 *out)
{
	u32 words[PROBE_RELOCATED_WORDS];
	int ret;

	if (desc->action == PROBE_REFUSE)
		return -EINVAL;
	ret = relocators[desc->kind](insn, src, dst, words);
	if (ret > 0)
		memcpy(out, words, ret * sizeof(*words));
	return ret;
}
