// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decode plain instructions: most of those that compilers emit.
 *
 * The kernel's decoder takes several hundred instructions, because it knows all forms.  This one
 * uses the same tables, and leaves all forms to it that are seldom: those with legacy prefixes,
 * VEX, three-byte opcodes, two immediate operands, or operands of 16 or 64 bits.
 * tools/testing/kprobes compares both.
 */
#include <linux/string.h>
#include <linux/types.h>
#include <asm/inat.h>
#include <asm/insn.h>

#include "plain.h"

#define ESCAPE	0x0f

/* Whatever else an opcode has is left to the kernel's decoder. */
#define PLAIN_ATTRIBUTES (INAT_GRP_MASK | INAT_IMM_MASK | INAT_MODRM | INAT_FORCE64 | \
			  INAT_VARIANT | INAT_VEXOK | INAT_NO_REX2 | INAT_REX2_VARIANT | \
			  INAT_EVEX_SCALABLE)

/* Bytes of the operands that an instruction can have at most after its opcode. */
#define MAX_OPERANDS	(2 + 4 + 4)

static insn_attr_t opcode_attribute(const struct plain_insn *insn)
{
	insn_attr_t attr = inat_get_opcode_attribute(insn->escaped ? ESCAPE : insn->opcode);

	return insn->escaped ? inat_get_escape_attribute(insn->opcode, 0, attr) : attr;
}

/* Reads the immediate at @at.  Returns the address after it; NULL if it is not of a plain kind. */
static const u8 *read_immediate(const u8 *at, insn_attr_t attr, struct plain_insn *out)
{
	switch (inat_immediate_size(attr)) {
	case 0:
		out->imm = 0;
		return at;
	case INAT_IMM_BYTE:
		out->imm = (s8)*at;
		return at + 1;
	case INAT_IMM_VWORD32:
		memcpy(&out->imm, at, sizeof(out->imm));
		return at + sizeof(out->imm);
	default:
		return NULL;
	}
}

/**
 * probe_decode_plain() - decode an instruction without legacy prefixes
 * @bytes: the instruction
 * @avail: number of bytes that may be read
 * @mode_64: it runs in 64-bit mode
 * @out: the result
 *
 * Context: any; pure.
 * Return: false if the instruction is not plain, or if the bytes might end before it does; the
 * kernel's decoder knows more then.
 */
bool probe_decode_plain(const u8 *bytes, size_t avail, bool mode_64, struct plain_insn *out)
{
	const u8 *at = bytes;
	insn_attr_t attr;

	/* A REX prefix, an escape, an opcode and its operands. */
	if (avail < 3 + MAX_OPERANDS)
		return false;
	if (mode_64 && (*at & 0xf0) == 0x40)
		at++;
	out->escaped = *at == ESCAPE;
	at += out->escaped;
	out->opcode = *at++;
	attr = opcode_attribute(out);
	out->has_modrm = inat_has_modrm(attr);
	out->modrm = 0;
	out->riprel = 0;
	if (out->has_modrm) {
		out->modrm = *at;
		if (inat_is_group(attr))
			attr = inat_get_group_attribute(out->modrm, 0, attr);
		if (mode_64 && (out->modrm & 0xc7) == 5)
			out->riprel = at + 1 - bytes;
		at += probe_operands_len(at);
	}
	if (attr & ~PLAIN_ATTRIBUTES)
		return false;
	at = read_immediate(at, attr, out);
	if (!at)
		return false;
	out->len = at - bytes;
	return true;
}
