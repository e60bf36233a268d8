// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: watchpoints in the debug registers.
 */
#include <linux/bits.h>
#include <linux/hw_breakpoint.h>
#include <linux/percpu.h>
#include <linux/wprobes.h>
#include <linux/wprobes-arch.h>
#include <asm/daifflags.h>

#include "registers.h"

DEFINE_PER_CPU(unsigned long, wprobe_regs);
DEFINE_PER_CPU(struct wprobe_register [ARM_MAX_WRP], wprobe_registers);

/* See <linux/wprobes-arch.h>: any bytes of an aligned word. */
bool arch_wprobe_cover(struct wprobe_range *range)
{
	return range->addr % sizeof(long) + range->len <= sizeof(long);
}

/* See <linux/wprobes-arch.h>: debug exceptions are masked in the entry code. */
bool arch_wprobe_allowed(const struct wprobe_range *range)
{
	return true;
}

/* See <linux/wprobes-arch.h>. */
void arch_wprobe_install(unsigned int slot, const struct wprobe_range *range,
			 struct wprobe_loaded *loaded)
{
	unsigned int first = range->addr % sizeof(long);
	struct arch_hw_breakpoint info = {
		.address = range->addr - first,
		.ctrl = {
			.len = GENMASK(first + range->len - 1, first),
			.type = (range->type & WPROBE_READ ? ARM_BREAKPOINT_LOAD : 0) |
				(range->type & WPROBE_WRITE ? ARM_BREAKPOINT_STORE : 0),
			.privilege = AARCH64_BREAKPOINT_EL1,
			.enabled = 1,
		},
	};
	int reg = hw_breakpoint_take_watch(&info);

	/* A register has been reserved. */
	if (WARN_ON_ONCE(reg < 0))
		return;
	*this_cpu_ptr(&wprobe_registers[reg]) = (struct wprobe_register) {
		.slot = slot,
		.loaded = loaded,
		.range = *range,
	};
	__this_cpu_or(wprobe_regs, BIT(reg));
	/* A pseudo-NMI may access the data as soon as they are watched. */
	barrier();
	hw_breakpoint_resume_watch(reg);
}

/* See <linux/wprobes-arch.h>. */
void arch_wprobe_remove(unsigned int slot, const struct wprobe_range *range)
{
	unsigned long regs = __this_cpu_read(wprobe_regs);
	int reg;

	for_each_set_bit(reg, &regs, ARM_MAX_WRP) {
		if (this_cpu_ptr(&wprobe_registers[reg])->slot != slot)
			continue;
		hw_breakpoint_give_watch(reg);
		/* As above. */
		barrier();
		__this_cpu_and(wprobe_regs, ~BIT(reg));
	}
}

/* See <linux/wprobes-arch.h>. */
void arch_wprobe_move(unsigned int slot, unsigned long addr)
{
	unsigned long regs = __this_cpu_read(wprobe_regs);
	int reg;

	for_each_set_bit(reg, &regs, ARM_MAX_WRP) {
		struct wprobe_register *this = this_cpu_ptr(&wprobe_registers[reg]);

		if (this->slot != slot)
			continue;
		this->range.addr = addr;
		hw_breakpoint_move_watch(reg, addr & -sizeof(long));
	}
}

/**
 * wprobe_resume_registers() - load the registers of this CPU again that have been paused
 *
 * Context: interrupts disabled.
 */
void wprobe_resume_registers(void)
{
	unsigned long regs = __this_cpu_read(wprobe_regs);
	int reg;

	for_each_set_bit(reg, &regs, ARM_MAX_WRP)
		hw_breakpoint_resume_watch(reg);
}

/*
 * See <linux/wprobes-arch.h>.  The exception has masked all others in PSTATE, which
 * local_irq_enable() does not change if interrupts are masked by their priority.
 */
void arch_wprobe_handler_died(void)
{
	if (!(read_sysreg(daif) & PSR_A_BIT))
		return;
	local_daif_mask();
	local_daif_restore(DAIF_PROCCTX_NOIRQ);
}
