// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instances: calls whose return is waited for.
 *
 * They come from a pool of the task, which grows as deep as the task calls. A call is missed, and
 * counted, only if there is no memory for it, or if too many calls are in progress: a program can
 * change the text after a probe, so that its calls never return, and need little of its stack but
 * much of the kernel's memory.
 */
#include <linux/slab.h>

#include "internal.h"
#include "instance.h"

/* The most instances of a task: with 16 bytes for each call, as many as the default stack has. */
#define MAX_INSTANCES	(_STK_LIM / 16)

/* Returns that no handler has seen because memory was short, or calls were too deep. */
atomic_long_t uprobe_returns_missed;

/* Begins an instance without consumers. */
static void init(struct return_instance *ri)
{
	ri->owns = false;
	ri->consumers = &ri->first;
	ri->end = ri->consumers;
	ri->limit = ri->consumers + 1;
}

/**
 * uprobe_instance_new() - allocate an instance, because the pool is empty
 * @utask: of current
 *
 * Context: task, may sleep.
 * Return: an instance without consumers; or NULL if there is no memory, or the task has too many.
 */
struct return_instance *uprobe_instance_new(struct uprobe_task *utask)
{
	struct return_instance *ri;

	if (utask->nr_instances >= MAX_INSTANCES)
		return NULL;
	ri = kmalloc_obj(*ri, GFP_KERNEL_ACCOUNT);
	if (!ri)
		return NULL;
	init(ri);
	utask->nr_instances++;
	return ri;
}

/**
 * uprobe_instances_drop() - drop the instances of calls that longjmp() has abandoned
 * @utask: of current
 * @ctx: the event that asks
 * @regs: user registers of current
 *
 * Context: task.
 */
void uprobe_instances_drop(struct uprobe_task *utask, enum rp_check ctx, struct pt_regs *regs)
{
	struct return_instance *ri;

	while ((ri = utask->return_instances) && !arch_uretprobe_is_alive(ri, ctx, regs)) {
		uprobe_instance_pop(utask, ri);
		uprobe_instance_put(utask, ri);
	}
}

/**
 * uprobe_instance_disown() - free the memory that the notes of an instance own
 * @ri: the instance
 *
 * Context: task.
 */
void uprobe_instance_disown(struct return_instance *ri)
{
	struct return_consumer *note;

	for (note = ri->consumers; note < ri->end; note++) {
		if (note->instance)
			uretprobe_instance_free(note->cookie);
	}
	ri->owns = false;
}

/**
 * uprobe_instance_missed() - the return of a call will not be seen
 * @ri: its instance; the calls in its notes are counted as missed, and their memory is freed
 *
 * Context: a hit.
 */
void uprobe_instance_missed(struct return_instance *ri)
{
	struct return_consumer *note;

	for (note = ri->consumers; note < ri->end; note++) {
		if (note->instance)
			uretprobe_instance_missed(note->cookie);
	}
	ri->end = ri->consumers;
	ri->owns = false;
}

static int set_room(struct return_instance *ri, size_t room)
{
	size_t nr = ri->end - ri->consumers;
	struct return_consumer *consumers;

	consumers = kmalloc_objs(*consumers, room, GFP_KERNEL_ACCOUNT);
	if (!consumers)
		return -ENOMEM;
	memcpy(consumers, ri->consumers, nr * sizeof(*consumers));
	if (ri->consumers != &ri->first)
		kfree(ri->consumers);
	ri->consumers = consumers;
	ri->end = consumers + nr;
	ri->limit = consumers + room;
	return 0;
}

/**
 * uprobe_instance_grow() - make room for more consumers
 * @ri: an instance without room
 *
 * Context: task, may sleep.
 * Return: 0 or -ENOMEM.
 */
int uprobe_instance_grow(struct return_instance *ri)
{
	return set_room(ri, (ri->limit - ri->consumers) * 2);
}

static void free_list(struct return_instance *ri)
{
	struct return_instance *next;

	for (; ri; ri = next) {
		next = ri->next;
		uprobe_instance_release(ri);
		if (ri->consumers != &ri->first)
			kfree(ri->consumers);
		kfree(ri);
		cond_resched();
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

/*
 * Copies an instance for a child, which is not probed by those that have data for its parent's
 * calls.
 */
static struct return_instance *copy_instance(const struct return_instance *from)
{
	struct return_instance *ri = kmalloc_obj(*ri, GFP_KERNEL_ACCOUNT);
	const struct return_consumer *note;

	if (!ri)
		return NULL;
	*ri = *from;
	ri->next = NULL;
	ri->epoch = 0;
	init(ri);
	if (from->consumers != &from->first && set_room(ri, from->limit - from->consumers)) {
		kfree(ri);
		return NULL;
	}
	for (note = from->consumers; note < from->end; note++) {
		if (!note->instance)
			*ri->end++ = *note;
	}
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
		to->nr_instances++;
		cond_resched();
	}
	return 0;
}
