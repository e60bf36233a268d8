/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decode the fields of A64 instructions that depend on their address, for the
 * emulator and the relocator. Arm ARM, C6.2, each instruction's own page.
 *
 * All functions are pure, and __always_inline, because the emulator runs in a trap, and
 * a function that the compiler does not inline could be probed.
 */
#ifndef _ARM64_PROBES_FIELDS_H
#define _ARM64_PROBES_FIELDS_H

#include <linux/compiler.h>
#include <linux/types.h>

#define A64_LEN		4	/* bytes of every instruction */
#define A64_LINK	30	/* register of the return address after a call */
#define A64_ZR		31	/* register number of the zero register in most instructions */
#define A64_SP		31	/* and of the stack pointer in others */

/* Register numbers (Rd, Rt and so on), by the position of the field. */
static __always_inline u32 a64_reg0(u32 insn)
{
	return insn & 0x1f;
}

static __always_inline u32 a64_reg5(u32 insn)
{
	return insn >> 5 & 0x1f;
}

/* Condition of b.cond. */
static __always_inline u32 a64_cond(u32 insn)
{
	return insn & 0xf;
}

/* Number of the bit that tbz and tbnz test. */
static __always_inline u32 a64_tested_bit(u32 insn)
{
	return (insn >> 31) << 5 | (insn >> 19 & 0x1f);
}

/* Is the register of cbz, or of a literal load, an X register? */
static __always_inline bool a64_cbz_is_64(u32 insn)
{
	return insn >> 31;
}

static __always_inline bool a64_literal_is_64(u32 insn)
{
	return insn >> 30 & 1;
}

/* True for ldrsw of a literal. */
static __always_inline bool a64_literal_is_signed(u32 insn)
{
	return insn >> 31;
}

/* True for cbnz and tbnz. */
static __always_inline bool a64_wants_nonzero(u32 insn)
{
	return insn >> 24 & 1;
}

/* Returns @width bits from bit @low on, sign-extended. */
static __always_inline s64 a64_signed(u32 insn, unsigned int low, unsigned int width)
{
	return (s32)(insn << (32 - low - width)) >> (32 - width);
}

/* b, bl */
static __always_inline u64 a64_target26(u32 insn, u64 at)
{
	return at + a64_signed(insn, 0, 26) * A64_LEN;
}

/* b.cond, cbz, cbnz, and literals */
static __always_inline u64 a64_target19(u32 insn, u64 at)
{
	return at + a64_signed(insn, 5, 19) * A64_LEN;
}

/* tbz, tbnz */
static __always_inline u64 a64_target14(u32 insn, u64 at)
{
	return at + a64_signed(insn, 5, 14) * A64_LEN;
}

/* cb<cc> */
static __always_inline u64 a64_target9(u32 insn, u64 at)
{
	return at + a64_signed(insn, 5, 9) * A64_LEN;
}

/* True for adr and adrp. */
static __always_inline bool a64_computes_address(u32 insn)
{
	return (insn & 0x1f000000) == 0x10000000;
}

/* True for adrp. */
static __always_inline bool a64_computes_page(u32 insn)
{
	return insn >> 31;
}

static __always_inline s64 a64_adr_imm(u32 insn)
{
	return a64_signed(insn, 5, 19) * 4 + (insn >> 29 & 3);
}

static __always_inline u64 a64_adr(u32 insn, u64 at)
{
	return at + a64_adr_imm(insn);
}

/* Pages of this instruction have 4 KiB, independent of the kernel's page size. */
static __always_inline u64 a64_adrp(u32 insn, u64 at)
{
	return (at & ~0xfffULL) + a64_adr_imm(insn) * 0x1000;
}

#endif /* _ARM64_PROBES_FIELDS_H */
