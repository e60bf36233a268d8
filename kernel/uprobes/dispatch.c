// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calling the consumers of a point, at a hit and at a return.
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

/* The return of this call concerns a consumer. Returns the instance, NULL without memory. */
static struct return_instance *expect_return(struct uprobe_task *utask,
					     struct return_instance *ri,
					     struct uprobe_consumer *uc, u64 cookie)
{
	if (!ri)
		ri = uprobe_instance_get(utask);
	if (!ri || (is_session(uc) && uprobe_instance_note(ri, uc->id, cookie)))
		uprobe_return_missed();
	return ri;
}

/**
 * uprobe_dispatch() - call the handlers of a point
 * @utask: of current, which is in a hit
 * @point: the point
 * @arch: the decision about its instruction
 * @regs: user registers; the instruction pointer is that of the point
 *
 * Context: task, may sleep.
 * Return: true if no handler wants more hits in this process.
 */
bool uprobe_dispatch(struct uprobe_task *utask, struct uprobe_point *point,
		     struct arch_uprobe *arch, struct pt_regs *regs)
{
	unsigned long vaddr = instruction_pointer(regs);
	struct return_instance *ri = NULL;
	struct uprobe_consumer *uc;
	bool remove = true;

	utask->auprobe = arch;
	list_for_each_entry_rcu(uc, &point->consumers, cons_node, true) {
		u64 cookie = 0;
		int rc = 0;

		if (uc->handler)
			rc = uc->handler(uc, regs, &cookie);
		if (rc != UPROBE_HANDLER_REMOVE)
			remove = false;
		if (unlikely(uc->ret_handler) && !rc)
			ri = expect_return(utask, ri, uc, cookie);
	}
	utask->auprobe = NULL;
	if (unlikely(ri)) {
		ri->func = vaddr;
		ri->point_id = point->id;
		uprobe_instance_push(utask, ri, regs);
	}
	return remove;
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
		guard(rcu)();
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
