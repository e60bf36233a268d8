// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86 uprobes: emulate instructions of user space on saved registers and user memory.
 *
 * A table has one small function for each operation.  Semantics: Intel SDM volume 2, each
 * instruction's own page, for ring 3; the parts that need no memory are those of kprobes.
 *
 * An instruction takes effect completely or not at all.  A function that fails has sent the
 * signal of the exception that the instruction would have caused, and has changed no register.
 * Which kind of page fault it would have been is not examined: the signal says that nothing is
 * mapped.
 */
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <asm/debugreg.h>
#include <asm/insn-eval.h>
#include <asm/page.h>
#include <asm/processor.h>
#include <asm/processor-flags.h>
#include <asm/shstk.h>
#include <asm/text-patching.h>
#include <asm/trap_pf.h>
#include <asm/trapnr.h>
#include <asm/traps.h>

#include "../kprobes/hit/emulate.h"
#include "common.h"

/* Flags that POPF may change in ring 3. */
#define POPF_MASK							\
	(X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF | X86_EFLAGS_ZF |	\
	 X86_EFLAGS_SF | X86_EFLAGS_TF | X86_EFLAGS_DF | X86_EFLAGS_OF |	\
	 X86_EFLAGS_NT | X86_EFLAGS_AC | X86_EFLAGS_ID)

/**
 * struct emulation - an instruction that is being emulated
 * @insn: the instruction
 * @segment: segment of its memory operand, see &struct user_insn
 * @regs: registers; the functions change them only when they cannot fail any more
 * @next: address of the next instruction
 * @width: size of an address on the stack
 */
struct emulation {
	const struct probe_insn *insn;
	u8 segment;
	struct pt_regs *regs;
	unsigned long next;
	unsigned int width;
};

/* The exception that an access to the user's memory raises instead of a page fault. */
enum other_fault {
	FAULT_GP = X86_TRAP_GP,
	FAULT_STACK = X86_TRAP_SS,
};

static void set_trap(unsigned int trap, unsigned long error_code)
{
	current->thread.trap_nr = trap;
	current->thread.error_code = error_code;
}

/* Raises an exception without an address.  Returns -EFAULT. */
static int raise_fault(enum other_fault fault)
{
	set_trap(fault, 0);
	force_sig(fault == FAULT_STACK ? SIGBUS : SIGSEGV);
	return -EFAULT;
}

/* Raises the exception of a failed access.  Returns -EFAULT. */
static int raise_access_fault(const struct emulation *e, unsigned long addr,
			      unsigned long error_code, enum other_fault other)
{
	if (e->width == 8 && !__is_canonical_address(addr, boot_cpu_data.x86_virt_bits))
		return raise_fault(other);
	current->thread.cr2 = addr;
	set_trap(X86_TRAP_PF, error_code | X86_PF_USER);
	force_sig_fault(SIGSEGV, SEGV_MAPERR, (void __user *)addr);
	return -EFAULT;
}

/* Raises the exception of a shadow stack that does not match.  Returns -EFAULT. */
static int raise_control_fault(void)
{
	const unsigned long near_ret = 1;

	set_trap(X86_TRAP_CP, near_ret);
	force_sig_fault(SIGSEGV, SEGV_CPERR, NULL);
	return -EFAULT;
}

/* Addresses of 32-bit code wrap at 4 GiB. */
static unsigned long truncate(const struct emulation *e, unsigned long addr)
{
	return e->width == 4 ? (u32)addr : addr;
}

/* Can execution continue at @target?  If not, raises the exception and returns -EFAULT. */
static int check_target(const struct emulation *e, unsigned long target)
{
	if (e->width == 8 && !__is_canonical_address(target, boot_cpu_data.x86_virt_bits))
		return raise_fault(FAULT_GP);
	return 0;
}

static int jump_to(const struct emulation *e, unsigned long target)
{
	target = truncate(e, target);
	if (check_target(e, target))
		return -EFAULT;
	e->regs->ip = target;
	return 0;
}

static unsigned long relative_target(const struct emulation *e)
{
	return truncate(e, e->next + e->insn->disp);
}

static int user_jmp(const struct emulation *e)
{
	return jump_to(e, relative_target(e));
}

static int jump_if(const struct emulation *e, bool taken)
{
	return jump_to(e, taken ? relative_target(e) : e->next);
}

static int user_jcc(const struct emulation *e)
{
	return jump_if(e, __emulate_cc(e->regs->flags, e->insn->cc));
}

static int user_loop(const struct emulation *e)
{
	unsigned long count = e->regs->cx;
	int ret = jump_if(e, probe_loop_taken(e->insn, e->regs));

	if (ret)
		e->regs->cx = count;
	return ret;
}

static int user_jcxz(const struct emulation *e)
{
	return jump_if(e, !probe_count(e->insn, e->regs));
}

/* Pushes the address of the next instruction.  The processor's own stack gets it if @shadow. */
static int push_next(const struct emulation *e, bool shadow)
{
	unsigned long sp = truncate(e, e->regs->sp - e->width);

	if (write_user_word(e->width, sp, e->next))
		return raise_access_fault(e, sp, X86_PF_WRITE, FAULT_STACK);
	if (shadow && shstk_push(e->next) == -EFAULT)
		return raise_control_fault();
	e->regs->sp = sp;
	return 0;
}

