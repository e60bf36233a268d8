// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jprobes: a handler with the prototype of the probed function.
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
#include <linux/export.h>
#include <linux/ftrace.h>
#include <linux/kasan.h>
#include <linux/kernel.h>
#include <linux/kprobes-frame.h>
#include <linux/kprobes-jprobe.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/thread_info.h>
#include <asm/jprobes.h>

#include "internal.h"

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
 * jprobe_this_frame() - what jprobe_return() goes back to
 * @sp: its stack pointer
 *
 * A handler that has died leaves its frame behind, of a stack that is no more: the
 * right one is on this stack, further up.
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
		/* Nobody else takes the marks of the frames away that are left. */
		kasan_unpoison_range((void *)sp, frame - sp);
		return frame;
	}
	pr_err_once("jprobe_return() outside of a jprobe's handler\n");
	return 0;
}
NOKPROBE_SYMBOL(jprobe_this_frame);

/**
 * register_jprobes() - register several jprobes, all or none
 * @jps: array of pointers to the probes
 * @num: how many, > 0
 *
 * Spec: kprobes.txt sections 4.2, 4.5.
 *
 * Context: task, may sleep.
 * Return: 0; what register_kprobes() returns; -EINVAL if entry is no function, or
 * if the place is not a function's entry; -EEXIST if the function has a jprobe;
 * -ENOMEM.
 */
int register_jprobes(struct jprobe **jps, int num)
{
	int i;

	for (i = 0; jps && i < num && jps[i]; i++) {
		if (!kernel_text_address((unsigned long)jps[i]->entry))
			return kprobe_refuse((unsigned long)jps[i]->entry,
					     KPROBE_REFUSE_JPROBE_HANDLER, -EINVAL);
	}
	if (num <= 0 || !jps || i < num)
		return kprobe_refuse(0, KPROBE_REFUSE_BAD_ARGUMENT, -EINVAL);

	for (i = 0; i < num; i++)
		jps[i]->kp.pre_handler = kprobe_enter_jprobe;
	return kprobe_register_batch((struct kprobe **)jps, num, KPROBE_FLAG_KIND_JPROBE);
}
EXPORT_SYMBOL_GPL(register_jprobes);

/* register_jprobes() for one. */
int register_jprobe(struct jprobe *jp)
{
	return register_jprobes(&jp, 1);
}
EXPORT_SYMBOL_GPL(register_jprobe);

/**
 * unregister_jprobes() - unregister several jprobes
 * @jps: array of pointers to the probes; NULL is left out
 * @num: how many
 *
 * When it returns no handler of them is running or will run again.  The kp.addr of
 * one that was not registered is set to NULL.
 *
 * Spec: kprobes.txt sections 4.4, 4.6.
 *
 * Context: task, may sleep.
 */
void unregister_jprobes(struct jprobe **jps, int num)
{
	unregister_kprobes((struct kprobe **)jps, num);
}
EXPORT_SYMBOL_GPL(unregister_jprobes);

/* unregister_jprobes() for one. */
void unregister_jprobe(struct jprobe *jp)
{
	unregister_jprobes(&jp, 1);
}
EXPORT_SYMBOL_GPL(unregister_jprobe);

/* In the architecture's assembly. */
EXPORT_SYMBOL_GPL(jprobe_return);
