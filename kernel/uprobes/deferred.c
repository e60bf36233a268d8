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
 * @era: in which it was noted
 */
struct uprobe_deferred {
	struct uprobe_deferred	*next;
	struct uprobe		*u;
	bool			reg;
	bool			is_return;
	bool			era;
};

/*
 * Operations are noted in one of two eras. Who waits begins the other one, so that operations
 * which are noted later do not let him wait longer. Who waits next waits for him first.
 */
static DEFINE_SPINLOCK(era_lock);
static bool era;
static unsigned int pending[2];		/* operations that are noted or being done, of each era */
static DECLARE_WAIT_QUEUE_HEAD(pending_wait);
static DEFINE_MUTEX(wait_mutex);

static void enter_era(struct uprobe_deferred *op)
{
	guard(spinlock)(&era_lock);
	op->era = era;
	WRITE_ONCE(pending[era], pending[era] + 1);
}

/* An operation is over, or will never be done. */
static void end(struct uprobe_deferred *op)
{
	scoped_guard(spinlock, &era_lock)
		WRITE_ONCE(pending[op->era], pending[op->era] - 1);
	wake_up_all(&pending_wait);
	kfree(op);
}

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
	enter_era(op);
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
		run(op);
		/* Not before: a callback may die, too. */
		utask->deferred = op->next;
		end(op);
	}
	utask->deferring = false;
}

/**
 * uprobe_deferred_drop() - forget operations that will not be done, because a handler has died
 * @utask: not in use any more
 *
 * Context: task.
 */
void uprobe_deferred_drop(struct uprobe_task *utask)
{
	struct uprobe_deferred *op;

	while ((op = utask->deferred)) {
		utask->deferred = op->next;
		end(op);
	}
}

static bool is_over(bool old)
{
	guard(spinlock)(&era_lock);
	return !pending[old];
}

static bool begin_other_era(void)
{
	guard(spinlock)(&era_lock);
	era = !era;
	return !era;
}

/**
 * uprobe_deferred_wait() - wait for the operations that tasks have noted so far
 *
 * A callback does not wait, because it would wait for itself.
 *
 * Context: task, may sleep; not in a handler.
 * Return: true if it has waited.
 */
bool uprobe_deferred_wait(void)
{
	bool old;

	if (likely(!READ_ONCE(pending[0]) && !READ_ONCE(pending[1])))
		return false;
	if (current->utask && current->utask->deferring)
		return false;
	guard(mutex)(&wait_mutex);
	old = begin_other_era();
	wait_event(pending_wait, is_over(old));
	return true;
}
