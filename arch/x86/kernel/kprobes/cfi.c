// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recognize instructions of control-flow integrity: landing pads of indirect branches, and checks
 * that the kernel decodes when they fail.
 */
#include <linux/string.h>
#include <linux/types.h>
#include <asm/insn.h>

#include "classify.h"

/**
 * probe_is_endbr() - is an instruction a landing pad of indirect branches?
 * @bytes: the instruction
 * @avail: number of bytes that may be read
 *
 * The classifier allows to copy a landing pad, because the copy is a no-op. The
 * caller decides whether the original may be replaced: indirect branches need it.
 *
 * Context: any; pure.
 * Return: true for endbr64 and endbr32.
 */
bool probe_is_endbr(const u8 *bytes, size_t avail)
{
	return avail >= 4 && bytes[0] == 0xf3 && bytes[1] == 0x0f && bytes[2] == 0x1e &&
	       (bytes[3] == 0xfa || bytes[3] == 0xfb);
}

/*
 * Is this the end of a kCFI check?  It is addl disp8(reg),%r10d, followed by je .+4; ud2, or by
 * the kernel's replacement of these two: jne .+3; test $0xd6,%al, whose second byte is a udb.
 */
static bool is_kcfi_compare(const u8 *bytes, size_t avail)
{
	return avail >= 8 && (bytes[0] & ~0x01) == 0x44 && bytes[1] == 0x03 &&
	       X86_MODRM_MOD(bytes[2]) == 1 && X86_MODRM_REG(bytes[2]) == 2 &&
	       (!memcmp(bytes + 4, "\x74\x02\x0f\x0b", 4) ||
		!memcmp(bytes + 4, "\x75\x01\xa8\xd6", 4));
}

/*
 * Is this the check of FineIBT's paranoid calls?  It is jne .-1, to the last byte of the previous
 * instruction, a lock prefix.  The trap handler decodes the jne that follows this prefix.
 */
static bool is_fineibt_branch(const u8 *bytes, size_t avail)
{
	return avail >= 2 && bytes[0] == 0x75 && bytes[1] == 0xfd;
}

/**
 * probe_may_be_kcfi_check() - can probe_is_kcfi_check() be true for an instruction?
 * @first: its first byte
 *
 * Context: any; pure.
 */
bool probe_may_be_kcfi_check(u8 first)
{
	return first == 0x41 || (first & ~0x01) == 0x44 || first == 0x75;
}

/**
 * probe_is_kcfi_check() - does the kernel read an instruction after a failed kCFI check?
 * @bytes: the instruction, and the text after it
 * @avail: number of bytes that may be read
 * @mode: mode in which it runs
 *
 * Clang emits a check of the target's type before an indirect call:
 *
 *	movl	$-type, %r10d
 *	addl	-4(%r11), %r10d
 *	je	1f
 *	ud2
 *
 * The trap handler reads the type and the register from the first two instructions, so
 * their bytes must not change.  The kernel may rewrite the check for FineIBT, which has a
 * branch that must not change.
 *
 * Context: any; pure.
 * Return: true for the first and the second instruction of a check, and for that branch.
 */
bool probe_is_kcfi_check(const u8 *bytes, size_t avail, enum insn_mode mode)
{
	const unsigned int load = 6;	/* bytes of the movl */

	if (!probe_mode_64(mode))
		return false;
	if (avail > load && bytes[0] == 0x41 && bytes[1] == 0xba)
		return is_kcfi_compare(bytes + load, avail - load);
	return is_kcfi_compare(bytes, avail) || is_fineibt_branch(bytes, avail);
}
