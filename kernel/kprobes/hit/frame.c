// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At a hit: the current probe of each context level (HAVE_KPROBE_LEVELS).  What frames are,
 * and what a hit does with them inline, is in <linux/kprobes-frame.h>.
 *
 * Everything here runs in traps: NOKPROBE, no locks, no memory.
 */
#include <linux/kprobes-frame.h>
#include <linux/percpu.h>

#include "../internal.h"

DEFINE_PER_CPU(struct kprobe_cpu, kprobe_cpu);

/*
 * The current probe between kprobe_busy_begin() and kprobe_busy_end(): a representative
 * without handles.  A probe that is hit there is missed as in any handler.
 */
static struct kprobe_point busy_point = {
	.handles = LIST_HEAD_INIT(busy_point.handles),
};

/**
 * kprobe_running() - the innermost probe of the current context level
 *
 * Context: any, preemption disabled.
 * Return: representative of the point whose handlers are running at this
 * level, or NULL.
 */
struct kprobe *kprobe_running(void)
{
	struct kprobe_frame *frame = kprobe_this_frame();

	return frame->phase == KPROBE_PHASE_IDLE ? NULL : frame->kp;
}
NOKPROBE_SYMBOL(kprobe_running);

/**
 * kprobe_busy_begin() - let probes be missed, as if a handler were running
 *
 * Probes of this context level that are hit until kprobe_busy_end() are missed.
 * For code that shares its callbacks with probes; it has made sure that
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

/* Ends kprobe_busy_begin(), in the same context. */
void kprobe_busy_end(void)
{
	kprobe_frame_leave(kprobe_this_frame());
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(kprobe_busy_end);

/**
 * kprobe_handler_died() - the task that dies may have been in a handler
 *
 * The handler will not return, so its level is freed here.  Without a handler
 * there is nothing to do: the level of a task that can be preempted is free.
 *
 * Context: make_task_dead(), on the CPU of the oops.
 */
void kprobe_handler_died(void)
{
	preempt_disable_notrace();
	kprobe_note_handle(NULL);
	kprobe_frame_leave(kprobe_this_frame());
	preempt_enable_no_resched_notrace();
}

/**
 * kprobe_hit_registers() - are these the registers of a hit?
 * @regs: registers that an unwinder has found
 *
 * Their instruction pointer is after the breakpoint, but the probed instruction has not been
 * executed.  So an unwinder has to look the address before it up.
 *
 * Context: any.
 * Return: true if they are those of a hit on this CPU whose pre handlers run.
 */
bool kprobe_hit_registers(const struct pt_regs *regs)
{
	struct kprobe_frame *frames;
	bool hit = false;
	int level;

	preempt_disable_notrace();
	frames = this_cpu_ptr(&kprobe_cpu)->frames;
	/* The frame of a hit without a trap still has the registers of an earlier hit. */
	for (level = 0; level < NR_KPROBE_LEVELS; level++)
		hit |= frames[level].phase == KPROBE_PHASE_HANDLER &&
		       frames[level].regs == regs &&
		       instruction_pointer((struct pt_regs *)regs) ==
		       kprobe_hit_ip(frames[level].kp);
	preempt_enable_notrace();
	return hit;
}
NOKPROBE_SYMBOL(kprobe_hit_registers);
