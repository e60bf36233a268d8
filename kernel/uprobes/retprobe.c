// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes: instances of calls, and returns to the trampoline.
 *
 * At the entry of a function with a consumer that waits for its return, the return address is
 * replaced by that of the trampoline and kept in an instance. Instances form a stack for each
 * task. They come from a pool of the task, which grows without limit; a call is missed, and
 * counted, only if there is no memory for it. Instances of calls that longjmp() has abandoned
 * are recognized by the stack pointer and dropped.
 */
#include <linux/atomic.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "internal.h"
#include "hit.h"

/* Returns that no handler has seen because memory was short. */
static atomic_long_t missed;

/**
 * uprobe_return_missed() - count a call whose return will not be seen
 *
 * Context: any.
 */
void uprobe_return_missed(void)
{
	atomic_long_inc(&missed);
}

/**
 * uprobe_returns_missed() - number of calls whose return was not seen
 *
 * Context: any.
 */
unsigned long uprobe_returns_missed(void)
{
	return atomic_long_read(&missed);
}

/* --- Pool --------------------------------------------------------------------- */

/**
 * uprobe_instance_new() - allocate an instance, because the pool is empty
 *
 * Context: task, may sleep.
 * Return: an instance without consumers, or NULL if there is no memory.
 */
struct return_instance *uprobe_instance_new(void)
{
	struct return_instance *ri = kmalloc_obj(*ri);

	if (!ri)
		return NULL;
	ri->consumers = &ri->first;
	ri->room = 1;
	ri->nr = 0;
	return ri;
}

/**
 * uprobe_instance_put() - return an instance to the pool
 * @utask: of current
 * @ri: not in the stack
 *
 * Context: task.
 */
void uprobe_instance_put(struct uprobe_task *utask, struct return_instance *ri)
{
	ri->next = utask->pool;
	utask->pool = ri;
}

static int set_room(struct return_instance *ri, unsigned int room)
{
	struct return_consumer *consumers;

	consumers = kmalloc_objs(*consumers, room);
	if (!consumers)
		return -ENOMEM;
	memcpy(consumers, ri->consumers, ri->nr * sizeof(*consumers));
	if (ri->consumers != &ri->first)
		kfree(ri->consumers);
	ri->consumers = consumers;
	ri->room = room;
	return 0;
}

/**
 * uprobe_instance_note() - let a consumer wait for a return
 * @ri: the instance of the call
 * @id: of the consumer
 * @cookie: value for its return handler
 *
 * Context: task, may sleep.
 * Return: 0 or -ENOMEM.
 */
int uprobe_instance_note(struct return_instance *ri, u64 id, u64 cookie)
{
	if (ri->nr == ri->room && set_room(ri, ri->room * 2))
		return -ENOMEM;
	ri->consumers[ri->nr++] = (struct return_consumer) { .cookie = cookie, .id = id };
	return 0;
}

static void free_list(struct return_instance *ri)
{
	struct return_instance *next;

	for (; ri; ri = next) {
		next = ri->next;
		if (ri->consumers != &ri->first)
			kfree(ri->consumers);
		kfree(ri);
	}
}

/**
 * uprobe_instances_free() - free all instances of a task
 * @utask: not in use any more
 *
 * Context: task.
 */
void uprobe_instances_free(struct uprobe_task *utask)
{
	struct return_instance *ri = utask->return_instances;

	/* An interrupt must not follow a list that is being freed. */
	WRITE_ONCE(utask->return_instances, NULL);
	barrier();
	free_list(ri);
	free_list(utask->pool);
	utask->pool = NULL;
}

static struct return_instance *copy_instance(struct return_instance *from)
{
	struct return_instance *ri = kmalloc_obj(*ri);

	if (!ri)
		return NULL;
	*ri = *from;
	ri->next = NULL;
	ri->consumers = &ri->first;
	ri->room = 1;
	if (from->room == 1)
		return ri;
	ri->nr = 0;
	if (set_room(ri, from->room)) {
		kfree(ri);
		return NULL;
	}
	ri->nr = from->nr;
	memcpy(ri->consumers, from->consumers, ri->nr * sizeof(*ri->consumers));
	return ri;
}

