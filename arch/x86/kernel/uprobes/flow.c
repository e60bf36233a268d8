// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86 uprobes: find the exits of a function.
 *
 * <linux/uprobes-arch.h> describes the functions.  Instructions that cannot be probed are not
 * followed, unless they are breakpoints: all other refused instructions that continue elsewhere
 * are rare, and none is an exit that could be probed.
 */
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/uprobes.h>
#include <asm/insn.h>
#include <asm/processor-flags.h>
#include <asm/ptrace.h>

#include "common.h"

static const u8 flows[NR_EMUL] = {
	[EMUL_JMP]		= UPROBE_FLOW_JUMP,
	[EMUL_CALL]		= UPROBE_FLOW_CALL,
	[EMUL_JCC]		= UPROBE_FLOW_BRANCH,
	[EMUL_LOOP]		= UPROBE_FLOW_BRANCH,
	[EMUL_LOOPE]		= UPROBE_FLOW_BRANCH,
	[EMUL_LOOPNE]		= UPROBE_FLOW_BRANCH,
	[EMUL_JCXZ]		= UPROBE_FLOW_BRANCH,
	[EMUL_RET]		= UPROBE_FLOW_RETURN,
	[EMUL_JMP_INDIRECT]	= UPROBE_FLOW_INDIRECT,
	[EMUL_CALL_INDIRECT]	= UPROBE_FLOW_CALL,
	[EMUL_POPF]		= UPROBE_FLOW_NEXT,
};

/* Instructions that compilers use to stop a program. */
static bool stops(struct insn *insn)
{
	const u8 *opcode = insn->opcode.bytes;

	if (insn_is_avx_or_xop(insn) || insn_is_rex2(insn))
		return false;
	if (insn->opcode.nbytes == 1)
		return opcode[0] == 0xf4;				/* hlt */
	return insn->opcode.nbytes == 2 && (opcode[1] == 0x0b ||	/* ud2 */
					    opcode[1] == 0xb9);		/* ud1 */
}

static void add_operand(struct uprobe_insn *out, enum insn_mode mode, unsigned long addr)
{
	out->operands[out->nr_operands++] = mode == INSN_MODE_64 ? addr : (u32)addr;
}

/* Finds fields that have, or could have, an address. */
static void find_operands(struct insn *insn, enum insn_mode mode, unsigned long next,
			  struct uprobe_insn *out)
{
	if (insn_rip_relative(insn))
		add_operand(out, mode, next + insn->displacement.value);
	else if (insn->displacement.nbytes == 4)
		add_operand(out, mode, insn->displacement.value);

	/* An address of 64 bits is in two fields. */
	if (insn->immediate1.nbytes == 4 && insn->immediate2.nbytes == 4)
		add_operand(out, mode, (u32)insn->immediate1.value |
				       (u64)(u32)insn->immediate2.value << 32);
	else if (insn->immediate.nbytes == 4)
		add_operand(out, mode, insn->immediate.value);
}

/* See <linux/uprobes-arch.h>. */
int arch_uprobe_flow(const u8 *bytes, size_t len, unsigned long vaddr, unsigned int mode,
		     struct uprobe_insn *out)
{
	enum insn_mode imode = uprobe_insn_mode(mode);
	struct user_insn user;
	struct insn insn __uninitialized;
	unsigned long next;
	int ret;

	len = min_t(size_t, len, MAX_INSN_SIZE);
	ret = uprobe_decide(bytes, len, imode, &user);
	out->len = user.insn.len;
	if (ret && user.insn.refusal == REFUSE_BREAKPOINT) {
		out->flow = UPROBE_FLOW_BREAKPOINT;
		return 0;
	}
	/* The decoder has decoded the same bytes. */
	if (ret || insn_decode(&insn, bytes, len, imode))
		return -EILSEQ;
	next = vaddr + out->len;
	out->flow = flows[user.insn.emul];
	out->has_target = out->flow == UPROBE_FLOW_JUMP || out->flow == UPROBE_FLOW_BRANCH ||
			  user.insn.emul == EMUL_CALL;
	if (out->has_target) {
		next += user.insn.disp;
		out->target = imode == INSN_MODE_64 ? next : (u32)next;
		return 0;
	}
	if (out->flow == UPROBE_FLOW_NEXT && stops(&insn))
		out->flow = UPROBE_FLOW_STOP;
	find_operands(&insn, imode, next, out);
	return 0;
}

/* See <linux/uprobes-arch.h>. */
bool arch_uprobe_is_return(const struct arch_uprobe *arch)
{
	return uprobe_desc(arch)->insn.emul == EMUL_RET;
}

/* See <linux/uprobes-arch.h>. */
int arch_uprobe_branch_exits(const struct arch_uprobe *arch, const struct pt_regs *regs,
			     unsigned long start, unsigned long size)
{
	struct pt_regs after = *regs;
	int err;

	/* A debugger sees one trap, that of the instruction itself. */
	after.flags &= ~X86_EFLAGS_TF;
	err = arch_uprobe_emulate(arch, &after);
	if (err)
		return err < 0 ? err : 0;
	return after.ip - start >= size;
}
