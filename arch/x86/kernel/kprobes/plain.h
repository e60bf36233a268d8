/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decode plain instructions: most of those that compilers emit.
 */
#ifndef _X86_KPROBES_PLAIN_H
#define _X86_KPROBES_PLAIN_H

#include <linux/types.h>
#include <asm/insn.h>

/**
 * struct plain_insn - an instruction without legacy prefixes
 * @len: length in bytes
 * @escaped: the opcode comes after 0f
 * @opcode: last opcode byte
 * @has_modrm: there is a ModRM byte
 * @modrm: that byte
 * @riprel: offset of a RIP-relative displacement, or 0
 * @imm: its immediate operand, or 0
 */
struct plain_insn {
	u8 len;
	bool escaped;
	u8 opcode;
	bool has_modrm;
	u8 modrm;
	u8 riprel;
	s32 imm;
};

/* Length of the ModRM byte at @at with its SIB byte and displacement, in 32 or 64-bit mode. */
static inline unsigned int probe_operands_len(const u8 *at)
{
	static const u8 displacements[] = { 0, 1, 4 };
	unsigned int mod = X86_MODRM_MOD(*at), base = X86_MODRM_RM(*at), len = 1;

	if (mod == 3)
		return len;
	if (base == 4) {
		base = X86_SIB_BASE(at[1]);
		len++;
	}
	/* Without a displacement, bp cannot be a base: instead there is one without a base. */
	return len + (!mod && base == 5 ? 4 : displacements[mod]);
}

bool probe_decode_plain(const u8 *bytes, size_t avail, bool mode_64, struct plain_insn *out);

#endif /* _X86_KPROBES_PLAIN_H */
