// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Operations that handlers ask for.
 *
 * A handler that registers or unregisters a probe could wait for itself. The operation is noted
 * in the task instead, and done when all handlers of the hit have run and the task's mark
 * (observe.c) has ended. Then the registration_callback is called.
 */
#include <linux/slab.h>
#include <linux/wait.h>

#include "internal.h"
#include "process.h"

/**
 * struct uprobe_deferred - a noted operation
 * @next: the operation after it
 * @u: the probe
 * @reg: it is a registration
 * @is_return: @u is the first member of a return probe
 */
struct uprobe_deferred {
	struct uprobe_deferred	*next;
	struct uprobe		*u;
	bool			reg;
	bool			is_return;
};

/* Number of operations that are noted or being done, in all tasks. */
static atomic_t pending = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(pending_wait);

/**
 * uprobe_must_defer() - is current in a handler?
 *
 * Context: task.
 * Return: true if it is.
 */
bool uprobe_must_defer(void)
{
	return current->utask && current->utask->busy;
}

/**
 * uprobe_defer() - note an operation
 * @u: the probe; stays until the operation has been done
 * @reg: it is a registration
 * @is_return: @u is the first member of a return probe
 *
 * Context: a handler, may sleep.
 */
void uprobe_defer(struct uprobe *u, bool reg, bool is_return)
{
	struct uprobe_deferred *op = kmalloc_obj(*op, GFP_KERNEL | __GFP_NOFAIL);
	struct uprobe_deferred **link = &current->utask->deferred;

	*op = (struct uprobe_deferred) { .u = u, .reg = reg, .is_return = is_return };
	atomic_inc(&pending);
	while (*link)
		link = &(*link)->next;
	*link = op;
}

static void run(struct uprobe_deferred *op)
{
	void (*callback)(struct uprobe *u, int reg, int result) = op->u->registration_callback;
	int result = 0;

	if (op->reg)
		result = uprobes_register_now(&op->u, 1, op->is_return);
	else
		uprobes_unregister_now(&op->u, 1);
	/* After the removal of a probe without a callback, @u may not exist any more. */
	if (callback)
		callback(op->u, op->reg, result);
}

/**
 * uprobe_deferred_run() - do the operations that the handlers of a hit have asked for
 * @utask: of current, which is in no hit any more
 *
 * Context: task, may sleep.
 */
void uprobe_deferred_run(struct uprobe_task *utask)
{
	struct uprobe_deferred *op;

	utask->deferring = true;
	while ((op = utask->deferred)) {
		utask->deferred = op->next;
		run(op);
		kfree(op);
		if (atomic_dec_and_test(&pending))
			wake_up_all(&pending_wait);
	}
	utask->deferring = false;
}

/**
 * uprobe_deferred_wait() - wait for the operations of all tasks
 *
 * A callback does not wait, because it would wait for itself.
 *
 * Context: task, may sleep; not in a handler.
 * Return: true if it has waited.
 */
bool uprobe_deferred_wait(void)
{
	if (likely(!atomic_read(&pending)))
		return false;
	if (current->utask && current->utask->deferring)
		return false;
	wait_event(pending_wait, !atomic_read(&pending));
	return true;
}
