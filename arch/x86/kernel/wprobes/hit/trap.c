// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: the debug exception after an access to watched data.
 *
 * The exception is raised after the accessing instruction, and DR6 has a bit for each register
 * that matched: wprobe_debug_exception().  perf and ptrace have a handler of their own.
 */
#include <linux/bitops.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/wprobes.h>
#include <linux/wprobes-arch.h>

#include "../registers.h"

/**
 * wprobe_hit_several() - call the handlers of an access that matches several registers
 * @regs: registers at the exception
 * @mine: the registers of probes that match, a bit each as in DR6
 *
 * Context: exc_debug(), interrupts disabled, no watchpoint can raise another exception.
 */
void wprobe_hit_several(struct pt_regs *regs, unsigned long mine)
{
	unsigned long slots = 0;

	for (; mine; mine &= mine - 1)
		slots |= BIT(__this_cpu_read(wprobe_slot_of_reg[__ffs(mine)]));
	wprobe_hits(regs, slots);
}
NOKPROBE_SYMBOL(wprobe_hit_several);
