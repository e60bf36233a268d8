// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86 uprobes: emulate instructions of user space on saved registers and user memory.
 *
 * Tables have one small function for each operation, one table for 64-bit and one for 32-bit code.
 * Semantics: Intel SDM volume 2, each instruction's own page, for ring 3; the parts that need no
 * memory are those of kprobes.
 *
 * An instruction takes effect completely or not at all.  A function that fails has changed no
 * register: it returns 1 if it has sent the signal of the exception that the instruction would have
 * caused, and -EFAULT for a page fault, for which its caller cares.
 */
#include <linux/cache.h>
#include <linux/init.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <asm/debugreg.h>
#include <asm/insn-eval.h>
#include <asm/page.h>
#include <asm/processor.h>
#include <asm/processor-flags.h>
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

/* The mode of most code. */
#define NATIVE_MODE	(IS_ENABLED(CONFIG_X86_64) ? INSN_MODE_64 : INSN_MODE_32)

/**
 * struct emulation - an instruction that is being emulated
 * @user: the instruction
 * @regs: registers; the functions change them only when they cannot fail any more
 * @next: address of the next instruction
 * @width: size of an address on the stack
 *
 * All functions that have it are inlined, so that it costs nothing, and @width is a constant.
 */
struct emulation {
	const struct user_insn *user;
	struct pt_regs *regs;
	unsigned long next;
	unsigned int width;
};

/* The exception that an access to the user's memory raises instead of a page fault. */
enum other_fault {
	FAULT_GP = X86_TRAP_GP,
	FAULT_STACK = X86_TRAP_SS,
};

static __always_inline void set_trap(unsigned int trap, unsigned long error_code)
{
	current->thread.trap_nr = trap;
	current->thread.error_code = error_code;
}

/* Raises an exception without an address.  Returns 1. */
static noinline int raise_fault(enum other_fault fault)
{
	set_trap(fault, 0);
	force_sig(fault == FAULT_STACK ? SIGBUS : SIGSEGV);
	return 1;
}

/*
 * An access has failed.  Returns -EFAULT, and lets the caller of arch_uprobe_emulate() care for it;
 * or 1, after the exception of an address that is none.
 */
static noinline int access_failed(unsigned int width, unsigned long addr, bool write,
				  enum other_fault other)
{
	if (width == 8 && !__is_canonical_address(addr, boot_cpu_data.x86_virt_bits) &&
	    !__is_canonical_address(untagged_addr(addr), boot_cpu_data.x86_virt_bits))
		return raise_fault(other);
	current->utask->fault = (struct uprobe_fault) {
		.addr = addr, .len = width, .write = write,
	};
	return -EFAULT;
}

/* See <linux/uprobes-arch.h>. */
void arch_uprobe_set_fault(const struct uprobe_fault *fault)
{
	current->thread.cr2 = fault->addr;
	set_trap(X86_TRAP_PF, X86_PF_USER | (fault->write ? X86_PF_WRITE : 0));
}

/* Raises the exception of a shadow stack that does not match.  Returns 1. */
static noinline int raise_control_fault(void)
{
	const unsigned long near_ret = 1;

	set_trap(X86_TRAP_CP, near_ret);
	force_sig_fault(SIGSEGV, SEGV_CPERR, NULL);
	return 1;
}

/* Addresses of 32-bit code wrap at 4 GiB. */
static __always_inline unsigned long truncate(const struct emulation *e, unsigned long addr)
{
	return e->width == 4 ? (u32)addr : addr;
}

/* End of the addresses in the lower half of the address space. */
static unsigned long lower_half __ro_after_init;

/* Can execution continue at @target?  Else the branch raises FAULT_GP. */
static __always_inline bool can_continue(const struct emulation *e, unsigned long target)
{
	return e->width == 4 || likely(target < lower_half) ||
	       __is_canonical_address(target, boot_cpu_data.x86_virt_bits);
}

/* Reads an address from the user's memory.  Returns 0, or the result of access_failed(). */
static __always_inline int read_or_fail(const struct emulation *e, unsigned long addr,
					unsigned long *value, enum other_fault other)
{
	if (likely(!read_user_word(e->width, addr, value)))
		return 0;
	return access_failed(e->width, addr, false, other);
}

static __always_inline int jump_to(const struct emulation *e, unsigned long target)
{
	target = truncate(e, target);
	if (unlikely(!can_continue(e, target)))
		return raise_fault(FAULT_GP);
	e->regs->ip = target;
	return 0;
}

