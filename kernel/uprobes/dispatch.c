// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calling the consumers of a point at a return.  hit.c calls them at a hit.
 *
 * The lists are read without a lock: consumers that are removed meanwhile stay until the hit
 * has ended, see observe.c.
 */
#include <linux/ptrace.h>

#include "internal.h"
#include "table.h"
#include "hit.h"

static bool is_session(const struct uprobe_consumer *uc)
{
	return uc->handler && uc->ret_handler;
}

/* Takes an instance without consumers from the pool, or a new one; NULL without memory. */
static struct return_instance *take_instance(struct uprobe_task *utask)
{
	struct return_instance *ri = utask->pool;

	if (unlikely(!ri))
		return uprobe_instance_new();
	utask->pool = ri->next;
	ri->nr = 0;
	return ri;
}

/**
 * uprobe_expect_return() - the return of this call concerns a consumer
 * @utask: of current, which is in a hit
 * @ri: instance of the call, or NULL
 * @uc: the consumer
 * @cookie: value for its return handler
 *
 * Context: task, may sleep.
 * Return: the instance, a new one if @ri is NULL; NULL if there is no memory.
 */
struct return_instance *uprobe_expect_return(struct uprobe_task *utask,
					     struct return_instance *ri,
					     struct uprobe_consumer *uc, u64 cookie)
{
	if (!ri)
		ri = take_instance(utask);
	if (!ri || (is_session(uc) && uprobe_instance_note(ri, uc->id, cookie)))
		uprobe_return_missed();
	return ri;
}

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
static struct uprobe_point *instance_point(struct return_instance *ri)
{
	struct uprobe_mm *own = current->mm->uprobes_state.own;
	struct uprobe_point *point = NULL;
	struct uprobe_site *site;

	if (likely(own)) {
		site = uprobe_table_find(own, ri->func);
		if (likely(site))
			point = READ_ONCE(site->point);
	}
	return point && point->id == ri->point_id ? point : NULL;
}

/**
 * uprobe_dispatch_return() - call the return handlers for a call
 * @utask: of current, which is in a hit
 * @ri: instance of the call
 * @regs: user registers after the return
 *
 * Consumers without a handler are also called if they were registered after the call. Those
 * with one only if it asked for the return.
 *
 * Context: task, may sleep.
 */
void uprobe_dispatch_return(struct uprobe_task *utask, struct return_instance *ri,
			    struct pt_regs *regs)
{
	struct uprobe_point *point = instance_point(ri);
	struct return_consumer *note;
	struct uprobe_consumer *uc;
	unsigned int next = 0;

	/* A child after fork, or text that was remapped, has no site yet. */
	if (unlikely(!point) && uprobe_site_resolve(ri->func) == UPROBE_RESOLVED)
		point = instance_point(ri);
	if (!point)
		return;
	list_for_each_entry_rcu(uc, &point->consumers, cons_node, true) {
		if (!uc->ret_handler)
			continue;
		note = find_note(ri, &next, uc->id);
		if (note || !is_session(uc))
			uc->ret_handler(uc, ri->func, regs, note ? &note->cookie : NULL);
	}
}
