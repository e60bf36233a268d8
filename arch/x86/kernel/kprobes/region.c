// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Regions: find the instructions that a jump covers, and write a copy with the same effect.
 *
 * Only the instructions themselves are checked here.  targets.c and detour.c check whether
 * execution can enter the region from elsewhere.  See Documentation/trace/kprobes.rst,
 * "Probes that stay breakpoints".  The rules are those of kprobes.txt, sections 1.4.2 and 5,
 * with two exceptions: relative branches are rewritten, and a call may be the last
 * instruction of the region, because it then returns to the address after the region.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include "region.h"

/* Does execution continue at the instruction after this one? */
enum flow {
	FLOW_ON,	/* yes, unless this one branches */
	FLOW_RETURN,	/* yes, after a call; so the tail of the jump must not be there */
	FLOW_END,	/* no */
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

/* Opcode 90 is also that of pause and, after a VEX prefix, of a move between mask registers. */
static bool is_nop(struct insn *insn, const u8 *bytes)
{
	if (insn_is_avx_or_xop(insn) || insn_is_rex2(insn))
		return false;
	if (insn->opcode.nbytes == 1)
		return insn->opcode.bytes[0] == 0x90 && !X86_REX_B(insn->rex_prefix.bytes[0]) &&
		       !memchr(bytes, 0xf3, insn->prefixes.nbytes);
	return insn->opcode.nbytes == 2 && insn->opcode.bytes[1] == 0x1f;
}

/* Is this padding between functions?  That is int3, and nops of all lengths. */
static bool is_padding(const u8 *bytes, size_t avail, enum insn_mode mode, unsigned int *len)
{
	struct insn insn __uninitialized;

	if (bytes[0] == 0xcc) {
		*len = 1;
		return true;
	}
	if (insn_decode(&insn, bytes, avail, mode))
		return false;
	*len = insn.length;
	return is_nop(&insn, bytes);
}

/* Are all bytes from @pos to the end of the jump padding? */
static bool padded(const u8 *bytes, size_t avail, enum insn_mode mode, unsigned int pos)
{
	unsigned int len;

	for (; pos < PROBE_JUMP_LEN; pos += len) {
		if (pos >= avail || !is_padding(bytes + pos, avail - pos, mode, &len))
			return false;
	}
	return true;
}

/* Checks and classifies the instruction at offset @pos of a region. */
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
 * probe_region_find() - find the region that begins with an instruction
 * @bytes: the text from the instruction on, as it is without any probe
 * @avail: number of bytes up to the end of the function
 * @mode: mode in which the text runs
 * @region: the result
 *
 * Context: any; pure.
 * Return: %KPROBE_OBSTACLE_NONE, or the first obstacle in the instructions themselves.
 */
enum kprobe_obstacle probe_region_find(const u8 *bytes, size_t avail, enum insn_mode mode,
				       struct probe_region *region)
{
	enum kprobe_obstacle obstacle;
	struct probe_insn *insn;

	*region = (struct probe_region) { .falls_through = true };
	while (region->len < PROBE_JUMP_LEN && region->falls_through) {
		if (region->len >= avail)
			return KPROBE_OBSTACLE_END;
		insn = &region->insns[region->nr];
		obstacle = check_insn(bytes, avail, mode, region->len, insn);
		if (obstacle)
			return obstacle;
		region->offset[region->nr++] = region->len;
		region->len += insn->len;
		region->falls_through = flow_of(insn) == FLOW_ON;
	}
	if (!padded(bytes, avail, mode, region->len))
		return KPROBE_OBSTACLE_END;
	return KPROBE_OBSTACLE_NONE;
}

static enum kprobe_obstacle relocate_obstacle(int err)
{
	return err == -ERANGE ? KPROBE_OBSTACLE_OPERAND : KPROBE_OBSTACLE_STACK;
}

/* Is there room for @len more bytes? */
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

/* Appends a call or a jump, which differ in the opcode only. */
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

/* Appends the call of the post handlers, and a popf, because the call leaves flags on the stack. */
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
 * probe_region_copy() - write instructions that have the same effect as a region
 * @region: from probe_region_find()
 * @bytes: the instructions of the region
 * @copy: the output and its parameters
 *
 * The copy ends with a jump to the instruction after the region, unless execution never
 * gets there.  If &probe_copy.post is set, a call of it and a popf follow the first
 * instruction, which then must not branch, because a branch would skip the call.
 *
 * Context: any; pure.
 * Return: %KPROBE_OBSTACLE_NONE, or the reason why there can be no copy; the contents of the
 * output are undefined then.
 */
enum kprobe_obstacle probe_region_copy(const struct probe_region *region, const u8 *bytes,
				       struct probe_copy *copy)
{
	enum kprobe_obstacle obstacle = KPROBE_OBSTACLE_NONE;
	unsigned int i;

	copy->len = 0;
	if (copy->post && region->insns[0].action == PROBE_EMULATE)
		return KPROBE_OBSTACLE_POST_BRANCH;
	/* If the target could not be read, the return address would be on the stack already. */
	if (region->insns[0].emul == EMUL_CALL_INDIRECT && probe_reads_target(&region->insns[0]))
		return KPROBE_OBSTACLE_ENCODING;
	for (i = 0; i < region->nr && !obstacle; i++) {
		obstacle = append_insn(region, i, bytes, copy);
		if (!obstacle && !i && copy->post)
			obstacle = append_post(copy);
	}
	if (!obstacle && region->falls_through)
		obstacle = append_branch(copy, copy->src + region->len, false);
	return obstacle;
}
