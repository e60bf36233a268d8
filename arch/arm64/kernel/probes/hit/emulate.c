// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Emulate instructions on saved registers: all instructions that cannot run at another address,
 * and the most frequent ones of those that can.
 *
 * There is one small function for each kind in enum probe_kind, found through a table, and
 * one for each group of instructions that only compute.  Semantics: Arm ARM, C6.2,
 * each instruction's own page.
 *
 * All functions run in the breakpoint trap, so neither they nor the functions that they call
 * may be probed.  The helpers of <asm/ptrace.h> and the conditions of <asm/insn.h> are not
 * used, because they can be probed.
 */

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/unaligned.h>
#include <asm-generic/kprobes.h>
#include <asm/ptrace.h>

#include "../classify.h"
#include "../emulate.h"
#include "../fields.h"

static __always_inline u64 read_reg(const struct pt_regs *regs, u32 nr)
{
	return nr == A64_ZR ? 0 : regs->regs[nr];
}

static __always_inline void write_reg(struct pt_regs *regs, u32 nr, u64 value)
{
	if (nr != A64_ZR)
		regs->regs[nr] = value;
}

/*
 * Truth tables over NZCV, bits 31 to 28 of PSTATE: bit n of a table is 1 if
 * the condition holds when the four flags, read as a number, are n.
 */
#define WHEN_N	0xff00
#define WHEN_Z	0xf0f0
#define WHEN_C	0xcccc
#define WHEN_V	0xaaaa
#define WHEN_GE	((u16)~(WHEN_N ^ WHEN_V))
#define ALWAYS	0xffff

/* By bits 3 to 1 of the condition; bit 0 negates all but the last. */
static const u16 conditions[] = {
	WHEN_Z,				/* eq, ne */
	WHEN_C,				/* cs, cc */
	WHEN_N,				/* mi, pl */
	WHEN_V,				/* vs, vc */
	WHEN_C & ~WHEN_Z,		/* hi, ls */
	WHEN_GE,			/* ge, lt */
	WHEN_GE & ~WHEN_Z,		/* gt, le */
	ALWAYS,				/* al, and nv, which also means always */
};

static __always_inline bool condition_holds(u32 cond, u64 pstate)
{
	bool holds = conditions[cond >> 1] >> (pstate >> 28 & 0xf) & 1;

	return holds != (cond & 1 && cond != 0xf);
}

static void emulate_b(u32 insn, struct pt_regs *regs)
{
	regs->pc = a64_target26(insn, regs->pc);
}
NOKPROBE_SYMBOL(emulate_b);

static void emulate_bl(u32 insn, struct pt_regs *regs)
{
	write_reg(regs, A64_LINK, regs->pc + A64_LEN);
	regs->pc = a64_target26(insn, regs->pc);
}
NOKPROBE_SYMBOL(emulate_bl);

static void emulate_b_cond(u32 insn, struct pt_regs *regs)
{
	if (condition_holds(a64_cond(insn), regs->pstate))
		regs->pc = a64_target19(insn, regs->pc);
	else
		regs->pc += A64_LEN;
}
NOKPROBE_SYMBOL(emulate_b_cond);

static void emulate_cbz(u32 insn, struct pt_regs *regs)
{
	u64 value = read_reg(regs, a64_reg0(insn));

	if (!a64_cbz_is_64(insn))
		value = (u32)value;
	if (!!value == a64_wants_nonzero(insn))
		regs->pc = a64_target19(insn, regs->pc);
	else
		regs->pc += A64_LEN;
}
NOKPROBE_SYMBOL(emulate_cbz);

static void emulate_tbz(u32 insn, struct pt_regs *regs)
{
	u64 value = read_reg(regs, a64_reg0(insn));

	if ((value >> a64_tested_bit(insn) & 1) == a64_wants_nonzero(insn))
		regs->pc = a64_target14(insn, regs->pc);
	else
		regs->pc += A64_LEN;
}
NOKPROBE_SYMBOL(emulate_tbz);

static void emulate_adr(u32 insn, struct pt_regs *regs)
{
	write_reg(regs, a64_reg0(insn), a64_adr(insn, regs->pc));
	regs->pc += A64_LEN;
}
NOKPROBE_SYMBOL(emulate_adr);

static void emulate_adrp(u32 insn, struct pt_regs *regs)
{
	write_reg(regs, a64_reg0(insn), a64_adrp(insn, regs->pc));
	regs->pc += A64_LEN;
}
NOKPROBE_SYMBOL(emulate_adrp);

