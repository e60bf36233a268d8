// SPDX-License-Identifier: GPL-2.0-only
/*
 * The classifier's verdicts, as uprobes want them.
 *
 * Uprobes step a copy in user space and then set the pc to the instruction after
 * the probe. So everything is rejected that must not be stepped, branches in
 * their authenticated form among it. Privileged instructions need no attention:
 * the copy takes the exception that the original would take.
 */
#include <asm/probes.h>

#include "classify.h"
#include "decode-insn.h"
#include "simulate.h"

/*
 * A uprobe keeps nothing but the instruction, so it is classified once more. That
 * is little beside the trap, and this is task context.
 */
static void uprobe_simulate(u32 opcode, long addr, struct pt_regs *regs)
{
	struct probe_insn desc;

	if (!probe_classify(opcode, &desc) && desc.action == PROBE_SIMULATE)
		probe_simulate(opcode, &desc, regs);
}

/* The simulator reads literals as the kernel; these addresses belong to a user. */
static bool reads_user_memory(const struct probe_insn *desc)
{
	return desc->kind == KIND_LDR_LITERAL || desc->kind == KIND_LDRSW_LITERAL;
}

/**
 * arm_probe_decode_insn() - find out what a uprobe on an instruction would take
 * @insn: the instruction, in the byte order of the CPU
 * @asi: gets the handler if the instruction is to be simulated
 *
 * Context: any; pure.
 * Return: a verdict, see &enum arm_probe_verdict.
 */
enum arm_probe_verdict arm_probe_decode_insn(probe_opcode_t insn, struct arch_probe_insn *asi)
{
	struct probe_insn desc;

	if (probe_classify(insn, &desc) || desc.no_step || reads_user_memory(&desc))
		return INSN_REJECTED;
	if (desc.action == PROBE_COPY)
		return INSN_GOOD;
	asi->handler = uprobe_simulate;
	return INSN_GOOD_NO_SLOT;
}
