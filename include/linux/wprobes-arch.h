/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_WPROBES_ARCH_H
#define _LINUX_WPROBES_ARCH_H
/*
 * Watchpoint probes: the contract with the architectures, and with the kernel's hardware
 * breakpoints, which share the debug registers.
 *
 * <asm/wprobes.h> defines:
 *
 *	WPROBE_SLOTS		the most registers that a CPU can have
 *	WPROBE_TYPES		the types (enum wprobe_type) that registers can have, a bit each
 *	WPROBE_KNOWS_ACCESS	1 if wprobe_hit() gets the accessed bytes, so that probes on
 *				different bytes can share a register for any access; else 0
 *	WPROBE_USER_BEFORE	1 if exceptions are raised before the access: wprobe_before() is
 *				then called for one of the kernel, and wprobe_user_stepped() after
 *				one of user mode; else 0
 */
#include <linux/types.h>

struct callback_head;
struct perf_event;
struct pt_regs;
struct task_struct;
struct wprobe_loaded;

#ifdef CONFIG_WPROBES
#include <asm/wprobes.h>

/**
 * struct wprobe_range - the content of a register
 * @addr:	first byte; the address of a per-CPU variable, or that of one CPU's copy
 * @len:	number of bytes; 0: no register is used
 * @type:	enum wprobe_type
 * @percpu:	@addr is the address of a per-CPU variable
 *
 * A range is inside one aligned word (unsigned long).
 */
struct wprobe_range {
	unsigned long addr;
	u8 len;
	u8 type;
	bool percpu;
};

/* Returns the lowest bit of a range in the value of its aligned word. */
static __always_inline unsigned int wprobe_shift(unsigned long addr, unsigned int len)
{
	unsigned int first = addr % sizeof(long);

	if (IS_ENABLED(CONFIG_CPU_BIG_ENDIAN))
		first = sizeof(long) - first - len;
	return first * 8;
}

/* Returns the bits of a range in the value of its aligned word. */
static __always_inline unsigned long wprobe_mask(unsigned long addr, unsigned int len)
{
	return (~0UL >> (sizeof(long) - len) * 8) << wprobe_shift(addr, len);
}

/* Implemented by the architecture. */

/**
 * arch_wprobe_cover() - find the smallest range that a register can watch
 * @range: range with any first byte and length; widened until a register can watch it
 *
 * Context: any.
 * Return: false if no register can watch so many bytes.
 */
bool arch_wprobe_cover(struct wprobe_range *range);

/**
 * arch_wprobe_allowed() - may accesses to this memory raise exceptions?
 * @range: from arch_wprobe_cover(); not per-CPU
 *
 * Context: any, also NMI: wprobe_retarget() calls it.
 * Return: false if the entry code for exceptions accesses the memory.
 */
bool arch_wprobe_allowed(const struct wprobe_range *range);

/**
 * arch_wprobe_install() - watch a range on this CPU
 * @slot: number of the register's slot; the register may have another number
 * @range: from arch_wprobe_cover(), for which a register has been reserved; not per-CPU
 * @loaded: data of the core about this register, for wprobe_hit() and others
 *
 * Context: interrupts disabled.
 */
void arch_wprobe_install(unsigned int slot, const struct wprobe_range *range,
			 struct wprobe_loaded *loaded);

/**
 * arch_wprobe_remove() - do not watch a range on this CPU any more
 * @slot: as for arch_wprobe_install()
 * @range: as for arch_wprobe_install()
 *
 * Context: interrupts disabled.
 */
void arch_wprobe_remove(unsigned int slot, const struct wprobe_range *range);

/**
 * arch_wprobe_move() - watch another address of the same length and type on this CPU
 * @slot: as for arch_wprobe_install()
 * @addr: first byte; its place in the aligned word is that of the old address
 *
 * Context: any, also NMI, interrupts disabled.
 */
void arch_wprobe_move(unsigned int slot, unsigned long addr);

/*
 * arch_wprobe_handler_begin() and arch_wprobe_handler_end() are inline functions of
 * <asm/wprobes.h>, called before and after a handler.  Between them, an access to watched memory
 * raises an exception, and wprobe_hit() counts it as missed.
 * arch_wprobe_handler_died() undoes arch_wprobe_handler_begin() for a handler that does not return.
 */

/*
 * arch_wprobe_read_begin() and arch_wprobe_read_end() are inline functions of <asm/wprobes.h>,
 * called before and after the core reads watched data of the kernel, interrupts disabled.  Between
 * them, no access of this code raises an exception, whoever watches.  The second one gets the
 * return value of the first, an unsigned long.
 */

/*
 * arch_wprobe_user_allowed() is an inline function of <asm/wprobes.h>: can data of the process be
 * watched?
 */

/*
 * arch_wprobe_user_read_begin() and arch_wprobe_user_read_end() are inline functions of
 * <asm/wprobes.h>, called before and after the core reads watched data of the current process in
 * a debug exception, interrupts disabled.  Between them, no watchpoint raises an exception, also
 * none of a debugger, and tags of memory are not compared with those of addresses.  The second one
 * gets the return value of the first, an unsigned long.
 */

/* Implemented by the core, for the architecture. */

void wprobe_before(struct wprobe_loaded *loaded, bool writes);
void wprobe_missed(const struct wprobe_loaded *loaded);
void wprobe_hit(struct pt_regs *regs, struct wprobe_loaded *loaded, unsigned long touched);
void wprobe_hits(struct pt_regs *regs, unsigned long slots);
bool wprobe_user_event(const struct perf_event *event);
struct callback_head *wprobe_user_begin(struct perf_event *event);
void wprobe_user_work(struct callback_head *work);
void wprobe_user_queue(struct callback_head *work);
void wprobe_user_missed(struct perf_event *event);
void wprobe_user_stepped(struct perf_event *event, struct pt_regs *regs);

/* Implemented by the kernel's hardware breakpoints. */

int hw_breakpoint_reserve_wide(void);
void hw_breakpoint_release_wide(void);
void hw_breakpoint_prepare_wide(void);

/* Implemented by the core, for the kernel's hardware breakpoints. */

bool wprobe_yield_register(void);
void wprobe_register_released(void);

#else /* !CONFIG_WPROBES */

static inline bool wprobe_yield_register(void)
{
	return false;
}

static inline void wprobe_register_released(void) { }

static inline bool wprobe_user_event(const struct perf_event *event)
{
	return false;
}

#endif /* CONFIG_WPROBES */

#endif /* _LINUX_WPROBES_ARCH_H */
