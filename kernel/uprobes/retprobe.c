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
	utask->depth++;
}

static __always_inline void pop(struct uprobe_task *utask, struct return_instance *ri)
{
	/* An interrupt that follows the list sees it with @ri, or without. */
	WRITE_ONCE(utask->return_instances, ri->next);
	utask->depth--;
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

/**
 * uprobe_return_note() - a session consumer waits for the return of this call
 * @utask: of current, which is in a hit
 * @ri: instance of the call, or NULL
 * @uc: the consumer
 * @cookie: value for its return handler
 *
 * Context: task, may sleep.
 * Return: the instance, a new one if @ri is NULL; NULL if there is no memory.
 */
struct return_instance *uprobe_return_note(struct uprobe_task *utask,
					   struct return_instance *ri,
					   struct uprobe_consumer *uc, u64 cookie)
{
	if (!ri)
		ri = take_instance(utask);
	if (!ri && uretprobe_is_consumer(uc))
		uretprobe_instance_free(cookie);
	if (!ri || uprobe_instance_note(ri, uc, cookie))
		uprobe_return_missed();
	return ri;
}

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

/* Sets the return address of the instance, and replaces it in the user's stack. */
static __always_inline int replace_return(struct uprobe_task *utask, struct return_instance *ri,
					  struct pt_regs *regs)
{
	unsigned long entry = READ_ONCE(current->mm->uprobes_state.trampoline), ret;

	if (unlikely(!entry))
		entry = uprobe_trampoline_map();
	if (!entry || arch_uretprobe_peek(regs, &ret))
		return -EFAULT;
	ri->chained = ret == entry;
	if (unlikely(ri->chained))
		return chain(utask, ri, regs);
	if (utask->return_instances)
		drop_dead(utask, RP_CHECK_CALL, regs);
	ri->orig_ret_vaddr = ret;
	return arch_uretprobe_replace(regs, entry);
}

/**
 * uprobe_return_expect() - begin to wait for the return of a function
 * @utask: of current, which is in a hit
 * @ri: from uprobe_return_note(), or NULL
 * @point: what has been hit
 * @regs: user registers at the entry
 *
 * If the return address cannot be replaced, or memory is short, the call is counted as missed.
 *
 * Context: task, may sleep.
 */
void uprobe_return_expect(struct uprobe_task *utask, struct return_instance *ri,
			  struct uprobe_point *point, struct pt_regs *regs)
{
	if (!ri)
		ri = take_instance(utask);
	if (unlikely(!ri)) {
		uprobe_return_missed();
		return;
	}
	if (unlikely(replace_return(utask, ri, regs))) {
		uprobe_return_missed();
		put_instance(utask, ri);
		return;
	}
	ri->func = instruction_pointer(regs);
	ri->point_id = point->id;
	ri->stack = user_stack_pointer(regs);
	push(utask, ri);
}

/* --- Return --------------------------------------------------------------------- */

/* The consumer's note of a return; @next is where the search begins, in the same order. */
static struct return_consumer *find_note(struct return_instance *ri, unsigned int *next, u64 id)
{
	unsigned int i;

	for (i = *next; i < ri->nr; i++) {
		if (ri->consumers[i].id != id)
			continue;
		*next = i + 1;
		return &ri->consumers[i];
	}
	return NULL;
}

/* The point of an instance, if it is still registered. */
static __always_inline struct uprobe_point *instance_point(struct return_instance *ri)
{
	struct uprobe_mm *own = current->mm->uprobes_state.own;
	struct uprobe_point *point = NULL;
	struct uprobe_site *site;

	if (likely(own)) {
		site = uprobe_table_find(own, ri->func);
		if (likely(site))
			point = READ_ONCE(site->point);
	}
	if (unlikely(point && point->id != ri->point_id))
		point = READ_ONCE(site->second);
	return point && point->id == ri->point_id ? point : NULL;
}

/* A child after fork, or text that was remapped, has no site yet. */
static noinline struct uprobe_point *resolve_point(struct return_instance *ri)
{
	return uprobe_site_resolve(ri->func) == UPROBE_RESOLVED ? instance_point(ri) : NULL;
}

/*
 * Calls the return handlers for a call. Consumers without a handler are also called if they were
 * registered after the call; those with one only if it asked for the return.
 */
static __always_inline void call_return_handlers(struct return_instance *ri,
						 struct pt_regs *regs)
{
	struct uprobe_point *point = instance_point(ri);
	struct return_consumer *note;
	struct uprobe_consumer *uc;
	unsigned int next = 0;

	if (unlikely(!point))
		point = resolve_point(ri);
	if (!point)
		return;
	list_for_each_entry_rcu(uc, &point->consumers, cons_node, true) {
		if (!uc->ret_handler)
			continue;
		if (!uc->handler) {
			uc->ret_handler(uc, ri->func, regs, NULL);
			continue;
		}
		note = find_note(ri, &next, uc->id);
		if (note)
			uc->ret_handler(uc, ri->func, regs, &note->cookie);
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
	instruction_pointer_set(regs, ri->orig_ret_vaddr);
	pop(utask, ri);
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
