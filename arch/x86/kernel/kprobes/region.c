// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions: which instructions a jump replaces, and a copy of them that does the same.
 *
 * What is judged here are the instructions themselves; who else may come into the
 * region is not to be seen in it (targets.c, detour.c).  The rules are those of
 * kprobes.txt, sections 1.4.2 and 5, but for two: relative branches are written anew,
 * and a call may end the region, for it can return behind it.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include "region.h"

/* How execution goes on behind an instruction. */
enum flow {
	FLOW_ON,	/* with the next one, if it does not branch */
	FLOW_RETURN,	/* it returns there, and must not find the tail */
	FLOW_END,	/* not there */
};

static enum flow flow_of(const struct probe_insn *insn)
{
	static const u8 flows[NR_EMUL] = {
		[EMUL_CALL]		= FLOW_RETURN,
		[EMUL_CALL_INDIRECT]	= FLOW_RETURN,
		[EMUL_JMP]		= FLOW_END,
		[EMUL_JMP_INDIRECT]	= FLOW_END,
		[EMUL_RET]		= FLOW_END,
	};

	return flows[insn->emul];
}

/* One byte is the opcode of pause and, behind VEX, of a move between mask registers too. */
static bool is_nop(struct insn *insn, const u8 *bytes)
{
	if (insn_is_avx_or_xop(insn) || insn_is_rex2(insn))
		return false;
	if (insn->opcode.nbytes == 1)
		return insn->opcode.bytes[0] == 0x90 && !X86_REX_B(insn->rex_prefix.bytes[0]) &&
		       !memchr(bytes, 0xf3, insn->prefixes.nbytes);
	return insn->opcode.nbytes == 2 && insn->opcode.bytes[1] == 0x1f;
}

/* Fills the space between functions: int3, and nops of all lengths. */
static bool is_padding(const u8 *bytes, size_t avail, enum insn_mode mode, unsigned int *len)
{
	struct insn insn;

	if (bytes[0] == 0xcc) {
		*len = 1;
		return true;
	}
	if (insn_decode(&insn, bytes, avail, mode))
		return false;
	*len = insn.length;
	return is_nop(&insn, bytes);
}

/* Up to the end of the jump there is nothing but padding from @pos on. */
static bool padded(const u8 *bytes, size_t avail, enum insn_mode mode, unsigned int pos)
{
	unsigned int len;

	for (; pos < PROBE_JUMP_LEN; pos += len) {
		if (pos >= avail || !is_padding(bytes + pos, avail - pos, mode, &len))
			return false;
	}
	return true;
}

/* An instruction that a region can have, for as much as it tells by itself. */
static enum kprobe_obstacle check_insn(const u8 *bytes, size_t avail, enum insn_mode mode,
				       unsigned int pos, struct probe_insn *insn)
{
	bool last;

	if (probe_classify(bytes + pos, avail - pos, mode, insn))
		return KPROBE_OBSTACLE_INSN;
	if (probe_is_kcfi_check(bytes + pos, avail - pos, mode))
		return KPROBE_OBSTACLE_CFI;
	if (pos && probe_is_endbr(bytes + pos, avail - pos))
		return KPROBE_OBSTACLE_PAD;
	last = pos + insn->len >= PROBE_JUMP_LEN;
	if (flow_of(insn) == FLOW_RETURN && !last)
		return KPROBE_OBSTACLE_CALL;
	if (insn->emul == EMUL_STI && last)
		return KPROBE_OBSTACLE_SHADOW;
	return KPROBE_OBSTACLE_NONE;
}

/**
 * probe_region_find() - the region that begins with an instruction
 * @bytes: the text from there on, as it is without any probe
 * @avail: how many bytes there are up to the end of the function
 * @mode: mode in which it runs
 * @region: where to put it
 *
 * Context: any; pure.
 * Return: %KPROBE_OBSTACLE_NONE, or the first obstacle in the instructions themselves.
 */
enum kprobe_obstacle probe_region_find(const u8 *bytes, size_t avail, enum insn_mode mode,
				       struct probe_region *region)
{
	enum kprobe_obstacle obstacle;
	struct probe_insn *insn;

