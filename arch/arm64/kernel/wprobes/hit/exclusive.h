/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ARM64_WPROBES_EXCLUSIVE_H
#define _ARM64_WPROBES_EXCLUSIVE_H

#include <linux/bits.h>
#include <linux/types.h>
#include <asm/insn.h>

/* Is it a load-exclusive or a store-exclusive, of one register or two? */
static __always_inline bool is_exclusive(u32 insn)
{
	/* Unprivileged ones. */
	if ((insn & 0xbfa00000) == 0x89000000)
		return true;
	/* Bit 23: ordered; bit 21 without bit 31: compare and swap of a pair. */
	return (insn & 0x3f800000) == 0x08000000 && (insn & BIT(31) || !(insn & BIT(21)));
}

/*
 * Does a load-exclusive only wait for a store to the word, as in smp_cond_load_relaxed()?  Then no
 * store-exclusive follows.  After a step, wfe returns at once, because the return from an exception
 * is an event.  The text does not end before wfe: each word is followed by another one.
 */
static __always_inline bool is_waiting(const __le32 *text)
{
	return aarch64_insn_is_load_ex(le32_to_cpu(text[0])) &&
	       aarch64_insn_is_eor(le32_to_cpu(text[1])) &&
	       aarch64_insn_is_cbnz(le32_to_cpu(text[2])) &&
	       le32_to_cpu(text[3]) == (aarch64_insn_get_hint_value() | AARCH64_INSN_HINT_WFE);
}

/* exclusive.c */
void wprobe_resume_later(void);

#endif /* _ARM64_WPROBES_EXCLUSIVE_H */
