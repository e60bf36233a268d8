// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The engine's state of a task: from its first hit to its exit, and at fork.
 */
#include <linux/slab.h>

#include "hit.h"
#include "internal.h"
#include "process.h"

static void utask_free(struct uprobe_task *utask)
{
	uprobe_instances_free(utask);
	uretprobe_spare_free(utask);
	kfree(utask);
}

/**
 * uprobe_task_create() - create the state of current
 *
 * Context: task, may sleep; current has none.
 * Return: NULL if there is no memory for it.
 */
struct uprobe_task *uprobe_task_create(void)
{
	struct uprobe_task *utask = kzalloc_obj(*utask, GFP_KERNEL_ACCOUNT);

	if (!utask)
		return NULL;
	uprobe_observe_add(utask);
	/* perf reads it in interrupts of this task; no other task does. */
	barrier();
	WRITE_ONCE(current->utask, utask);
	return utask;
}

/**
 * uprobe_free_utask() - a task exits, executes another program, or could not be forked
 * @t: current, or a task that has never run
 *
 * Context: task.
 */
void uprobe_free_utask(struct task_struct *t)
{
	struct uprobe_task *utask = t->utask;

	if (!utask)
		return;
	WRITE_ONCE(t->utask, NULL);
	/* Interrupts of current may still have read it; they have ended when it runs on. */
	barrier();
	uprobe_observe_remove(utask);
	uprobe_deferred_drop(utask);
	utask_free(utask);
}

/**
 * uprobe_handler_died() - current dies, which may be in a handler
 *
 * The hit ends: the rest of the exit may unregister probes, and others do not wait for it.
 *
 * Context: task.
 */
void uprobe_handler_died(void)
{
	struct uprobe_task *utask = current->utask;

	if (!utask)
		return;
	/* Unwinders read it, and its point may be freed after the hit. */
	utask->auprobe = NULL;
	uprobe_hit_end(utask);
	uprobe_deferred_drop(utask);
}

/**
 * uprobe_copy_process() - a task has been forked
 * @t: the new task, which has not run
 * @flags: those of clone()
 *
 * A child with a copy of the stack, or on the stack of its parent (vfork), returns through the
 * replaced return addresses on it, and inherits the instances. A thread has a stack of its
 * own. If memory is short the child gets SIGILL when it returns from a probed function.
 *
 * Context: task, may sleep.
 */
void uprobe_copy_process(struct task_struct *t, u64 flags)
{
	struct uprobe_task *utask = current->utask, *copy;

	t->utask = NULL;
	if (t->mm && unlikely(t->mm->uprobes_state.forking))
		WRITE_ONCE(t->mm->uprobes_state.forking, false);
	/* A probe in memory that is shared would be one of the parent. */
	if (!(flags & CLONE_VM))
		uprobe_process_forked(t);
	if (likely(!utask || !utask->return_instances))
		return;
	if (t->mm == current->mm && !(flags & CLONE_VFORK))
		return;
	copy = kzalloc_obj(*copy, GFP_KERNEL_ACCOUNT);
	if (!copy || uprobe_instances_copy(utask, copy)) {
		pr_warn_ratelimited("uprobes: %s/%d: no memory for the return probes of a child\n",
				    current->comm, current->pid);
		if (copy)
			utask_free(copy);
		return;
	}
	uprobe_observe_add(copy);
	t->utask = copy;
}
