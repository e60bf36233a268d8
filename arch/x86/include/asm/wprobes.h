/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ASM_X86_WPROBES_H
#define _ASM_X86_WPROBES_H
/*
 * x86: four registers, for instructions and data alike.  They can watch writes, or reads and
 * writes, and do not report the accessed address.
 */
struct pt_regs;

#ifdef CONFIG_WPROBES

#include <linux/percpu-defs.h>
#include <asm/cpu_entry_area.h>
#include <asm/debugreg.h>
#include <asm/hw_breakpoint.h>
#include <asm/processor.h>

#define WPROBE_SLOTS		HBP_NUM
#define WPROBE_TYPES		(BIT(WPROBE_WRITE) | BIT(WPROBE_RW))
#define WPROBE_KNOWS_ACCESS	0
#define WPROBE_USER_BEFORE	0

/* The registers of this CPU that watchpoint probes use, a bit each as in DR6. */
DECLARE_PER_CPU(unsigned long, wprobe_regs);

/* In bugs.c; the entry reads it before a prediction barrier. */
extern u64 x86_pred_cmd;

/* The value of DR7 with these registers only. */
DECLARE_PER_CPU(unsigned long, wprobe_dr7);

/*
 * A debug exception of a handler must not use the stack that the handler uses.  The stacks are at
 * a constant distance.
 */
#ifdef CONFIG_X86_64
#define WPROBE_STACK_DISTANCE							\
	(CEA_ESTACK_OFFS(DB2) + CEA_ESTACK_SIZE(DB2) - CEA_ESTACK_OFFS(DB) - CEA_ESTACK_SIZE(DB))

static __always_inline void wprobe_use_second_stack(void)
{
	__this_cpu_add(cpu_tss_rw.x86_tss.ist[IST_INDEX_DB], WPROBE_STACK_DISTANCE);
}

static __always_inline void wprobe_use_first_stack(void)
{
	__this_cpu_sub(cpu_tss_rw.x86_tss.ist[IST_INDEX_DB], WPROBE_STACK_DISTANCE);
}
#else
static __always_inline void wprobe_use_second_stack(void) { }
static __always_inline void wprobe_use_first_stack(void) { }
#endif

/*
 * See <linux/wprobes-arch.h>.  The exception has disabled all registers.  Those of perf stay
 * disabled, because the code of perf can be watched by perf.
 */
static __always_inline void arch_wprobe_handler_begin(void)
{
	wprobe_use_second_stack();
	set_debugreg(__this_cpu_read(wprobe_dr7), 7);
}

static __always_inline void arch_wprobe_handler_end(void)
{
	set_debugreg(DR7_FIXED_1, 7);
	wprobe_use_first_stack();
}

/* See <linux/wprobes-arch.h>. */
static inline void arch_wprobe_handler_died(void)
{
	wprobe_use_first_stack();
	set_debugreg(__this_cpu_read(cpu_dr7), 7);
}

/* See <linux/wprobes-arch.h>. */
static inline bool arch_wprobe_user_allowed(struct task_struct *task)
{
	return true;
}

/* See <linux/wprobes-arch.h>. */
static __always_inline unsigned long arch_wprobe_read_begin(void)
{
	return local_db_save();
}

static __always_inline void arch_wprobe_read_end(unsigned long state)
{
	local_db_restore(state);
}

/* The bits of DR7 that are set for registers that watch reads, too. */
#define WPROBE_DR7_READS	0x22220000UL

/*
 * See <linux/wprobes-arch.h>.  Nearly always no register watches reads, and DR7, whose changes are
 * expensive, can stay.
 */
static __always_inline unsigned long arch_wprobe_user_read_begin(void)
{
	if (likely(!(__this_cpu_read(cpu_dr7) & WPROBE_DR7_READS)))
		return 0;
	return local_db_save();
}

static __always_inline void arch_wprobe_user_read_end(unsigned long state)
{
	local_db_restore(state);
}

/*
 * By the causes in DR6 that are registers of probes: the core's data about the register of this
 * CPU, or NULL if there are several causes.
 */
DECLARE_PER_CPU(struct wprobe_loaded * [BIT(HBP_NUM)], wprobe_by_cause);

/* arch/x86/kernel/wprobes/hit/trap.c */
void wprobe_hit_several(struct pt_regs *regs, unsigned long mine);

void wprobe_hit(struct pt_regs *regs, struct wprobe_loaded *loaded, unsigned long touched);

/*
 * Handles the part of a debug exception that belongs to probes, and removes it from the causes.
 * Returns true if it was the only cause.  No watchpoint can raise another exception.
 */
static __always_inline bool wprobe_debug_exception(struct pt_regs *regs, unsigned long *dr6)
{
	/* The bit of register 0 is DR_TRAP0, bit 0. */
	unsigned long mine = *dr6 & __this_cpu_read(wprobe_regs);
	struct wprobe_loaded *loaded;

	if (unlikely(!mine))
		return false;
	loaded = __this_cpu_read(wprobe_by_cause[mine]);
	if (likely(loaded))
		wprobe_hit(regs, loaded, 0);
	else
		wprobe_hit_several(regs, mine);
	if (likely(mine == *dr6))
		return true;
	*dr6 ^= mine;
	return false;
}

/* arch/x86/kernel/wprobes/user.c */
bool wprobe_debug_exception_user(struct pt_regs *regs, unsigned long *dr6);

/* arch/x86/kernel/hw_breakpoint.c */
int hw_breakpoint_free_reg(void);
void hw_breakpoint_take_reg(int i, const struct arch_hw_breakpoint *info);
void hw_breakpoint_give_reg(int i, const struct arch_hw_breakpoint *info);
void hw_breakpoint_move_reg(int i, unsigned long addr);
struct perf_event *hw_breakpoint_event(int i);

#else

static __always_inline bool wprobe_debug_exception(struct pt_regs *regs, unsigned long *dr6)
{
	return false;
}

static inline bool wprobe_debug_exception_user(struct pt_regs *regs, unsigned long *dr6)
{
	return false;
}

#endif

#endif /* _ASM_X86_WPROBES_H */
