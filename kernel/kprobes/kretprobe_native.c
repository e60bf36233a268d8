// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes whose instances the core keeps, for architectures that bring a
 * trampoline (HAVE_KRETPROBES) but no rethook.
 *
 * Free instances are in an objpool.  One that is in use hangs on its task's
 * list, the innermost call first.  The holder of the pool outlives the probe:
 * it goes when the last call that is in flight has returned.
 *
 * A task's list is touched by that task only (entry, trampoline, exit); others
 * walk it for unwinding while the task does not run.
 */
#include <linux/kprobes.h>
#include <linux/llist.h>
#include <linux/objpool.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "internal.h"

static int bind_instance(void *object, void *context)
{
	struct kretprobe_instance *ri = object;

	ri->rph = context;
	return 0;
}

static int free_holder(struct objpool_head *pool, void *context)
{
	kfree(context);
	return 0;
}

/**
 * kretprobe_engine_alloc() - make the instances of a return probe
 * @rp: the probe; maxactive and data_size are set
 *
 * Context: task, may sleep.
 * Return: 0 or -ENOMEM.
 */
int kretprobe_engine_alloc(struct kretprobe *rp)
{
	struct kretprobe_holder *holder = kzalloc(sizeof(*holder), GFP_KERNEL);
	size_t size = sizeof(struct kretprobe_instance) + rp->data_size;

	if (!holder)
		return -ENOMEM;
	RCU_INIT_POINTER(holder->rp, rp);
	if (objpool_init(&holder->pool, rp->maxactive, size, GFP_KERNEL, holder,
			 bind_instance, free_holder)) {
		kfree(holder);
		return -ENOMEM;
	}
	rp->rph = holder;
	return 0;
}

/**
 * kretprobe_engine_stop() - begin no more return handlers
 * @rp: the probe; one that has no instances is left alone
 *
 * Context: task.
 */
void kretprobe_engine_stop(struct kretprobe *rp)
{
	/* Pairs with get_kretprobe(); the caller waits for a grace period. */
	if (rp->rph)
		rcu_assign_pointer(rp->rph->rp, NULL);
}

/**
 * kretprobe_engine_free() - give the instances up
 * @rp: the probe; one that has no instances is left alone
 *
 * Context: task; after kretprobe_engine_stop() and a grace period, or never
 * registered.
 */
void kretprobe_engine_free(struct kretprobe *rp)
{
	if (!rp->rph)
		return;
	rcu_assign_pointer(rp->rph->rp, NULL);
	objpool_fini(&rp->rph->pool);
	rp->rph = NULL;
}

static void drop_instance_rcu(struct rcu_head *rcu)
{
	struct kretprobe_instance *ri = container_of(rcu, typeof(*ri), rcu);

	objpool_drop(ri, &ri->rph->pool);
}

/* Back to the pool; out of the world if its probe has gone. */
static void recycle(struct kretprobe_instance *ri)
{
	if (get_kretprobe(ri))
		objpool_push(ri, &ri->rph->pool);
	else
		call_rcu(&ri->rcu, drop_instance_rcu);
}
NOKPROBE_SYMBOL(recycle);

/**
 * kretprobe_engine_enter() - pre_handler of every return probe
 * @kp: embedded in the return probe
 * @regs: registers at the function's entry
 *
 * Context: the hit, preemption disabled.
 * Return: 0, the function goes on.
 */
int kretprobe_engine_enter(struct kprobe *kp, struct pt_regs *regs)
{
	struct kretprobe *rp = container_of(kp, struct kretprobe, kp);
	struct kretprobe_instance *ri = objpool_pop(&rp->rph->pool);

	if (!ri) {
		/* Calls on several CPUs miss at once, and the count is exact. */
		raw_atomic_inc((atomic_t *)&rp->nmissed);
		return 0;
	}
	if (rp->entry_handler && rp->entry_handler(ri, regs)) {
		objpool_push(ri, &rp->rph->pool);
		return 0;
	}
	arch_prepare_kretprobe(ri, regs);
	__llist_add(&ri->llist, &current->kretprobe_instances);
	return 0;
}
NOKPROBE_SYMBOL(kretprobe_engine_enter);

