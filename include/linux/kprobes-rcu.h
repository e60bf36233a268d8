/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_RCU_H
#define _LINUX_KPROBES_RCU_H
/*
 * RCU at hits that take no exception.
 *
 * RCU does not watch a CPU in its idle loop.  A breakpoint's exception makes RCU watch
 * before it calls the handlers.  A jump, the return trampoline and ftrace's call do not, so
 * the functions that they call use kprobe_rcu_enter().
 */
#include <linux/compiler.h>
#include <linux/context_tracking_irq.h>
#include <linux/context_tracking_state.h>
#include <linux/percpu.h>

#ifdef CONFIG_CONTEXT_TRACKING_IDLE
/**
 * kprobe_rcu_is_watching() - does RCU watch this CPU?
 *
 * Always inlined: rcu_is_watching() is a function that can be probed.
 *
 * Context: any, preemption disabled.
 * Return: true if RCU watches, so that handlers may run.
 */
static __always_inline bool kprobe_rcu_is_watching(void)
{
	return raw_cpu_read(context_tracking.state.counter) & CT_RCU_WATCHING;
}
#else
static __always_inline bool kprobe_rcu_is_watching(void)
{
	return true;
}
#endif

/**
 * kprobe_rcu_enter() - make RCU watch this CPU while handlers run
 *
 * Context: any, preemption disabled.
 * Return: true if RCU did not watch before; the argument for kprobe_rcu_exit().
 */
static __always_inline bool kprobe_rcu_enter(void)
{
	if (likely(kprobe_rcu_is_watching()))
		return false;
	ct_nmi_enter();
	return true;
}

/* Undoes kprobe_rcu_enter(), which has returned @entered. */
static __always_inline void kprobe_rcu_exit(bool entered)
{
	if (unlikely(entered))
		ct_nmi_exit();
}

#endif /* _LINUX_KPROBES_RCU_H */