static __always_inline unsigned long relative_target(const struct emulation *e)
{
	return truncate(e, e->next + e->user->insn.disp);
}

static __always_inline int user_jmp(const struct emulation *e)
{
	return jump_to(e, relative_target(e));
}

static __always_inline int jump_if(const struct emulation *e, bool taken)
{
	return jump_to(e, taken ? relative_target(e) : e->next);
}

#define CF	X86_EFLAGS_CF
#define PF	X86_EFLAGS_PF
#define ZF	X86_EFLAGS_ZF
#define SF	X86_EFLAGS_SF
#define OF	X86_EFLAGS_OF

/* Flags of which a condition needs one, by its number without bit 0, which negates it. */
static const u16 cc_flags[] = { OF, OF, CF, CF, ZF, ZF, CF | ZF, CF | ZF, SF, SF, PF, PF };

#undef CF
#undef PF
#undef ZF
#undef SF
#undef OF

/* Does the condition of a branch hold? */
static __always_inline bool condition(const struct emulation *e)
{
	unsigned long flags = e->regs->flags;
	unsigned long cc = e->user->insn.cc;

	/* Those that compare SF and OF. */
	if (unlikely(cc >= ARRAY_SIZE(cc_flags)))
		return __emulate_cc(flags, cc);
	return !!(flags & cc_flags[cc]) ^ (cc & 1);
}

static __always_inline int user_jcc(const struct emulation *e)
{
	return jump_if(e, condition(e));
}

static __always_inline int user_loop(const struct emulation *e)
{
	unsigned long count = e->regs->cx;
	int ret = jump_if(e, probe_loop_taken(&e->user->insn, e->regs));

	if (ret)
		e->regs->cx = count;
	return ret;
}

static __always_inline int user_jcxz(const struct emulation *e)
{
	return jump_if(e, !probe_count(&e->user->insn, e->regs));
}

/* Pushes the address of the next instruction, also on the processor's own stack if @shadow. */
static __always_inline int call(const struct emulation *e, unsigned long target, bool shadow)
{
	unsigned long sp = truncate(e, e->regs->sp - e->width);

	if (unlikely(!can_continue(e, target)))
		return raise_fault(FAULT_GP);
	if (unlikely(write_user_word(e->width, sp, e->next)))
		return access_failed(e->width, sp, true, FAULT_STACK);
	if (unlikely(uprobe_has_shadow()) && shadow && uprobe_shadow_push(e->next) == -EFAULT)
		return raise_control_fault();
	e->regs->sp = sp;
	e->regs->ip = target;
	return 0;
}

static __always_inline int user_call(const struct emulation *e)
{
	/* A call of the next instruction only reads the instruction pointer. */
	return call(e, relative_target(e), e->user->insn.disp != 0);
}

/* The address of the memory operand of an indirect branch, before its segment's base is added. */
static __always_inline unsigned long operand_addr(const struct emulation *e)
{
	unsigned long vaddr = e->regs->ip, where;

	/* It can be relative to the next instruction. */
	e->regs->ip = e->next;
	where = probe_operand_addr(&e->user->insn, e->regs);
	e->regs->ip = vaddr;
	return e->user->insn.asize == 4 ? (u32)where : where;
}

/* Reads the target of an indirect branch from memory. */
static __always_inline int read_target(const struct emulation *e, unsigned long *target)
{
	unsigned long where = operand_addr(e), base;

	if (unlikely(e->user->segment != INAT_SEG_REG_IGNORE)) {
		base = insn_get_seg_base(e->regs, e->user->segment);
		if (base == -1UL)
			return raise_fault(FAULT_GP);
		where += base;
	}
	where = truncate(e, where);
	return read_or_fail(e, where, target, FAULT_GP);
}

static __always_inline bool in_register(const struct probe_insn *insn)
{
	return insn->reg != PROBE_REG_NONE;
}

static __always_inline unsigned long register_target(const struct emulation *e)
{
	return truncate(e, *probe_reg(e->regs, e->user->insn.reg));
}

static __always_inline int user_jmp_indirect(const struct emulation *e)
{
	unsigned long target = 0;

	if (in_register(&e->user->insn))
		return jump_to(e, register_target(e));
	return read_target(e, &target) ?: jump_to(e, target);
}

static __always_inline int user_call_indirect(const struct emulation *e)
{
	unsigned long target = 0;

	if (in_register(&e->user->insn))
		return call(e, register_target(e), true);
	return read_target(e, &target) ?: call(e, target, true);
}

