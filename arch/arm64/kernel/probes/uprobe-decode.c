// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Translate the verdicts of the classifier for uprobes.
 *
 * A task executes a copy in user space, and must be able to stop after it. So all instructions
 * that must not be stepped are rejected, for example authenticated branches. Privileged
 * instructions need no special case, because the copy takes the exception that the original would
 * take, and so does svc, which the classifier refuses for the kernel. Calls of an address in a
 * register are emulated, and so are loads of literals (uprobe-literal.c). The copy of an
 * instruction that computes an address loads the address, which is in the slot.
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uprobes.h>
#include <asm/cpufeature.h>
#include <asm/gcs.h>
#include <asm/insn.h>
#include <asm/probes.h>
#include <asm/ptrace.h>

#include "classify.h"
#include "decode-insn.h"
#include "emulate.h"
#include "fields.h"

/* Pops from the guarded control stack for a return to @to.  If it has another address, it stays. */
static bool pop_guarded_stack(u64 to, long addr)
{
	int err = 0;
	u64 popped;

	popped = pop_user_gcs(&err);
	if (err) {
		force_sig(SIGSEGV);
		return false;
	}
	if (popped == to)
		return true;
	push_user_gcs(popped, &err);
	force_sig_fault(SIGSEGV, SEGV_CPERR, (void __user *)addr);
	return false;
}

static bool push_guarded_stack(u64 from)
{
	int err = 0;

	push_user_gcs(from, &err);
	if (err)
		force_sig(SIGSEGV);
	return !err;
}

/* The effect of a branch at @addr on the guarded control stack.  Returns false after a signal. */
static bool move_guarded_stack(u32 insn, const struct probe_insn *desc, long addr,
			       const struct pt_regs *regs)
{
	u32 reg = a64_reg5(insn);

	switch (desc->kind) {
	case KIND_BL:
	case KIND_BLR:
		return push_guarded_stack(addr + A64_LEN);
	case KIND_RET:
		return pop_guarded_stack(reg == A64_ZR ? 0 : regs->regs[reg], addr);
	default:
		return true;
	}
}

/*
 * Returns the value of BTYPE after an indirect branch. The next instruction checks it if its page
 * is guarded, and a debugger sees it.  A br in a guarded page, by another register than x16 and
 * x17, has a value of its own, which fewer landing pads accept.
 */
static u64 btype_after(const struct probe_insn *desc)
{
	if (!system_supports_bti())
		return 0;
	switch (desc->kind) {
	case KIND_BR:
		return PSR_BTYPE_JC;
	case KIND_BLR:
		return PSR_BTYPE_C;
	default:
		return 0;
	}
}

/* For any task.  A hit of a task without a guarded control stack does not classify again. */
static void uprobe_emulate(u32 opcode, long addr, struct pt_regs *regs)
{
	struct probe_insn desc;

	if (probe_classify(opcode, &desc) || desc.action != PROBE_EMULATE)
		return;
	if (task_gcs_el0_enabled(current) && !move_guarded_stack(opcode, &desc, addr, regs))
		return;
	probe_emulate(opcode, &desc, regs);
	regs->pstate |= btype_after(&desc);
}

/* How each branch is carried out; blr would need a copy that sets the BTYPE of a call. */
static const u8 branch_verdicts[NR_KINDS] = {
	[KIND_B]	= INSN_GOOD_BRANCH,
	[KIND_BL]	= INSN_GOOD_CALL,
	[KIND_B_COND]	= INSN_GOOD_BRANCH,
	[KIND_CBZ]	= INSN_GOOD_BRANCH,
	[KIND_TBZ]	= INSN_GOOD_BRANCH,
	[KIND_BR]	= INSN_GOOD_BRANCH,
	[KIND_RET]	= INSN_GOOD_BRANCH,
	[KIND_BLR]	= INSN_GOOD_NO_SLOT,
	[KIND_PRFM_LITERAL] = INSN_GOOD_NO_SLOT,
};

static bool loads_literal(const struct probe_insn *desc)
{
	return desc->kind == KIND_LDR_LITERAL || desc->kind == KIND_LDRSW_LITERAL;
}

/* The engine that steps copies would show the address of the copy. */
static bool is_system_call(u32 insn)
{
	return IS_ENABLED(CONFIG_UPROBES_BOOSTED) && aarch64_insn_is_svc(insn);
}

/**
 * arm_probe_decode_insn() - decide how an instruction with a uprobe is carried out
 * @insn: the instruction, in the byte order of the CPU
 * @asi: filled in if the instruction is emulated
 *
 * Context: any; pure.
 * Return: a verdict, see &enum arm_probe_verdict.
 */
enum arm_probe_verdict arm_probe_decode_insn(probe_opcode_t insn, struct arch_probe_insn *asi)
{
	struct probe_insn desc;

	if (probe_classify(insn, &desc))
		return is_system_call(insn) ? INSN_GOOD_SYSCALL : INSN_REJECTED;
	if (desc.no_step)
		return INSN_REJECTED;
	if (desc.action != PROBE_EMULATE)
		return INSN_GOOD;
	/* The engine that steps copies can only copy or emulate. */
	if (!IS_ENABLED(CONFIG_UPROBES_BOOSTED)) {
		asi->handler = uprobe_emulate;
		return loads_literal(&desc) ? INSN_REJECTED : INSN_GOOD_NO_SLOT;
	}
	if (a64_computes_address(insn))
		return INSN_GOOD;
	if (loads_literal(&desc)) {
		asi->handler = uprobe_load_literal;
		return INSN_GOOD_NO_SLOT;
	}
	asi->handler = uprobe_emulate;
	asi->emulate = probe_emulator(insn, &desc);
	asi->btype = btype_after(&desc);
	return branch_verdicts[desc.kind];
}
