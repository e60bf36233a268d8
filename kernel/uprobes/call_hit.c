// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hit by the call in place of a nop: the system call of the call page.
 */
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/syscalls.h>
#include <asm/uprobes-call.h>

#include "call.h"
#include "handlers.h"
#include "hit.h"
#include "table.h"

/* Finds the site and its point.  Returns NULL if there is none, or the point comes or goes. */
static __always_inline struct uprobe_point *find_point(unsigned long vaddr,
						       struct uprobe_site **site)
{
	/* Pairs with the release in uprobe_mm_get(): all is read through the pointer. */
	struct uprobe_mm *own = READ_ONCE(current->mm->uprobes_state.own);

	*site = likely(own) ? uprobe_table_find(own, vaddr) : NULL;
	return likely(*site) ? READ_ONCE((*site)->point) : NULL;
}

/* See handle().  A handler that changes the instruction pointer replaces the instruction. */
static __always_inline bool handle_site(struct uprobe_task *utask, const struct uprobe_site *site,
					struct uprobe_point *point, struct pt_regs *regs)
{
	uprobe_run_handlers(utask, site, point, regs, true);
	if (unlikely(instruction_pointer(regs) != site->vaddr)) {
		arch_uprobe_path_changed(regs);
		uprobe_hit_finish(utask);
		return false;
	}
	uprobe_hit_finish(utask);
	return true;
}

/*
 * The first call in a child, or the point comes or goes.  Without a point, the nop is executed if
 * the text has it again.
 */
static noinline bool handle_unresolved(struct uprobe_task *utask, struct pt_regs *regs,
				       unsigned long vaddr)
{
	enum uprobe_resolved resolved = uprobe_site_resolve(vaddr);
	struct uprobe_site *site;
	struct uprobe_point *point = find_point(vaddr, &site);

	if (point)
		return handle_site(utask, site, point, regs);
	uprobe_hit_finish(utask);
	return resolved == UPROBE_FOREIGN;
}

/*
 * Calls the handlers.  Returns true if the nop has been executed then; otherwise the task continues
 * where the instruction pointer is.
 */
static __always_inline bool handle(struct pt_regs *regs)
{
	struct uprobe_task *utask = current->utask;
	unsigned long vaddr = instruction_pointer(regs);
	struct uprobe_point *point;
	struct uprobe_site *site;

	if (unlikely(!utask)) {
		utask = uprobe_task_create();
		/* Try again, until there is memory or the task is killed. */
		if (!utask)
			return false;
	}
	uprobe_hit_begin(utask);
	point = find_point(vaddr, &site);
	if (unlikely(!point))
		return handle_unresolved(utask, regs, vaddr);
	return handle_site(utask, site, point, regs);
}

/**
 * uprobe_call_hit() - a nop is hit whose call was left before the system call
 * @regs: user registers at the nop; changed to those with which the task continues
 *
 * Context: task, interrupts on, may sleep; no locks.
 */
void uprobe_call_hit(struct pt_regs *regs)
{
	if (handle(regs))
		instruction_pointer_set(regs, instruction_pointer(regs) + UPROBE_CALL_BYTES);
}

/* The system call of the call page.  Programs only test for it. */
SYSCALL_DEFINE0(uprobe)
{
	struct pt_regs *regs = task_pt_regs(current);
	struct arch_uprobe_call call;

	if (!uprobe_is_call_page(current->mm, instruction_pointer(regs) - UPROBE_CALL_MADE))
		return -EPROTO;
	if (arch_uprobe_call_begin(regs, &call)) {
		force_sig(SIGILL);
		return -1;
	}
	if (handle(regs))
		arch_uprobe_call_finish(regs, &call);
	return regs_return_value(regs);
}
