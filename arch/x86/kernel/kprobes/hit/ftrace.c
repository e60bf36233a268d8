// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: probes on the call that ftrace owns at the entry of a function.
 *
 * No instruction has to be copied, because the call is a no-op for the function.
 * Handlers see the same registers as at a breakpoint: regs->ip is one byte after
 * the start of the instruction.
 */
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/kprobes-frame.h>
#include <linux/ptrace.h>
#include <linux/preempt.h>
#include <asm/text-patching.h>

#include "../common.h"

static __always_inline void ftrace_hit(struct kprobe *kp, struct kprobe_frame *frame,
				       struct pt_regs *regs)
{
	/* Other ftrace users, for example live patches, may already have changed it. */
	unsigned long resume = regs->ip;
	kprobe_post_handler_t post;

	kprobe_frame_enter(frame, kp);
	regs->ip = (unsigned long)kp->addr + INT3_INSN_SIZE;
	if (!kp->pre_handler(kp, regs)) {
		post = READ_ONCE(kp->post_handler);
		if (unlikely(post)) {
			regs->ip = (unsigned long)kp->addr + MCOUNT_INSN_SIZE;
			post(kp, regs, 0);
		}
		regs->ip = resume;
	}
	kprobe_frame_leave(frame);
}

static __always_inline void watched_hit(unsigned long ip, struct pt_regs *regs)
{
	struct kprobe *kp = get_kprobe((void *)ip);
	struct kprobe_frame *frame;

	if (unlikely(!kp))
		return;
	frame = kprobe_this_frame();
	if (likely(frame->phase == KPROBE_PHASE_IDLE))
		ftrace_hit(kp, frame, regs);
	else
		kprobes_inc_nmissed_count(kp);
}

/* Handles a hit on an idle CPU, which RCU does not watch. */
static noinline void unwatched_hit(unsigned long ip, struct pt_regs *regs)
{
	bool entered = kprobe_rcu_enter();

	watched_hit(ip, regs);
	kprobe_rcu_exit(entered);
}
NOKPROBE_SYMBOL(unwatched_hit);

/**
 * kprobe_ftrace_handler() - ftrace's callback for probed functions
 * @ip: address of ftrace's instruction
 * @parent_ip: address in the caller of the function
 * @ops: the one of the core's two ftrace_ops whose callback this is
 * @fregs: registers
 *
 * ftrace's own recursion check is not used, because it drops a nested hit without
 * counting it.  A busy frame detects the same nesting, and the miss is counted.
 *
 * Context: any context of a traced function; preemption may be enabled.
 */
void kprobe_ftrace_handler(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	/* All registers are saved: both ftrace_ops have FTRACE_OPS_FL_SAVE_REGS. */
	struct pt_regs *regs = &arch_ftrace_regs(fregs)->regs;

	/* ftrace cannot remove its calls any more, but disarmed probes must not fire. */
	if (unlikely(kprobe_ftrace_disabled))
		return;

	preempt_disable_notrace();
	if (likely(kprobe_rcu_is_watching()))
		watched_hit(ip, regs);
	else
		unwatched_hit(ip, regs);
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(kprobe_ftrace_handler);

/* See <linux/kprobes-arch.h>. */
int arch_prepare_kprobe_ftrace(struct kprobe *p)
{
	return 0;
}
