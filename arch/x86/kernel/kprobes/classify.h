/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classify an x86 instruction, and write a copy of it for another address.
 *
 * All functions declared here are pure: the input is bytes and addresses, the output
 * a verdict or bytes. No globals, no allocation, no locks, any context. The files that
 * implement them build in the kernel, 32 and 64 bit, and on any build host
 * (tools/testing/kprobes). The mode is an argument, so one machine tests both modes.
 */
#ifndef _X86_KPROBES_CLASSIFY_H
#define _X86_KPROBES_CLASSIFY_H

#include <linux/kconfig.h>
#include <linux/types.h>
#include <asm/insn.h>

/**
 * enum probe_action - how an instruction is carried out away from its place
 * @PROBE_COPY: the bytes mean the same anywhere
 * @PROBE_REBASE: the same after its RIP-relative displacement is re-based
 * @PROBE_EMULATE: it depends on its own address and is emulated
 * @PROBE_REFUSE: it cannot be probed, see &enum probe_refusal
 */
enum probe_action {
	PROBE_COPY,
	PROBE_REBASE,
	PROBE_EMULATE,
	PROBE_REFUSE,
};

/**
 * enum probe_emul - operation of the emulator
 * @EMUL_NONE: none, the action is not %PROBE_EMULATE
 * @EMUL_JMP: ip += disp
 * @EMUL_CALL: push the address of the next instruction; ip += disp
 * @EMUL_JCC: ip += disp if condition @cc holds
 * @EMUL_LOOP: count register (of @asize bytes) - 1; ip += disp if it is not 0
 * @EMUL_LOOPE: as %EMUL_LOOP, and ZF must be set
 * @EMUL_LOOPNE: as %EMUL_LOOP, and ZF must be clear
 * @EMUL_JCXZ: ip += disp if the count register (of @asize bytes) is 0
 * @EMUL_RET: pop ip, then drop @disp bytes from the stack
 * @EMUL_JMP_INDIRECT: ip = register or memory operand
 * @EMUL_CALL_INDIRECT: fetch the operand, push the address of the next
 *	instruction, ip = the operand (in this order: the operand may be
 *	the stack pointer or be on the stack)
 * @EMUL_PUSHF: push the flags register
 * @EMUL_POPF: pop the flags register
 * @EMUL_CLI: clear IF
 * @EMUL_STI: set IF; the hardware would also hold back interrupts for one
 *	more instruction, which the emulator cannot do
 * @NR_EMUL: number of the above
 *
 * %EMUL_JMP to %EMUL_JCXZ are relative branches; %EMUL_RET to %EMUL_CALL_INDIRECT have their
 * target in a register or in memory.
 */
enum probe_emul {
	EMUL_NONE,
	EMUL_JMP,
	EMUL_CALL,
	EMUL_JCC,
	EMUL_LOOP,
	EMUL_LOOPE,
	EMUL_LOOPNE,
	EMUL_JCXZ,
	EMUL_RET,
	EMUL_JMP_INDIRECT,
	EMUL_CALL_INDIRECT,
	EMUL_PUSHF,
	EMUL_POPF,
	EMUL_CLI,
	EMUL_STI,
	NR_EMUL
};

/**
 * enum probe_refusal - why an instruction cannot be probed
 * @REFUSE_NONE: it can be probed
 * @REFUSE_UNDECODABLE: not an instruction of this mode, or cut off, or its
 *	length is not certain
 * @REFUSE_BREAKPOINT: an int3, which belongs to other code
 * @REFUSE_EXCEPTION: traps on purpose, and the trap handler uses its address
 * @REFUSE_BUG: likewise, but the trap handler can translate the address of a copy
 * @REFUSE_FAR: changes segment, privilege or processor mode while it jumps
 * @REFUSE_SHADOW: holds back interrupts and traps past its own end
 * @REFUSE_TRANSACTION: begins or aborts a memory transaction
 * @REFUSE_PREFIX: a prefix that the emulated instruction cannot have
 * @REFUSE_OPERAND16: 16-bit form of an emulated instruction; for 64-bit near
 *	branches even its length differs between vendors
 * @REFUSE_SEGMENT: the branch target is read through FS, GS, ES or SS
 * @REFUSE_ADDRSIZE: the branch target is read with a changed address size
 * @NR_REFUSE: number of the above
 */
enum probe_refusal {
	REFUSE_NONE,
	REFUSE_UNDECODABLE,
	REFUSE_BREAKPOINT,
	REFUSE_EXCEPTION,
	REFUSE_BUG,
	REFUSE_FAR,
	REFUSE_SHADOW,
	REFUSE_TRANSACTION,
	REFUSE_PREFIX,
	REFUSE_OPERAND16,
	REFUSE_SEGMENT,
	REFUSE_ADDRSIZE,
	NR_REFUSE
};

