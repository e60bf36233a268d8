// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At a hit, on architectures that keep one current probe per CPU themselves
 * (current_kprobe, kprobe_ctlblk) and handle nesting in their own way.
 */
#include <linux/kprobes-frame.h>
#include <linux/percpu.h>

#include "../internal.h"

/* The current probe between kprobe_busy_begin() and kprobe_busy_end(). */
static struct kprobe_point busy_point = { .lone = &busy_point.kp };

/* See frame.c.  Here all context levels share one current probe. */
void kprobe_busy_begin(void)
{
	preempt_disable();
	__this_cpu_write(current_kprobe, &busy_point.kp);
	get_kprobe_ctlblk()->kprobe_status = KPROBE_HIT_ACTIVE;
}
NOKPROBE_SYMBOL(kprobe_busy_begin);

/* See frame.c. */
void kprobe_busy_end(void)
{
	__this_cpu_write(current_kprobe, NULL);
	preempt_enable();
}
NOKPROBE_SYMBOL(kprobe_busy_end);

/* Without HAVE_KPROBE_LEVELS.  See <linux/kprobes-frame.h>; @frame is not used. */
struct kprobe *kprobe_push_current(struct kprobe_frame *frame, struct kprobe *kp)
{
	struct kprobe *outer = __this_cpu_read(current_kprobe);

	__this_cpu_write(current_kprobe, kp);
	if (!outer)
		get_kprobe_ctlblk()->kprobe_status = KPROBE_HIT_ACTIVE;
	return outer;
}
NOKPROBE_SYMBOL(kprobe_push_current);

void kprobe_pop_current(struct kprobe_frame *frame, struct kprobe *outer)
{
	__this_cpu_write(current_kprobe, outer);
}
NOKPROBE_SYMBOL(kprobe_pop_current);

/* The handler of a dying task will not return.  See frame.c. */
void kprobe_handler_died(void)
{
	preempt_disable();
	__this_cpu_write(current_kprobe, NULL);
	preempt_enable_no_resched();
}

/* The fault paths of these architectures translate addresses of copies themselves. */
unsigned long kprobe_text_address(unsigned long addr)
{
	return addr;
}
NOKPROBE_SYMBOL(kprobe_text_address);
