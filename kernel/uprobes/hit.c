// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hit, from the trap to the return into the slot.
 *
 *   1. the task marks itself busy			uprobe_hit_begin()
 *   2. the site is looked up by (mm, address)		find_target()
 *   3. the handlers run				uprobe_dispatch()
 *   4. the instruction takes effect			finish()
 *   5. the mark ends					uprobe_hit_end()
 *
 * No lock, no reference count and no allocation, unless the site is not in the table yet or the
 * task has never hit a probe.
 */
#include <linux/ptrace.h>
#include <linux/thread_info.h>

#include "internal.h"
#include "hit.h"
#include "table.h"

/* Copied from a site, because the site itself may be replaced while the handlers sleep. */
struct target {
	struct uprobe_point *point;
	struct arch_uprobe *arch;
	unsigned long slot;
	enum uprobe_way way;
};

static __always_inline bool find_target(struct uprobe_mm *own, unsigned long vaddr,
					struct target *target)
{
	struct uprobe_site *site;

	guard(rcu)();
	site = uprobe_table_find(own, vaddr);
	if (!site)
		return false;
	target->point = READ_ONCE(site->point);
	target->arch = site->arch;
	target->slot = site->slot;
	target->way = site->way;
	return target->point;
}

/* Lets the instruction take effect. */
static __always_inline void finish(const struct target *target, struct pt_regs *regs)
{
	switch (target->way) {
	case UPROBE_COPIED_SYSCALL:
		set_task_syscall_work(current, UPROBE);
		fallthrough;
	case UPROBE_COPIED:
		instruction_pointer_set(regs, target->slot);
		break;
	case UPROBE_EMULATED:
		arch_uprobe_emulate(target->arch, regs);
		break;
	}
}

static __always_inline void handle_target(struct uprobe_task *utask,
					  const struct target *target,
					  struct pt_regs *regs, unsigned long vaddr)
{
	bool remove;

	instruction_pointer_set(regs, vaddr);
	remove = uprobe_dispatch(utask, target->point, target->arch, regs);
	if (unlikely(remove))
		uprobe_disarm_current(target->point, vaddr);
	/* A handler that changes the instruction pointer replaces the instruction. */
	if (likely(instruction_pointer(regs) == vaddr))
		finish(target, regs);
}

/* A breakpoint without a site: our own, the first hit in this process, or foreign. */
static noinline bool handle_other(struct uprobe_task *utask, struct pt_regs *regs,
				  unsigned long vaddr)
{
	struct uprobe_mm *own = current->mm->uprobes_state.own;
	struct target target;

	if (own && uprobe_leave_held(own, regs, vaddr))
		return true;
	if (vaddr == uprobe_get_trampoline_vaddr()) {
		uprobe_handle_trampoline(regs);
		return true;
	}
	switch (uprobe_site_resolve(vaddr)) {
	case UPROBE_FOREIGN:
		return false;
	case UPROBE_RESOLVED:
		own = current->mm->uprobes_state.own;
		if (find_target(own, vaddr, &target)) {
			handle_target(utask, &target, regs, vaddr);
			return true;
		}
		fallthrough;
	case UPROBE_RESTART:
		instruction_pointer_set(regs, vaddr);
		return true;
	}
	return false;
}

/* See <linux/uprobes-arch.h>. */
bool uprobe_hit(struct pt_regs *regs, unsigned long vaddr)
{
	struct mm_struct *mm = current->mm;
	struct uprobe_task *utask;
	struct target target;
	struct uprobe_mm *own;
	bool ours = true;

	if (!uprobe_mm_probed(mm))
		return false;
	utask = current->utask;
	if (unlikely(!utask)) {
		utask = uprobe_task_create();
		if (!utask) {
			/* Try again, until there is memory or the task is killed. */
			instruction_pointer_set(regs, vaddr);
			return true;
		}
	}
	uprobe_hit_begin(utask);
	/* Pairs with the release in uprobe_mm_get(). */
	own = smp_load_acquire(&mm->uprobes_state.own);
	if (likely(own && find_target(own, vaddr, &target)))
		handle_target(utask, &target, regs, vaddr);
	else
		ours = handle_other(utask, regs, vaddr);
	uprobe_hit_end(utask);
	return ours;
}
