/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ARM64_WPROBES_EXCLUSIVE_H
#define _ARM64_WPROBES_EXCLUSIVE_H

#include <linux/bits.h>
#include <linux/types.h>

/* Is it a load-exclusive or a store-exclusive, of one register or two? */
static __always_inline bool is_exclusive(u32 insn)
{
	/* Unprivileged ones. */
	if ((insn & 0xbfa00000) == 0x89000000)
		return true;
	/* Bit 23: ordered; bit 21 without bit 31: compare and swap of a pair. */
	return (insn & 0x3f800000) == 0x08000000 && (insn & BIT(31) || !(insn & BIT(21)));
}

/* exclusive.c */
void wprobe_resume_later(void);

#endif /* _ARM64_WPROBES_EXCLUSIVE_H */
