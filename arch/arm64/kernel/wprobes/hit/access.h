/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ARM64_WPROBES_ACCESS_H
#define _ARM64_WPROBES_ACCESS_H
/*
 * The accesses of an instruction: how many bytes, and whether it reads and writes.
 */
#include <linux/bits.h>
#include <linux/types.h>

/* An instruction may access watched bytes at most so far after the reported address. */
#define ACCESS_REACH	64U

/* The size of an access that is not known. */
#define ACCESS_UNKNOWN	4096U

/* Returns the number of bytes that LD1 to LD4 and ST1 to ST4 access. */
static __always_inline unsigned int structure_size(u32 insn)
{
	static const u8 registers[16] = {
		[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2,
	};
	unsigned int scale = insn >> 14 & 3;

	if (!(insn & BIT(24)))
		return registers[insn >> 12 & 15] * (insn & BIT(30) ? 16 : 8);
	/* One element of each register; 3: it is loaded into all lanes. */
	if (scale == 3)
		scale = insn >> 10 & 3;
	else if (scale == 2)
		scale += insn >> 10 & 1;
	return ((insn >> 12 & 2) + (insn >> 21 & 1) + 1) << scale;
}

/* Is it an atomic operation on a word of a page table (FEAT_THE), as rcwclr and rcwswp? */
static __always_inline bool is_table_operation(u32 insn)
{
	return (insn & 0xbf20cc00) == 0x38208000 && insn & 0x3000;
}

/* Returns the number of bytes that an instruction with one register accesses. */
static __always_inline unsigned int single_size(u32 insn)
{
	unsigned int size = insn >> 30;
	bool vector = insn & BIT(26);

	/* Atomic operations on floating point (FEAT_LSFE); size 0: two bytes, in another format. */
	if (vector && (insn & 0x1200c00) == 0x200000)
		return size ? 1 << size : 2;
	/* st64b and the like, ld64b */
	if ((insn & 0xffe08c00) == 0xf8208000 && insn & 0x7000)
		return 64;
	if (is_table_operation(insn))
		return 8;
	return vector && insn & BIT(23) ? 16 : 1 << size;
}

/* Is it a compare and swap of FEAT_LSUI, of one register or two? */
static __always_inline bool is_unprivileged_swap(u32 insn)
{
	return (insn & 0x3fa07c00) == 0x09807c00;
}

/*
 * Returns the number of bytes that an instruction accesses.  The architecture reports the first
 * watched byte that it accesses, or a lower one.
 */
static __always_inline unsigned int access_size(u32 insn)
{
	unsigned int size = insn >> 30;
	bool vector = insn & BIT(26);

	/* stgp */
	if ((insn & 0xfe400000) == 0x68000000)
		return 16;
	/* A pair of registers; size 3: of FEAT_LSUI, as size 2. */
	if ((insn & 0x3a000000) == 0x28000000)
		return vector ? 8 << (size == 3 ? 2 : size) : size & 2 ? 16 : 8;
	if ((insn & 0x3a000000) == 0x38000000)
		return single_size(insn);
	/* Exclusive and ordered accesses, compare and swap: one register, or a pair. */
	if ((insn & 0x3f000000) == 0x08000000)
		return insn & BIT(21) && !(insn & BIT(23)) ? 8 << (size & 1) : 1 << size;
	if ((insn & 0xbe000000) == 0x0c000000)
		return structure_size(insn);
	/* Ordered accesses with an offset. */
	if ((insn & 0x3f200c00) == 0x19000000)
		return 1 << size;
	/* ldclrp, ldsetp, swpp, and those on page tables */
	if ((insn & 0xbf200c00) == 0x19200000)
		return 16;
	/* rcwcas, rcwcasp */
	if ((insn & 0xbf20f800) == 0x19200800)
		return insn & BIT(10) ? 16 : 8;
	/* FEAT_LSUI: ldtadd and the like, swpt; cast, caspt */
	if ((insn & 0xbf200c00) == 0x19200400)
		return 4 << (size & 1);
	if (is_unprivileged_swap(insn))
		return insn & BIT(31) ? 4 << (size & 1) : 16;
	/* A literal. */
	if ((insn & 0x3b000000) == 0x18000000)
		return vector ? 4 << size : size == 1 ? 8 : 4;
	/* A scalable vector, or a block of memory. */
	return ACCESS_UNKNOWN;
}

/* Does an instruction both read and write: an atomic operation, compare and swap? */
static __always_inline bool reads_and_writes(u32 insn)
{
	/* ldadd and the like, and swp; not ldapr, and accesses of 64 bytes. */
	if ((insn & 0x3b200c00) == 0x38200000)
		return insn & BIT(26) || (insn & 0xf000) <= 0x8000 || is_table_operation(insn);
	return (insn & 0x3fa07c00) == 0x08a07c00 ||	/* cas */
	       (insn & 0xbfa07c00) == 0x08207c00 ||	/* casp */
	       (insn & 0xbf200c00) == 0x19200000 ||	/* ldclrp, ldsetp, swpp */
	       (insn & 0xbf20f800) == 0x19200800 ||	/* rcwcas, rcwcasp */
	       (insn & 0xbf200c00) == 0x19200400 ||	/* ldtadd and the like, swpt */
	       is_unprivileged_swap(insn);
}

#endif /* _ARM64_WPROBES_ACCESS_H */
