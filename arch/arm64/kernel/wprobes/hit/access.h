/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ARM64_WPROBES_ACCESS_H
#define _ARM64_WPROBES_ACCESS_H
/*
 * The accesses of an instruction: which bytes, and whether it reads and writes.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/types.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>

/* An access of unknown size may touch watched bytes at most so far after the reported address. */
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

/* stgp: stores a pair of registers, and a tag. */
static __always_inline bool is_tagging_pair(u32 insn)
{
	return (insn & 0xfe400000) == 0x68000000;
}

/* Is it dc zva, or dc gzva, which sets tags as well?  They access an aligned block. */
static __always_inline bool is_zeroing(u32 insn)
{
	return (insn & 0xffffffe0) == 0xd50b7420 || (insn & 0xffffffe0) == 0xd50b7480;
}

/* Returns the number of bytes that an instruction accesses. */
static __always_inline unsigned int access_size(u32 insn)
{
	unsigned int size = insn >> 30;
	bool vector = insn & BIT(26);

	if (is_tagging_pair(insn))
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
	if (is_zeroing(insn))
		return 4 << (read_sysreg(dczid_el0) & 15);
	/* A scalable vector, or a copy or a set of memory. */
	return ACCESS_UNKNOWN;
}

/* Returns the signed offset of 9 bits. */
static __always_inline s64 short_offset(u32 insn)
{
	return sign_extend64(insn >> 12 & 0x1ff, 8);
}

/* Returns the offset of an instruction that adds a register to its base, extended and shifted. */
static __always_inline u64 register_offset(const struct pt_regs *regs, u32 insn, unsigned int size)
{
	u64 offset = pt_regs_read_reg(regs, insn >> 16 & 31);
	unsigned int option = insn >> 13 & 7;

	if (!(option & 1))
		offset = option & 4 ? (s64)(s32)offset : (u32)offset;
	return insn & BIT(12) ? offset * size : offset;
}

/* Returns the offset of an instruction with one register.  Atomic operations have none. */
static __always_inline u64 single_offset(const struct pt_regs *regs, u32 insn, unsigned int size)
{
	if (insn & BIT(24))
		return (u64)(insn >> 10 & 0xfff) * size;
	if (insn & BIT(21))
		return insn & BIT(11) ? register_offset(regs, insn, size) : 0;
	/* 1: the offset is added after the access. */
	return (insn >> 10 & 3) == 1 ? 0 : short_offset(insn);
}

/* Returns the offset of an instruction with two registers, of @size bytes together. */
static __always_inline u64 pair_offset(u32 insn, unsigned int size)
{
	/* As above. */
	if ((insn >> 23 & 3) == 1)
		return 0;
	return sign_extend64(insn >> 15 & 0x7f, 6) * (is_tagging_pair(insn) ? size : size / 2);
}

/* Returns the address where an instruction begins to access @size bytes, from access_size(). */
static __always_inline unsigned long access_start(const struct pt_regs *regs, u32 insn,
						  unsigned int size)
{
	unsigned int rn = insn >> 5 & 31;
	unsigned long base = rn == 31 ? regs->sp : regs->regs[rn];

	if ((insn & 0x3a000000) == 0x38000000)
		return base + single_offset(regs, insn, size);
	if ((insn & 0x3a000000) == 0x28000000)
		return base + pair_offset(insn, size);
	/* Ordered accesses with an offset. */
	if ((insn & 0x3f200c00) == 0x19000000)
		return base + short_offset(insn);
	/* A literal. */
	if ((insn & 0x3b000000) == 0x18000000)
		return regs->pc + 4 * sign_extend64(insn >> 5 & 0x7ffff, 18);
	if (is_zeroing(insn))
		return pt_regs_read_reg(regs, insn & 31) & -(unsigned long)size;
	return base;
}

/* The address without its tag. */
static __always_inline unsigned long access_untag(unsigned long addr)
{
	return sign_extend64(addr, 55);
}

/**
 * struct accessed - the bytes that an instruction accesses
 * @start:	the first one; the reported address if the bytes are not known
 * @size:	their number; ACCESS_UNKNOWN if they are not known
 */
struct accessed {
	unsigned long start;
	unsigned int size;
};

/*
 * Finds the bytes that an instruction accesses, from the registers before it and the reported
 * address.  The architecture reports any address from the first accessed byte to the last one that
 * is watched.  An instruction whose bytes do not have the reported address is none of those above.
 */
static __always_inline struct accessed find_accessed(const struct pt_regs *regs, u32 insn,
						     unsigned long reported)
{
	struct accessed found = { .size = access_size(insn) };

	reported = access_untag(reported);
	found.start = access_untag(access_start(regs, insn, found.size));
	if (found.size == ACCESS_UNKNOWN || reported - found.start >= found.size)
		found = (struct accessed) { .start = reported, .size = ACCESS_UNKNOWN };
	return found;
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
