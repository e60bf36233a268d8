// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of processes, for modules that follow the children of a probed process.
 */
#include <linux/notifier.h>
#include <linux/sched.h>

#include "internal.h"
#include "process.h"

static BLOCKING_NOTIFIER_HEAD(process_chain);

static void notify(enum uprobe_process_event event, struct task_struct *task)
{
	if (likely(!rcu_access_pointer(process_chain.head)) || task->flags & PF_KTHREAD)
		return;
	blocking_notifier_call_chain(&process_chain, event, task);
}

/**
 * uprobe_process_forked() - a process has been forked
 * @child: has not run
 *
 * Context: task, may sleep; current is the parent.
 */
void uprobe_process_forked(struct task_struct *child)
{
	notify(UPROBE_PROCESS_FORK, child);
}

/**
 * uprobe_process_exec() - current executes another program
 *
 * Context: task, may sleep; the program is mapped, and has not run.
 */
void uprobe_process_exec(void)
{
	notify(UPROBE_PROCESS_EXEC, current);
}

/**
 * uprobe_process_exit() - the last thread of current's process exits
 *
 * Context: task, may sleep; current still has its memory.
 */
void uprobe_process_exit(void)
{
	/* A helper of the kernel whose program cannot be executed has never had memory. */
	if (current->mm)
		notify(UPROBE_PROCESS_EXIT, current);
}

/*
 * A notifier that unregisters a probe waits for all handlers and callbacks, with the lock of the
 * chain held.
 */
static int check_change(void)
{
	if (likely(!uprobe_must_defer() && !uprobe_in_callback()))
		return 0;
	pr_warn_once("uprobes: a handler or a callback cannot change the notifiers\n");
	return -EINVAL;
}

/**
 * register_uprobe_process_notifier() - register a function for forks, execs and exits
 * @nb: its function gets an &enum uprobe_process_event and the task; it may sleep, and register
 *	and unregister probes
 *
 * Context: task, may sleep; not in a notifier, nor in a handler of a watchpoint probe.
 * Return: 0; -EEXIST if @nb is registered; -EINVAL in a handler or a registration_callback.
 */
int register_uprobe_process_notifier(struct notifier_block *nb)
{
	return check_change() ?: blocking_notifier_chain_register(&process_chain, nb);
}
EXPORT_SYMBOL_GPL(register_uprobe_process_notifier);

/**
 * unregister_uprobe_process_notifier() - unregister a function for forks, execs and exits
 * @nb: registered; its function does not run any more after the return
 *
 * Context: task, may sleep; not in a notifier, nor in a handler of a watchpoint probe.
 * Return: 0; -ENOENT if @nb is not registered; -EINVAL in a handler or a registration_callback.
 */
int unregister_uprobe_process_notifier(struct notifier_block *nb)
{
	return check_change() ?: blocking_notifier_chain_unregister(&process_chain, nb);
}
EXPORT_SYMBOL_GPL(unregister_uprobe_process_notifier);
