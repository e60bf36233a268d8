// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hit, from the trap to the return into the slot.
 *
 *   1. the task marks itself busy			uprobe_hit_begin()
 *   2. the site is looked up by (mm, address)		uprobe_table_find()
 *   3. the handlers run				call_handlers()
 *   4. the instruction takes effect			handle_site()
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

/* What call_handlers() knows about the return of this call. */
struct expected {
	bool returns;			/* a consumer waits for it */
	struct return_instance *ri;	/* has the notes of session consumers, or NULL */
};

/* Calls the handler of a consumer that also has a return handler. */
static noinline bool call_session(struct uprobe_task *utask, struct uprobe_consumer *uc,
				  struct pt_regs *regs, struct expected *expected)
{
	u64 cookie = 0;
	int rc;

	rc = uc->handler(uc, regs, &cookie);
	if (!rc) {
		expected->ri = uprobe_return_note(utask, expected->ri, uc, cookie);
		expected->returns = true;
	}
	return rc == UPROBE_HANDLER_REMOVE;
}

/*
 * Calls the handlers of a point, whose address is in @regs. Returns true if none of them wants
 * more hits in this process.
 */
static __always_inline bool call_handlers(struct uprobe_task *utask, struct uprobe_point *point,
					  struct pt_regs *regs)
{
	struct expected expected = { };
	struct uprobe_consumer *uc;
	bool remove = true;
	u64 ignored = 0;

	list_for_each_entry_rcu(uc, &point->consumers, cons_node, true) {
		if (unlikely(uc->ret_handler)) {
			if (uc->handler) {
				remove &= call_session(utask, uc, regs, &expected);
			} else {
				expected.returns = true;
				remove = false;
			}
		} else if (uc->handler(uc, regs, &ignored) != UPROBE_HANDLER_REMOVE) {
			remove = false;
		}
	}
	if (unlikely(expected.returns))
		uprobe_return_expect(utask, expected.ri, point, regs);
	return remove;
}

/* Calls the handlers of this process, after those of the file. */
static noinline void call_second(struct uprobe_task *utask, struct uprobe_point *point,
				 struct pt_regs *regs)
{
	call_handlers(utask, point, regs);
}

/* Lets the instruction take effect. */
static noinline void finish_rarely(const struct uprobe_site *site, struct pt_regs *regs)
{
	switch (site->way) {
	case UPROBE_COPIED_SYSCALL:
		set_task_syscall_work(current, UPROBE);
		fallthrough;
	case UPROBE_COPIED:
		instruction_pointer_set(regs, site->slot);
		break;
	case UPROBE_EMULATED:
		arch_uprobe_emulate(site->arch, regs);
		break;
	}
}

/* The site, and the point if it was read, exist until the hit ends, even if they are replaced. */
static __always_inline void handle_site(struct uprobe_task *utask, const struct uprobe_site *site,
					struct uprobe_point *point, struct pt_regs *regs)
{
	struct uprobe_point *second = READ_ONCE(site->second);
	bool remove;

	instruction_pointer_set(regs, site->vaddr);
	utask->auprobe = site->arch;
	remove = call_handlers(utask, point, regs);
	if (unlikely(second))
		call_second(utask, second, regs);
	utask->auprobe = NULL;
	if (unlikely(remove))
		uprobe_disarm_current(point, site->vaddr);
	/* A handler that changes the instruction pointer replaces the instruction. */
	if (unlikely(instruction_pointer(regs) != site->vaddr))
		return;
	if (likely(site->way == UPROBE_COPIED))
		instruction_pointer_set(regs, site->slot);
	else
		finish_rarely(site, regs);
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
	struct uprobe_point *point = NULL;
	struct uprobe_site *site = NULL;
	struct uprobe_mm *own;
	bool ours = true;

	if (unlikely(!utask))
		return first_hit(regs, vaddr);
	uprobe_hit_begin(utask);
	/* Pairs with the release in uprobe_mm_get(). */
	own = smp_load_acquire(&current->mm->uprobes_state.own);
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