	*region = (struct probe_region) { .goes_on = true };
	while (region->len < PROBE_JUMP_LEN && region->goes_on) {
		if (region->len >= avail)
			return KPROBE_OBSTACLE_END;
		insn = &region->insns[region->nr];
		obstacle = check_insn(bytes, avail, mode, region->len, insn);
		if (obstacle)
			return obstacle;
		region->offset[region->nr++] = region->len;
		region->len += insn->len;
		region->goes_on = flow_of(insn) == FLOW_ON;
	}
	if (!padded(bytes, avail, mode, region->len))
		return KPROBE_OBSTACLE_END;
	return KPROBE_OBSTACLE_NONE;
}

static enum kprobe_obstacle relocate_obstacle(int err)
{
	return err == -ERANGE ? KPROBE_OBSTACLE_OPERAND : KPROBE_OBSTACLE_STACK;
}

/* Room for one more instruction, whatever it becomes. */
static bool fits(const struct probe_copy *copy, unsigned int len)
{
	return copy->len + len <= copy->room;
}

static enum kprobe_obstacle append_insn(const struct probe_region *region, unsigned int i,
					const u8 *bytes, struct probe_copy *copy)
{
	u8 buf[PROBE_RELOCATED_MAX];
	int len;

	len = probe_relocate(&region->insns[i], bytes + region->offset[i], copy->mode,
			     copy->src + region->offset[i], copy->dst + copy->len, buf);
	if (len < 0)
		return relocate_obstacle(len);
	if (!fits(copy, len))
		return KPROBE_OBSTACLE_ROOM;
	memcpy(copy->out + copy->len, buf, len);
	copy->offset[i] = copy->len;
	copy->len += len;
	return KPROBE_OBSTACLE_NONE;
}

/* A call or a jump, which differ in one bit. */
static enum kprobe_obstacle append_branch(struct probe_copy *copy, u64 target, bool call)
{
	u8 *out = copy->out + copy->len;

	if (!fits(copy, PROBE_JUMP_LEN))
		return KPROBE_OBSTACLE_ROOM;
	if (probe_put_jump(copy->mode, out, copy->dst + copy->len, target) < 0)
		return KPROBE_OBSTACLE_OPERAND;
	if (call)
		out[0] = 0xe8;
	copy->len += PROBE_JUMP_LEN;
	return KPROBE_OBSTACLE_NONE;
}

/* The call of the post handlers leaves the flags on the stack. */
static enum kprobe_obstacle append_post(struct probe_copy *copy)
{
	if (!fits(copy, PROBE_POST_LEN))
		return KPROBE_OBSTACLE_ROOM;
	if (append_branch(copy, copy->post, true))
		return KPROBE_OBSTACLE_OPERAND;
	copy->out[copy->len++] = 0x9d;
	return KPROBE_OBSTACLE_NONE;
}

/**
 * probe_region_copy() - write instructions that do what a region does
 * @region: from probe_region_find()
 * @bytes: its instructions
 * @copy: where to, and what it has become
 *
 * The copy ends with a jump to the instruction behind the region, unless nothing gets
 * there.  After the first instruction there is a call of &probe_copy.post, and a popf; that
 * instruction must not be one that goes elsewhere, or the call would be left out at times.
 *
 * Context: any; pure.
 * Return: %KPROBE_OBSTACLE_NONE, or why there can be no copy; then what is in the output means
 * nothing.
 */
enum kprobe_obstacle probe_region_copy(const struct probe_region *region, const u8 *bytes,
				       struct probe_copy *copy)
{
	enum kprobe_obstacle obstacle = KPROBE_OBSTACLE_NONE;
	unsigned int i;

	copy->len = 0;
	if (copy->post && region->insns[0].action == PROBE_EMULATE)
		return KPROBE_OBSTACLE_POST_BRANCH;
	for (i = 0; i < region->nr && !obstacle; i++) {
		obstacle = append_insn(region, i, bytes, copy);
		if (!obstacle && !i && copy->post)
			obstacle = append_post(copy);
	}
	if (!obstacle && region->goes_on)
		obstacle = append_branch(copy, copy->src + region->len, false);
	return obstacle;
}
