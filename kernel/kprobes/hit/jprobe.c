// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At a hit: call the handler of a jprobe, which has the prototype of the probed function.
 *
 * A jprobe is a kprobe at a function's entry.  Its pre_handler calls the user's
 * handler with the argument registers of the function and with a copy of its
 * arguments on the stack.  If the handler changes its arguments, those of the
 * function stay as the caller has set them.  jprobe_return() ends the handler
 * from any depth of calls; the handler may also just return.
 *
 * The handler runs on the stack of the hit.  Each context level records the frame of
 * jprobe_call_handler(), to which jprobe_return() returns.
 *
 * See Documentation/trace/kprobes.rst, Jprobes.  Spec: OLS paper section 4.1.
 */
#include <linux/ftrace.h>
#include <linux/kasan.h>
#include <linux/kernel.h>
#include <linux/kprobes-frame.h>
#include <linux/kprobes-jprobe.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/thread_info.h>
#include <asm/jprobes.h>

#include "../internal.h"

/* Frame pointer of jprobe_call_handler() in each level; 0: no handler runs there. */
struct jprobe_frames {
	unsigned long level[NR_KPROBE_LEVELS];
};

static DEFINE_PER_CPU(struct jprobe_frames, jprobe_frames);

/**
 * kprobe_enter_jprobe() - pre_handler of jprobes: call the user's handler
 * @kp: embedded in the jprobe
 * @regs: registers at the function's entry
 *
 * Context: the hit, preemption disabled; the level is busy.
 * Return: 0.
 */
int kprobe_enter_jprobe(struct kprobe *kp, struct pt_regs *regs)
{
	unsigned long args = arch_jprobe_arguments(regs);
	unsigned long words = (arch_stack_end(args) - args) / sizeof(long);

	/* jprobe_return() leaves calls that then never return to the graph tracer. */
	pause_graph_tracing();
	jprobe_call_handler(container_of(kp, struct jprobe, kp)->entry, regs,
			    min(words, JPROBE_STACK_WORDS),
			    &this_cpu_ptr(&jprobe_frames)->level[kprobe_this_level()]);
	unpause_graph_tracing();
	return 0;
}
NOKPROBE_SYMBOL(kprobe_enter_jprobe);

/**
 * jprobe_this_frame() - find the frame that jprobe_return() returns to
 * @sp: stack pointer of jprobe_return()
 *
 * A handler that has died leaves the record of its frame, on a stack that no longer exists.
 * So a recorded frame is valid only if it is on this stack, above @sp.
 *
 * Context: any; called by jprobe_return().
 * Return: frame pointer of jprobe_call_handler(); 0 if no handler is running.
 */
asmlinkage unsigned long jprobe_this_frame(unsigned long sp)
{
	unsigned long frame;

	preempt_disable_notrace();
	frame = this_cpu_ptr(&jprobe_frames)->level[kprobe_this_level()];
	preempt_enable_notrace();
	if (frame && frame - sp < THREAD_SIZE) {
		/* The frames that are left without returning have redzones of KASAN. */
		kasan_unpoison_range((void *)sp, frame - sp);
		return frame;
	}
	pr_err_once("jprobe_return() outside of a jprobe's handler\n");
	return 0;
}
NOKPROBE_SYMBOL(jprobe_this_frame);
