// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes: returns to the trampoline.
 *
 * At the entry of a function with a consumer that waits for its return, the return address is
 * replaced by that of the trampoline and kept in an instance (enter.h, instance.c). Instances
 * form a stack for each task. Those of calls that longjmp() has abandoned are recognized by the
 * stack pointer and dropped.
 *
 * The lists of consumers are read without a lock: consumers that are removed meanwhile stay
 * until the hit has ended, see observe.c.
 */
#include <linux/ptrace.h>
#include <linux/sched/signal.h>

#include "enter.h"
#include "internal.h"
#include "hit.h"
#include "instance.h"
#include "table.h"

/**
 * uprobe_return_enter_apart() - uprobe_return_enter(), for hits that seldom have return probes
 * @utask: see there
 * @consumers: see there
 * @uc: see there
 * @func: see there
 * @regs: see there
 *
 * Context, return: see there.
 */
unsigned int uprobe_return_enter_apart(struct uprobe_task *utask, struct list_head *consumers,
				       struct uprobe_consumer *uc, unsigned long func,
				       struct pt_regs *regs)
{
	return uprobe_return_enter(utask, consumers, uc, func, regs);
}

/* The point that the process has at the function of an instance, if it is the same. */
static struct uprobe_point *look_up_point(struct return_instance *ri)
{
	struct uprobe_mm *own = current->mm->uprobes_state.own;
	struct uprobe_site *site = own ? uprobe_table_find(own, ri->func) : NULL;
	struct uprobe_point *point = site ? READ_ONCE(site->point) : NULL;

	if (point && point->id != ri->point_id)
		point = READ_ONCE(site->second);
	return point && point->id == ri->point_id ? point : NULL;
}

/*
 * Looks the point up again: it may be gone. A child always does so. A child after fork, or text
 * that was remapped, has no site yet. The return handlers need none, so that no lack of memory or
 * of room for a copy loses the return.
 */
static noinline struct uprobe_point *find_point(struct return_instance *ri)
{
	return look_up_point(ri) ?: uprobe_site_point(ri->func, ri->point_id);
}

/* Has nothing been unregistered since the entry, so that the instance's point exists? */
static __always_inline bool has_point(const struct return_instance *ri)
{
	/*
	 * Objects that the entry has seen are freed after an epoch that began later. If none
	 * has begun yet, uprobe_observe() sees the mark of this hit, because the epoch is read
	 * after the barrier in uprobe_hit_begin().
	 */
	return likely(READ_ONCE(uprobe_epoch) == ri->epoch);
}

/*
 * Calls the return handlers for a call. Consumers without a handler are also called if they were
 * registered after the call; those with one only if it asked for the return.
 */
static __always_inline void call_return_handlers(struct return_instance *ri,
						 struct pt_regs *regs)
{
	struct uprobe_point *point = has_point(ri) ? ri->point : find_point(ri);
	/* Notes are in the order of consumers, too. */
	struct return_consumer *next = ri->consumers, *note;
	struct uprobe_consumer *uc;

	if (unlikely(!point))
		return;
	list_for_each_entry_rcu(uc, &point->consumers, cons_node, true) {
		if (!uc->ret_handler)
			continue;
		if (!uc->handler) {
			uc->ret_handler(uc, ri->func, regs, NULL);
			continue;
		}
		for (note = next; note < ri->end; note++) {
			if (note->id != uc->id)
				continue;
			next = note + 1;
			uc->ret_handler(uc, ri->func, regs, &note->cookie);
			break;
		}
	}
}

/* Last instance of the tail calls that return together with the first. */
static struct return_instance *chain_end(struct return_instance *ri)
{
	while (ri->chained && ri->next)
		ri = ri->next;
	return ri;
}

/* Returns after tail calls, or after longjmp(). */
static noinline void handle_returns(struct uprobe_task *utask, struct pt_regs *regs)
{
	struct return_instance *ri, *last;
	bool returned;

	do {
		last = chain_end(utask->return_instances);
		/* If the next call is over as well, longjmp() has skipped this one's return. */
		returned = !last->next || arch_uretprobe_is_alive(last->next, RP_CHECK_RET, regs);
		if (returned)
			instruction_pointer_set(regs, last->orig_ret_vaddr);
		do {
			ri = utask->return_instances;
			uprobe_instance_pop(utask, ri);
			if (returned)
				call_return_handlers(ri, regs);
			uprobe_instance_put(utask, ri);
		} while (ri != last);
	} while (!returned);
}

static __always_inline void handle_return(struct uprobe_task *utask, struct return_instance *ri,
					  struct pt_regs *regs)
{
	if (unlikely(ri->chained ||
		     (ri->next && !arch_uretprobe_is_alive(ri->next, RP_CHECK_RET, regs)))) {
		handle_returns(utask, regs);
		return;
	}
	uprobe_instance_pop(utask, ri);
	instruction_pointer_set(regs, ri->orig_ret_vaddr);
	call_return_handlers(ri, regs);
	uprobe_instance_put(utask, ri);
}

static __always_inline void complete_return(struct uprobe_task *utask, struct pt_regs *regs)
{
	struct return_instance *ri = utask->return_instances;

	if (unlikely(!ri)) {
		force_sig(SIGILL);
		return;
	}
	handle_return(utask, ri, regs);
	utask->returned_to = instruction_pointer(regs);
}

/**
 * uprobe_return_hit() - current has hit the breakpoint of the trampoline
 * @utask: of current
 * @regs: its user registers
 *
 * Context: a hit.
 */
void uprobe_return_hit(struct uprobe_task *utask, struct pt_regs *regs)
{
	complete_return(utask, regs);
}

/* See <linux/uprobes-arch.h>. */
void uprobe_handle_trampoline(struct pt_regs *regs)
{
	struct uprobe_task *utask = current->utask;

	if (unlikely(!utask)) {
		force_sig(SIGILL);
		return;
	}
	uprobe_hit_begin(utask);
	complete_return(utask, regs);
	uprobe_hit_finish(utask);
}
