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
#include "emulate.h"

/* Flags that POPF may change in ring 0; the reserved bits keep their fixed values. */
#define POPF_MASK							\
	(X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF | X86_EFLAGS_ZF |	\
	 X86_EFLAGS_SF | X86_EFLAGS_TF | X86_EFLAGS_IF | X86_EFLAGS_DF |	\
	 X86_EFLAGS_OF | X86_EFLAGS_IOPL | X86_EFLAGS_NT | X86_EFLAGS_AC |	\
	 X86_EFLAGS_ID)

/* Flags that PUSHF stores as 0: resume and virtual-8086. */
#define PUSHF_HIDDEN	(X86_EFLAGS_RF | X86_EFLAGS_VM)

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

static int emulate_loop(const struct probe_insn *insn, struct pt_regs *regs)
{
	return probe_loop_taken(insn, regs) ? emulate_jmp(insn, regs) : 0;
}
NOKPROBE_SYMBOL(emulate_loop);

static int emulate_jcxz(const struct probe_insn *insn, struct pt_regs *regs)
{
	return probe_count(insn, regs) ? 0 : emulate_jmp(insn, regs);
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
	unsigned long where;

	if (insn->reg != PROBE_REG_NONE) {
		*target = *probe_reg(regs, insn->reg);
		return 0;
	}
	where = probe_operand_addr(insn, regs);
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
