// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: the debug exception after an access to watched data.
 *
 * The exception is raised after the accessing instruction, and DR6 has a bit for each register
 * that matched.  perf and ptrace have a handler of their own.
 */
#include <linux/bitops.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/wprobes.h>
#include <linux/wprobes-arch.h>

#include "../registers.h"

/* One access matches several registers. */
static noinline void hit_several(struct pt_regs *regs, unsigned long mine)
{
	unsigned long slots = 0;

	for (; mine; mine &= mine - 1)
		slots |= BIT(__this_cpu_read(wprobe_slot_of_reg[__ffs(mine)]));
	wprobe_hits(regs, slots);
}
NOKPROBE_SYMBOL(hit_several);

/**
 * __wprobe_debug_exception() - handle the part of a debug exception that belongs to probes
 * @regs: registers at the exception
 * @mine: the registers of probes that match, a bit each as in DR6; at least one
 *
 * Context: exc_debug(), interrupts disabled, no watchpoint can raise another exception.
 */
void __wprobe_debug_exception(struct pt_regs *regs, unsigned long mine)
{
	if (unlikely(mine & (mine - 1)))
		hit_several(regs, mine);
	else
		wprobe_hit(regs, __this_cpu_read(wprobe_slot_of_reg[__ffs(mine)]), 0);
}
NOKPROBE_SYMBOL(__wprobe_debug_exception);