/**
 * uprobe_instances_copy() - give a child the instances of its parent
 * @from: of current
 * @to: of the child; has none
 *
 * Context: task, may sleep.
 * Return: 0, or -ENOMEM, and the caller frees those that @to has got.
 */
int uprobe_instances_copy(struct uprobe_task *from, struct uprobe_task *to)
{
	struct return_instance **link = &to->return_instances;
	struct return_instance *ri;

	for (ri = from->return_instances; ri; ri = ri->next) {
		*link = copy_instance(ri);
		if (!*link)
			return -ENOMEM;
		link = &(*link)->next;
		to->depth++;
	}
	return 0;
}

/* --- Entry and return ----------------------------------------------------------- */

static void pop(struct uprobe_task *utask)
{
	struct return_instance *ri = utask->return_instances;

	/* An interrupt that follows the list sees it with @ri, or without. */
	WRITE_ONCE(utask->return_instances, ri->next);
	utask->depth--;
}

static void drop_dead(struct uprobe_task *utask, enum rp_check ctx, struct pt_regs *regs)
{
	struct return_instance *ri;

	while ((ri = utask->return_instances) && !arch_uretprobe_is_alive(ri, ctx, regs)) {
		pop(utask);
		uprobe_instance_put(utask, ri);
	}
}

/* Sets the return address of the instance, and replaces it in the user's stack. */
static int replace_return(struct uprobe_task *utask, struct return_instance *ri,
			  struct pt_regs *regs)
{
	unsigned long entry = READ_ONCE(current->mm->uprobes_state.trampoline), ret;

	if (unlikely(!entry))
		entry = uprobe_trampoline_map();
	if (!entry || arch_uretprobe_peek(regs, &ret))
		return -EFAULT;
	ri->chained = ret == entry;
	drop_dead(utask, ri->chained ? RP_CHECK_CHAIN_CALL : RP_CHECK_CALL, regs);
	if (!ri->chained) {
		ri->orig_ret_vaddr = ret;
		return arch_uretprobe_replace(regs, entry);
	}
	/* A tail call of a probed function: both return to its caller. */
	if (!utask->return_instances)
		return -EFAULT;
	ri->orig_ret_vaddr = utask->return_instances->orig_ret_vaddr;
	return 0;
}

/**
 * uprobe_instance_push() - begin to wait for the return of a function
 * @utask: of current
 * @ri: from uprobe_expect_return(), with @ri->func and @ri->point_id
 * @regs: user registers at the entry
 *
 * If the return address cannot be replaced, the call is counted as missed.
 *
 * Context: task, may sleep; a hit.
 */
void uprobe_instance_push(struct uprobe_task *utask, struct return_instance *ri,
			  struct pt_regs *regs)
{
	if (replace_return(utask, ri, regs)) {
		uprobe_return_missed();
		uprobe_instance_put(utask, ri);
		return;
	}
	ri->stack = user_stack_pointer(regs);
	ri->next = utask->return_instances;
	/* An interrupt that follows the list sees a complete instance. */
	barrier();
	WRITE_ONCE(utask->return_instances, ri);
	utask->depth++;
}

/* Last instance of the tail calls that return together with the first. */
static struct return_instance *chain_end(struct return_instance *ri)
{
	while (ri->chained && ri->next)
		ri = ri->next;
	return ri;
}

static void handle_return(struct uprobe_task *utask, struct pt_regs *regs)
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
			pop(utask);
			if (returned)
				uprobe_dispatch_return(utask, ri, regs);
			uprobe_instance_put(utask, ri);
		} while (ri != last);
	} while (!returned);
}

/* See <linux/uprobes-arch.h>. */
void uprobe_handle_trampoline(struct pt_regs *regs)
{
	struct uprobe_task *utask = current->utask;

	if (!utask || !utask->return_instances) {
		force_sig(SIGILL);
		return;
	}
	uprobe_hit_begin(utask);
	handle_return(utask, regs);
	utask->returned_to = instruction_pointer(regs);
	uprobe_hit_end(utask);
}
