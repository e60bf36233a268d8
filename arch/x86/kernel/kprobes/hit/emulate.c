// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Emulate, on saved registers, instructions that cannot run at another address.
 *
 * A table has one small function for each operation in enum probe_emul; the
 * classifier has decoded the operands.  Semantics: Intel SDM volume 2,
 * each instruction's own page, for ring 0.
 *
 * All functions run in the breakpoint trap.  They can push, because the
 * entry code leaves a gap between the interrupted stack and pt_regs.
 */
#include <linux/uaccess.h>
#include <asm/page.h>
#include <asm/processor.h>
#include <asm/processor-flags.h>
#include <asm/ptrace.h>

#include "../common.h"

/* Offsets of the registers in struct pt_regs, by their numbers in the encoding. */
#define REG(nr, name)	[nr] = offsetof(struct pt_regs, name)

static const u8 reg_offset[] = {
	REG(0, ax), REG(1, cx), REG(2, dx), REG(3, bx),
	REG(4, sp), REG(5, bp), REG(6, si), REG(7, di),
#ifdef CONFIG_X86_64
	REG(8, r8), REG(9, r9), REG(10, r10), REG(11, r11),
	REG(12, r12), REG(13, r13), REG(14, r14), REG(15, r15),
#endif
};

/* Flags that POPF may change in ring 0; the reserved bits keep their fixed values. */
#define POPF_MASK							\
	(X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF | X86_EFLAGS_ZF |	\
	 X86_EFLAGS_SF | X86_EFLAGS_TF | X86_EFLAGS_IF | X86_EFLAGS_DF |	\
	 X86_EFLAGS_OF | X86_EFLAGS_IOPL | X86_EFLAGS_NT | X86_EFLAGS_AC |	\
	 X86_EFLAGS_ID)

/* Flags that PUSHF stores as 0: resume and virtual-8086. */
#define PUSHF_HIDDEN	(X86_EFLAGS_RF | X86_EFLAGS_VM)

static __always_inline unsigned long *reg_of(struct pt_regs *regs, int nr)
{
	return (void *)regs + reg_offset[nr];
}

/* Emulates an instruction; on entry regs->ip is the address of the next instruction. */
typedef int (*emulate_fn)(const struct probe_insn *insn, struct pt_regs *regs);

static int emulate_jmp(const struct probe_insn *insn, struct pt_regs *regs)
{
	regs->ip += insn->disp;
	return 0;
}
NOKPROBE_SYMBOL(emulate_jmp);

static int emulate_call(const struct probe_insn *insn, struct pt_regs *regs)
{
	int3_emulate_push(regs, regs->ip);
	regs->ip += insn->disp;
	return 0;
}
NOKPROBE_SYMBOL(emulate_call);

static int emulate_jcc(const struct probe_insn *insn, struct pt_regs *regs)
{
	int3_emulate_jcc(regs, insn->cc, regs->ip, insn->disp);
	return 0;
}
NOKPROBE_SYMBOL(emulate_jcc);

/* Returns the count register, truncated to the address size. */
static __always_inline unsigned long get_count(const struct probe_insn *insn,
					       struct pt_regs *regs)
{
	if (insn->asize == 2)
		return (u16)regs->cx;
	if (insn->asize == 4)
		return (u32)regs->cx;
	return regs->cx;
}

/* Decrements the count register; a 32-bit write clears the upper half, a 16-bit one does not. */
static __always_inline void dec_count(const struct probe_insn *insn,
				      struct pt_regs *regs)
{
	if (insn->asize == 2)
		regs->cx = (regs->cx & ~0xffffUL) | (u16)(regs->cx - 1);
	else if (insn->asize == 4)
		regs->cx = (u32)(regs->cx - 1);
	else
		regs->cx--;
}

static int emulate_loop(const struct probe_insn *insn, struct pt_regs *regs)
{
	bool zero = regs->flags & X86_EFLAGS_ZF;

	dec_count(insn, regs);
	if (!get_count(insn, regs) || (insn->emul == EMUL_LOOPE && !zero) ||
	    (insn->emul == EMUL_LOOPNE && zero))
		return 0;
	return emulate_jmp(insn, regs);
}
NOKPROBE_SYMBOL(emulate_loop);

static int emulate_jcxz(const struct probe_insn *insn, struct pt_regs *regs)
{
	return get_count(insn, regs) ? 0 : emulate_jmp(insn, regs);
}
NOKPROBE_SYMBOL(emulate_jcxz);

static int emulate_ret(const struct probe_insn *insn, struct pt_regs *regs)
{
	regs->ip = int3_emulate_pop(regs);
	regs->sp += insn->disp;
	return 0;
}
NOKPROBE_SYMBOL(emulate_ret);

