// SPDX-License-Identifier: GPL-2.0-only
/*
 * Carrying out, on saved registers, instructions that cannot run elsewhere.
 *
 * One small function for each kind in enum probe_kind, found through a table.
 * Semantics: Arm ARM, C6.2, each instruction's own page.
 *
 * All of it runs in the breakpoint trap, so nothing here may be probed, nor
 * anything that is called from here: the helpers of <asm/ptrace.h> and the
 * conditions of <asm/insn.h> are not used because they can be.
 */

#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/unaligned.h>
#include <asm-generic/kprobes.h>
#include <asm/ptrace.h>

#include "classify.h"
#include "fields.h"
#include "simulate.h"

static __always_inline u64 read_reg(const struct pt_regs *regs, u32 nr)
{
	return nr == A64_ZR ? 0 : regs->regs[nr];
}

static __always_inline void write_reg(struct pt_regs *regs, u32 nr, u64 value)
{
	if (nr != A64_ZR)
		regs->regs[nr] = value;
}

/*
 * Truth tables over NZCV, bits 31 to 28 of PSTATE: bit n of a table says whether
 * the condition holds when the four flags, read as a number, are n.
 */
#define WHEN_N	0xff00
#define WHEN_Z	0xf0f0
#define WHEN_C	0xcccc
#define WHEN_V	0xaaaa
#define WHEN_GE	((u16)~(WHEN_N ^ WHEN_V))
#define ALWAYS	0xffff

/* By bits 3 to 1 of the condition; bit 0 negates all but the last. */
static const u16 conditions[] = {
	WHEN_Z,				/* eq, ne */
	WHEN_C,				/* cs, cc */
	WHEN_N,				/* mi, pl */
	WHEN_V,				/* vs, vc */
	WHEN_C & ~WHEN_Z,		/* hi, ls */
	WHEN_GE,			/* ge, lt */
	WHEN_GE & ~WHEN_Z,		/* gt, le */
	ALWAYS,				/* al, nv, which means always as well */
};

static __always_inline bool condition_holds(u32 cond, u64 pstate)
{
	bool holds = conditions[cond >> 1] >> (pstate >> 28 & 0xf) & 1;

	return holds != (cond & 1 && cond != 0xf);
}

static void simulate_b(u32 insn, struct pt_regs *regs)
{
	regs->pc = a64_target26(insn, regs->pc);
}
NOKPROBE_SYMBOL(simulate_b);

static void simulate_bl(u32 insn, struct pt_regs *regs)
{
	write_reg(regs, A64_LINK, regs->pc + A64_LEN);
	regs->pc = a64_target26(insn, regs->pc);
}
NOKPROBE_SYMBOL(simulate_bl);

static void simulate_b_cond(u32 insn, struct pt_regs *regs)
{
	if (condition_holds(a64_cond(insn), regs->pstate))
		regs->pc = a64_target19(insn, regs->pc);
	else
		regs->pc += A64_LEN;
}
NOKPROBE_SYMBOL(simulate_b_cond);

static void simulate_cbz(u32 insn, struct pt_regs *regs)
{
	u64 value = read_reg(regs, a64_reg0(insn));

	if (!a64_cbz_is_64(insn))
		value = (u32)value;
	if (!!value == a64_wants_nonzero(insn))
		regs->pc = a64_target19(insn, regs->pc);
	else
		regs->pc += A64_LEN;
}
NOKPROBE_SYMBOL(simulate_cbz);

static void simulate_tbz(u32 insn, struct pt_regs *regs)
{
	u64 value = read_reg(regs, a64_reg0(insn));

	if ((value >> a64_tested_bit(insn) & 1) == a64_wants_nonzero(insn))
		regs->pc = a64_target14(insn, regs->pc);
	else
		regs->pc += A64_LEN;
}
NOKPROBE_SYMBOL(simulate_tbz);

static void simulate_adr(u32 insn, struct pt_regs *regs)
{
	write_reg(regs, a64_reg0(insn), a64_adr(insn, regs->pc));
	regs->pc += A64_LEN;
}
NOKPROBE_SYMBOL(simulate_adr);

