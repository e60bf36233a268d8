/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mark of a task that handles a hit; see observe.c.
 */
#ifndef _KERNEL_UPROBES_HIT_H
#define _KERNEL_UPROBES_HIT_H

#include "internal.h"

/**
 * arch_uprobe_path_changed() - a handler has changed the instruction pointer
 * @regs: current's user registers
 *
 * Takes back the changes that the branch to the probed instruction has left in @regs.
 *
 * Context: a hit. A macro of <asm/uprobes.h> where it does something.
 */
#ifndef arch_uprobe_path_changed
static inline void arch_uprobe_path_changed(struct pt_regs *regs)
{
}
#endif

/* Context: task. From here to uprobe_hit_end(), points and consumers that are seen exist. */
static inline void uprobe_hit_begin(struct uprobe_task *utask)
{
	WRITE_ONCE(utask->busy, READ_ONCE(uprobe_epoch));
	/*
	 * Orders the mark before the look-ups. Pairs with the barrier in uprobe_observe(): if that
	 * does not see the mark, this hit does not find objects that were unlinked before.
	 */
	smp_mb();
}

static inline void uprobe_hit_end(struct uprobe_task *utask)
{
	/* Pairs with the acquire in busy_before(): uses come before the mark's end. */
	smp_store_release(&utask->busy, 0);
}

/* The same, and does the operations that the handlers have asked for. */
static __always_inline void uprobe_hit_finish(struct uprobe_task *utask)
{
	uprobe_hit_end(utask);
	if (unlikely(utask->deferred))
		uprobe_deferred_run(utask);
}

#endif /* _KERNEL_UPROBES_HIT_H */
