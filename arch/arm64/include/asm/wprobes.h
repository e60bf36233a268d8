/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ASM_ARM64_WPROBES_H
#define _ASM_ARM64_WPROBES_H
/*
 * arm64: up to 16 registers for data.  They watch any adjacent bytes of an aligned word, for
 * reads, writes or both, and the exception reports the accessed address.
 *
 * The exception is raised before the access.  Loads and stores of one general register are made
 * in the exception.  For other accesses, the registers are disabled, and the instruction is stepped
 * with interrupts masked.  Then the handlers are called.
 */
#include <asm/ptrace.h>

#ifdef CONFIG_WPROBES

#include <linux/compat.h>
#include <linux/percpu-defs.h>
#include <asm/barrier.h>
#include <asm/cpufeature.h>
#include <asm/debug-monitors.h>
#include <asm/hw_breakpoint.h>
#include <asm/sysreg.h>

#define WPROBE_SLOTS		ARM_MAX_WRP
#define WPROBE_TYPES		(BIT(WPROBE_READ) | BIT(WPROBE_WRITE) | BIT(WPROBE_RW))
#define WPROBE_KNOWS_ACCESS	1
#define WPROBE_USER_BEFORE	1

/**
 * struct wprobe_step - an instruction that is being stepped
 * @active:	it has accessed watched memory, or will do so
 * @masks:	interrupt masks of the code that was stepped, bits of pstate
 * @sp:		its stack pointer
 * @regs:	registers that matched, a bit each
 * @addr:	first accessed byte; the reported address if the accessed bytes are not known
 * @size:	number of accessed bytes; 4096 if they are not known
 */
struct wprobe_step {
	bool active;
	u64 masks;
	u64 sp;
	unsigned long regs;
	unsigned long addr;
	unsigned int size;
};

DECLARE_PER_CPU(struct wprobe_step, wprobe_step);

/*
 * The bits of pstate that keep interrupts and SErrors out of a step: the handler of an SError
 * enables debug exceptions, and would be stepped.
 */
#define WPROBE_STEP_MASKS	(PSR_A_BIT | PSR_I_BIT | PSR_F_BIT)

/* arch/arm64/kernel/wprobes/hit/trap.c */
u64 wprobe_distance(unsigned long addr, unsigned long esr, struct pt_regs *regs);
bool wprobe_watchpoint(unsigned long addr, unsigned long esr, struct pt_regs *regs, u64 dist,
		       bool stepped);
void wprobe_stepped(struct pt_regs *regs);

/* arch/arm64/kernel/wprobes/hit/user.c */
int wprobe_user_watchpoint(struct perf_event *wp, struct pt_regs *regs);
bool wprobe_user_concerns(const struct perf_event *wp, unsigned long addr, unsigned long esr,
			  struct pt_regs *regs);

/* arch/arm64/kernel/hw_breakpoint.c */
int hw_breakpoint_take_watch(const struct arch_hw_breakpoint *info);
void hw_breakpoint_give_watch(int i);
void hw_breakpoint_move_watch(int i, unsigned long word);
void hw_breakpoint_pause_watch(int i);
void hw_breakpoint_resume_watch(int i);
void hw_breakpoint_pause_user_watches(void);
void hw_breakpoint_resume_user_watches(void);

/*
 * See <linux/wprobes-arch.h>.  Exclusive accesses must not be stepped, and only those of 64-bit
 * processes are found.
 */
static inline bool arch_wprobe_user_allowed(struct task_struct *task)
{
	return !is_compat_thread(task_thread_info(task));
}

/* See <linux/wprobes-arch.h>.  The entry of a pseudo-NMI unmasks debug exceptions. */
static __always_inline unsigned long arch_wprobe_read_begin(void)
{
	unsigned long state = read_sysreg(daif);

	asm volatile("msr daifset, #8" : : : "memory");
	return state;
}

static __always_inline void arch_wprobe_read_end(unsigned long state)
{
	if (!(state & PSR_D_BIT))
		asm volatile("msr daifclr, #8" : : : "memory");
}

/*
 * See <linux/wprobes-arch.h>.  In memory with tags, the addresses of watched data and of
 * instructions have none.  Debug exceptions are masked in their own handlers.
 */
static __always_inline unsigned long arch_wprobe_user_read_begin(void)
{
	if (system_supports_mte())
		asm volatile(SET_PSTATE_TCO(1));
	return 0;
}

static __always_inline void arch_wprobe_user_read_end(unsigned long state)
{
	if (system_supports_mte())
		asm volatile(SET_PSTATE_TCO(0));
}

/*
 * The stepped instruction has faulted.  If the fault is handled, the instruction is executed
 * again, and raises its exception again.  Nothing masks an SDEI event: it may arrive before the
 * stepped instruction, and fault itself.  It runs with debug exceptions masked, on a stack of its
 * own, and the step ends after it.
 */
static __always_inline void wprobe_step_aborted(struct pt_regs *regs)
{
	struct wprobe_step *step = raw_cpu_ptr(&wprobe_step);

	if (likely(!step->active) || regs->sp != step->sp)
		return;
	regs->pstate = (regs->pstate & ~WPROBE_STEP_MASKS) | step->masks;
	step->active = false;
}

/*
 * See <linux/wprobes-arch.h>.  Debug exceptions are masked in their own handlers.  They stay
 * masked while a debugger steps, because it would step here.
 */
static __always_inline void arch_wprobe_handler_begin(void)
{
	if (!(read_sysreg(mdscr_el1) & MDSCR_EL1_SS))
		asm volatile("msr daifclr, #8\n\tisb" : : : "memory");
}

static __always_inline void arch_wprobe_handler_end(void)
{
	asm volatile("msr daifset, #8" : : : "memory");
}

void arch_wprobe_handler_died(void);

#else

static __always_inline u64 wprobe_distance(unsigned long addr, unsigned long esr,
					   struct pt_regs *regs)
{
	return -1;
}

static __always_inline bool wprobe_watchpoint(unsigned long addr, unsigned long esr,
					      struct pt_regs *regs, u64 dist, bool stepped)
{
	return false;
}

static __always_inline void wprobe_stepped(struct pt_regs *regs) { }
static __always_inline void wprobe_step_aborted(struct pt_regs *regs) { }

#endif

#endif /* _ASM_ARM64_WPROBES_H */
