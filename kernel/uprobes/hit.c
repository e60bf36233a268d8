// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hit, from the trap to the return into the slot.
 *
 *   1. the task marks itself busy			uprobe_hit_begin()
 *   2. the site is looked up by (mm, address)		uprobe_table_find()
 *   3. the handlers run				call_handlers()
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

/* What can be left out after the handlers of a hit, because no consumer needs it. */
enum {
	OMIT_HITS	= UPROBE_HANDLER_REMOVE,	/* further hits in this process */
	OMIT_RETURN	= BIT(1),			/* the return of this call */
};

/* Calls the handler of a session consumer; its note of the call is in @ri, see there. */
static noinline unsigned int call_session(struct uprobe_task *utask, struct uprobe_consumer *uc,
					  struct pt_regs *regs, struct return_instance **ri)
{
	u64 cookie = 0;
	int rc;

	rc = uc->handler(uc, regs, &cookie);
	if (rc)
		return rc | OMIT_RETURN;
	*ri = uprobe_return_note(utask, *ri, uc, cookie);
	return 0;
}

/* Calls the handlers of a point, and does what cannot be left out. */
static __always_inline void call_handlers(struct uprobe_task *utask,
					  const struct uprobe_site *site,
					  struct list_head *consumers, struct pt_regs *regs)
{
	unsigned int omit = OMIT_HITS | OMIT_RETURN;
	/* Has the notes of session consumers, if there are any. */
	struct return_instance *ri = NULL;
	struct uprobe_consumer *uc;
	struct uprobe_point *point;
	u64 ignored = 0;

	list_for_each_entry_rcu(uc, consumers, cons_node, true) {
		if (likely(!uc->ret_handler))
			omit &= uc->handler(uc, regs, &ignored) | OMIT_RETURN;
		else if (uc->handler)
			omit &= call_session(utask, uc, regs, &ri);
		else
			omit = 0;
	}
	if (likely(omit == OMIT_RETURN))
		return;
	point = container_of(consumers, struct uprobe_point, consumers);
	if (!(omit & OMIT_RETURN))
		uprobe_return_expect(utask, ri, point, regs);
	if (omit & OMIT_HITS)
		uprobe_disarm_current(point, site->vaddr);
}

/* Lets the instruction take effect. */
static __always_inline void finish(const struct uprobe_site *site, struct pt_regs *regs)
{
	if (site->way == UPROBE_EMULATED) {
		arch_uprobe_emulate(site->arch, regs);
		return;
	}
	if (unlikely(site->way == UPROBE_COPIED_SYSCALL))
		set_task_syscall_work(current, UPROBE);
	instruction_pointer_set(regs, site->slot);
}

/* The handlers of the file are called before those of this process, if @second is its point. */
static __always_inline void handle_points(struct uprobe_task *utask,
					  const struct uprobe_site *site,
					  struct uprobe_point *point, struct uprobe_point *second,
					  struct pt_regs *regs)
{
	instruction_pointer_set(regs, site->vaddr);
	utask->auprobe = site->arch;
	call_handlers(utask, site, &point->consumers, regs);
	if (second)
		call_handlers(utask, site, &second->consumers, regs);
	utask->auprobe = NULL;
	/* A handler that changes the instruction pointer replaces the instruction. */
	if (likely(instruction_pointer(regs) == site->vaddr))
		finish(site, regs);
}

static noinline void handle_both(struct uprobe_task *utask, const struct uprobe_site *site,
				 struct uprobe_point *point, struct uprobe_point *second,
				 struct pt_regs *regs)
{
	handle_points(utask, site, point, second, regs);
}

/* The site, and the point if it was read, exist until the hit ends, even if they are replaced. */
static __always_inline void handle_site(struct uprobe_task *utask, const struct uprobe_site *site,
					struct uprobe_point *point, struct pt_regs *regs)
{
	struct uprobe_point *second = READ_ONCE(site->second);

	if (unlikely(second))
		handle_both(utask, site, point, second, regs);
	else
		handle_points(utask, site, point, NULL, regs);
}

/* A breakpoint without a site: our own, the first hit in this process, or foreign. */
static noinline bool handle_other(struct pt_regs *regs, unsigned long vaddr)
{
	/* Pairs with the release in uprobe_mm_get(). */
	struct uprobe_mm *own = smp_load_acquire(&current->mm->uprobes_state.own);

	if (own && uprobe_leave_held(own, regs, vaddr))
		return true;
	if (vaddr == uprobe_get_trampoline_vaddr()) {
		uprobe_handle_trampoline(regs);
		return true;
	}
	if (uprobe_site_resolve(vaddr) == UPROBE_FOREIGN)
		return false;
	/* Execute it again: a hit if the site exists now, else an instruction. */
	instruction_pointer_set(regs, vaddr);
	return true;
}

/* The first hit of a task. */
static noinline bool first_hit(struct pt_regs *regs, unsigned long vaddr)
{
	struct uprobe_task *utask;
	bool ours;

	if (!uprobe_mm_probed(current->mm))
		return false;
	utask = uprobe_task_create();
	if (!utask) {
		/* Try again, until there is memory or the task is killed. */
		instruction_pointer_set(regs, vaddr);
		return true;
	}
	uprobe_hit_begin(utask);
	ours = handle_other(regs, vaddr);
	uprobe_hit_end(utask);
	return ours;
}

/* See <linux/uprobes-arch.h>. */
bool uprobe_hit(struct pt_regs *regs, unsigned long vaddr)
{
	struct uprobe_task *utask = current->utask;
	struct mm_struct *mm = current->mm;
	struct uprobe_point *point = NULL;
	struct uprobe_site *site = NULL;
	struct uprobe_mm *own;
	bool ours = true;

	if (unlikely(!utask))
		return first_hit(regs, vaddr);
	uprobe_hit_begin(utask);
	/* Pairs with the release in uprobe_mm_get(). */
	own = smp_load_acquire(&mm->uprobes_state.own);
	if (likely(own))
		site = uprobe_table_find(own, vaddr);
	if (likely(site))
		point = READ_ONCE(site->point);
	if (likely(point))
		handle_site(utask, site, point, regs);
	else
		ours = handle_other(regs, vaddr);
	uprobe_hit_end(utask);
	if (unlikely(utask->deferred))
		uprobe_deferred_run(utask);
	return ours;
}
