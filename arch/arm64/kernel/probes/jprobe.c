// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: jprobes.  From the hit of a function's entry to a handler that looks like that
 * function, and back.
 *
 * The handler runs on top of the hit, on the same stack (jprobe_call.S).  Each context
 * level remembers the frame of its handler, and jprobe_return() goes back to it.
 */
#include <linux/ftrace.h>
#include <linux/kasan.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <asm/irq.h>
#include <asm/stacktrace.h>

#include "jprobe.h"

/* Frame pointer of jprobe_call_handler() in each level; 0: no handler runs there. */
struct jprobe_frames {
	unsigned long level[NR_KPROBE_LEVELS];
};

static DEFINE_PER_CPU(struct jprobe_frames, jprobe_frames);

/* Where the stack ends that @addr is on, or @addr. */
static __always_inline unsigned long stack_end(unsigned long addr)
{
	struct stack_info task = stackinfo_get_task(current), irq = stackinfo_get_irq();

	if (stackinfo_on_stack(&task, addr, 1))
		return task.high;
	return stackinfo_on_stack(&irq, addr, 1) ? irq.high : addr;
}

/**
 * arch_call_jprobe() - call a jprobe's handler
 * @handler: it has the prototype of the probed function
 * @regs: registers at the function's entry
 *
 * Seed: kprobes.txt section 1.2.
 *
 * Context: the hit, preemption disabled; the level is taken.
 */
void arch_call_jprobe(void *handler, struct pt_regs *regs)
{
	unsigned long words = (stack_end(regs->sp) - regs->sp) / sizeof(long);

	/* The calls that jprobe_return() leaves never return to the graph tracer. */
	pause_graph_tracing();
	jprobe_call_handler(handler, regs, min(words, JPROBE_STACK_WORDS),
			    &this_cpu_ptr(&jprobe_frames)->level[kprobe_this_level()]);
	unpause_graph_tracing();
}
NOKPROBE_SYMBOL(arch_call_jprobe);

/**
 * jprobe_this_frame() - what jprobe_return() goes back to
 * @sp: its stack pointer
 *
 * A handler that has died leaves its frame behind, of a stack that is no more: the
 * right one is on this stack, further up.
 *
 * Context: any.
 * Return: frame pointer of jprobe_call_handler(), or 0 if no handler is running.
 */
asmlinkage unsigned long jprobe_this_frame(unsigned long sp)
{
	unsigned long frame;

	preempt_disable_notrace();
	frame = this_cpu_ptr(&jprobe_frames)->level[kprobe_this_level()];
	preempt_enable_notrace();
	if (frame - sp < THREAD_SIZE) {
		/* Nobody else takes the marks of the frames away that are left. */
		kasan_unpoison_range((void *)sp, frame - sp);
		return frame;
	}
	pr_err_once("kprobes: jprobe_return() outside of a jprobe's handler\n");
	return 0;
}
NOKPROBE_SYMBOL(jprobe_this_frame);
