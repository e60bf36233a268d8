// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes of one process: disabling and enabling.
 *
 * All registrations of an object are marked, then its points are armed or disarmed. A disabled
 * probe stays registered, and needs no breakpoint.
 */
#include <linux/export.h>
#include <linux/sched/mm.h>

#include "internal.h"
#include "point.h"
#include "process.h"

/* Arms or disarms the points of an object; -EINVAL if it is not registered any more. */
static int rearm(struct uprobe_mm *own, struct uprobe *u, enum uprobe_text_op op)
{
	struct uprobe_registration *registration;
	int err = 0;

	/* Keeps the registrations: munmap() ends them with the lock held for reading. */
	guard(mmap_write_lock)(own->mm);
	registration = u->registration;
	if (!registration)
		return -EINVAL;
	for (; registration && !err; registration = registration->next)
		err = uprobe_process_arm(own, &registration->point, 1, op);
	return err;
}

/*
 * Marks the registrations of an object: all, or with @undo those that the last call has changed.
 * Returns their process, whose memory has a reference.
 */
static struct uprobe_mm *mark(struct uprobe *u, bool disabled, bool undo)
{
	struct uprobe_registration *registration;
	struct uprobe_mm *own;

	guard(rwsem_write)(&uprobe_points_lock);
	registration = u->registration;
	if (!registration)
		return ERR_PTR(-EINVAL);
	own = registration->own;
	if (!mmget_not_zero(own->mm))
		return ERR_PTR(-ESRCH);
	for (; registration; registration = registration->next) {
		if (undo && !registration->changed)
			continue;
		registration->changed = registration->disabled != disabled;
		WRITE_ONCE(registration->disabled, disabled);
	}
	return own;
}

static int change(struct uprobe *u, bool disabled, bool undo)
{
	struct uprobe_mm *own = mark(u, disabled, undo);
	int err;

	if (IS_ERR(own))
		return PTR_ERR(own);
	err = rearm(own, u, disabled ? UPROBE_DISARM : UPROBE_ARM);
	mmput_async(own->mm);
	return err;
}

/**
 * enable_uprobe() - call the handler of a disabled probe again
 * @u: registered
 *
 * Context: task, may sleep; handlers, too, where it takes effect at once.
 * Return: 0; -EINVAL if @u is not registered or the context is atomic; -ESRCH if the process
 * ends; -EILSEQ if the program has overwritten the instruction; -EPERM if userfaultfd protects the
 * page; -EINTR if the caller is being killed; -ENOMEM, -EFAULT if the text cannot be patched. After
 * an error, @u stays as it was.
 */
int enable_uprobe(struct uprobe *u)
{
	int err = uprobe_check_context();

	/* Another registration may wait for a file system that does not answer. */
	if (!err)
		err = mutex_lock_killable(&uprobe_mutex);
	if (err)
		return err;
	err = change(u, false, false);
	if (err)
		change(u, true, true);
	mutex_unlock(&uprobe_mutex);
	return err;
}
EXPORT_SYMBOL_GPL(enable_uprobe);

/**
 * disable_uprobe() - do not call the handler of a probe
 * @u: registered
 *
 * The breakpoint is removed, unless another probe needs it. Handlers that run go on.
 *
 * Context: as of enable_uprobe().
 * Return: see enable_uprobe(), or -EAGAIN if userfaultfd protects the text; after an error of the
 * text, @u is disabled, too, but its breakpoint stays.
 */
int disable_uprobe(struct uprobe *u)
{
	int err = uprobe_check_context();

	if (err)
		return err;
	guard(mutex)(&uprobe_mutex);
	return change(u, true, false);
}
EXPORT_SYMBOL_GPL(disable_uprobe);
