// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At a call of ftrace: call the probes on the instruction that ftrace owns.
 *
 * No instruction has to be copied, because the call is a nop for the function.  Handlers see
 * the same registers as at a breakpoint.
 *
 * ftrace's own recursion check is not used, because it drops a nested hit without counting
 * it.  A busy frame detects the same nesting, and the miss is counted.
 */
#include <linux/ftrace.h>
#include <linux/preempt.h>

#include "../table.h"
#include "notrap.h"

/**
 * kprobe_call_nop() - kprobe::call of a probe with a post_handler on ftrace's instruction
 * @probe: the probe
 * @regs: registers at the probed instruction
 *
 * The probed instruction is a nop, so the post_handler is called after the pre_handler.
 *
 * Context, return: see kprobe_dispatch_pre().
 */
int kprobe_call_nop(struct kprobe *probe, struct pt_regs *regs)
{
	kprobe_post_handler_t post;
	int ret = 0;

	if (probe->fault_handler)
		kprobe_note_probe(probe);
	if (probe->pre_handler)
		ret = probe->pre_handler(probe, regs);
	post = READ_ONCE(probe->post_handler);
	if (!ret && post) {
		instruction_pointer_set(regs, (unsigned long)probe->addr + MCOUNT_INSN_SIZE);
		post(probe, regs, 0);
		instruction_pointer_set(regs, kprobe_hit_ip(probe));
	}
	kprobe_note_probe(NULL);
	return ret;
}
NOKPROBE_SYMBOL(kprobe_call_nop);

/* Handles hits outside of plain task context: another level, or an idle CPU. */
static noinline void ftrace_hit_slow(unsigned long ip, struct pt_regs *regs)
{
	unsigned long resume = instruction_pointer(regs);
	struct kprobe_point *point;
	bool entered;

	preempt_disable_notrace();
	entered = kprobe_rcu_enter();
	point = kprobe_table_read(ip);
	if (point && !level_hit(point, regs))
		instruction_pointer_set(regs, resume);
	kprobe_rcu_exit(entered);
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(ftrace_hit_slow);

static __always_inline void ftrace_hit_fast(unsigned long ip, struct pt_regs *regs)
{
	/* Other users of ftrace, for example live patches, may already have changed it. */
	unsigned long resume = instruction_pointer(regs);
	struct kprobe_point *point = kprobe_table_read(ip);

	if (unlikely(!point))
		return;
	if (unlikely(!kprobe_task_is_free()))
		kprobe_count_miss(point);
	else if (!task_hit(point, regs))
		instruction_pointer_set(regs, resume);
}

/**
 * kprobe_ftrace_hit() - call the probes on an instruction that ftrace owns
 * @ip: address of the instruction
 * @regs: all registers at the instruction
 *
 * A handler that returns non-zero has changed the instruction pointer of @regs.  Otherwise it
 * is the same as before.
 *
 * Context: any context of a traced function; preemption may be enabled, and RCU may not be
 * watching.
 */
void kprobe_ftrace_hit(unsigned long ip, struct pt_regs *regs)
{
	if (unlikely(!kprobe_in_watched_task())) {
		ftrace_hit_slow(ip, regs);
		return;
	}
	preempt_disable_notrace();
	ftrace_hit_fast(ip, regs);
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(kprobe_ftrace_hit);
