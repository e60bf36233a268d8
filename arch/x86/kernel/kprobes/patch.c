// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: breakpoints into the text and out of it, and pages for slots.
 *
 * A breakpoint is one byte, so it can be written while other CPUs execute the
 * instruction: they see the old byte or the new one.  Protocol:
 *	1. write the byte at every point
 *	2. make all CPUs execute a serialising instruction, once
 *	3. tell perf, whose decoders follow the text
 */
#include <linux/execmem.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/perf_event.h>
#include <asm/text-patching.h>

#include "common.h"

static const u8 breakpoint = INT3_INSN_OPCODE;

/**
 * arch_arm_kprobes() - write the breakpoints of a batch
 * @batch: list of representatives
 *
 * See <linux/kprobes-arch.h>.
 */
void arch_arm_kprobes(struct list_head *batch)
{
	struct kprobe *kp;

	lockdep_assert_held(&text_mutex);

	list_for_each_entry(kp, batch, list)
		text_poke(kp->addr, &breakpoint, INT3_INSN_SIZE);	/* 1 */
	smp_text_poke_sync_each_cpu();					/* 2 */
	list_for_each_entry(kp, batch, list)				/* 3 */
		perf_event_text_poke(kp->addr, &kp->opcode, INT3_INSN_SIZE,
				     &breakpoint, INT3_INSN_SIZE);
}

/**
 * arch_disarm_kprobes() - restore the text of a batch
 * @batch: list of representatives
 *
 * After step 2 every CPU has left the breakpoint trap: it runs with interrupts
 * off, and the synchronisation is an interrupt.
 *
 * See <linux/kprobes-arch.h>.
 */
void arch_disarm_kprobes(struct list_head *batch)
{
	struct kprobe *kp;

	lockdep_assert_held(&text_mutex);

	list_for_each_entry(kp, batch, list)
		text_poke(kp->addr, &kp->opcode, INT3_INSN_SIZE);	/* 1 */
	smp_text_poke_sync_each_cpu();					/* 2 */
	list_for_each_entry(kp, batch, list)				/* 3 */
		perf_event_text_poke(kp->addr, &breakpoint, INT3_INSN_SIZE,
				     &kp->opcode, INT3_INSN_SIZE);
}

/**
 * alloc_insn_page() - a page for slots
 *
 * Filled with breakpoints, so that a stray jump into it ends at once.  It comes from a
 * cache of pages that are mapped executable and never writable.
 *
 * Context: task, may sleep.
 * Return: the page, read-only and executable, for execmem_free(); or NULL.
 */
void *alloc_insn_page(void)
{
	void *page = execmem_alloc(EXECMEM_KPROBES, PAGE_SIZE);

	if (!page)
		return NULL;
	return text_poke_set(page, INT3_INSN_OPCODE, PAGE_SIZE);
}
