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
 * No lock, no reference count and no allocation, unless the site is not in the table yet, the
 * task has never hit a probe, or its pool has no instance for a return.
 */
#include <linux/mmu_context.h>
#include <linux/ptrace.h>
#include <linux/thread_info.h>

#include "call.h"
#include "enter.h"
#include "hit.h"
#include "table.h"

/* Calls the handlers of a point, and takes it out of this process if no consumer needs it. */
static __always_inline void call_handlers(struct uprobe_task *utask,
					  const struct uprobe_site *site,
					  struct uprobe_point *point, struct pt_regs *regs)
{
	struct list_head *consumers = &point->consumers, *node;
	unsigned int remove = UPROBE_HANDLER_REMOVE;
	struct uprobe_consumer *uc;
	u64 ignored = 0;

	/* Consumers come and go meanwhile; each is read through the pointer to it. */
	for (node = READ_ONCE(consumers->next); node != consumers; node = READ_ONCE(node->next)) {
		uc = list_entry(node, struct uprobe_consumer, cons_node);
		if (unlikely(uc->ret_handler)) {
			remove &= uprobe_return_enter(utask, consumers, uc, site->vaddr, regs);
			break;
		}
		remove &= uc->handler(uc, regs, &ignored);
	}
	if (unlikely(remove))
		uprobe_disarm_current(point, site->vaddr);
}

static __always_inline bool must_emulate(enum uprobe_way way)
{
	return way == UPROBE_EMULATED ||
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

/* The handlers of the file are called before those of this process, whose point is @second. */
static noinline void call_both(struct uprobe_task *utask, const struct uprobe_site *site,
			       struct uprobe_point *point, struct uprobe_point *second,
			       struct pt_regs *regs)
{
	struct uprobe_point *const points[] = { point, second };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(points); i++)
		call_handlers(utask, site, points[i], regs);
}

static __always_inline void call_all(struct uprobe_task *utask, const struct uprobe_site *site,
				     struct uprobe_point *point, struct pt_regs *regs)
{
	struct uprobe_point *second = READ_ONCE(site->second);

	utask->auprobe = site->arch;
	if (unlikely(second))
		call_both(utask, site, point, second, regs);
	else
		call_handlers(utask, site, point, regs);
	utask->auprobe = NULL;
}

/* The site, and the point if it was read, exist until the hit ends, even if they are replaced. */
static __always_inline void handle_site(struct uprobe_task *utask, const struct uprobe_site *site,
					struct uprobe_point *point, struct pt_regs *regs)
{
	instruction_pointer_set(regs, site->vaddr);
	call_all(utask, site, point, regs);
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
	handle_site(utask, site, point, regs);
	uprobe_hit_finish(utask);
	return true;
}

#ifdef CONFIG_UPROBE_CALLS
static __always_inline struct uprobe_site *site_at(unsigned long vaddr)
{
	/* Pairs with the release in uprobe_mm_get(): all is read through the pointer. */
	struct uprobe_mm *own = READ_ONCE(current->mm->uprobes_state.own);

	return likely(own) ? uprobe_table_find(own, vaddr) : NULL;
}

/* Calls the handlers if there is a point, and then moves on. */
static __always_inline bool call_at(struct uprobe_task *utask, struct pt_regs *regs,
				    unsigned long vaddr)
{
	const struct uprobe_site *site = site_at(vaddr);
	struct uprobe_point *point = likely(site) ? READ_ONCE(site->point) : NULL;

	if (unlikely(!point))
		return false;
	call_all(utask, site, point, regs);
	if (likely(instruction_pointer(regs) == vaddr))
		instruction_pointer_set(regs, vaddr + UPROBE_CALL_BYTES);
	else
		arch_uprobe_path_changed(regs);
	return true;
}

/* The first call in a child, or the point comes or goes. */
static noinline void call_without_point(struct uprobe_task *utask, struct pt_regs *regs,
					unsigned long vaddr)
{
	enum uprobe_resolved resolved = uprobe_site_resolve(vaddr);

	/* Without a point, the nop is executed if the text has it again. */
	if (!call_at(utask, regs, vaddr) && resolved == UPROBE_FOREIGN)
		instruction_pointer_set(regs, vaddr + UPROBE_CALL_BYTES);
}

/* See <linux/uprobes-call.h>. */
void uprobe_call_hit(struct pt_regs *regs)
{
	struct uprobe_task *utask = current->utask;
	unsigned long vaddr = instruction_pointer(regs);

	if (unlikely(!utask)) {
		utask = uprobe_task_create();
		/* Try again, until there is memory or the task is killed. */
		if (!utask)
			return;
	}
	uprobe_hit_begin(utask);
	if (unlikely(!call_at(utask, regs, vaddr)))
		call_without_point(utask, regs, vaddr);
	uprobe_hit_finish(utask);
}
#endif
