// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: the exceptions before and after an access to watched data.
 *
 * do_watchpoint(): wprobe_distance() finds the registers that match, and wprobe_watchpoint()
 * records them.  If it can make the access (emulate.c), it calls the handlers.  Otherwise the
 * instruction is stepped:
 *
 *	1. wprobe_watchpoint() masks interrupts in the interrupted code
 *	2. do_watchpoint() disables all registers, and steps the instruction
 *	3. try_step_suspended_breakpoints() enables the registers; wprobe_stepped() restores the
 *	   masks, and calls the handlers
 *
 * Because interrupts are masked in step 2, no other code runs while the registers are disabled,
 * and the step does not end in the handler of an interrupt.
 *
 * Exclusive accesses cannot be stepped, see exclusive.c.  They are counted as missed, and the
 * registers of this CPU are paused.  On processors with LSE atomics, kernels execute no
 * store-exclusives, and load-exclusives only to wait for a store to a word; those are stepped.
 */
#include <linux/bits.h>
#include <linux/hw_breakpoint.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/wprobes.h>
#include <linux/wprobes-arch.h>
#include <asm/debug-monitors.h>
#include <asm/esr.h>
#include <asm/ptrace.h>

#include "../registers.h"
#include "access.h"
#include "emulate.h"
#include "exclusive.h"

DEFINE_PER_CPU(struct wprobe_step, wprobe_step);

/*
 * Returns the instruction that makes the access.  Text of firmware is in the lower half, and may
 * be unmapped in an exception.  Then returns 0, which is no instruction that accesses memory.
 */
static __always_inline u32 insn_of(const struct pt_regs *regs)
{
	if (!(regs->pc & BIT(55)))
		return 0;
	return le32_to_cpu(*(__le32 *)regs->pc);
}

/*
 * Does a register watch for this access?  For an instruction that reads and writes, the syndrome
 * reports a read if another register watches for reads.
 */
static __always_inline bool type_matches(const struct wprobe_range *range, unsigned long esr,
					 const struct pt_regs *regs)
{
	if (esr & ESR_ELx_WNR)
		return range->type & WPROBE_WRITE;
	return range->type & WPROBE_READ || reads_and_writes(insn_of(regs));
}

/* Returns the number of bytes between the reported address and the range; 0 if it has it. */
static __always_inline u64 distance(const struct wprobe_range *range, unsigned long addr)
{
	if (addr < range->addr)
		return range->addr - addr;
	if (addr >= range->addr + range->len)
		return addr - (range->addr + range->len - 1);
	return 0;
}

/**
 * wprobe_distance() - find the watchpoint of probes that is nearest to an access
 * @addr: the reported address
 * @esr: syndrome of the exception
 * @regs: registers at the exception
 *
 * Context: do_watchpoint().
 * Return: its distance; 0 if it has the address; -1 if there is none.
 */
u64 wprobe_distance(unsigned long addr, unsigned long esr, struct pt_regs *regs)
{
	unsigned long mask = __this_cpu_read(wprobe_regs);
	u64 nearest = -1;
	int reg;

	if (likely(!mask) || user_mode(regs))
		return -1;
	for (; mask; mask &= mask - 1) {
		const struct wprobe_range *range;

		reg = __ffs(mask);
		range = &this_cpu_ptr(&wprobe_registers[reg])->range;
		if (type_matches(range, esr, regs))
			nearest = min(nearest, distance(range, access_untag(addr)));
	}
	return nearest;
}
NOKPROBE_SYMBOL(wprobe_distance);

static noinline void pause_registers(const struct wprobe_step *step)
{
	unsigned long mask = __this_cpu_read(wprobe_regs);

	for (; mask; mask &= mask - 1) {
		int reg = __ffs(mask);

		if (step->regs & BIT(reg))
			wprobe_missed(this_cpu_ptr(&wprobe_registers[reg])->loaded);
		hw_breakpoint_pause_watch(reg);
	}
	wprobe_resume_later();
}
NOKPROBE_SYMBOL(pause_registers);

/*
 * Does an access touch a range?  If its bytes are not known: is the range at @dist, or shortly
 * after the reported address?
 */
static __always_inline bool touches(const struct wprobe_step *step,
				    const struct wprobe_range *range, u64 dist)
{
	if (step->size != ACCESS_UNKNOWN)
		return range->addr < step->addr + step->size &&
		       step->addr < range->addr + range->len;
	return distance(range, step->addr) == dist ||
	       (range->addr > step->addr && range->addr - step->addr < ACCESS_REACH);
}