static void simulate_adrp(u32 insn, struct pt_regs *regs)
{
	write_reg(regs, a64_reg0(insn), a64_adrp(insn, regs->pc));
	regs->pc += A64_LEN;
}
NOKPROBE_SYMBOL(simulate_adrp);

/*
 * The literal is in the same text as the instruction, so it can be read; one of
 * eight bytes is aligned to four.
 */
static void simulate_ldr_literal(u32 insn, struct pt_regs *regs)
{
	unsigned long literal = a64_target19(insn, regs->pc);

	if (a64_literal_is_64(insn))
		write_reg(regs, a64_reg0(insn), get_unaligned((const u64 *)literal));
	else
		write_reg(regs, a64_reg0(insn), *(const u32 *)literal);
	regs->pc += A64_LEN;
}
NOKPROBE_SYMBOL(simulate_ldr_literal);

static void simulate_ldrsw_literal(u32 insn, struct pt_regs *regs)
{
	unsigned long literal = a64_target19(insn, regs->pc);

	write_reg(regs, a64_reg0(insn), (s64)*(const s32 *)literal);
	regs->pc += A64_LEN;
}
NOKPROBE_SYMBOL(simulate_ldrsw_literal);

/* A hint, and after a trap it would come too late to help. */
static void simulate_prfm_literal(u32 insn, struct pt_regs *regs)
{
	regs->pc += A64_LEN;
}
NOKPROBE_SYMBOL(simulate_prfm_literal);

/* br and ret differ in what they tell the branch predictor. */
static void simulate_br(u32 insn, struct pt_regs *regs)
{
	regs->pc = read_reg(regs, a64_reg5(insn));
}
NOKPROBE_SYMBOL(simulate_br);

static void simulate_blr(u32 insn, struct pt_regs *regs)
{
	/* Before the link register is written: it may be the one. */
	u64 target = read_reg(regs, a64_reg5(insn));

	write_reg(regs, A64_LINK, regs->pc + A64_LEN);
	regs->pc = target;
}
NOKPROBE_SYMBOL(simulate_blr);

static const probe_simulate_fn simulators[NR_KINDS] = {
	[KIND_B]		= simulate_b,
	[KIND_BL]		= simulate_bl,
	[KIND_B_COND]		= simulate_b_cond,
	[KIND_CBZ]		= simulate_cbz,
	[KIND_TBZ]		= simulate_tbz,
	[KIND_ADR]		= simulate_adr,
	[KIND_ADRP]		= simulate_adrp,
	[KIND_LDR_LITERAL]	= simulate_ldr_literal,
	[KIND_LDRSW_LITERAL]	= simulate_ldrsw_literal,
	[KIND_PRFM_LITERAL]	= simulate_prfm_literal,
	[KIND_BR]		= simulate_br,
	[KIND_BLR]		= simulate_blr,
	[KIND_RET]		= simulate_br,
};

/**
 * probe_simulator() - what carries out an instruction on saved registers
 * @desc: what probe_classify() said about it
 *
 * As probe_simulate(), which calls it, but for BTYPE.
 *
 * Context: any; pure.
 * Return: a function for any context, the breakpoint trap included; NULL if the action is
 * not %PROBE_SIMULATE.
 */
probe_simulate_fn probe_simulator(const struct probe_insn *desc)
{
	return simulators[desc->kind];
}

/**
 * probe_simulate() - carry out an instruction on saved registers
 * @insn: the instruction, with the action %PROBE_SIMULATE
 * @desc: what probe_classify() said about it
 * @regs: registers at the instruction, with its address in regs->pc
 *
 * On return @regs is as after the instruction. A literal is read where it is,
 * so user space's literals must not come here.
 *
 * BTYPE is cleared. Every instruction but an indirect branch does so, and after
 * an indirect branch it is the permissive value: the CPU accepts any instruction
 * at the target, as it does after a branch from an unguarded page to one. To set
 * what br and blr set one would have to know whether the page of the probe is
 * guarded; where they lead was checked by the compiler that emitted the pads.
 *
 * Context: any, the breakpoint trap included.
 */
void probe_simulate(u32 insn, const struct probe_insn *desc, struct pt_regs *regs)
{
	simulators[desc->kind](insn, regs);
	regs->pstate &= ~(u64)PSR_BTYPE_MASK;
}
NOKPROBE_SYMBOL(probe_simulate);
