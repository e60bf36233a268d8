// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Operations that handlers ask for.
 *
 * A handler that registers or unregisters a probe could wait for itself. The operation is noted
 * in the task instead, and done when all handlers of the hit have run and the task's mark
 * (observe.c) has ended. Then the registration_callback is called.
 *
 * Several handlers may ask for the removal of one probe, and its callback may free the probe. So
 * the first removal that is done answers the others: they are cancelled.
 */
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "internal.h"
#include "process.h"

/**
 * enum uprobe_deferred_state - state of a noted operation
 * @UPROBE_DEFERRED_NOTED: it has not been done
 * @UPROBE_DEFERRED_DONE: it has been done, and its callback follows
 * @UPROBE_DEFERRED_FAILED: a registration has failed after handlers may have run, and its callback
 *	follows
 * @UPROBE_DEFERRED_ANSWERED: its callback has been called, or is being called
 * @UPROBE_DEFERRED_CANCELLED: its callback will not be called
 *
 *	NOTED -> DONE, FAILED		   it is its turn: run()
 *	DONE, FAILED -> ANSWERED	   start_callback()
 *	NOTED -> CANCELLED		   it may not be done any more: run()
 *	NOTED, DONE, FAILED -> CANCELLED   the probe has been removed: cancel_others()
 *
 * Only set_state() changes it, and checks the transition.
 */
enum uprobe_deferred_state {
	UPROBE_DEFERRED_NOTED,
	UPROBE_DEFERRED_DONE,
	UPROBE_DEFERRED_FAILED,
	UPROBE_DEFERRED_ANSWERED,
	UPROBE_DEFERRED_CANCELLED,
};

/**
 * struct uprobe_deferred - a noted operation
 * @next: the one that its task does after it
 * @node: in @noted
 * @nr: the operations are numbered in the order in which they are noted
 * @u: the probe, which may have been freed when the operation is over
 * @state: see &enum uprobe_deferred_state; under uprobe_mutex
 * @reg: it is a registration
 * @is_return: @u is the first member of a return probe
 */
struct uprobe_deferred {
	struct uprobe_deferred	*next;
	struct list_head	node;
	unsigned long		nr;
	struct uprobe		*u;
	enum uprobe_deferred_state state;
	bool			reg;
	bool			is_return;
};

/* Operations that are noted or being done, of all tasks, the oldest first. */
static DEFINE_SPINLOCK(noted_lock);
static LIST_HEAD(noted);
static unsigned long last_nr;
static DECLARE_WAIT_QUEUE_HEAD(noted_wait);

/* Probes that are being removed; see uprobe_removal_begin(). Under noted_lock. */
static LIST_HEAD(removals);

/* Held by a registration_callback, so that no other one runs when it unregisters a probe. */
static DEFINE_MUTEX(callback_mutex);

/* The states to which a state may change. */
static const u8 transitions[] = {
	[UPROBE_DEFERRED_NOTED]	    = BIT(UPROBE_DEFERRED_DONE) | BIT(UPROBE_DEFERRED_FAILED) |
				      BIT(UPROBE_DEFERRED_CANCELLED),
	[UPROBE_DEFERRED_DONE]	    = BIT(UPROBE_DEFERRED_ANSWERED) |
				      BIT(UPROBE_DEFERRED_CANCELLED),
	[UPROBE_DEFERRED_FAILED]    = BIT(UPROBE_DEFERRED_ANSWERED) |
				      BIT(UPROBE_DEFERRED_CANCELLED),
	[UPROBE_DEFERRED_ANSWERED]  = 0,
	[UPROBE_DEFERRED_CANCELLED] = 0,
};

/* Makes all changes of an operation's state. */
static void set_state(struct uprobe_deferred *op, enum uprobe_deferred_state state)
{
	lockdep_assert_held(&uprobe_mutex);
	WARN_ON_ONCE(!(transitions[op->state] & BIT(state)));
	op->state = state;
}

/* Has the operation been answered or cancelled? Then its probe may have been freed. */
static bool is_over(const struct uprobe_deferred *op)
{
	lockdep_assert_held(&uprobe_mutex);
	return !transitions[op->state];
}

static void add(struct uprobe_deferred *op)
{
	guard(spinlock)(&noted_lock);
	op->nr = ++last_nr;
	list_add_tail(&op->node, &noted);
}

/* An operation is over, or will never be done. */
static void end(struct uprobe_deferred *op)
{
	scoped_guard(spinlock, &noted_lock)
		list_del(&op->node);
	wake_up_all(&noted_wait);
	kfree(op);
}

/*
 * A probe has been removed, and may be freed: cancels the operations that other handlers have
 * noted for it, up to the first registration that was noted after @op, the removal.
 */
static void cancel_others(struct uprobe *u, struct uprobe_deferred *op)
{
	struct uprobe_deferred *other;
	bool later = false;

	lockdep_assert_held(&uprobe_mutex);
	guard(spinlock)(&noted_lock);
	list_for_each_entry(other, &noted, node) {
		if (other == op) {
			later = true;
		} else if (other->u == u && !is_over(other)) {
			if (later && other->reg)
				return;
			set_state(other, UPROBE_DEFERRED_CANCELLED);
		}
	}
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
	add(op);
	while (*link)
		link = &(*link)->next;
	*link = op;
}

