// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86 uprobes: decide about the instruction of a probe, and write its slot.
 *
 * <linux/uprobes-arch.h> describes the functions.  decide.c does the work; this file keeps its
 * result in struct arch_uprobe.
 */
#include <linux/init.h>
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uprobes.h>
#include <asm/mmu_context.h>
#include <asm/ptrace.h>

#include "common.h"

static_assert(sizeof(struct user_insn) <= sizeof(((struct arch_uprobe *)0)->desc));
static_assert(USER_SLOT_SIZE == UPROBE_SLOT_SIZE && USER_SLOT_HELD == UPROBE_SLOT_HELD);
static_assert(MAX_UINSN_BYTES >= MAX_INSN_SIZE);

/* See <linux/uprobes-arch.h>. */
unsigned int arch_uprobe_mode(struct mm_struct *mm)
{
	return IS_ENABLED(CONFIG_X86_64) && !is_64bit_mm(mm);
}

#ifdef CONFIG_UPROBE_CALLS
static bool is_call_nop(const struct arch_uprobe *arch)
{
	return unlikely(arch->len == UPROBE_CALL_BYTES) && arch->mode == INSN_MODE_64 &&
	       !memcmp(arch->insn, arch_uprobe_call_nop, UPROBE_CALL_BYTES);
}
#else
static bool is_call_nop(const struct arch_uprobe *arch)
{
	return false;
}
#endif

/* See <linux/uprobes-arch.h>. */
int arch_uprobe_decide(struct arch_uprobe *arch, const u8 *insn, size_t len,
		       unsigned int mode, const char **why)
{
	struct user_insn *user = (struct user_insn *)arch->desc;
	int ret;

	memcpy(arch->insn, insn, MAX_UINSN_BYTES);
	memset_after(arch, 0, insn);
	arch->mode = uprobe_insn_mode(mode);

	ret = uprobe_decide(insn, len, arch->mode, user);
	if (ret) {
		*why = probe_refusal_name(user->insn.refusal);
		return user->insn.refusal == REFUSE_BREAKPOINT ? -EEXIST : ret;
	}
	arch->len = user->insn.len;
	arch->emulator = uprobe_emulator(arch->mode, user->insn.emul);
	if (!uprobe_has_copy(user)) {
		uprobe_set_call_base(arch);
		return UPROBE_EMULATED;
	}
	if (uprobe_is_copied_branch(user))
		return UPROBE_COPIED_BRANCH;
	if (user->syscall)
		return UPROBE_COPIED_SYSCALL;
	return is_call_nop(arch) ? UPROBE_COPIED_NOP : UPROBE_COPIED;
}

/* See <linux/uprobes-arch.h>. */
int arch_uprobe_write_slot(const struct arch_uprobe *arch, unsigned long vaddr,
			   unsigned long slot, u8 *buf)
{
	return uprobe_write_slot(uprobe_desc(arch), arch->insn, arch->mode, vaddr, slot, buf);
}

/*
 * See <linux/uprobes-arch.h>.  The margin leaves room for the operands of the instruction: they
 * are on the same side of the text as the slot only by chance.
 */
void arch_uprobe_slot_window(struct mm_struct *mm, unsigned long vaddr,
			     unsigned long *low, unsigned long *high)
{
	const unsigned long reach = SZ_2G - SZ_64M;

	*low = 0;
	*high = ULONG_MAX;
	if (arch_uprobe_mode(mm) || !IS_ENABLED(CONFIG_X86_64))
		return;
	if (vaddr > reach)
		*low = vaddr - reach;
	*high = vaddr + reach;
}

/* See <linux/uprobes-arch.h>.  The other instructions of system calls do not set rcx. */
void arch_uprobe_leave_syscall(struct pt_regs *regs, unsigned long ip)
{
	if (regs->cx == ip)
		regs->cx = regs->ip;
}

/**
 * is_uprobe_at_func_entry() - is the running hit at the first instruction of a function?
 * @regs: user registers of current, at the hit
 *
 * There the frame pointer is still that of the caller, so that perf has to read the return
 * address from the stack.  It is assumed to be there if the instruction is a landing pad, or
 * pushes the frame pointer.
 *
 * Context: any, NMI too.
 * Return: true if the registers are those of a hit whose handlers run, and the instruction is
 * one of these.
 */
bool is_uprobe_at_func_entry(struct pt_regs *regs)
{
	const struct arch_uprobe *arch;

	if (!current->utask)
		return false;
	arch = current->utask->auprobe;
	return arch && (probe_is_endbr(arch->insn, arch->len) ||
			(arch->len == 1 && arch->insn[0] == 0x55));
}

/* In a kernel with kprobes, these prepare the classifier. */
static int __init uprobes_prepare_classifier(void)
{
	if (!IS_ENABLED(CONFIG_KPROBES))
		probe_classify_init();
	return 0;
}
early_initcall(uprobes_prepare_classifier);
