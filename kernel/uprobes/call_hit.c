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

static __always_inline struct uprobe_site *site_at(unsigned long vaddr)
{
	/* Pairs with the release in uprobe_mm_get(): all is read through the pointer. */
	struct uprobe_mm *own = READ_ONCE(current->mm->uprobes_state.own);

	return likely(own) ? uprobe_table_find(own, vaddr) : NULL;
}

/* Calls the handlers if there is a point. */
static __always_inline bool call_handlers_at(struct uprobe_task *utask, struct pt_regs *regs,
					     unsigned long vaddr)
{
	const struct uprobe_site *site = site_at(vaddr);
	struct uprobe_point *point = likely(site) ? READ_ONCE(site->point) : NULL;

	if (unlikely(!point))
		return false;
	uprobe_run_handlers(utask, site, point, vaddr, regs, true);
	return true;
}

/* Ends a hit.  A handler that changes the instruction pointer replaces the instruction. */
static __always_inline bool end(struct uprobe_task *utask, struct pt_regs *regs,
				unsigned long vaddr)
{
	if (unlikely(instruction_pointer(regs) != vaddr)) {
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

	if (call_handlers_at(utask, regs, vaddr))
		return end(utask, regs, vaddr);
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

	if (unlikely(!utask)) {
		utask = uprobe_task_create();
		/* Try again, until there is memory or the task is killed. */
		if (!utask)
			return false;
	}
	uprobe_hit_begin(utask);
	if (unlikely(!call_handlers_at(utask, regs, vaddr)))
		return handle_unresolved(utask, regs, vaddr);
	return end(utask, regs, vaddr);
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