/* Finds the registers that watch for an access, and keeps the values before it. */
static __always_inline void find_registers(struct wprobe_step *step, unsigned long esr,
					   const struct pt_regs *regs, u64 dist, bool writes)
{
	unsigned long mask = __this_cpu_read(wprobe_regs);

	step->regs = 0;
	for (; mask; mask &= mask - 1) {
		const struct wprobe_register *reg = this_cpu_ptr(&wprobe_registers[__ffs(mask)]);

		if (!type_matches(&reg->range, esr, regs) || !touches(step, &reg->range, dist))
			continue;
		step->regs |= mask & -mask;
		wprobe_before(reg->loaded, writes);
	}
}

/*
 * The nearest range gets an access that seems to touch none.  It may belong to an event of perf
 * farther from the reported address.  But if it belonged to nobody, its exception would be raised
 * for ever.
 */
static noinline void find_nearest(struct wprobe_step *step, unsigned long addr, unsigned long esr,
				  const struct pt_regs *regs, u64 dist, bool writes)
{
	step->addr = access_untag(addr);
	step->size = ACCESS_UNKNOWN;
	find_registers(step, esr, regs, dist, writes);
}
NOKPROBE_SYMBOL(find_nearest);

/* Returns the accessed bytes of the word with @range; 0 if the reported address is after it. */
static __always_inline unsigned long touched(const struct wprobe_step *step,
					     const struct wprobe_range *range)
{
	unsigned long word = range->addr & -sizeof(long);
	unsigned long start = max(step->addr, word);
	unsigned long end = min(step->addr + step->size, word + sizeof(long));

	if (start >= end)
		return 0;
	return wprobe_mask(start, end - start);
}

/* Calls the handlers of an access that has been made.  They may change the step of the CPU. */
static __always_inline void report(struct pt_regs *regs, struct wprobe_step step)
{
	for (; step.regs; step.regs &= step.regs - 1) {
		const struct wprobe_register *reg;

		reg = this_cpu_ptr(&wprobe_registers[__ffs(step.regs)]);
		wprobe_hit(regs, reg->loaded, touched(&step, &reg->range));
	}
}

/**
 * wprobe_watchpoint() - an instruction is about to access watched memory
 * @addr: the reported address
 * @esr: syndrome of the exception
 * @regs: registers at the exception
 * @dist: from wprobe_distance(), or 0 if another watchpoint is nearer
 * @stepped: the instruction is stepped in any case
 *
 * Context: do_watchpoint().
 * Return: true if the instruction has to be stepped.
 */
bool wprobe_watchpoint(unsigned long addr, unsigned long esr, struct pt_regs *regs, u64 dist,
		       bool stepped)
{
	struct wprobe_step *step = this_cpu_ptr(&wprobe_step);
	u32 insn = insn_of(regs);
	struct accessed accessed = find_accessed(regs, insn, addr);
	bool writes = esr & ESR_ELx_WNR || reads_and_writes(insn);

	step->addr = accessed.start;
	step->size = accessed.size;
	find_registers(step, esr, regs, dist, writes);
	/* If @dist is 0, the access belongs to the range with its address, or also to perf. */
	if (unlikely(!step->regs && dist))
		find_nearest(step, addr, esr, regs, dist, writes);
	if (!step->regs)
		return false;
	if (unlikely(is_exclusive(insn) && !is_waiting((const __le32 *)regs->pc))) {
		pause_registers(step);
		return false;
	}
	/* A debugger, or perf, that steps the instruction gets its exception. */
	if (!stepped && !(regs->pstate & DBG_SPSR_SS) && step->size != ACCESS_UNKNOWN &&
	    wprobe_emulate(regs, insn, step->addr)) {
		report(regs, *step);
		return false;
	}
	step->masks = regs->pstate & WPROBE_STEP_MASKS;
	step->sp = regs->sp;
	step->active = true;
	regs->pstate |= WPROBE_STEP_MASKS;
	return true;
}
NOKPROBE_SYMBOL(wprobe_watchpoint);

/**
 * wprobe_stepped() - an instruction has been stepped: call the handlers of its accesses
 * @regs: registers after the instruction
 *
 * Context: try_step_suspended_breakpoints(); the registers are enabled, but debug exceptions are
 * masked.
 */
void wprobe_stepped(struct pt_regs *regs)
{
	struct wprobe_step step = *this_cpu_ptr(&wprobe_step);

	if (!step.active)
		return;
	/* Handlers may access watched memory, too, and be stepped. */
	__this_cpu_write(wprobe_step.active, false);
	regs->pstate = (regs->pstate & ~WPROBE_STEP_MASKS) | step.masks;
	report(regs, step);
}
NOKPROBE_SYMBOL(wprobe_stepped);