/*
 * Before the callback, which may free the probe. Returns false if the operation was cancelled.
 * @removed: the probe had been registered, and is not any more.
 */
static bool start_callback(struct uprobe_deferred *op, bool removed)
{
	guard(mutex)(&uprobe_mutex);
	if (is_over(op))
		return false;
	set_state(op, UPROBE_DEFERRED_ANSWERED);
	/* Handlers that have ended since then may have noted more. */
	if (removed)
		cancel_others(op->u, op);
	return true;
}

static void call_back(struct uprobe_deferred *op, bool removed, int result)
{
	struct uprobe_task *utask = current->utask;
	struct uprobe *u = op->u;

	guard(mutex)(&callback_mutex);
	if (!start_callback(op, removed) || !u->registration_callback)
		return;
	utask->in_callback = true;
	u->registration_callback(u, op->reg, result);
	utask->in_callback = false;
}

static bool is_being_removed(const struct uprobe *u)
{
	struct uprobe_removal *removal;
	int i;

	guard(spinlock)(&noted_lock);
	list_for_each_entry(removal, &removals, node) {
		for (i = 0; i < removal->num; i++) {
			if (removal->us[i] == u)
				return true;
		}
	}
	return false;
}

/* Does the callback of a failed registration of the probe follow? Then it is not registered. */
static bool has_failed(const struct uprobe *u)
{
	struct uprobe_deferred *other;

	lockdep_assert_held(&uprobe_mutex);
	guard(spinlock)(&noted_lock);
	list_for_each_entry(other, &noted, node) {
		if (other->u == u && other->state == UPROBE_DEFERRED_FAILED)
			return true;
	}
	return false;
}

static void run(struct uprobe_deferred *op)
{
	int result = 0, removed = 1;

	scoped_guard(mutex, &uprobe_mutex) {
		/* Has another operation been done instead? */
		if (is_over(op))
			return;
		if (op->reg ? is_being_removed(op->u) : has_failed(op->u)) {
			set_state(op, UPROBE_DEFERRED_CANCELLED);
			return;
		}
		if (op->reg)
			result = uprobes_register_locked(&op->u, 1, op->is_return, &removed);
		else
			uprobes_remove(&op->u, 1);
		/* No operation that was noted before may follow, nor answer for this one. */
		if (removed)
			cancel_others(op->u, op);
		set_state(op, op->reg && removed ? UPROBE_DEFERRED_FAILED : UPROBE_DEFERRED_DONE);
	}
	if (removed)
		uprobe_unregister_sync();
	call_back(op, removed, result);
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

	while ((op = utask->deferred)) {
		run(op);
		/* Not before: a callback may die, too. */
		utask->deferred = op->next;
		end(op);
	}
}

/**
 * uprobe_deferred_drop() - forget operations that will not be done, because a handler has died
 * @utask: of current, if it has noted operations
 *
 * Context: task.
 */
void uprobe_deferred_drop(struct uprobe_task *utask)
{
	struct uprobe_deferred *op;

	if (unlikely(utask->in_callback)) {
		utask->in_callback = false;
		mutex_unlock(&callback_mutex);
	}
	while ((op = utask->deferred)) {
		utask->deferred = op->next;
		end(op);
	}
}

/**
 * uprobe_deferred_cancel() - forget the operations that tasks have noted for some probes
 * @us: the probes
 * @num: number of probes
 *
 * Context: task, may sleep.
 */
void uprobe_deferred_cancel(struct uprobe **us, int num)
{
	int i;

	guard(mutex)(&uprobe_mutex);
	for (i = 0; i < num; i++)
		cancel_others(us[i], NULL);
}

/**
 * uprobe_removal_begin() - forget the registrations of some probes that handlers ask for
 * @removal: describes them, and stays until uprobe_removal_end()
 *
 * Context: task; uprobe_mutex held, the probes are removed before it is released.
 */
void uprobe_removal_begin(struct uprobe_removal *removal)
{
	lockdep_assert_held(&uprobe_mutex);
	guard(spinlock)(&noted_lock);
	list_add(&removal->node, &removals);
}

/**
 * uprobe_removal_end() - some probes may be freed now
 * @removal: from uprobe_removal_begin()
 *
 * Context: task.
 */
void uprobe_removal_end(struct uprobe_removal *removal)
{
	guard(spinlock)(&noted_lock);
	list_del(&removal->node);
}

/**
 * uprobe_in_callback() - is current in a registration_callback?
 *
 * Context: task.
 * Return: true if it is.
 */
bool uprobe_in_callback(void)
{
	return current->utask && current->utask->in_callback;
}

static bool are_over(unsigned long nr)
{
	struct uprobe_deferred *op;

	guard(spinlock)(&noted_lock);
	op = list_first_entry_or_null(&noted, struct uprobe_deferred, node);
	return !op || (long)(op->nr - nr) > 0;
}

/**
 * uprobe_deferred_wait() - wait for the operations that tasks have noted so far
 *
 * Context: task, may sleep; not in a handler or a registration_callback, which would wait for
 * itself.
 * Return: true if it has waited.
 */
bool uprobe_deferred_wait(void)
{
	unsigned long nr;

	if (likely(list_empty(&noted)))
		return false;
	scoped_guard(spinlock, &noted_lock)
		nr = last_nr;
	wait_event(noted_wait, are_over(nr));
	return true;
}