/*
 * The literal can be read, because it is in the same text as the instruction.  A literal of
 * eight bytes is aligned to four bytes only.
 */
static void emulate_ldr_literal(u32 insn, struct pt_regs *regs)
{
	unsigned long literal = a64_target19(insn, regs->pc);

	if (a64_literal_is_64(insn))
		write_reg(regs, a64_reg0(insn), get_unaligned((u64 *)literal));
	else
		write_reg(regs, a64_reg0(insn), *(const u32 *)literal);
	regs->pc += A64_LEN;
}
NOKPROBE_SYMBOL(emulate_ldr_literal);

static void emulate_ldrsw_literal(u32 insn, struct pt_regs *regs)
{
	unsigned long literal = a64_target19(insn, regs->pc);

	write_reg(regs, a64_reg0(insn), (s64)*(const s32 *)literal);
	regs->pc += A64_LEN;
}
NOKPROBE_SYMBOL(emulate_ldrsw_literal);

/* A hint, which is useless after a trap, so do nothing. */
static void emulate_prfm_literal(u32 insn, struct pt_regs *regs)
{
	regs->pc += A64_LEN;
}
NOKPROBE_SYMBOL(emulate_prfm_literal);

/* Also emulates ret, which differs from br only in the hint to the branch predictor. */
static void emulate_br(u32 insn, struct pt_regs *regs)
{
	regs->pc = read_reg(regs, a64_reg5(insn));
}
NOKPROBE_SYMBOL(emulate_br);

static void emulate_blr(u32 insn, struct pt_regs *regs)
{
	/* Read the target before the link register is written, which may be the same register. */
	u64 target = read_reg(regs, a64_reg5(insn));

	write_reg(regs, A64_LINK, regs->pc + A64_LEN);
	regs->pc = target;
}
NOKPROBE_SYMBOL(emulate_blr);

static const probe_emulate_fn emulators[NR_KINDS] = {
	[KIND_B]		= emulate_b,
	[KIND_BL]		= emulate_bl,
	[KIND_B_COND]		= emulate_b_cond,
	[KIND_CBZ]		= emulate_cbz,
	[KIND_TBZ]		= emulate_tbz,
	[KIND_ADR]		= emulate_adr,
	[KIND_ADRP]		= emulate_adrp,
	[KIND_LDR_LITERAL]	= emulate_ldr_literal,
	[KIND_LDRSW_LITERAL]	= emulate_ldrsw_literal,
	[KIND_PRFM_LITERAL]	= emulate_prfm_literal,
	[KIND_BR]		= emulate_br,
	[KIND_BLR]		= emulate_blr,
	[KIND_RET]		= emulate_br,
};

/*
 * Instructions that depend only on general registers and flags.
 *
 * Like most instructions they can run as copies.  But a call after a copy costs another
 * exception or, in a detour, saves and restores all registers a second time.  The most
 * frequent of these instructions are emulated instead, between the pre handlers and the post
 * handlers.  None of them can fault.
 *
 * An instruction that is not in the table is copied, so the table need not be complete.  Rows
 * do not overlap, so their order does not matter.
 */
static __always_inline bool is_64(u32 insn)
{
	return insn >> 31;
}

static __always_inline u32 reg16(u32 insn)
{
	return insn >> 16 & 0x1f;
}

/* Ends each such function.  A write to a W register clears the upper half. */
static __always_inline void write_result(u32 insn, u64 value, struct pt_regs *regs)
{
	write_reg(regs, a64_reg0(insn), is_64(insn) ? value : (u32)value);
	regs->pc += A64_LEN;
}

/* Bit position in the register of the 16 bits of movn, movz and movk. */
static __always_inline unsigned int move_shift(u32 insn)
{
	return (insn >> 21 & 3) * 16;
}

static __always_inline u64 move_bits(u32 insn)
{
	return (u64)(insn >> 5 & 0xffff) << move_shift(insn);
}

static void emulate_movn(u32 insn, struct pt_regs *regs)
{
	write_result(insn, ~move_bits(insn), regs);
}
NOKPROBE_SYMBOL(emulate_movn);

static void emulate_movz(u32 insn, struct pt_regs *regs)
{
	write_result(insn, move_bits(insn), regs);
}
NOKPROBE_SYMBOL(emulate_movz);

static void emulate_movk(u32 insn, struct pt_regs *regs)
{
	u64 kept = read_reg(regs, a64_reg0(insn)) & ~(0xffffULL << move_shift(insn));

	write_result(insn, kept | move_bits(insn), regs);
}
NOKPROBE_SYMBOL(emulate_movk);

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
 * 32-bit operands are shifted to the upper half, so that carry and overflow are at the same bit
 * positions as for 64-bit operands.
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

