/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _X86_KERNEL_KPROBES_HIT_EMULATE_H
#define _X86_KERNEL_KPROBES_HIT_EMULATE_H
/*
 * The parts of emulated instructions that access registers only.  The emulators of kprobes
 * and of uprobes share them; each accesses its own kind of memory.
 *
 * Semantics: Intel SDM volume 2, each instruction's own page.  All functions are inline, because
 * a hit of a kprobe must not call a function that has a probe.
 */
#include <asm/processor-flags.h>
#include <asm/ptrace.h>

#include "../classify.h"

/* Offsets of the registers in struct pt_regs, by their numbers in the encoding. */
#define REG(nr, name)	[nr] = offsetof(struct pt_regs, name)

static const u8 probe_reg_offset[] = {
	REG(0, ax), REG(1, cx), REG(2, dx), REG(3, bx),
	REG(4, sp), REG(5, bp), REG(6, si), REG(7, di),
#ifdef CONFIG_X86_64
	REG(8, r8), REG(9, r9), REG(10, r10), REG(11, r11),
	REG(12, r12), REG(13, r13), REG(14, r14), REG(15, r15),
#endif
};

#undef REG

/* Returns the register with number @nr of the encoding. */
static __always_inline unsigned long *probe_reg(struct pt_regs *regs, int nr)
{
	return (void *)regs + probe_reg_offset[nr];
}

/* Returns the count register, truncated to the address size. */
static __always_inline unsigned long probe_count(const struct probe_insn *insn,
						 struct pt_regs *regs)
{
	if (insn->asize == 2)
		return (u16)regs->cx;
	if (insn->asize == 4)
		return (u32)regs->cx;
	return regs->cx;
}

/* Decrements the count register; a 32-bit write clears the upper half, a 16-bit one does not. */
static __always_inline void probe_dec_count(const struct probe_insn *insn,
					    struct pt_regs *regs)
{
	if (insn->asize == 2)
		regs->cx = (regs->cx & ~0xffffUL) | (u16)(regs->cx - 1);
	else if (insn->asize == 4)
		regs->cx = (u32)(regs->cx - 1);
	else
		regs->cx--;
}

/* Decrements the count register of a loop instruction.  Returns whether the branch is taken. */
static __always_inline bool probe_loop_taken(const struct probe_insn *insn,
					     struct pt_regs *regs)
{
	bool zero = regs->flags & X86_EFLAGS_ZF;

	probe_dec_count(insn, regs);
	return probe_count(insn, regs) && (insn->emul != EMUL_LOOPE || zero) &&
	       (insn->emul != EMUL_LOOPNE || !zero);
}

/*
 * Returns the address of the memory operand of an indirect branch, without a segment's base and
 * not truncated to the address size.  regs->ip is the address of the next instruction.
 */
static __always_inline unsigned long probe_operand_addr(const struct probe_insn *insn,
							struct pt_regs *regs)
{
	unsigned long where = insn->disp;

	if (insn->base == PROBE_REG_NEXT)
		where += regs->ip;
	else if (insn->base != PROBE_REG_NONE)
		where += *probe_reg(regs, insn->base);
	if (insn->index != PROBE_REG_NONE)
		where += *probe_reg(regs, insn->index) * insn->scale;
	return where;
}

#endif /* _X86_KERNEL_KPROBES_HIT_EMULATE_H */