/*
 * Can the operand be read here?  The exception table entry of the read handles no fault on a
 * user address or a non-canonical address.
 */
static __always_inline bool kernel_address(unsigned long addr)
{
	return addr >= TASK_SIZE_MAX &&
	       (!IS_ENABLED(CONFIG_X86_64) ||
		__is_canonical_address(addr, boot_cpu_data.x86_virt_bits));
}

/* Reads the target of an indirect branch.  Returns -EFAULT if the operand cannot be read. */
static __always_inline int get_target(const struct probe_insn *insn,
				      struct pt_regs *regs, unsigned long *target)
{
	unsigned long where = insn->disp;

	if (insn->reg != PROBE_REG_NONE) {
		*target = *reg_of(regs, insn->reg);
		return 0;
	}
	if (insn->base == PROBE_REG_NEXT)
		where += regs->ip;
	else if (insn->base != PROBE_REG_NONE)
		where += *reg_of(regs, insn->base);
	if (insn->index != PROBE_REG_NONE)
		where += *reg_of(regs, insn->index) * insn->scale;

	if (!kernel_address(where))
		return -EFAULT;
	__get_kernel_nofault(target, (void *)where, unsigned long, fault);
	return 0;
fault:
	return -EFAULT;
}

static int emulate_jmp_indirect(const struct probe_insn *insn, struct pt_regs *regs)
{
	unsigned long target;
	int ret = get_target(insn, regs, &target);

	if (!ret)
		regs->ip = target;
	return ret;
}
NOKPROBE_SYMBOL(emulate_jmp_indirect);

static int emulate_call_indirect(const struct probe_insn *insn, struct pt_regs *regs)
{
	unsigned long target;
	int ret = get_target(insn, regs, &target);

	if (!ret) {
		int3_emulate_push(regs, regs->ip);
		regs->ip = target;
	}
	return ret;
}
NOKPROBE_SYMBOL(emulate_call_indirect);

static int emulate_pushf(const struct probe_insn *insn, struct pt_regs *regs)
{
	int3_emulate_push(regs, regs->flags & ~PUSHF_HIDDEN);
	return 0;
}
NOKPROBE_SYMBOL(emulate_pushf);

static int emulate_popf(const struct probe_insn *insn, struct pt_regs *regs)
{
	unsigned long flags = int3_emulate_pop(regs);

	regs->flags = (regs->flags & ~POPF_MASK) | (flags & POPF_MASK);
	return 0;
}
NOKPROBE_SYMBOL(emulate_popf);

static int emulate_cli(const struct probe_insn *insn, struct pt_regs *regs)
{
	regs->flags &= ~X86_EFLAGS_IF;
	return 0;
}
NOKPROBE_SYMBOL(emulate_cli);

static int emulate_sti(const struct probe_insn *insn, struct pt_regs *regs)
{
	regs->flags |= X86_EFLAGS_IF;
	return 0;
}
NOKPROBE_SYMBOL(emulate_sti);

static const emulate_fn emulators[NR_EMUL] = {
	[EMUL_JMP]		= emulate_jmp,
	[EMUL_CALL]		= emulate_call,
	[EMUL_JCC]		= emulate_jcc,
	[EMUL_LOOP]		= emulate_loop,
	[EMUL_LOOPE]		= emulate_loop,
	[EMUL_LOOPNE]		= emulate_loop,
	[EMUL_JCXZ]		= emulate_jcxz,
	[EMUL_RET]		= emulate_ret,
	[EMUL_JMP_INDIRECT]	= emulate_jmp_indirect,
	[EMUL_CALL_INDIRECT]	= emulate_call_indirect,
	[EMUL_PUSHF]		= emulate_pushf,
	[EMUL_POPF]		= emulate_popf,
	[EMUL_CLI]		= emulate_cli,
	[EMUL_STI]		= emulate_sti,
};

/**
 * probe_emulate() - carry out a probed instruction in software
 * @insn: result of the classifier, with the action %PROBE_EMULATE
 * @regs: registers at the breakpoint, changed as by the instruction
 * @addr: address of the instruction
 *
 * Context: the breakpoint trap.
 * Return: 0; -EFAULT if a memory operand cannot be read: then only regs->ip is changed,
 * to the address of the next instruction.
 */
int probe_emulate(const struct probe_insn *insn, struct pt_regs *regs,
		  unsigned long addr)
{
	regs->ip = addr + insn->len;
	return emulators[insn->emul](insn, regs);
}
NOKPROBE_SYMBOL(probe_emulate);
