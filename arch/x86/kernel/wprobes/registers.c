// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: watchpoints in the debug registers.
 *
 * Registers of perf and ptrace are in bp_per_reg[] of hw_breakpoint.c; the others are in
 * wprobe_regs.
 */
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/hw_breakpoint.h>
#include <linux/percpu.h>
#include <linux/stackprotector.h>
#include <linux/wprobes.h>
#include <linux/wprobes-arch.h>
#include <asm/debugreg.h>
#include <asm/nmi.h>
#include <asm/nospec-branch.h>
#include <asm/smp.h>

#include "registers.h"

DEFINE_PER_CPU(unsigned long, wprobe_regs);
DEFINE_PER_CPU(unsigned long, wprobe_dr7);

DEFINE_PER_CPU(u8 [HBP_NUM], wprobe_slot_of_reg);
DEFINE_PER_CPU(struct wprobe_loaded * [BIT(HBP_NUM)], wprobe_by_cause);

/* See <linux/wprobes-arch.h>: 1, 2, 4 or 8 aligned bytes. */
bool arch_wprobe_cover(struct wprobe_range *range)
{
	unsigned long end = range->addr + range->len;
	unsigned int len;

	for (len = 1; len <= sizeof(long); len *= 2) {
		range->addr &= -(unsigned long)len;
		if (range->addr + len >= end) {
			range->len = len;
			return true;
		}
	}
	return false;
}

static bool overlaps(const struct wprobe_range *range, const void *data, size_t size)
{
	unsigned long start = (unsigned long)data;

	return range->addr < start + size && start < range->addr + range->len;
}

/*
 * Variables of a CPU that the entry of a debug exception, or of an NMI in it, uses while the
 * registers are enabled: the exception of such an access would overwrite the stack of the first.
 * hw_breakpoint.c refuses only some of them.
 */
static const struct {
	const void __percpu *variable;
	size_t size;
} used_by_entry[] = {
	{ &cpu_current_top_of_stack, sizeof(long) },
	{ &x86_spec_ctrl_current, sizeof(u64) },
#ifdef CONFIG_MITIGATION_CALL_DEPTH_TRACKING
	{ &__x86_call_depth, sizeof(u64) },
#endif
#ifdef CONFIG_CALL_THUNKS_DEBUG
	{ &__x86_call_count, sizeof(u64) },
	{ &__x86_ret_count, sizeof(u64) },
	{ &__x86_stuffs_count, sizeof(u64) },
#endif
#ifdef CONFIG_STACKPROTECTOR
	{ &__stack_chk_guard, sizeof(long) },
#endif
#ifdef CONFIG_DEBUG_PREEMPT
	/* The entry reads DR7's copy with a check whether it may be preempted. */
	{ &__preempt_count, sizeof(int) },
#endif
#ifdef CONFIG_SMP
	{ &cpu_number, sizeof(int) },
#endif
#ifdef CONFIG_X86_32
	{ &cpu_entry_area, sizeof(long) },
#endif
};

static bool is_used_by_entry(const struct wprobe_range *range)
{
	unsigned int i;
	int cpu;

	if (overlaps(range, &x86_pred_cmd, sizeof(x86_pred_cmd)) ||
	    overlaps(range, cpu_online_mask, sizeof(*cpu_online_mask)) ||
	    nmi_entry_uses(range->addr, range->addr + range->len))
		return true;
	for_each_possible_cpu(cpu) {
		for (i = 0; i < ARRAY_SIZE(used_by_entry); i++) {
			if (overlaps(range, per_cpu_ptr(used_by_entry[i].variable, cpu),
				     used_by_entry[i].size))
				return true;
		}
	}
	return false;
}

/* See <linux/wprobes-arch.h>. */
bool arch_wprobe_allowed(const struct wprobe_range *range)
{
	struct arch_hw_breakpoint info;
	struct perf_event_attr attr;

	hw_breakpoint_init(&attr);
	attr.bp_addr = range->addr;
	attr.bp_len = range->len;
	attr.bp_type = HW_BREAKPOINT_W;
	return !is_used_by_entry(range) && !hw_breakpoint_arch_parse(NULL, &attr, &info);
}

/* The encoded length of a range of so many bytes. */
static const u8 encoded_len[] = {
	[1] = X86_BREAKPOINT_LEN_1,
	[2] = X86_BREAKPOINT_LEN_2,
	[4] = X86_BREAKPOINT_LEN_4,
#ifdef CONFIG_X86_64
	[8] = X86_BREAKPOINT_LEN_8,
#endif
};

static struct arch_hw_breakpoint encode(const struct wprobe_range *range)
{
	return (struct arch_hw_breakpoint) {
		.address = range->addr,
		.len = encoded_len[range->len],
		.type = range->type == WPROBE_WRITE ? X86_BREAKPOINT_WRITE : X86_BREAKPOINT_RW,
	};
}

/* See <linux/wprobes-arch.h>. */
void arch_wprobe_install(unsigned int slot, const struct wprobe_range *range,
			 struct wprobe_loaded *loaded)
{
	struct arch_hw_breakpoint info = encode(range);
	int reg = hw_breakpoint_free_reg();

	/* A register has been reserved. */
	if (WARN_ON_ONCE(reg < 0))
		return;
	/* The first access may be one of an NMI, as soon as the register has been loaded. */
	__this_cpu_write(wprobe_slot_of_reg[reg], slot);
	__this_cpu_write(wprobe_by_cause[BIT(reg)], loaded);
	barrier();
	hw_breakpoint_take_reg(reg, &info);
}

/* See <linux/wprobes-arch.h>. */
void arch_wprobe_remove(unsigned int slot, const struct wprobe_range *range)
{
	struct arch_hw_breakpoint info = encode(range);
	int reg;

	for (reg = 0; reg < HBP_NUM; reg++) {
		if (__this_cpu_read(wprobe_regs) & BIT(reg) &&
		    __this_cpu_read(wprobe_slot_of_reg[reg]) == slot)
			hw_breakpoint_give_reg(reg, &info);
	}
}

/* See <linux/wprobes-arch.h>.  DR7 stays as it is, because an NMI restores it at its end. */
void arch_wprobe_move(unsigned int slot, unsigned long addr)
{
	int reg;

	for (reg = 0; reg < HBP_NUM; reg++) {
		if (__this_cpu_read(wprobe_regs) & BIT(reg) &&
		    __this_cpu_read(wprobe_slot_of_reg[reg]) == slot)
			hw_breakpoint_move_reg(reg, addr);
	}
}
