// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: debug exceptions in user mode, and probes on data of the process.
 *
 * Their handlers may sleep.  Probes on data of the kernel are called from here for accesses of
 * an instruction that returns to user mode, and may not.
 */
#include <linux/bitops.h>
#include <linux/hw_breakpoint.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/wprobes.h>
#include <linux/wprobes-arch.h>
#include <asm/debugreg.h>

/*
 * Takes the causes that belong to probes on data of the process out of @dr6.  Returns the number
 * of handlers that are to be called by their @works.
 */
static unsigned int take_user_hits(unsigned long *dr6, struct callback_head **works)
{
	unsigned long causes = *dr6 & DR_TRAP_BITS;
	struct perf_event *event;
	unsigned int reg, nr = 0;

	for_each_set_bit(reg, &causes, HBP_NUM) {
		event = hw_breakpoint_event(reg);
		if (!wprobe_user_event(event))
			continue;
		*dr6 &= ~BIT(reg);
		works[nr] = wprobe_user_begin(event);
		nr += !!works[nr];
	}
	return nr;
}

/*
 * Calls the handlers of probes on data of the process.  They may sleep, and continue on another
 * CPU.  So if the exception has other causes as well, they are called later, by work of the task.
 */
static bool user_hits(unsigned long *dr6)
{
	struct callback_head *works[HBP_NUM];
	unsigned int i, nr;

	nr = take_user_hits(dr6, works);
	if (*dr6) {
		for (i = 0; i < nr; i++)
			wprobe_user_queue(works[i]);
		return false;
	}
	local_irq_enable();
	for (i = 0; i < nr; i++)
		wprobe_user_work(works[i]);
	local_irq_disable();
	return true;
}

/**
 * wprobe_debug_exception_user() - wprobe_debug_exception() for an exception in user space
 * @regs: registers at the exception
 * @dr6: causes of the exception, with positive polarity; those of probes are removed
 *
 * The accesses of an instruction that returns to user space are reported there.
 *
 * Context: exc_debug(), on the stack of the task, interrupts disabled, watchpoints enabled.
 * Handlers of probes on data of the process may sleep.
 * Return: true if there was no other cause.
 */
bool wprobe_debug_exception_user(struct pt_regs *regs, unsigned long *dr6)
{
	unsigned long dr7;
	bool done;

	if (unlikely(*dr6 & __this_cpu_read(wprobe_regs))) {
		dr7 = local_db_save();
		done = wprobe_debug_exception(regs, dr6);
		local_db_restore(dr7);
		if (done)
			return true;
	}
	return *dr6 & DR_TRAP_BITS && user_hits(dr6);
}
