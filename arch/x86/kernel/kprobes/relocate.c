// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write instructions that have the same effect at another address, and the branches from
 * such copies back to the text.
 *
 * For an instruction that the emulator handles in software, the relocator writes equivalent
 * instructions: branches lead to the targets of the originals, and a call pushes the return
 * address of the original.  They cost no more than the original, except that the processor
 * does not predict the matching return.
 *
 * Every operand and branch needs a signed 32-bit distance from the end of an instruction.  Only
 * probe_distance() computes and checks it.  Copies of the same length, and branches, are
 * written completely or not at all.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "classify.h"

/*
 * Computes the distance from @next to @target, which wraps at the ends of the address space.
 * In 32-bit mode it therefore reaches every address.
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
 * probe_rebase() - write the same instruction for another address
 * @insn: result of probe_classify() for @bytes
 * @bytes: the instruction
 * @src: address of the instruction
 * @dst: address where the copy will run, not necessarily where it is written
 * @out: room for &probe_insn.len bytes; may be @bytes itself
 *
 * The copy has the same length as the original, and its memory operand the same effective
 * address.  Slots have such copies.  The instructions that probe_relocate() writes for an
 * indirect call push the return address before they read the target; the fault of an operand
 * that cannot be read must leave the stack as it is.
 *
 * Context: any; pure.
 * Return: the length of the copy, or, with @out untouched,
 *	-EINVAL if the instruction is neither to be copied or rebased, nor a branch
 *	that reads its target,
 *	-ERANGE if @dst is too far from the operand of the instruction.
 */
