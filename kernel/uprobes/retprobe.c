// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes: entries of functions, and returns to the trampoline.
 *
 * At the entry of a function with a consumer that waits for its return, the return address is
 * replaced by that of the trampoline and kept in an instance (instance.c). Instances form a
 * stack for each task. Those of calls that longjmp() has abandoned are recognized by the stack
 * pointer and dropped.
 *
 * The lists of consumers are read without a lock: consumers that are removed meanwhile stay
 * until the hit has ended, see observe.c.
 */
#include <linux/ptrace.h>
#include <linux/sched/signal.h>

#include "internal.h"
#include "hit.h"
#include "instance.h"
#include "table.h"

/* --- Stack of instances --------------------------------------------------------- */

/* Takes an instance without consumers from the pool, or a new one; NULL without memory. */
static __always_inline struct return_instance *take_instance(struct uprobe_task *utask)
{
	struct return_instance *ri = utask->pool;

	if (unlikely(!ri))
		return uprobe_instance_new();
	utask->pool = ri->next;
	return ri;
}

static __always_inline void put_instance(struct uprobe_task *utask, struct return_instance *ri)
{
	uprobe_instance_release(ri);
	ri->next = utask->pool;
	utask->pool = ri;
}

static __always_inline void push(struct uprobe_task *utask, struct return_instance *ri)
{
	ri->next = utask->return_instances;
	/* An interrupt that follows the list sees a complete instance. */
	barrier();
	WRITE_ONCE(utask->return_instances, ri);
}

static __always_inline void pop(struct uprobe_task *utask, struct return_instance *ri)
{
	/* An interrupt that follows the list sees it with @ri, or without. */
	WRITE_ONCE(utask->return_instances, ri->next);
}

static void drop_dead(struct uprobe_task *utask, enum rp_check ctx, struct pt_regs *regs)
{
	struct return_instance *ri;

	while ((ri = utask->return_instances) && !arch_uretprobe_is_alive(ri, ctx, regs)) {
		pop(utask, ri);
		put_instance(utask, ri);
	}
}

/* --- Entry ---------------------------------------------------------------------- */

/* What can be left out after the handlers of a hit, because no consumer needs it. */
enum {
	OMIT_HITS	= UPROBE_HANDLER_REMOVE,	/* further hits in this process */
	OMIT_RETURN	= BIT(1),			/* the return of this call */
};

/* A tail call of a probed function: both return to its caller. */
static noinline int chain(struct uprobe_task *utask, struct return_instance *ri,
			  struct pt_regs *regs)
{
	drop_dead(utask, RP_CHECK_CHAIN_CALL, regs);
	if (!utask->return_instances)
		return -EFAULT;
	ri->orig_ret_vaddr = utask->return_instances->orig_ret_vaddr;
	return 0;
}

/* Replaces the return address, which the instance gets. */
static __always_inline int replace_return(struct uprobe_task *utask, struct return_instance *ri,
					  struct pt_regs *regs)
{
	unsigned long entry = READ_ONCE(current->mm->uprobes_state.trampoline);

	if (unlikely(!entry))
		entry = uprobe_trampoline_map();
	if (unlikely(!entry || arch_uretprobe_replace(regs, entry, &ri->orig_ret_vaddr)))
		return -EFAULT;
	ri->chained = ri->orig_ret_vaddr == entry;
	if (unlikely(ri->chained))
		return chain(utask, ri, regs);
	if (utask->return_instances)
		drop_dead(utask, RP_CHECK_CALL, regs);
	return 0;
}

/* Begins to wait for the return of a function. */
static __always_inline int expect_return(struct uprobe_task *utask, struct return_instance *ri,
					 struct uprobe_point *point, struct pt_regs *regs)
{
	ri->stack = user_stack_pointer(regs);
	ri->point = point;
	ri->point_id = point->id;
	ri->epoch = utask->busy;
	if (unlikely(replace_return(utask, ri, regs)))
		return -EFAULT;
	push(utask, ri);
	return 0;
}

