// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: jprobes.  From the hit of a function's entry to a handler that looks like
 * that function, and back.
 *
 * The handler runs on top of the hit, on the same stack.  jprobe_call_handler() makes
 * a frame with a copy of the arguments that the caller has put on the stack, loads
 * all registers but the frame pointer, and goes to the handler with a ret: neither
 * landing pads nor type hashes are asked for, for a jprobe's handler is known as
 * void *.  Each context level remembers the frame of its handler, and
 * jprobe_return() goes back to it.
 */
#include <linux/ftrace.h>
#include <linux/kasan.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <asm/stacktrace.h>

#include "common.h"
#include "jprobe.h"

/* Frame pointer of jprobe_call_handler() in each level; 0: no handler runs there. */
struct jprobe_frames {
	unsigned long level[NR_KPROBE_LEVELS];
};

static DEFINE_PER_CPU(struct jprobe_frames, jprobe_frames);

static __always_inline bool inside(unsigned long addr, unsigned long begin,
				   unsigned long size)
{
	return addr - begin < size;
}

/*
 * Where the stack ends that @addr is on, or @addr.  What 64 bit has for that is
 * noinstr; 32 bit's is not, but there all stacks that C runs on are of one size.
 */
static __always_inline unsigned long stack_end(unsigned long addr)
{
#ifdef CONFIG_X86_64
	struct stack_info info;

	if (get_stack_info_noinstr((unsigned long *)addr, current, &info))
		return (unsigned long)info.end;
#else
	unsigned long begin[] = {
		(unsigned long)task_stack_page(current),
		(unsigned long)__this_cpu_read(pcpu_hot.hardirq_stack_ptr),
		(unsigned long)__this_cpu_read(pcpu_hot.softirq_stack_ptr),
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(begin); i++) {
		if (inside(addr, begin[i], THREAD_SIZE))
			return begin[i] + THREAD_SIZE;
	}
#endif
	return addr;
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
	/* Behind the return address. */
	unsigned long args = regs->sp + sizeof(long);
	unsigned long words = (stack_end(args) - args) / sizeof(long);

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
	if (frame && inside(frame, sp, THREAD_SIZE)) {
		/* Nobody else takes the marks of the frames away that are left. */
		kasan_unpoison_range((void *)sp, frame - sp);
		return frame;
	}
	pr_err_once("kprobes: jprobe_return() outside of a jprobe's handler\n");
	return 0;
}
NOKPROBE_SYMBOL(jprobe_this_frame);
