// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes that depend on where they stand: copies of instructions with a
 * RIP-relative operand, and the branches that lead from copies back to code.
 *
 * All of it comes down to one number, a signed 32-bit distance from the end of
 * an instruction, computed and checked in probe_distance() and nowhere else. An
 * output buffer is written completely or not at all.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "classify.h"

/*
 * Distance from @next to @target, which wraps at the ends of the address space.  In 32-bit
 * mode it therefore reaches every address.
 */
static int probe_distance(enum insn_mode mode, u64 next, u64 target, s32 *distance)
{
	s64 wide = target - next;

	if (probe_mode_64(mode) && wide != (s32)wide)
		return -ERANGE;
	*distance = wide;
	return 0;
}

/**
 * probe_relocate() - write an instruction as it must stand somewhere else
 * @insn: what probe_classify() said about @bytes
 * @bytes: the instruction
 * @src: address where it stands
 * @dst: address where the copy will run, not necessarily where it is written
 * @out: room for &probe_insn.len bytes; may be @bytes itself
 *
 * The copy has the length of the original and its memory operand the original's
 * effective address.
 *
 * Context: any; pure.
 * Return: the length of the copy, or, with @out untouched,
 *	-EINVAL if the instruction is not one to copy or relocate, nor a branch
 *	that reads its target,
 *	-ERANGE if @dst is too far from what the instruction refers to.
 */
int probe_relocate(const struct probe_insn *insn, const u8 *bytes, u64 src, u64 dst, u8 *out)
{
	u64 target;
	s32 disp = 0;

	if (insn->action != PROBE_COPY && insn->action != PROBE_RELOCATE &&
	    !probe_reads_target(insn))
		return -EINVAL;

	if (insn->riprel) {
		disp = get_unaligned_le32(bytes + insn->riprel);
		target = src + insn->len + disp;
		/* With a 32-bit address size every distance is in range, modulo 2^32. */
		if (insn->asize == 4)
			disp = target - dst - insn->len;
		else if (probe_distance(INSN_MODE_64, dst + insn->len, target, &disp))
			return -ERANGE;
	}

	memmove(out, bytes, insn->len);
	if (insn->riprel)
		put_unaligned_le32(disp, out + insn->riprel);
	return insn->len;
}

/**
 * probe_put_jump() - write a five-byte jump
 * @mode: mode in which it runs
 * @out: room for %PROBE_JUMP_LEN bytes
 * @at: address where the jump will run
 * @target: where it leads
 *
 * In 32-bit mode a jump reaches every address.
 *
 * Context: any; pure.
 * Return: %PROBE_JUMP_LEN, or -ERANGE with @out untouched.
 */
int probe_put_jump(enum insn_mode mode, u8 *out, u64 at, u64 target)
{
	s32 distance;

	if (probe_distance(mode, at + PROBE_JUMP_LEN, target, &distance))
		return -ERANGE;
	out[0] = 0xe9;
	put_unaligned_le32(distance, out + 1);
	return PROBE_JUMP_LEN;
}

/**
 * probe_put_jcc() - write a six-byte conditional jump
 * @mode: mode in which it runs
 * @out: room for %PROBE_JCC_LEN bytes
 * @at: address where the jump will run
 * @cc: condition, as in &probe_insn.cc
 * @target: where it leads
 *
 * Context: any; pure.
 * Return: %PROBE_JCC_LEN, or, with @out untouched,
 *	-EINVAL if @cc is no condition,
 *	-ERANGE as in probe_put_jump().
 */
int probe_put_jcc(enum insn_mode mode, u8 *out, u64 at, u8 cc, u64 target)
{
	s32 distance;

	if (cc > 0xf)
		return -EINVAL;
	if (probe_distance(mode, at + PROBE_JCC_LEN, target, &distance))
		return -ERANGE;
	out[0] = 0x0f;
	out[1] = 0x80 | cc;
	put_unaligned_le32(distance, out + 2);
	return PROBE_JCC_LEN;
}