/* Nobody waits for the return, or it will not be seen. */
static noinline void do_not_expect(struct uprobe_task *utask, struct return_instance *ri,
				   unsigned int omit)
{
	if (!(omit & OMIT_RETURN))
		uprobe_return_missed();
	if (ri)
		put_instance(utask, ri);
}

/* Calls the entry handler of a consumer.  Returns what it allows to be left out. */
static __always_inline unsigned int enter(struct return_instance *ri, struct uprobe_consumer *uc,
					  struct pt_regs *regs)
{
	u64 cookie = 0;
	int rc;

	if (!uc->handler)
		return 0;
	rc = uc->handler(uc, regs, &cookie);
	if (rc || !uc->ret_handler)
		return rc | OMIT_RETURN;
	uprobe_instance_note(ri, uc, cookie);
	return 0;
}

/**
 * uprobe_return_enter() - a hit of a point with consumers that wait for returns
 * @utask: of current, which is in a hit
 * @consumers: of the point
 * @uc: the first one with a return handler
 * @func: address of the function; a handler may have changed the instruction pointer
 * @regs: user registers at the entry of the function
 *
 * Calls the handlers of @uc and of the consumers after it, and waits for the return if one of
 * them does. If the return address cannot be replaced, or memory is short, the call is counted
 * as missed.
 *
 * Context: task, may sleep.
 * Return: %UPROBE_HANDLER_REMOVE if none of these consumers needs further hits in this process,
 * or 0.
 */
unsigned int uprobe_return_enter(struct uprobe_task *utask, struct list_head *consumers,
				 struct uprobe_consumer *uc, unsigned long func,
				 struct pt_regs *regs)
{
	struct return_instance *ri = take_instance(utask);
	unsigned int omit = OMIT_HITS | OMIT_RETURN;
	struct uprobe_point *point;

	if (likely(ri))
		ri->func = func;
	do {
		omit &= enter(ri, uc, regs);
		uc = list_entry_rcu(uc->cons_node.next, struct uprobe_consumer, cons_node);
	} while (!list_entry_is_head(uc, consumers, cons_node));

	point = container_of(consumers, struct uprobe_point, consumers);
	if (unlikely(omit & OMIT_RETURN) || unlikely(!ri) ||
	    unlikely(expect_return(utask, ri, point, regs)))
		do_not_expect(utask, ri, omit);
	return omit & OMIT_HITS;
}

/* --- Return --------------------------------------------------------------------- */

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

/* Looks the point up again: it may be gone.  A child always does so. */
static noinline struct uprobe_point *find_point(struct return_instance *ri)
{
	struct uprobe_point *point = look_up_point(ri);

	if (point)
		return point;
	/* A child after fork, or text that was remapped, has no site yet. */
	return uprobe_site_resolve(ri->func) == UPROBE_RESOLVED ? look_up_point(ri) : NULL;
}

/* Has nothing been unregistered since the entry, so that the instance's point exists? */
static __always_inline bool has_point(const struct return_instance *ri)
{
	/*
	 * What the entry has seen is freed after an epoch that began later. If none has begun
	 * yet, uprobe_observe() sees the mark of this hit, because the epoch is read after the
	 * barrier in uprobe_hit_begin().
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
			pop(utask, ri);
			if (returned)
				call_return_handlers(ri, regs);
			put_instance(utask, ri);
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
	pop(utask, ri);
	instruction_pointer_set(regs, ri->orig_ret_vaddr);
	call_return_handlers(ri, regs);
	put_instance(utask, ri);
}

/* See <linux/uprobes-arch.h>. */
void uprobe_handle_trampoline(struct pt_regs *regs)
{
	struct uprobe_task *utask = current->utask;
	struct return_instance *ri = utask ? utask->return_instances : NULL;

	if (unlikely(!ri)) {
		force_sig(SIGILL);
		return;
	}
	uprobe_hit_begin(utask);
	handle_return(utask, ri, regs);
	utask->returned_to = instruction_pointer(regs);
	uprobe_hit_end(utask);
	if (unlikely(utask->deferred))
		uprobe_deferred_run(utask);
}
