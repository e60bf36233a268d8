// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instructions that are functions of general registers and flags and nothing else.
 *
 * They can run as copies like most, but what has to be called behind a copy costs another
 * exception, or in a detour all registers saved and restored a second time.  The most
 * frequent ones are carried out on the saved registers instead, between the pre handlers
 * and the post handlers.  None of them can fault.
 *
 * Semantics: Arm ARM, C6.2, each instruction's own page.  What is not in the table is
 * copied, so it need not be complete; and it does not overlap, so its order means nothing.
 */
#include <linux/kernel.h>
#include <linux/types.h>
#include <asm-generic/kprobes.h>
#include <asm/ptrace.h>

#include "compute.h"
#include "fields.h"

static __always_inline bool is_64(u32 insn)
{
	return insn >> 31;
}

static __always_inline u32 reg16(u32 insn)
{
	return insn >> 16 & 0x1f;
}

static __always_inline u64 read_reg(const struct pt_regs *regs, u32 nr)
{
	return nr == A64_ZR ? 0 : regs->regs[nr];
}

/* The end of each of them.  A write to a W register clears the upper half. */
static __always_inline void write_result(u32 insn, u64 value, struct pt_regs *regs)
{
	u32 nr = a64_reg0(insn);

	if (nr != A64_ZR)
		regs->regs[nr] = is_64(insn) ? value : (u32)value;
	regs->pc += A64_LEN;
}

/* The 16 bits of movn, movz and movk, and where in the register they go. */
static __always_inline unsigned int move_shift(u32 insn)
{
	return (insn >> 21 & 3) * 16;
}

static __always_inline u64 move_bits(u32 insn)
{
	return (u64)(insn >> 5 & 0xffff) << move_shift(insn);
}

static void compute_movn(u32 insn, struct pt_regs *regs)
{
	write_result(insn, ~move_bits(insn), regs);
}
NOKPROBE_SYMBOL(compute_movn);

static void compute_movz(u32 insn, struct pt_regs *regs)
{
	write_result(insn, move_bits(insn), regs);
}
NOKPROBE_SYMBOL(compute_movz);

static void compute_movk(u32 insn, struct pt_regs *regs)
{
	u64 kept = read_reg(regs, a64_reg0(insn)) & ~(0xffffULL << move_shift(insn));

	write_result(insn, kept | move_bits(insn), regs);
}
NOKPROBE_SYMBOL(compute_movk);

static __always_inline bool sets_flags(u32 insn)
{
	return insn >> 29 & 1;
}

static __always_inline void set_flags(struct pt_regs *regs, bool n, bool z, bool c, bool v)
{
	regs->pstate &= ~(u64)(PSR_N_BIT | PSR_Z_BIT | PSR_C_BIT | PSR_V_BIT);
	regs->pstate |= (n ? PSR_N_BIT : 0) | (z ? PSR_Z_BIT : 0) |
			(c ? PSR_C_BIT : 0) | (v ? PSR_V_BIT : 0);
}

/*
 * Words are computed in the upper halves of registers: there the carry and the overflow
 * are where those of 64 bits are.
 */
static __always_inline void add_or_sub(u32 insn, u64 a, u64 b, struct pt_regs *regs)
{
	bool sub = insn >> 30 & 1;
	u64 result;

	if (!is_64(insn)) {
		a <<= 32;
		b <<= 32;
	}
	result = sub ? a - b : a + b;
	if (sets_flags(insn))
		set_flags(regs, result >> 63, !result, sub ? a >= b : result < a,
			  ((sub ? a ^ b : ~(a ^ b)) & (a ^ result)) >> 63);
	write_result(insn, is_64(insn) ? result : result >> 32, regs);
}

static void compute_add_sub_imm(u32 insn, struct pt_regs *regs)
{
	u32 from = a64_reg5(insn);
	u64 imm = insn >> 10 & 0xfff;

	if (insn & BIT(22))
		imm <<= 12;
	add_or_sub(insn, from == A64_SP ? regs->sp : regs->regs[from], imm, regs);
}
NOKPROBE_SYMBOL(compute_add_sub_imm);

static void compute_add_sub_reg(u32 insn, struct pt_regs *regs)
{
	add_or_sub(insn, read_reg(regs, a64_reg5(insn)), read_reg(regs, reg16(insn)), regs);
}
NOKPROBE_SYMBOL(compute_add_sub_reg);

static void compute_logical_reg(u32 insn, struct pt_regs *regs)
{
	u64 a = read_reg(regs, a64_reg5(insn)), b = read_reg(regs, reg16(insn));
	u64 width = is_64(insn) ? ~0ULL : U32_MAX, result;

	if (insn & BIT(21))
		b = ~b;
	switch (insn >> 29 & 3) {
	case 1:		/* orr, orn */
		result = a | b;
		break;
	case 2:		/* eor, eon */
		result = a ^ b;
		break;
	default:	/* and, bic, ands, bics */
		result = a & b;
		break;
	}
	result &= width;
	if ((insn >> 29 & 3) == 3)
		set_flags(regs, is_64(insn) ? result >> 63 : result >> 31, !result, false, false);
	write_result(insn, result, regs);
}
NOKPROBE_SYMBOL(compute_logical_reg);

/* Bits immr to imms go to the bottom, or bits 0 to imms up by (size - immr). */
static void compute_bitfield(u32 insn, struct pt_regs *regs)
{
	unsigned int size = is_64(insn) ? 64 : 32;
	unsigned int immr = insn >> 16 & 0x3f, imms = insn >> 10 & 0x3f;
	bool is_signed = !(insn & BIT(30));
	u64 value = read_reg(regs, a64_reg5(insn)) << (63 - imms);
	unsigned int down = imms >= immr ? 63 - imms + immr : 63 - imms;

	value = is_signed ? (u64)((s64)value >> down) : value >> down;
	if (imms < immr)
		value <<= size - immr;
	write_result(insn, value, regs);
}
NOKPROBE_SYMBOL(compute_bitfield);

/* Words with insn & @mask == @value.  Where W registers allow less they have a row. */
static const struct {
	u32 mask, value;
	probe_compute_fn compute;
} rows[] = {
	{ 0xff800000, 0x92800000, compute_movn },
	{ 0xffc00000, 0x12800000, compute_movn },
	{ 0xff800000, 0xd2800000, compute_movz },
	{ 0xffc00000, 0x52800000, compute_movz },
	{ 0xff800000, 0xf2800000, compute_movk },
	{ 0xffc00000, 0x72800000, compute_movk },
	{ 0x1f800000, 0x11000000, compute_add_sub_imm },
	{ 0x1fe0fc00, 0x0b000000, compute_add_sub_reg },
	{ 0x1fc0fc00, 0x0a000000, compute_logical_reg },
	{ 0xbfc00000, 0x93400000, compute_bitfield },
	{ 0xbfe08000, 0x13000000, compute_bitfield },
};

/**
 * probe_computer() - what carries out an instruction on saved registers
 * @insn: the instruction, as it is without any probe, with the action %PROBE_COPY
 *
 * Nothing can change the stack pointer on saved registers: neither the return of an
 * exception in the kernel nor that of a detour gives it back.
 *
 * Context: any; pure.
 * Return: a function for any context, the hit among them; NULL if there is none.
 */
probe_compute_fn probe_computer(u32 insn)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if ((insn & rows[i].mask) == rows[i].value)
			break;
	}
	if (i == ARRAY_SIZE(rows) ||
	    (rows[i].compute == compute_add_sub_imm && !sets_flags(insn) &&
	     a64_reg0(insn) == A64_SP))
		return NULL;
	return rows[i].compute;
}