/*
 * The first instance from @node on that holds a real return address: probes on
 * one call save each other's trampoline, and only the first of them to be
 * entered saved the caller.
 */
static struct kretprobe_instance *find_real(struct llist_node *node)
{
	struct kretprobe_instance *ri;

	llist_for_each_entry(ri, node, llist) {
		if ((void *)ri->ret_addr != kretprobe_trampoline_addr())
			return ri;
	}
	return NULL;
}
NOKPROBE_SYMBOL(find_real);

/**
 * kretprobe_find_ret_addr() - the real return address behind a trampoline
 * @tsk: current, or a task that does not run
 * @fp: frame in which the trampoline's address was found
 * @cur: where to go on; *@cur is NULL at first
 *
 * Context: any.
 * Return: the address, or 0 if there is none.
 */
unsigned long kretprobe_find_ret_addr(struct task_struct *tsk, void *fp,
				      struct llist_node **cur)
{
	struct llist_node *node = *cur ? (*cur)->next : tsk->kretprobe_instances.first;
	struct kretprobe_instance *ri;

	for (ri = find_real(node); ri; ri = find_real(ri->llist.next)) {
		*cur = &ri->llist;
		if (ri->fp == fp)
			return (unsigned long)ri->ret_addr;
	}
	return 0;
}
NOKPROBE_SYMBOL(kretprobe_find_ret_addr);

/* Runs the handler of one probe on a call that returns to @to. */
static void call_handler(struct kretprobe_instance *ri, kprobe_opcode_t *to,
			 struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct kprobe *outer;

	if (!rp || !rp->handler)
		return;
	outer = kprobe_push_current(&rp->kp);
	ri->ret_addr = to;
	rp->handler(ri, regs);
	kprobe_pop_current(outer);
}
NOKPROBE_SYMBOL(call_handler);

/**
 * __kretprobe_trampoline_handler() - a return-probed function has returned
 * @regs: registers at the return; made to return to the caller
 * @frame_pointer: of the call, as arch_prepare_kretprobe() saved it
 *
 * Seed: kprobes.txt section 5, for the message.
 *
 * Context: the trampoline, preemption disabled.
 * Return: the real return address.
 */
unsigned long __kretprobe_trampoline_handler(struct pt_regs *regs,
					     void *frame_pointer)
{
	struct kretprobe_instance *last, *ri, *next;
	struct llist_node *first;
	kprobe_opcode_t *to;

	first = current->kretprobe_instances.first;
	last = find_real(first);
	if (!last || last->fp != frame_pointer) {
		ri = last ?: llist_entry(first, struct kretprobe_instance, llist);
		pr_err("kretprobe BUG!: Processing kretprobe %p @ %08lx\n",
		       first ? get_kretprobe(ri) : NULL, instruction_pointer(regs));
		/* There is no address to return to. */
		BUG();
	}
	to = last->ret_addr;
	instruction_pointer_set(regs, (unsigned long)to);

	llist_for_each_entry(ri, first, llist) {
		call_handler(ri, to, regs);
		if (ri == last)
			break;
	}
	arch_kretprobe_fixup_return(regs, to);

	/* Unlinked before they are used again by a hit in an interrupt. */
	current->kretprobe_instances.first = last->llist.next;
	last->llist.next = NULL;
	llist_for_each_entry_safe(ri, next, first, llist)
		recycle(ri);
	return (unsigned long)to;
}
NOKPROBE_SYMBOL(__kretprobe_trampoline_handler);

void __weak arch_kretprobe_fixup_return(struct pt_regs *regs,
					kprobe_opcode_t *correct_ret_addr)
{
	/* The address is found through regs: instruction_pointer_set() above. */
}

/**
 * kprobe_flush_task() - take back the instances of a task that is dead
 * @tk: the task; its probed functions will never return
 *
 * Context: task.
 */
void kprobe_flush_task(struct task_struct *tk)
{
	struct kretprobe_instance *ri, *next;

	/* Probes in what this calls would take instances of the list it empties. */
	kprobe_busy_begin();
	llist_for_each_entry_safe(ri, next, __llist_del_all(&tk->kretprobe_instances),
				  llist)
		recycle(ri);
	kprobe_busy_end();
}
