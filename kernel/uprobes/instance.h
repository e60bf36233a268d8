/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inline functions for the instance of each call whose return is waited for; see instance.c.
 */
#ifndef _KERNEL_UPROBES_INSTANCE_H
#define _KERNEL_UPROBES_INSTANCE_H

#include "internal.h"
#include "process.h"

static __always_inline bool is_uretprobe(const struct uprobe_consumer *uc)
{
	return uc->ret_handler == uretprobe_return;
}

/**
 * uprobe_instance_note() - let a consumer wait for a return
 * @ri: the instance of the call, or NULL if there was no memory for it
 * @uc: the consumer
 * @cookie: value for its return handler
 *
 * If memory is short, the consumer will not see the return.
 *
 * Context: task, may sleep.
 */
static __always_inline void uprobe_instance_note(struct return_instance *ri,
						 struct uprobe_consumer *uc, u64 cookie)
{
	struct return_consumer *note;

	if (unlikely(!ri || (ri->end == ri->limit && uprobe_instance_grow(ri)))) {
		if (is_uretprobe(uc))
			uretprobe_instance_missed(cookie);
		/* Without an instance, the whole call is missed. */
		if (ri)
			atomic_long_inc(&uprobe_returns_missed);
		return;
	}
	note = ri->end++;
	note->cookie = cookie;
	note->id = uc->id;
	note->instance = false;
	if (unlikely(is_uretprobe(uc))) {
		note->instance = true;
		ri->owns = true;
	}
}

/**
 * uprobe_instance_release() - drop the consumers of a call that is over or abandoned
 * @ri: its instance; has no consumers then
 *
 * Context: task.
 */
static __always_inline void uprobe_instance_release(struct return_instance *ri)
{
	if (unlikely(ri->owns))
		uprobe_instance_disown(ri);
	ri->end = ri->consumers;
}

/**
 * uprobe_instance_take() - get an instance without consumers
 * @utask: of current
 *
 * Context: task, may sleep.
 * Return: one of the pool or a new one, or NULL; see uprobe_instance_new().
 */
static __always_inline struct return_instance *uprobe_instance_take(struct uprobe_task *utask)
{
	struct return_instance *ri = utask->pool;

	if (unlikely(!ri))
		return uprobe_instance_new(utask);
	utask->pool = ri->next;
	return ri;
}

/**
 * uprobe_instance_put() - return an instance to the pool
 * @utask: of current
 * @ri: not in the stack
 *
 * Context: task.
 */
static __always_inline void uprobe_instance_put(struct uprobe_task *utask,
						struct return_instance *ri)
{
	uprobe_instance_release(ri);
	ri->next = utask->pool;
	utask->pool = ri;
}

/**
 * uprobe_instance_push() - put an instance on the stack of its task
 * @utask: of current
 * @ri: the instance, complete
 *
 * Context: task.
 */
static __always_inline void uprobe_instance_push(struct uprobe_task *utask,
						 struct return_instance *ri)
{
	ri->next = utask->return_instances;
	/* An interrupt that follows the list sees a complete instance. */
	barrier();
	WRITE_ONCE(utask->return_instances, ri);
}

/**
 * uprobe_instance_pop() - take the last instance from the stack of its task
 * @utask: of current
 * @ri: that instance
 *
 * Context: task.
 */
static __always_inline void uprobe_instance_pop(struct uprobe_task *utask,
						struct return_instance *ri)
{
	/* An interrupt that follows the list sees it with @ri, or without. */
	WRITE_ONCE(utask->return_instances, ri->next);
}

#endif /* _KERNEL_UPROBES_INSTANCE_H */
