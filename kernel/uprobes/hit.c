// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hit, from the trap to the return into the slot.
 *
 *   1. the task marks itself busy			uprobe_hit_begin()
 *   2. the site is looked up by (mm, address)		uprobe_table_find()
 *   3. the handlers run				uprobe_run_handlers()
 *   4. the instruction takes effect			finish()
 *   5. the mark ends					uprobe_hit_end()
 *
 * No lock, no reference count and no allocation, unless the site is not in the table yet, the
 * task has never hit a probe, or its pool has no instance for a return.
 */
#include <linux/mmu_context.h>
#include <linux/ptrace.h>
#include <linux/thread_info.h>

#include "call.h"
#include "handlers.h"
#include "hit.h"
#include "table.h"

static __always_inline bool must_emulate(enum uprobe_way way)
{
	return likely(way == UPROBE_EMULATED) ||
	       (way == UPROBE_COPIED_CALL && arch_uprobe_has_shadow_stack());
}

/* Replacing the nop may wait for long: that is not part of the hit, which others wait for. */
static noinline void finish_nop(struct uprobe_task *utask, unsigned long vaddr, unsigned long slot,
				struct pt_regs *regs)
{
	uprobe_hit_end(utask);
	instruction_pointer_set(regs, slot);
	uprobe_call_replace(vaddr, regs);
}

/* Lets the instruction take effect. The last use of the site. */
static __always_inline void finish(struct uprobe_task *utask, const struct uprobe_site *site,
				   struct pt_regs *regs)
{
	/* Another hit may give the call up. */
	enum uprobe_way way = READ_ONCE(site->way);

	if (unlikely(way > UPROBE_COPIED_BRANCH)) {
		if (must_emulate(way)) {
			if (unlikely(arch_uprobe_emulate(site->arch, regs)))
				uprobe_emulate_faulting(utask, site->arch, regs);
			return;
		}
		if (way == UPROBE_COPIED_NOP) {
			finish_nop(utask, site->vaddr, site->slot, regs);
			return;
		}
		if (way == UPROBE_COPIED_SYSCALL)
			set_task_syscall_work(current, SYSCALL_UPROBE);
	}
	instruction_pointer_set(regs, site->slot);
}

/* The site, and the point if it was read, exist until the hit ends, even if they are replaced. */
static __always_inline void handle_site(struct uprobe_task *utask, const struct uprobe_site *site,
					struct uprobe_point *point, unsigned long vaddr,
					struct pt_regs *regs)
{
	instruction_pointer_set(regs, vaddr);
	uprobe_run_handlers(utask, site, point, regs, false);
	/* A handler that changes the instruction pointer replaces the instruction. */
	if (likely(instruction_pointer(regs) == site->vaddr))
		finish(utask, site, regs);
	else
		arch_uprobe_path_changed(regs);
}

/* No site, no trampoline: the end of a copy, the first hit in this process, or foreign. */
static noinline bool handle_other(struct pt_regs *regs, unsigned long vaddr)
{
	struct uprobe_mm *own;

	/* Pairs with the release in uprobe_mm_get(). */
	own = smp_load_acquire(&current->mm->uprobes_state.own);
	if (own && uprobe_leave_held(own, regs, vaddr))
		return true;
	if (uprobe_site_resolve(vaddr) == UPROBE_FOREIGN)
		return false;
	/* Execute it again: a hit if the site exists now, else an instruction. */
	instruction_pointer_set(regs, vaddr);
	return true;
}

/*
 * Prepares a breakpoint of another owner for its trap handler.  Returns false, the result of
 * uprobe_hit().
 */
static bool pass_on(struct pt_regs *regs)
{
	arch_uprobe_foreign(regs);
	return false;
}

static bool is_trampoline(unsigned long vaddr)
{
	unsigned long entry = READ_ONCE(current->mm->uprobes_state.trampoline);

	return vaddr == entry && entry;
}

/* A breakpoint without a site, in a hit, which ends here. */
static noinline bool hit_without_point(struct uprobe_task *utask, struct pt_regs *regs,
				       unsigned long vaddr)
{
	bool ours = true;

	if (likely(is_trampoline(vaddr)))
		uprobe_return_hit(utask, regs);
	else
		ours = handle_other(regs, vaddr);
	uprobe_hit_finish(utask);
	return likely(ours) || pass_on(regs);
}

/* The first hit of a task. */
static noinline bool first_hit(struct pt_regs *regs, unsigned long vaddr)
{
	struct uprobe_task *utask;

	if (!uprobe_mm_probed(current->mm))
		return pass_on(regs);
	utask = uprobe_task_create();
	if (!utask) {
		/* Try again, until there is memory or the task is killed. */
		instruction_pointer_set(regs, vaddr);
		return true;
	}
	uprobe_hit_begin(utask);
	return hit_without_point(utask, regs, vaddr);
}

/* See <linux/uprobes-arch.h>. */
bool uprobe_hit(struct pt_regs *regs, unsigned long vaddr)
{
	struct uprobe_task *utask = current->utask;
	struct mm_struct *mm = current->mm;
	struct uprobe_point *point = NULL;
	struct uprobe_site *site = NULL;
	struct uprobe_mm *own;

	if (unlikely(!utask))
		return first_hit(regs, vaddr);
	uprobe_hit_begin(utask);
	/* Pairs with the release in uprobe_mm_get(): all is read through the pointer. */
	own = READ_ONCE(mm->uprobes_state.own);
	if (likely(own))
		site = uprobe_table_find(own, vaddr);
	if (likely(site))
		point = READ_ONCE(site->point);
	if (unlikely(!point))
		return hit_without_point(utask, regs, vaddr);
	handle_site(utask, site, point, vaddr, regs);
	uprobe_hit_finish(utask);
	return true;
}
