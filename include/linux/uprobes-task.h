/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_UPROBES_TASK_H
#define _LINUX_UPROBES_TASK_H
/*
 * State of the uprobes engine (kernel/uprobes/) for a task, for a call that a return probe waits
 * for, and for a process.
 *
 * Included from <linux/uprobes.h>; do not include it directly.
 */

#include <linux/list.h>
#include <linux/types.h>

struct arch_uprobe;
struct uprobe_deferred;
struct uprobe_mm;
struct uprobe_point;
struct uretprobe_instance;

/**
 * struct return_consumer - a consumer that waits for the return of one call
 * @cookie: value that its handler stored at the entry
 * @id: &uprobe_consumer.id
 * @instance: @cookie is a &struct uretprobe_instance, which belongs to this entry
 */
struct return_consumer {
	__u64	cookie;
	__u64	id;
	bool	instance;
};

/**
 * struct return_instance - a call whose return address has been replaced
 * @next: the call from which this one was made, directly or not, or the next free instance
 * @func: address of the probed instruction, which is the function's entry
 * @stack: stack pointer at the entry
 * @orig_ret_vaddr: the replaced return address
 * @point: the probe point, if nothing has been unregistered since @epoch
 * @epoch: in which the entry was hit, see kernel/uprobes/observe.c; 0 for a copy in a child
 * @point_id: identifies the probe point, so that an instance does not call the consumers of
 *	another point that was registered at @func afterwards
 * @chained: the replaced address was that of the trampoline: a tail call. @orig_ret_vaddr is
 *	then that of the next instance
 * @owns: one of @consumers has @instance
 * @first: storage for one consumer
 * @consumers: consumers that wait: @first, or an allocated array
 * @end: after the last of @consumers
 * @limit: end of the array
 *
 * Instances belong to one task, which is the only one that changes them. They are freed when
 * the task exits; an interrupt of the task may follow the list.
 */
struct return_instance {
	struct return_instance	*next;
	unsigned long		func;
	unsigned long		stack;
	unsigned long		orig_ret_vaddr;
	struct uprobe_point	*point;
	unsigned long		epoch;
	__u64			point_id;
	bool			chained;
	bool			owns;
	struct return_consumer	first;
	struct return_consumer	*consumers;
	struct return_consumer	*end;
	struct return_consumer	*limit;
};

/* Events at which arch_uretprobe_is_alive() is asked. */
enum rp_check {
	RP_CHECK_CALL,		/* entry of a function: a call has just been made */
	RP_CHECK_CHAIN_CALL,	/* entry of a function by a tail call */
	RP_CHECK_RET,		/* a function has just returned */
};

/**
 * struct uprobe_fault - an access of an emulated instruction that has failed
 * @addr: its address
 * @len: its bytes
 * @write: it is a write
 */
struct uprobe_fault {
	unsigned long		addr;
	u8			len;
	bool			write;
};

/**
 * struct uprobe_task - state of a task that has hit a probe
 * @busy: 0 outside of hits, else the epoch in which the hit began; see kernel/uprobes/observe.c
 * @vaddr: free for use by a handler while it runs
 * @auprobe: the instruction whose handlers run, or NULL
 * @return_instances: calls that have not returned, the latest first
 * @pool: free instances
 * @spare: the instance of a &struct uretprobe that was used last, for the next call, or NULL
 * @returned_to: address of the last return that handlers have seen
 * @signal_held: a signal waits for the end of the copy that the task executes
 * @fault: the last access of an emulated instruction that has failed
 * @nr_instances: number of instances that the task has, those in @pool as well
 * @deferred: operations that its handlers have asked for, the first one first
 * @in_callback: a registration_callback runs
 * @node: in the list of all
 */
struct uprobe_task {
	unsigned long		busy;
	unsigned long		vaddr;
	struct arch_uprobe	*auprobe;
	struct return_instance	*return_instances;
	struct return_instance	*pool;
	struct uretprobe_instance	*spare;
	unsigned long		returned_to;
	bool			signal_held;
	unsigned int		nr_instances;
	struct uprobe_deferred	*deferred;
	bool			in_callback;
	struct list_head	node;
	struct uprobe_fault	fault;
};

/* Most call pages of a process: one each for its program, its libraries, and others far away. */
#define UPROBE_CALL_PAGES	4

/**
 * struct uprobes_state - the engine's part of a process's address space
 * @own: sites and areas, NULL before the first is needed. Not inherited by fork
 * @trampoline: address to which probed functions return, 0 if the trampoline is not mapped.
 *	Inherited by fork
 * @call_pages: addresses of the call pages, see <linux/uprobes-call.h>; those not in use are 0, and
 *	are the last. Changed with mmap_lock held for writing. Inherited by fork
 * @parent: the process that this one was forked from, if it had probes
 * @forking: the fork has not ended: no task uses the process yet, so that filters do not know it
 */
struct uprobes_state {
	struct uprobe_mm	*own;
	unsigned long		trampoline;
#ifdef CONFIG_UPROBE_CALLS
	unsigned long		call_pages[UPROBE_CALL_PAGES];
#endif
	struct mm_struct	*parent;
	bool			forking;
};

/**
 * uprobe_in_trampoline() - is an address of current's process in a page whose code makes the
 *	system calls of the engine?
 * @ip: the address
 *
 * Context: task.
 */
bool uprobe_in_trampoline(unsigned long ip);

#endif /* _LINUX_UPROBES_TASK_H */