/* Values of probe_insn::reg, base and index that are not register numbers. */
#define PROBE_REG_NONE	(-1)	/* no such operand */
#define PROBE_REG_NEXT	(-2)	/* base only: address of the next instruction */

/* Lengths of the branches that this code writes. */
#define PROBE_JUMP_LEN	5
#define PROBE_JCC_LEN	6

/**
 * struct probe_insn - result of the classifier
 * @len: length in bytes; 0 if the bytes do not decode
 * @action: &enum probe_action
 * @emul: &enum probe_emul
 * @refusal: &enum probe_refusal
 * @cc: %EMUL_JCC: condition 0..15 in the encoding's order (bit 0 negates)
 * @riprel: offset of a 32-bit RIP-relative displacement in the bytes, 0 if
 *	there is none; set for every action
 * @asize: address size in bytes, which is also the width of the count register of
 *	loop and jcxz
 * @reg: indirect branch: register that holds the target, or %PROBE_REG_NONE
 *	if the target is read from memory
 * @base: base register of that memory operand, %PROBE_REG_NONE, or
 *	%PROBE_REG_NEXT if it is relative to the next instruction
 * @index: index register or %PROBE_REG_NONE
 * @scale: factor of the index: 1, 2, 4 or 8
 * @disp: direct branches: displacement from the next instruction; memory
 *	operand: its displacement; %EMUL_RET: bytes to drop; else 0
 *
 * Registers have the numbers of the encoding: ax, cx, dx, bx, sp, bp, si, di,
 * r8..r15. The emulator needs no decoder.
 */
struct probe_insn {
	u8 len;
	u8 action;
	u8 emul;
	u8 refusal;
	u8 cc;
	u8 riprel;
	u8 asize;
	s8 reg;
	s8 base;
	s8 index;
	u8 scale;
	s32 disp;
};

/**
 * probe_mode_64() - is a mode 64-bit mode?
 * @mode: the mode, or %INSN_MODE_KERN for the mode of this kernel
 *
 * Context: any; pure.
 */
static inline bool probe_mode_64(enum insn_mode mode)
{
	return mode == INSN_MODE_64 ||
	       (mode == INSN_MODE_KERN && IS_ENABLED(CONFIG_X86_64));
}

/**
 * probe_reads_target() - does an indirect branch read its target from memory?
 * @insn: from probe_classify()
 *
 * Such a branch is emulated, but can also be copied: if its operand cannot be
 * read, the copy takes the fault that the original would have taken.
 *
 * Context: any; pure.
 */
static inline bool probe_reads_target(const struct probe_insn *insn)
{
	return (insn->emul == EMUL_JMP_INDIRECT || insn->emul == EMUL_CALL_INDIRECT) &&
	       insn->reg == PROBE_REG_NONE;
}

/**
 * probe_is_relative() - is this a branch whose target is at a distance from its end?
 * @insn: from probe_classify()
 *
 * &probe_insn.disp is the distance.
 *
 * Context: any; pure.
 */
static inline bool probe_is_relative(const struct probe_insn *insn)
{
	return insn->emul >= EMUL_JMP && insn->emul <= EMUL_JCXZ;
}

int probe_classify(const u8 *bytes, size_t avail, enum insn_mode mode,
		   struct probe_insn *out);
void probe_classify_init(void);
bool probe_waits(const u8 *bytes, size_t avail, enum insn_mode mode);
const char *probe_refusal_name(enum probe_refusal refusal);

/* cfi.c */
bool probe_is_endbr(const u8 *bytes, size_t avail);
bool probe_may_be_kcfi_check(u8 first);
bool probe_is_kcfi_check(const u8 *bytes, size_t avail, enum insn_mode mode);

/* Longest result of probe_relocate(): a loop, followed by jumps of 2 and 5 bytes. */
#define PROBE_RELOCATED_MAX	(MAX_INSN_SIZE + 7)

int probe_rebase(const struct probe_insn *insn, const u8 *bytes, u64 src, u64 dst, u8 *out);
int probe_relocate(const struct probe_insn *insn, const u8 *bytes, enum insn_mode mode,
		   u64 src, u64 dst, u8 *out);
int probe_put_jump(enum insn_mode mode, u8 *out, u64 at, u64 target);
int probe_put_jcc(enum insn_mode mode, u8 *out, u64 at, u8 cc, u64 target);

/* flags.c */
u64 probe_flags_dead(const u8 *bytes, size_t avail, bool *at_return);

#endif /* _X86_KPROBES_CLASSIFY_H */
