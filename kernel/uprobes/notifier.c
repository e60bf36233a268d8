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
	/* A worker of a driver may be the last thread of a process, but no process of its own. */
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
	notify(UPROBE_PROCESS_EXIT, current);
}

/**
 * register_uprobe_process_notifier() - register a function for forks, execs and exits
 * @nb: its function gets an &enum uprobe_process_event and the task; it may sleep, and register
 *	and unregister probes
 *
 * Context: task, may sleep.
 * Return: 0, or -EEXIST if @nb is registered.
 */
int register_uprobe_process_notifier(struct notifier_block *nb)
{
	return blocking_notifier_chain_register(&process_chain, nb);
}
EXPORT_SYMBOL_GPL(register_uprobe_process_notifier);

/**
 * unregister_uprobe_process_notifier() - unregister a function for forks, execs and exits
 * @nb: registered; its function does not run any more after the return
 *
 * Context: task, may sleep; not in a notifier.
 * Return: 0, or -ENOENT if @nb is not registered.
 */
int unregister_uprobe_process_notifier(struct notifier_block *nb)
{
	return blocking_notifier_chain_unregister(&process_chain, nb);
}
EXPORT_SYMBOL_GPL(unregister_uprobe_process_notifier);