static int call(const struct emulation *e, unsigned long target, bool shadow)
{
	if (check_target(e, target) || push_next(e, shadow))
		return -EFAULT;
	e->regs->ip = target;
	return 0;
}

static int user_call(const struct emulation *e)
{
	/* A call of the next instruction only reads the instruction pointer. */
	return call(e, relative_target(e), e->insn->disp != 0);
}

/* Computes the base of the operand's segment.  Raises an exception and returns -EFAULT. */
static int segment_base(const struct emulation *e, unsigned long *base)
{
	*base = 0;
	if (e->segment == INAT_SEG_REG_IGNORE)
		return 0;
	*base = insn_get_seg_base(e->regs, e->segment);
	return *base == -1UL ? raise_fault(FAULT_GP) : 0;
}

/* Reads the target of an indirect branch.  regs->ip is the address of the next instruction. */
static int get_target(const struct emulation *e, unsigned long *target)
{
	unsigned long where, base;

	if (e->insn->reg != PROBE_REG_NONE) {
		*target = truncate(e, *probe_reg(e->regs, e->insn->reg));
		return 0;
	}
	if (segment_base(e, &base))
		return -EFAULT;
	where = probe_operand_addr(e->insn, e->regs);
	if (e->insn->asize == 4)
		where = (u32)where;
	where = truncate(e, where + base);
	if (read_user_word(e->width, where, target))
		return raise_access_fault(e, where, 0, FAULT_GP);
	return 0;
}

static int user_jmp_indirect(const struct emulation *e)
{
	unsigned long target;

	return get_target(e, &target) ?: jump_to(e, target);
}

static int user_call_indirect(const struct emulation *e)
{
	unsigned long target;

	return get_target(e, &target) ?: call(e, target, true);
}

/* Pops @target from the shadow stack, if there is one.  It stays there if it is another one. */
static int pop_shadow(unsigned long target)
{
	u64 value;
	int ret = shstk_pop(&value);

	if (ret == -EFAULT)
		return raise_control_fault();
	if (ret || value == target)
		return 0;
	shstk_push(value);
	return raise_control_fault();
}

static int user_ret(const struct emulation *e)
{
	unsigned long sp = truncate(e, e->regs->sp), target;

	if (read_user_word(e->width, sp, &target))
		return raise_access_fault(e, sp, 0, FAULT_STACK);
	if (check_target(e, target) || pop_shadow(target))
		return -EFAULT;
	e->regs->sp = truncate(e, sp + e->width + e->insn->disp);
	e->regs->ip = target;
	return 0;
}

static int user_popf(const struct emulation *e)
{
	unsigned long sp = truncate(e, e->regs->sp), flags;

	if (read_user_word(e->width, sp, &flags))
		return raise_access_fault(e, sp, 0, FAULT_STACK);
	e->regs->flags = (e->regs->flags & ~(POPF_MASK | X86_EFLAGS_RF)) | (flags & POPF_MASK);
	e->regs->sp = truncate(e, sp + e->width);
	e->regs->ip = e->next;
	return 0;
}

static int (* const emulators[NR_EMUL])(const struct emulation *e) = {
	[EMUL_JMP]		= user_jmp,
	[EMUL_CALL]		= user_call,
	[EMUL_JCC]		= user_jcc,
	[EMUL_LOOP]		= user_loop,
	[EMUL_LOOPE]		= user_loop,
	[EMUL_LOOPNE]		= user_loop,
	[EMUL_JCXZ]		= user_jcxz,
	[EMUL_RET]		= user_ret,
	[EMUL_JMP_INDIRECT]	= user_jmp_indirect,
	[EMUL_CALL_INDIRECT]	= user_call_indirect,
	[EMUL_POPF]		= user_popf,
};

/* Reports the end of a single step, as the debug trap after the instruction would. */
static void report_step(struct pt_regs *regs)
{
	current->thread.virtual_dr6 |= DR_STEP;
	send_sigtrap(regs, 0, TRAP_TRACE);
}

/* See <linux/uprobes-arch.h>. */
void arch_uprobe_emulate(const struct arch_uprobe *arch, struct pt_regs *regs)
{
	const struct user_insn *user = uprobe_desc(arch);
	/* An instruction that sets the trap flag is not itself stepped. */
	bool stepped = regs->flags & X86_EFLAGS_TF;
	unsigned long vaddr = regs->ip;
	const struct emulation e = {
		.insn = &user->insn,
		.segment = user->segment,
		.regs = regs,
		.next = vaddr + arch->len,
		.width = arch->mode == INSN_MODE_64 ? 8 : 4,
	};
	int ret;

	/* Operands can be relative to the next instruction. */
	regs->ip = e.next;
	ret = emulators[user->insn.emul](&e);
	if (ret)
		regs->ip = vaddr;
	else if (stepped)
		report_step(regs);
}
