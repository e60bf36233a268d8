/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entry of a function whose return is waited for: inline in the usual hit.
 */
#ifndef _KERNEL_UPROBES_ENTER_H
#define _KERNEL_UPROBES_ENTER_H

#include <linux/ptrace.h>
#include <linux/rculist.h>

#include "internal.h"
#include "instance.h"

/* Steps after the handlers of a hit that can be left out if no consumer needs them. */
enum {
	OMIT_HITS	= UPROBE_HANDLER_REMOVE,	/* further hits in this process */
	OMIT_RETURN	= BIT(1),			/* the return of this call */
};

/* A tail call of a probed function: both return to its caller. */
static noinline int chain(struct uprobe_task *utask, struct return_instance *ri,
			  struct pt_regs *regs)
{
	uprobe_instances_drop(utask, RP_CHECK_CHAIN_CALL, regs);
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
		uprobe_instances_drop(utask, RP_CHECK_CALL, regs);
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
	uprobe_instance_push(utask, ri);
	return 0;
}

/* Returns the instance to the pool: no consumer wants the return, or it will not be seen. */
static noinline void do_not_expect(struct uprobe_task *utask, struct return_instance *ri,
				   unsigned int omit)
{
	if (!(omit & OMIT_RETURN)) {
		atomic_long_inc(&uprobe_returns_missed);
		if (ri)
			uprobe_instance_missed(ri);
	}
	if (ri)
		uprobe_instance_put(utask, ri);
}

/*
 * Calls the entry handler of a consumer.  Returns the steps that can be left out.  @ri: NULL
 * if there is no memory for an instance.
 */
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

/* Calls the entry handlers of a consumer and of those after it. */
static __always_inline unsigned int enter_all(struct return_instance *ri,
					      struct list_head *consumers,
					      struct uprobe_consumer *uc, struct pt_regs *regs)
{
	unsigned int omit = OMIT_HITS | OMIT_RETURN;

	do {
		omit &= enter(ri, uc, regs);
		uc = list_entry_rcu(uc->cons_node.next, struct uprobe_consumer, cons_node);
	} while (!list_entry_is_head(uc, consumers, cons_node));
	return omit;
}

/* Without memory for an instance: the return will not be seen. */
static noinline unsigned int enter_missed(struct uprobe_task *utask, struct list_head *consumers,
					  struct uprobe_consumer *uc, struct pt_regs *regs)
{
	unsigned int omit = enter_all(NULL, consumers, uc, regs);

	do_not_expect(utask, NULL, omit);
	return omit & OMIT_HITS;
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
static __always_inline unsigned int
uprobe_return_enter(struct uprobe_task *utask, struct list_head *consumers,
		    struct uprobe_consumer *uc, unsigned long func, struct pt_regs *regs)
{
	struct return_instance *ri = uprobe_instance_take(utask);
	struct uprobe_point *point;
	unsigned int omit;

	if (unlikely(!ri))
		return enter_missed(utask, consumers, uc, regs);
	ri->func = func;
	omit = enter_all(ri, consumers, uc, regs);
	point = container_of(consumers, struct uprobe_point, consumers);
	if (unlikely(omit & OMIT_RETURN) || unlikely(expect_return(utask, ri, point, regs)))
		do_not_expect(utask, ri, omit);
	return omit & OMIT_HITS;
}

/* retprobe.c */
unsigned int uprobe_return_enter_apart(struct uprobe_task *utask, struct list_head *consumers,
				       struct uprobe_consumer *uc, unsigned long func,
				       struct pt_regs *regs);

#endif /* _KERNEL_UPROBES_ENTER_H */