/* &arch_uprobe.base for the register @name. */
#define BASE(name)	(1 + offsetof(struct pt_regs, name))

/*
 * Likewise, for an operand with &arch_uprobe.base.  read_or_fail() would be less text, but
 * registers would be saved.
 */
static __always_inline int user_call_based(const struct emulation *e, unsigned long base)
{
	unsigned long where = e->user->insn.disp, target = 0;

	where += base == BASE(ip) ? e->next : *(unsigned long *)((void *)e->regs + base - 1);
	if (unlikely(read_user_word(e->width, where, &target)))
		return access_failed(e->width, where, false, FAULT_GP);
	return call(e, target, true);
}

/**
 * uprobe_set_call_base() - fill &arch_uprobe.base
 * @arch: an instruction that is emulated; all others are filled
 *
 * Nearly all calls through memory have an operand without index and segment.  Code of another mode
 * than the kernel's is left out.
 *
 * Context: any; pure.
 */
void uprobe_set_call_base(struct arch_uprobe *arch)
{
	const struct user_insn *user = uprobe_desc(arch);
	const struct probe_insn *insn = &user->insn;

	if (arch->emulator != uprobe_emulator(NATIVE_MODE, EMUL_CALL_INDIRECT) ||
	    in_register(insn) || insn->base == PROBE_REG_NONE || insn->index != PROBE_REG_NONE ||
	    insn->asize != sizeof(long) || user->segment != INAT_SEG_REG_IGNORE)
		return;
	arch->base = insn->base == PROBE_REG_NEXT ? BASE(ip) : 1 + probe_reg_offset[insn->base];
}

#undef BASE

/*
 * Pops the shadow stack, unless its top is not @target.  Returns false if that raises an
 * exception.
 */
static noinline bool pop_shadow(unsigned long target)
{
	u64 value;
	int ret = uprobe_shadow_pop(&value);

	if (!ret && value != target) {
		uprobe_shadow_push(value);
		return false;
	}
	return ret != -EFAULT;
}

static __always_inline int user_ret(const struct emulation *e)
{
	unsigned long sp = truncate(e, e->regs->sp), target = 0;
	int ret = read_or_fail(e, sp, &target, FAULT_STACK);

	if (unlikely(ret))
		return ret;
	if (unlikely(!can_continue(e, target)))
		return raise_fault(FAULT_GP);
	if (unlikely(uprobe_has_shadow()) && !pop_shadow(target))
		return raise_control_fault();
	e->regs->sp = truncate(e, sp + e->width + e->user->insn.disp);
	e->regs->ip = target;
	return 0;
}

static __always_inline int user_popf(const struct emulation *e)
{
	unsigned long sp = truncate(e, e->regs->sp), flags = 0;
	int ret = read_or_fail(e, sp, &flags, FAULT_STACK);

	if (unlikely(ret))
		return ret;
	e->regs->flags = (e->regs->flags & ~POPF_MASK) | (flags & POPF_MASK);
	e->regs->sp = truncate(e, sp + e->width);
	e->regs->ip = e->next;
	return 0;
}

typedef int emulator(const struct arch_uprobe *arch, struct pt_regs *regs);

static __always_inline struct emulation emulation_of(const struct arch_uprobe *arch,
						     struct pt_regs *regs, unsigned int width)
{
	return (struct emulation) {
		.user = uprobe_desc(arch),
		.regs = regs,
		.next = regs->ip + arch->len,
		.width = width,
	};
}

/* Defines the function of an operation for code of one width of addresses. */
#define EMULATOR(name, operation, width)						\
static noinline int name(const struct arch_uprobe *arch, struct pt_regs *regs)			\
{											\
	const struct emulation e = emulation_of(arch, regs, width);			\
											\
	return operation(&e);								\
}

EMULATOR(user_jmp_32, user_jmp, 4)
EMULATOR(user_call_32, user_call, 4)
EMULATOR(user_jcc_32, user_jcc, 4)
EMULATOR(user_loop_32, user_loop, 4)
EMULATOR(user_jcxz_32, user_jcxz, 4)
EMULATOR(user_ret_32, user_ret, 4)
EMULATOR(user_jmp_indirect_32, user_jmp_indirect, 4)
EMULATOR(user_call_indirect_32, user_call_indirect, 4)
EMULATOR(user_popf_32, user_popf, 4)

