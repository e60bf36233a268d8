// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64 uprobes: find the exits of a function.
 *
 * <linux/uprobes-arch.h> describes the functions.  Of the instructions that the classifier refuses,
 * those that branch are refused here, too.  adrp has the address of a page, which does not tell
 * whether data is in a function.
 */
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <asm/ptrace.h>

#include "classify.h"
#include "emulate.h"
#include "fields.h"

#define NOT_CERTAIN	0xff

static const u8 flows[NR_KINDS] = {
	[KIND_B]	= UPROBE_FLOW_JUMP,
	[KIND_BL]	= UPROBE_FLOW_CALL,
	[KIND_B_COND]	= UPROBE_FLOW_BRANCH,
	[KIND_CBZ]	= UPROBE_FLOW_BRANCH,
	[KIND_TBZ]	= UPROBE_FLOW_BRANCH,
	[KIND_BR]	= UPROBE_FLOW_INDIRECT,
	[KIND_BLR]	= UPROBE_FLOW_CALL,
	[KIND_RET]	= UPROBE_FLOW_RETURN,
};

/* Those that are not named continue at the next instruction. */
static const u8 refused_flows[NR_REFUSE] = {
	[REFUSE_UNALLOCATED]	= NOT_CERTAIN,
	[REFUSE_UNDEFINED]	= UPROBE_FLOW_STOP,
	[REFUSE_BREAKPOINT]	= UPROBE_FLOW_STOP,
	[REFUSE_ERET]		= NOT_CERTAIN,
	[REFUSE_POSITION]	= NOT_CERTAIN,
	[REFUSE_SIGNED_CALL]	= UPROBE_FLOW_CALL,
};

/* The breakpoint of debuggers; compilers use others to stop a program. */
static bool is_debuggers(u32 insn)
{
	return insn == 0xd4200000;
}

/* braa, retaa and the like, but not their calls. */
static bool is_signed_branch(u32 insn, const struct probe_insn *desc)
{
	return desc->no_step && (insn & 0xfe000000) == 0xd6000000;
}

static enum uprobe_flow flow_of(u32 insn, const struct probe_insn *desc)
{
	if (desc->action != PROBE_REFUSE)
		return is_signed_branch(insn, desc) ? NOT_CERTAIN : flows[desc->kind];
	if (desc->refusal == REFUSE_BREAKPOINT && is_debuggers(insn))
		return UPROBE_FLOW_BREAKPOINT;
	return refused_flows[desc->refusal];
}

static void set_target(struct uprobe_insn *out, unsigned long target)
{
	out->has_target = true;
	out->target = target;
}

static void set_operand(struct uprobe_insn *out, unsigned long addr)
{
	out->nr_operands = 1;
	out->operands[0] = addr;
}

static void find_addresses(u32 insn, const struct probe_insn *desc, unsigned long vaddr,
			   struct uprobe_insn *out)
{
	if (desc->refusal == REFUSE_VECTOR_LITERAL)
		set_operand(out, a64_target19(insn, vaddr));

	switch (desc->kind) {
	case KIND_B:
	case KIND_BL:
		set_target(out, a64_target26(insn, vaddr));
		break;
	case KIND_B_COND:
	case KIND_CBZ:
		set_target(out, a64_target19(insn, vaddr));
		break;
	case KIND_TBZ:
		set_target(out, a64_target14(insn, vaddr));
		break;
	case KIND_ADR:
		set_operand(out, a64_adr(insn, vaddr));
		break;
	case KIND_LDR_LITERAL:
	case KIND_LDRSW_LITERAL:
	case KIND_PRFM_LITERAL:
		set_operand(out, a64_target19(insn, vaddr));
		break;
	default:
		break;
	}
}

/* See <linux/uprobes-arch.h>. */
int arch_uprobe_flow(const u8 *bytes, size_t len, unsigned long vaddr, unsigned int mode,
		     struct uprobe_insn *out)
{
	struct probe_insn desc;
	__le32 word;
	u32 insn;

	if (mode || len < sizeof(word))
		return -EILSEQ;
	memcpy(&word, bytes, sizeof(word));
	insn = le32_to_cpu(word);
	/* The reason of a refusal is in the description. */
	probe_classify(insn, &desc);
	out->len = A64_LEN;
	out->flow = flow_of(insn, &desc);
	find_addresses(insn, &desc, vaddr, out);
	return out->flow == NOT_CERTAIN ? -EILSEQ : 0;
}

/* See <linux/uprobes-arch.h>. */
unsigned long arch_uprobe_target(const struct arch_uprobe *arch, unsigned long vaddr)
{
	struct uprobe_insn insn = { };
	struct probe_insn desc;

	probe_classify(arch->insn, &desc);
	find_addresses(arch->insn, &desc, vaddr, &insn);
	return insn.has_target ? insn.target : vaddr;
}

/* See <linux/uprobes-arch.h>. */
bool arch_uprobe_is_return(const struct arch_uprobe *arch)
{
	struct probe_insn desc;

	return !probe_classify(arch->insn, &desc) && desc.action == PROBE_EMULATE &&
	       desc.kind == KIND_RET;
}

/* See <linux/uprobes-arch.h>. */
int arch_uprobe_branch_exits(const struct arch_uprobe *arch, const struct pt_regs *regs,
			     unsigned long start, unsigned long size)
{
	struct pt_regs after = *regs;
	struct probe_insn desc;

	if (probe_classify(arch->insn, &desc) || desc.action != PROBE_EMULATE)
		return 0;
	probe_emulate(arch->insn, &desc, &after);
	return untagged_addr(after.pc) - start >= size;
}
