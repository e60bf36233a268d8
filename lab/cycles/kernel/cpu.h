/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Variables of the processor that a hit reads: a task runs, and RCU watches.
 */
#include <linux/context_tracking_state.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/preempt.h>

DEFINE_PER_CPU(struct context_tracking, context_tracking) = {
	.state = ATOMIC_INIT(CT_RCU_WATCHING),
};

DEFINE_PER_CPU_CACHE_HOT(unsigned long, __preempt_count) = PREEMPT_ENABLED;
DEFINE_PER_CPU_CACHE_HOT(unsigned long, this_cpu_off);

void cycles_prepare(u64 *hits);

static u64 *hit_count;

static int count_hit(struct kprobe *kp, struct pt_regs *regs)
{
	(*hit_count)++;
	return 0;
}

static struct kprobe probe = { .pre_handler = count_hit };
