// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At a hit: jprobes, whose handlers have the prototype of the probed function.
 *
 * A jprobe is a kprobe at a function's entry.  Its pre_handler calls the user's
 * handler from where the probe was hit, with the argument registers of the
 * function and with a copy of its arguments on the stack: whatever the handler
 * does to them, the function finds what its caller left.  jprobe_return() ends
 * the handler from any depth; a handler that returns has ended as well.
 *
 * The handler runs on top of the hit, on the same stack, and each context level remembers
 * the frame that has called it: that is where jprobe_return() goes.
 *
 * Spec: kprobes.txt sections 1.2, 4.2; OLS paper section 4.1.
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
 * @kp: of the jprobe
 * @regs: registers at the function's entry
 *
 * Spec: kprobes.txt section 1.2.
 *
 * Context: the hit, preemption disabled; the level is taken.
 * Return: 0.
 */
int kprobe_enter_jprobe(struct kprobe *kp, struct pt_regs *regs)
{
	unsigned long args = arch_jprobe_arguments(regs);
	unsigned long words = (arch_stack_end(args) - args) / sizeof(long);

	/* The calls that jprobe_return() leaves never return to the graph tracer. */
	pause_graph_tracing();
	jprobe_call_handler(container_of(kp, struct jprobe, kp)->entry, regs,
			    min(words, JPROBE_STACK_WORDS),
			    &this_cpu_ptr(&jprobe_frames)->level[kprobe_this_level()]);
	unpause_graph_tracing();
	return 0;
}
NOKPROBE_SYMBOL(kprobe_enter_jprobe);

/**
 * jprobe_this_frame() - the frame that jprobe_return() returns to
 * @sp: its stack pointer
 *
 * A handler that has died leaves its frame, on a stack that no longer exists.  The right frame
 * is on this stack, further up.
 *
 * Context: any; called by jprobe_return().
 * Return: frame pointer of jprobe_call_handler(), or 0 if no handler is running.
 */
asmlinkage unsigned long jprobe_this_frame(unsigned long sp)
{
	unsigned long frame;

	preempt_disable_notrace();
	frame = this_cpu_ptr(&jprobe_frames)->level[kprobe_this_level()];
	preempt_enable_notrace();
	if (frame && frame - sp < THREAD_SIZE) {
		/* KASAN has marks on the frames that are left without returning. */
		kasan_unpoison_range((void *)sp, frame - sp);
		return frame;
	}
	pr_err_once("jprobe_return() outside of a jprobe's handler\n");
	return 0;
}
NOKPROBE_SYMBOL(jprobe_this_frame);
