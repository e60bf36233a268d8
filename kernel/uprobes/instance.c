// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instances: calls whose return is waited for.
 *
 * They come from a pool of the task, which grows without limit; a call is missed, and counted,
 * only if there is no memory for it.
 */
#include <linux/atomic.h>
#include <linux/slab.h>

#include "internal.h"
#include "instance.h"

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
 * uprobe_instance_grow() - make room for more consumers
 * @ri: an instance without room
 *
 * Context: task, may sleep.
 * Return: 0 or -ENOMEM.
 */
int uprobe_instance_grow(struct return_instance *ri)
{
	return set_room(ri, ri->room * 2);
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

/* The child is not probed by those that have data for its parent's calls. */
static void drop_instances(struct return_instance *ri)
{
	unsigned int i, n = 0;

	for (i = 0; i < ri->nr; i++) {
		if (!ri->consumers[i].instance)
			ri->consumers[n++] = ri->consumers[i];
	}
	ri->nr = n;
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
	if (from->room == 1) {
		drop_instances(ri);
		return ri;
	}
	ri->nr = 0;
	if (set_room(ri, from->room)) {
		kfree(ri);
		return NULL;
	}
	ri->nr = from->nr;
	memcpy(ri->consumers, from->consumers, ri->nr * sizeof(*ri->consumers));
	drop_instances(ri);
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