static void emulate_add_sub_imm(u32 insn, struct pt_regs *regs)
{
	u32 from = a64_reg5(insn);
	u64 imm = insn >> 10 & 0xfff;

	if (insn & BIT(22))
		imm <<= 12;
	add_or_sub(insn, from == A64_SP ? regs->sp : regs->regs[from], imm, regs);
}
NOKPROBE_SYMBOL(emulate_add_sub_imm);

static void emulate_add_sub_reg(u32 insn, struct pt_regs *regs)
{
	add_or_sub(insn, read_reg(regs, a64_reg5(insn)), read_reg(regs, reg16(insn)), regs);
}
NOKPROBE_SYMBOL(emulate_add_sub_reg);

static void emulate_logical_reg(u32 insn, struct pt_regs *regs)
{
	u64 a = read_reg(regs, a64_reg5(insn)), b = read_reg(regs, reg16(insn));
	u64 width = is_64(insn) ? ~0ULL : ~0U, result;

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
NOKPROBE_SYMBOL(emulate_logical_reg);

/* Moves bits immr to imms down to bit 0, or bits 0 to imms up by (size - immr). */
static void emulate_bitfield(u32 insn, struct pt_regs *regs)
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
NOKPROBE_SYMBOL(emulate_bitfield);

/* Words with insn & @mask == @value.  If a W form is more restricted, it has a row of its own. */
static const struct {
	u32 mask, value;
	probe_emulate_fn emulate;
} rows[] = {
	{ 0xff800000, 0x92800000, emulate_movn },
	{ 0xffc00000, 0x12800000, emulate_movn },
	{ 0xff800000, 0xd2800000, emulate_movz },
	{ 0xffc00000, 0x52800000, emulate_movz },
	{ 0xff800000, 0xf2800000, emulate_movk },
	{ 0xffc00000, 0x72800000, emulate_movk },
	{ 0x1f800000, 0x11000000, emulate_add_sub_imm },
	{ 0x1fe0fc00, 0x0b000000, emulate_add_sub_reg },
	{ 0x1fc0fc00, 0x0a000000, emulate_logical_reg },
	{ 0xbfc00000, 0x93400000, emulate_bitfield },
	{ 0xbfe08000, 0x13000000, emulate_bitfield },
};

/**
 * probe_emulator() - find the function that emulates an instruction
 * @insn: the instruction, as it is without any probe
 * @desc: the classifier's description of it, not %PROBE_REFUSE
 *
 * The function does not change BTYPE; apart from that see probe_emulate().
 *
 * No function changes the stack pointer, because neither the return from an exception in the
 * kernel nor that from a detour restores it from saved registers.
 *
 * Context: any; pure.
 * Return: a function for any context, the breakpoint trap included; NULL if there is none.
 * There is one for every instruction with the action %PROBE_EMULATE.
 */
probe_emulate_fn probe_emulator(u32 insn, const struct probe_insn *desc)
{
	unsigned int i;

	if (desc->action == PROBE_EMULATE)
		return emulators[desc->kind];
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if ((insn & rows[i].mask) == rows[i].value)
			break;
	}
	if (i == ARRAY_SIZE(rows) ||
	    (rows[i].emulate == emulate_add_sub_imm && !sets_flags(insn) &&
	     a64_reg0(insn) == A64_SP))
		return NULL;
	return rows[i].emulate;
}

/**
 * probe_emulate() - emulate an instruction on saved registers
 * @insn: the instruction, with the action %PROBE_EMULATE
 * @desc: result of probe_classify() for it
 * @regs: registers at the instruction, with its address in regs->pc
 *
 * On return @regs is as after the instruction. A literal is read at its address, so
 * instructions that read literals of user space must not be emulated.
 *
 * BTYPE is cleared. Every instruction except an indirect branch does so. After
 * an indirect branch 0 is the permissive value: the CPU accepts any instruction
 * at the target, as it does after a branch from an unguarded page to one. The value
 * that br and blr set depends on whether the page of the probe is guarded, which is
 * not known here. The check is not needed: the compiler has emitted the pads.
 *
 * Context: any, the breakpoint trap included.
 */
void probe_emulate(u32 insn, const struct probe_insn *desc, struct pt_regs *regs)
{
	emulators[desc->kind](insn, regs);
	regs->pstate &= ~(u64)PSR_BTYPE_MASK;
}
NOKPROBE_SYMBOL(probe_emulate);