noinline int probe_rebase(const struct probe_insn *insn, const u8 *bytes, u64 src, u64 dst, u8 *out)
{
	u64 target;
	s32 disp = 0;

	if (insn->action != PROBE_COPY && insn->action != PROBE_REBASE &&
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
 * @target: address to which it leads
 *
 * In 32-bit mode a jump reaches every address.
 *
 * Context: any; pure.
 * Return: %PROBE_JUMP_LEN, or -ERANGE with @out untouched.
 */
noinline int probe_put_jump(enum insn_mode mode, u8 *out, u64 at, u64 target)
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
 * @target: address to which it leads
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

#define PUSH_LEN	5
#define JMP8_LEN	2
#define REG_SP		4

/**
 * struct relocation - an instruction that is to be written
 * @insn: the instruction, from probe_classify()
 * @bytes: the original
 * @mode: mode in which it runs
 * @src: address of the original
 * @dst: address where the copy will run
 * @out: room for %PROBE_RELOCATED_MAX bytes
 */
struct relocation {
	const struct probe_insn *insn;
	const u8 *bytes;
	enum insn_mode mode;
	u64 src, dst;
	u8 *out;
};

static u64 next_of(const struct relocation *r)
{
	return r->src + r->insn->len;
}

static u64 target_of(const struct relocation *r)
{
	u64 target = next_of(r) + r->insn->disp;

	return probe_mode_64(r->mode) ? target : (u32)target;
}

static int relocate_copy(const struct relocation *r)
{
	return probe_rebase(r->insn, r->bytes, r->src, r->dst, r->out);
}

/* Copies an instruction that is emulated only because of the trap, and so runs unchanged here. */
static int relocate_verbatim(const struct relocation *r)
{
	memcpy(r->out, r->bytes, r->insn->len);
	return r->insn->len;
}

static int relocate_jmp(const struct relocation *r)
{
	return probe_put_jump(r->mode, r->out, r->dst, target_of(r));
}

static int relocate_jcc(const struct relocation *r)
{
	return probe_put_jcc(r->mode, r->out, r->dst, r->insn->cc, target_of(r));
}

/*
 * Loop and jcxz have a short displacement only, so write:
 *	loop taken; jmp over; taken: jmp target; over:
 */
static int relocate_loop(const struct relocation *r)
{
	unsigned int len = r->insn->len;
	u8 *out = r->out + len + JMP8_LEN;
	int ret;

	ret = probe_put_jump(r->mode, out, r->dst + len + JMP8_LEN, target_of(r));
	if (ret < 0)
		return ret;
	memcpy(r->out, r->bytes, len);
	r->out[len - 1] = JMP8_LEN;
	r->out[len] = 0xeb;
	r->out[len + 1] = PROBE_JUMP_LEN;
	return len + JMP8_LEN + PROBE_JUMP_LEN;
}

/* Writes a push of the address that the call would push; the immediate is sign-extended. */
static int put_push_next(const struct relocation *r)
{
	u64 next = next_of(r);

	if (probe_mode_64(r->mode) && (s64)next != (s32)next)
		return -ERANGE;
	r->out[0] = 0x68;
	put_unaligned_le32(next, r->out + 1);
	return PUSH_LEN;
}

static int relocate_call(const struct relocation *r)
{
	int push = put_push_next(r), jump;

	if (push < 0)
		return push;
	jump = probe_put_jump(r->mode, r->out + push, r->dst + push, target_of(r));
	return jump < 0 ? jump : push + jump;
}

/* Turns an indirect call into a jump, by the reg field of the ModRM byte, which follows ff. */
static void call_to_jump(u8 *insn)
{
	while (*insn != 0xff)
		insn++;
	insn[1] = (insn[1] & ~0x38) | 4 << 3;
}

static int relocate_call_indirect(const struct relocation *r)
{
	int push = put_push_next(r), len = r->insn->len;

	if (push < 0)
		return push;
	if (probe_reads_target(r->insn)) {
		/* The push changes the stack pointer, on which the operand depends. */
		if (r->insn->base == REG_SP)
			return -EINVAL;
		len = probe_rebase(r->insn, r->bytes, r->src, r->dst + push, r->out + push);
		if (len < 0)
			return len;
	} else {
		/* The target is the value of the stack pointer before the push. */
		if (r->insn->reg == REG_SP)
			return -EINVAL;
		memcpy(r->out + push, r->bytes, len);
	}
	call_to_jump(r->out + push);
	return push + len;
}

static int relocate_jmp_indirect(const struct relocation *r)
{
	return probe_reads_target(r->insn) ? relocate_copy(r) : relocate_verbatim(r);
}

static int (* const relocators[NR_EMUL])(const struct relocation *r) = {
	[EMUL_NONE]		= relocate_copy,
	[EMUL_JMP]		= relocate_jmp,
	[EMUL_CALL]		= relocate_call,
	[EMUL_JCC]		= relocate_jcc,
	[EMUL_LOOP]		= relocate_loop,
	[EMUL_LOOPE]		= relocate_loop,
	[EMUL_LOOPNE]		= relocate_loop,
	[EMUL_JCXZ]		= relocate_loop,
	[EMUL_RET]		= relocate_verbatim,
	[EMUL_JMP_INDIRECT]	= relocate_jmp_indirect,
	[EMUL_CALL_INDIRECT]	= relocate_call_indirect,
	[EMUL_PUSHF]		= relocate_verbatim,
	[EMUL_POPF]		= relocate_verbatim,
	[EMUL_CLI]		= relocate_verbatim,
	[EMUL_STI]		= relocate_verbatim,
};

/**
 * probe_relocate() - write instructions that have the same effect at another address
 * @insn: result of probe_classify() for @bytes, not %PROBE_REFUSE
 * @bytes: the instruction
 * @mode: mode in which it runs
 * @src: address of the instruction; zero-extended in 32-bit mode
 * @dst: address where the written instructions will run
 * @out: room for %PROBE_RELOCATED_MAX bytes
 *
 * Context: any; pure.
 * Return: the number of bytes written; or
 *	-EINVAL if the instruction is refused, or is a call whose target depends on the
 *	stack pointer, which the push would change,
 *	-ERANGE if @dst is too far from the target or operand of the instruction.
 */
int probe_relocate(const struct probe_insn *insn, const u8 *bytes, enum insn_mode mode,
		   u64 src, u64 dst, u8 *out)
{
	const struct relocation r = {
		.insn = insn, .bytes = bytes, .mode = mode,
		.src = src, .dst = dst, .out = out,
	};

	if (insn->action == PROBE_REFUSE)
		return -EINVAL;
	return relocators[insn->emul](&r);
}
