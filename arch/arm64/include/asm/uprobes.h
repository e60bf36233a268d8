/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_UPROBES_H
#define _ASM_UPROBES_H
/*
 * Uprobes on arm64: definitions for the engine; <linux/uprobes-arch.h> has the contract.
 */
#include <linux/types.h>
#include <asm/debug-monitors.h>
#include <asm/insn.h>
#include <asm/probes.h>

typedef __le32 uprobe_opcode_t;

#define UPROBE_SWBP_INSN	cpu_to_le32(BRK64_OPCODE_UPROBES)
#define UPROBE_SWBP_INSN_SIZE	AARCH64_INSN_SIZE
#define MAX_UINSN_BYTES		AARCH64_INSN_SIZE

/* Text around an instruction in which an exclusive sequence may begin and end. */
#define UPROBE_CONTEXT_BYTES	128

/**
 * arch_uprobe_ties() - may a later instruction have to stay with one of these?
 * @text: whole instructions, as they are, with breakpoints
 * @len: bytes of @text
 *
 * Context: any.
 * Return: false if arch_uprobe_check_context() refuses no instruction because of these. If all of
 * the UPROBE_CONTEXT_BYTES before an instruction are such, it can be probed.
 */
bool arch_uprobe_ties(const u8 *text, size_t len);

/* The second word of a slot. */
#define UPROBE_SLOT_TAKEN	AARCH64_INSN_SIZE

/* <asm/gcs.h> cannot be included here: its headers need this one. */
#define arch_uprobe_has_shadow_stack()	task_gcs_el0_enabled(current)

/* Processes with 32-bit code have mode 1, in which no instruction can be probed. */
#define UPROBE_MODES		2

/**
 * struct arch_uprobe - decision about an instruction
 * @insn: the instruction, in the byte order of the CPU
 * @api: function that emulates it, if it is emulated
 */
struct arch_uprobe {
	u32 insn;
	struct arch_probe_insn api;
};

#define arch_uprobe_insn_len arch_uprobe_insn_len
static inline unsigned int arch_uprobe_insn_len(const struct arch_uprobe *arch)
{
	return AARCH64_INSN_SIZE;
}

void arm64_uprobe_sync_text(void *kaddr, size_t len);
#define arch_uprobe_sync_text	arm64_uprobe_sync_text

void arch_uprobe_foreign(struct pt_regs *regs);
#define arch_uprobe_foreign	arch_uprobe_foreign

/* BTYPE is the kind of the branch to the instruction; the new place may be no landing pad. */
#define arch_uprobe_path_changed(regs)	((regs)->pstate &= ~(u64)PSR_BTYPE_MASK)

#endif /* _ASM_UPROBES_H */
