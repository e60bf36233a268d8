// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: let a sequence of exclusive accesses end.
 *
 * Each exception clears the exclusive monitor.  If the store-exclusive of a sequence raises one,
 * it fails each time, and the loop around it would never end.  A step is an exception, too.  So the
 * registers are paused, and a timer loads them again, after the sequence has had a tick or more.
 */
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/timer.h>
#include <linux/wprobes-arch.h>

#include "../registers.h"
#include "exclusive.h"

static void resume(struct timer_list *timer)
{
	unsigned long flags;

	local_irq_save(flags);
	wprobe_resume_registers();
	hw_breakpoint_resume_user_watches();
	local_irq_restore(flags);
}

static DEFINE_PER_CPU(struct timer_list, resume_timer) =
	__TIMER_INITIALIZER(resume, TIMER_PINNED);

/* Timers cannot be started in a debug exception. */
static void start_timer(struct irq_work *work)
{
	mod_timer(this_cpu_ptr(&resume_timer), jiffies + 1);
}

static DEFINE_PER_CPU(struct irq_work, start_work) = IRQ_WORK_INIT(start_timer);

/**
 * wprobe_resume_later() - load paused registers of this CPU again after a tick
 *
 * Context: debug exception, interrupts disabled.
 */
void wprobe_resume_later(void)
{
	irq_work_queue(this_cpu_ptr(&start_work));
}
NOKPROBE_SYMBOL(wprobe_resume_later);
