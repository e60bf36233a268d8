/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decode plain instructions: most of those that compilers emit.
 */
#ifndef _X86_KPROBES_PLAIN_H
#define _X86_KPROBES_PLAIN_H

#include <linux/types.h>

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

bool probe_decode_plain(const u8 *bytes, size_t avail, bool mode_64, struct plain_insn *out);

#endif /* _X86_KPROBES_PLAIN_H */
