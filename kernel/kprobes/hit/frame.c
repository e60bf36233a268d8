// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At a hit: the current probe of each context level (HAVE_KPROBE_LEVELS).
 * <linux/kprobes-frame.h> describes frames, and has the inline functions for them.
 */
#include <linux/kprobes-frame.h>
#include <linux/percpu.h>

#include "../internal.h"

DEFINE_PER_CPU(struct kprobe_cpu, kprobe_cpu);

/*
 * The current probe between kprobe_busy_begin() and kprobe_busy_end(): a representative
 * without probes.  Probes that are hit in between are missed, as in any handler.
 */
static struct kprobe_point busy_point = { .lone = &busy_point.kp };

/**
 * kprobe_running() - get the current probe of the current context level
 *
 * Context: any, preemption disabled.
 * Return: the probe whose handler is running at this level, or the representative of its
 * point; both have its address.  NULL if no handler is running.
 */
struct kprobe *kprobe_running(void)
{
	return kprobe_this_frame()->kp;
}
NOKPROBE_SYMBOL(kprobe_running);

/**
 * kprobe_busy_begin() - make hits count as missed, as if a handler were running
 *
 * Probes of this context level that are hit until kprobe_busy_end() are missed.
 * For code that shares its callbacks with probes.  The caller has checked that
 * kprobe_running() is NULL.
 *
 * Context: any; disables preemption.
 */
void kprobe_busy_begin(void)
{
	preempt_disable_notrace();
	kprobe_frame_enter(kprobe_this_frame(), &busy_point.kp);
}
NOKPROBE_SYMBOL(kprobe_busy_begin);

/**
 * kprobe_busy_end() - end the section that kprobe_busy_begin() has begun
 *
 * Context: that of kprobe_busy_begin().
 */
void kprobe_busy_end(void)
{
	kprobe_frame_leave(kprobe_this_frame());
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(kprobe_busy_end);

/**
 * kprobe_handler_died() - free the level of a dying task, which may be in a handler
 *
 * The handler will not return.  If the task is in no handler, its level is already
 * free, and this changes nothing.
 *
 * Context: make_task_dead(), on the CPU of the oops, before it enables interrupts.
 */
void kprobe_handler_died(void)
{
	struct kprobe_frame *frame;

	preempt_disable_notrace();
	frame = kprobe_this_frame();
	if (!kprobe_frame_is_free(frame))
		arch_unmask_death();
	frame->probe = NULL;
	frame->stepping = false;
	kprobe_frame_leave(frame);
	preempt_enable_no_resched_notrace();
}

/**
 * kprobe_hit_registers() - are these the registers of a hit?
 * @regs: registers that an unwinder has found
 *
 * The instruction pointer in the registers of a hit is after the breakpoint, but the probed
 * instruction has not been executed.  So an unwinder has to look up the address before it.
 *
 * Context: any.
 * Return: true if a hit on this CPU, whose pre handlers are running, has saved @regs.
 */
bool kprobe_hit_registers(const struct pt_regs *regs)
{
	struct kprobe_frame *frames;
	bool hit = false;
	int level;

	preempt_disable_notrace();
	frames = this_cpu_ptr(&kprobe_cpu)->frames;
	/* A hit without a trap does not set frame->regs: check the instruction pointer, too. */
	for (level = 0; level < NR_KPROBE_LEVELS; level++)
		hit |= kprobe_frame_in_handler(&frames[level]) &&
		       frames[level].regs == regs &&
		       instruction_pointer((struct pt_regs *)regs) ==
		       kprobe_hit_ip(frames[level].kp);
	preempt_enable_notrace();
	return hit;
}
NOKPROBE_SYMBOL(kprobe_hit_registers);