EMULATOR(user_jmp_64, user_jmp, 8)
EMULATOR(user_call_64, user_call, 8)
EMULATOR(user_jcc_64, user_jcc, 8)
EMULATOR(user_loop_64, user_loop, 8)
EMULATOR(user_jcxz_64, user_jcxz, 8)
EMULATOR(user_ret_64, user_ret, 8)
EMULATOR(user_jmp_indirect_64, user_jmp_indirect, 8)
EMULATOR(user_call_indirect_64, user_call_indirect, 8)
EMULATOR(user_popf_64, user_popf, 8)

#define EMULATOR_ROWS(first, bits)							\
	[(first) + EMUL_JMP]		= user_jmp_##bits,				\
	[(first) + EMUL_CALL]		= user_call_##bits,				\
	[(first) + EMUL_JCC]		= user_jcc_##bits,				\
	[(first) + EMUL_LOOP]		= user_loop_##bits,				\
	[(first) + EMUL_LOOPE]		= user_loop_##bits,				\
	[(first) + EMUL_LOOPNE]		= user_loop_##bits,				\
	[(first) + EMUL_JCXZ]		= user_jcxz_##bits,				\
	[(first) + EMUL_RET]		= user_ret_##bits,				\
	[(first) + EMUL_JMP_INDIRECT]	= user_jmp_indirect_##bits,			\
	[(first) + EMUL_CALL_INDIRECT]	= user_call_indirect_##bits,			\
	[(first) + EMUL_POPF]		= user_popf_##bits,

/* By uprobe_emulator(). */
static emulator * const emulators[2 * NR_EMUL] = {
	EMULATOR_ROWS(0, 32)
	EMULATOR_ROWS(NR_EMUL, 64)
};

/*
 * Index of the function for an instruction, in the mode in which the task executes it.  Programs
 * may execute code of the other mode than that of their process.
 */
static __always_inline unsigned int emulator_of(const struct arch_uprobe *arch,
						struct pt_regs *regs)
{
	bool is_64 = user_64bit_mode(regs), as_64 = arch->emulator >= NR_EMUL;

	if (likely(is_64 == as_64))
		return arch->emulator;
	return is_64 ? arch->emulator + NR_EMUL : arch->emulator - NR_EMUL;
}

/*
 * Emulates an instruction with the trap flag or the resume flag set.  The end of a step is
 * reported as the debug trap after the instruction would do it.  The resume flag is set if the
 * breakpoint itself has faulted before, or a debugger has stopped there; no instruction leaves it
 * set.
 */
static noinline int emulate_rarely(const struct arch_uprobe *arch, struct pt_regs *regs)
{
	bool stepped = regs->flags & X86_EFLAGS_TF;
	int ret;

	regs->flags &= ~X86_EFLAGS_RF;
	ret = emulators[emulator_of(arch, regs)](arch, regs);
	if (ret || !stepped)
		return ret;
	current->thread.virtual_dr6 |= DR_STEP;
	send_sigtrap(regs, 0, TRAP_TRACE);
	return 0;
}

static __always_inline int emulate(const struct arch_uprobe *arch, struct pt_regs *regs)
{
	const struct emulation e = emulation_of(arch, regs, sizeof(regs->sp));

	if (unlikely(regs->flags & (X86_EFLAGS_TF | X86_EFLAGS_RF)))
		return emulate_rarely(arch, regs);
	if (likely(user_64bit_mode(regs) == IS_ENABLED(CONFIG_X86_64))) {
		if (likely(arch->emulator == uprobe_emulator(NATIVE_MODE, EMUL_CALL)))
			return user_call(&e);
		if (likely(arch->base))
			return user_call_based(&e, arch->base);
		if (likely(arch->emulator == uprobe_emulator(NATIVE_MODE, EMUL_CALL_INDIRECT) &&
			   in_register(&e.user->insn)))
			return call(&e, register_target(&e), true);
	}
	return emulators[emulator_of(arch, regs)](arch, regs);
}

/*
 * See <linux/uprobes-arch.h>.  An instruction that sets the trap flag is not itself stepped.  Most
 * that are emulated are calls, so those of the kernel's own mode do not go through the table, which
 * needs an indirect call: that is expensive with retpolines.
 */
int arch_uprobe_emulate(const struct arch_uprobe *arch, struct pt_regs *regs)
{
	return min(emulate(arch, regs), 0);
}

static int __init uprobes_prepare_emulator(void)
{
	lower_half = BIT(boot_cpu_data.x86_virt_bits - 1);
	return 0;
}
early_initcall(uprobes_prepare_emulator);
