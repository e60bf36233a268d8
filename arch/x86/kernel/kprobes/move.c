// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instructions that do elsewhere what they do in their place.
 *
 * Where the emulator does an instruction's work in software, this one writes
 * instructions that do it: branches lead to where the original's lead, a call pushes the
 * return address of the original.  That costs nothing more than the original, except
 * that the processor's prediction of the matching return is lost.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "region.h"

#define PUSH_LEN	5
#define JMP8_LEN	2
#define REG_SP		4

/**
 * struct move - an instruction that is to be written
 * @insn: what it is
 * @bytes: the original
 * @mode: mode in which it runs
 * @src: where the original stands
 * @dst: where the copy will run
 * @out: room for %PROBE_MOVE_MAX bytes
 */
struct move {
	const struct probe_insn *insn;
	const u8 *bytes;
	enum insn_mode mode;
	u64 src, dst;
	u8 *out;
};

static u64 next_of(const struct move *m)
{
	return m->src + m->insn->len;
}

static u64 target_of(const struct move *m)
{
	u64 target = next_of(m) + m->insn->disp;

	return probe_mode_64(m->mode) ? target : (u32)target;
}

static int move_copy(const struct move *m)
{
	return probe_relocate(m->insn, m->bytes, m->src, m->dst, m->out);
}

/* What the emulator has to do because of the trap is itself again here. */
static int move_verbatim(const struct move *m)
{
	memcpy(m->out, m->bytes, m->insn->len);
	return m->insn->len;
}

static int move_jmp(const struct move *m)
{
	return probe_put_jump(m->mode, m->out, m->dst, target_of(m));
}

static int move_jcc(const struct move *m)
{
	return probe_put_jcc(m->mode, m->out, m->dst, m->insn->cc, target_of(m));
}

/*
 * These have a short displacement only:
 *	loop taken; jmp over; taken: jmp target; over:
 */
static int move_loop(const struct move *m)
{
	unsigned int len = m->insn->len;
	u8 *out = m->out + len + JMP8_LEN;
	int ret;

	ret = probe_put_jump(m->mode, out, m->dst + len + JMP8_LEN, target_of(m));
	if (ret < 0)
		return ret;
	memcpy(m->out, m->bytes, len);
	m->out[len - 1] = JMP8_LEN;
	m->out[len] = 0xeb;
	m->out[len + 1] = PROBE_JUMP_LEN;
	return len + JMP8_LEN + PROBE_JUMP_LEN;
}

/* Pushes the address that the call would; the immediate is sign-extended. */
static int put_push_next(const struct move *m)
{
	u64 next = next_of(m);

	if (probe_mode_64(m->mode) && (s64)next != (s32)next)
		return -ERANGE;
	m->out[0] = 0x68;
	put_unaligned_le32(next, m->out + 1);
	return PUSH_LEN;
}

static int move_call(const struct move *m)
{
	int push = put_push_next(m), jump;

	if (push < 0)
		return push;
	jump = probe_put_jump(m->mode, m->out + push, m->dst + push, target_of(m));
	return jump < 0 ? jump : push + jump;
}

/* A call is turned into a jump by one bit of the ModRM byte, which is behind ff. */
static void call_to_jump(u8 *insn)
{
	while (*insn != 0xff)
		insn++;
	insn[1] = (insn[1] & ~0x38) | 4 << 3;
}

static int move_call_indirect(const struct move *m)
{
	int push = put_push_next(m), len = m->insn->len;

	if (push < 0)
		return push;
	if (probe_reads_target(m->insn)) {
		/* The push has moved what it would refer to. */
		if (m->insn->base == REG_SP)
			return -EINVAL;
		len = probe_relocate(m->insn, m->bytes, m->src, m->dst + push, m->out + push);
		if (len < 0)
			return len;
	} else {
		/* What it reads before the push is the address of the target. */
		if (m->insn->reg == REG_SP)
			return -EINVAL;
		memcpy(m->out + push, m->bytes, len);
	}
	call_to_jump(m->out + push);
	return push + len;
}

static int move_jmp_indirect(const struct move *m)
{
	return probe_reads_target(m->insn) ? move_copy(m) : move_verbatim(m);
}

static int (* const moves[NR_EMUL])(const struct move *m) = {
	[EMUL_NONE]		= move_copy,
	[EMUL_JMP]		= move_jmp,
	[EMUL_CALL]		= move_call,
	[EMUL_JCC]		= move_jcc,
	[EMUL_LOOP]		= move_loop,
	[EMUL_LOOPE]		= move_loop,
	[EMUL_LOOPNE]		= move_loop,
	[EMUL_JCXZ]		= move_loop,
	[EMUL_RET]		= move_verbatim,
	[EMUL_JMP_INDIRECT]	= move_jmp_indirect,
	[EMUL_CALL_INDIRECT]	= move_call_indirect,
	[EMUL_PUSHF]		= move_verbatim,
	[EMUL_POPF]		= move_verbatim,
	[EMUL_CLI]		= move_verbatim,
	[EMUL_STI]		= move_verbatim,
};

/**
 * probe_move() - write instructions that do the same from somewhere else
 * @insn: what probe_classify() says of @bytes, not %PROBE_REFUSE
 * @bytes: the instruction
 * @mode: mode in which it runs
 * @src: address where it stands; zero-extended in 32-bit mode
 * @dst: address where what is written will run
 * @out: room for %PROBE_MOVE_MAX bytes
 *
 * Context: any; pure.
 * Return: how many bytes have been written; or
 *	-EINVAL if the instruction is refused, or a call whose target is read through
 *	the stack pointer, which the push would move,
 *	-ERANGE if @dst is too far from what the instruction refers to.
 */
int probe_move(const struct probe_insn *insn, const u8 *bytes, enum insn_mode mode,
	       u64 src, u64 dst, u8 *out)
{
	const struct move m = {
		.insn = insn, .bytes = bytes, .mode = mode,
		.src = src, .dst = dst, .out = out,
	};

	if (insn->action == PROBE_REFUSE)
		return -EINVAL;
	return moves[insn->emul](&m);
}
