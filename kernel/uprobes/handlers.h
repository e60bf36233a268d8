/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The handlers of a site: inline in the two kinds of hits, see hit.c and call_hit.c.
 */
#ifndef _KERNEL_UPROBES_HANDLERS_H
#define _KERNEL_UPROBES_HANDLERS_H

#include <linux/list.h>
#include <linux/ptrace.h>

#include "enter.h"
#include "internal.h"

static __always_inline unsigned int enter_return(struct uprobe_task *utask,
						 struct list_head *consumers,
						 struct uprobe_consumer *uc, unsigned long func,
						 struct pt_regs *regs, bool apart)
{
	if (apart)
		return uprobe_return_enter_apart(utask, consumers, uc, func, regs);
	return uprobe_return_enter(utask, consumers, uc, func, regs);
}

/* No consumer needs further hits of the point in this process. */
static noinline void disarm(struct list_head *consumers, const struct uprobe_site *site)
{
	uprobe_disarm_current(container_of(consumers, struct uprobe_point, consumers),
			      site->vaddr);
}

/*
 * Calls the handlers of a point, which is given by its list of consumers.
 */
static __always_inline void call_handlers(struct uprobe_task *utask,
					  const struct uprobe_site *site,
					  struct list_head *consumers, struct pt_regs *regs,
					  bool apart)
{
	unsigned int remove = UPROBE_HANDLER_REMOVE;
	struct uprobe_consumer *uc;
	struct list_head *node;
	u64 ignored = 0;

	/* Consumers come and go meanwhile; each is read through the pointer to it. */
	for (node = READ_ONCE(consumers->next); node != consumers; node = READ_ONCE(node->next)) {
		uc = list_entry(node, struct uprobe_consumer, cons_node);
		if (unlikely(uc->ret_handler)) {
			remove &= enter_return(utask, consumers, uc, site->vaddr, regs, apart);
			break;
		}
		remove &= uc->handler(uc, regs, &ignored);
	}
	if (unlikely(remove))
		disarm(consumers, site);
}

/* The handlers of the file are called before those of this process, whose point is @second. */
static noinline void call_both(struct uprobe_task *utask, const struct uprobe_site *site,
			       struct uprobe_point *point, struct uprobe_point *second,
			       struct pt_regs *regs)
{
	struct uprobe_point *const points[] = { point, second };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(points); i++)
		call_handlers(utask, site, &points[i]->consumers, regs, true);
}

/**
 * uprobe_run_handlers() - call the handlers of a site
 * @utask: of current, which is in a hit
 * @site: the site
 * @point: its point
 * @regs: user registers at the instruction
 * @apart: constant: the entry of return probes is a call of its own, not inline
 *
 * Context: task, may sleep.
 */
static __always_inline void uprobe_run_handlers(struct uprobe_task *utask,
						const struct uprobe_site *site,
						struct uprobe_point *point,
						struct pt_regs *regs, bool apart)
{
	struct uprobe_point *second = READ_ONCE(site->second);
	struct list_head *consumers = &point->consumers;

	/* One pointer is kept while handlers run: gcc would keep @point, too. */
	OPTIMIZER_HIDE_VAR(consumers);
	utask->auprobe = site->arch;
	if (unlikely(second))
		call_both(utask, site, point, second, regs);
	else
		call_handlers(utask, site, consumers, regs, apart);
	utask->auprobe = NULL;
}

#endif /* _KERNEL_UPROBES_HANDLERS_H */
