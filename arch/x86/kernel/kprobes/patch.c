// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: write breakpoints and remove them, and allocate pages for slots.
 *
 * A breakpoint is one byte, so it can be written while other CPUs execute the
 * instruction: they see the old byte or the new one.  Protocol:
 *	1. write the byte at every point
 *	2. make all CPUs execute a serialising instruction, once
 *	3. report the change to perf, whose decoders need the current text
 */
#include <linux/execmem.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <asm/smap.h>
#include <asm/text-patching.h>

#include "common.h"

static const u8 breakpoint = INT3_INSN_OPCODE;

/* Writes all changes to the pages, which are mapped in the user part of the address space. */
static void write_pokes(void *pages, const void *src, size_t len)
{
	const struct probe_pokes *pokes = src;
	const struct probe_poke *poke;

	lass_stac();
	for (poke = pokes->list; poke < pokes->list + pokes->nr; poke++)
		__inline_memcpy(pages + poke->offset, poke->bytes, poke->len);
	lass_clac();
}

/**
 * probe_poke_all() - make the collected changes
 * @pokes: the changes; empty afterwards
 *
 * Context: text_mutex held.
 */
void probe_poke_all(struct probe_pokes *pokes)
{
	if (pokes->nr)
		text_poke_pages(pokes->pages, pokes->nr_pages, write_pokes, pokes);
	pokes->nr = 0;
	pokes->nr_pages = 0;
}

/* Adds @page to the pages of @pokes.  Returns its offset when these are mapped together. */
static unsigned int add_page(struct probe_pokes *pokes, void *page)
{
	if (!pokes->nr_pages || pokes->pages[pokes->nr_pages - 1] != page)
		pokes->pages[pokes->nr_pages++] = page;
	return (pokes->nr_pages - 1) * PAGE_SIZE;
}

/**
 * probe_poke() - collect a change of the text
 * @pokes: the collected changes, which are made first if there are too many
 * @addr: address of the change
 * @bytes: the new bytes
 * @len: number of bytes, at most the length of a jump without its opcode
 *
 * Mapping a page costs more than all changes in it, so changes should be added in the order of
 * addresses.  A change is made by probe_poke_all(), or earlier.  The order of the changes does
 * not matter, because CPUs are synchronised after all of them.
 *
 * Context: text_mutex held.
 */
void probe_poke(struct probe_pokes *pokes, void *addr, const void *bytes, size_t len)
{
	struct probe_poke *poke;

	if (offset_in_page(addr) + len > PAGE_SIZE) {
		text_poke(addr, bytes, len);
		return;
	}
	if (pokes->nr == ARRAY_SIZE(pokes->list) || pokes->nr_pages == TEXT_POKE_PAGES)
		probe_poke_all(pokes);
	poke = &pokes->list[pokes->nr++];
	poke->offset = add_page(pokes, PTR_ALIGN_DOWN(addr, PAGE_SIZE)) + offset_in_page(addr);
	poke->len = len;
	memcpy(poke->bytes, bytes, len);
}

/* Writes the breakpoints of a batch if @arm, otherwise the original bytes. */
static void poke_batch(struct list_head *batch, bool arm)
{
	struct probe_pokes pokes = {};
	struct kprobe *kp;

	lockdep_assert_held(&text_mutex);

	list_for_each_entry(kp, batch, list)				/* 1 */
		probe_poke(&pokes, kp->addr, arm ? &breakpoint : &kp->opcode, INT3_INSN_SIZE);
	probe_poke_all(&pokes);
	smp_text_poke_sync_each_cpu();					/* 2 */
	list_for_each_entry(kp, batch, list)				/* 3 */
		perf_event_text_poke(kp->addr,
				     arm ? &kp->opcode : &breakpoint, INT3_INSN_SIZE,
				     arm ? &breakpoint : &kp->opcode, INT3_INSN_SIZE);
}

/**
 * arch_arm_kprobes() - write the breakpoints of a batch
 * @batch: list of representatives
 *
 * See <linux/kprobes-arch.h>.
 */
void arch_arm_kprobes(struct list_head *batch)
{
	poke_batch(batch, true);
}

/**
 * arch_disarm_kprobes() - restore the text of a batch
 * @batch: list of representatives
 *
 * After step 2 every CPU has left the breakpoint trap, because the trap runs with
 * interrupts off, and the synchronisation is an interrupt.
 *
 * See <linux/kprobes-arch.h>.
 */
void arch_disarm_kprobes(struct list_head *batch)
{
	poke_batch(batch, false);
}

/**
 * alloc_insn_page() - allocate a page for slots
 *
 * The page is filled with breakpoints, so that a stray jump into it traps at once.
 * It comes from a cache of pages that are mapped executable and never writable.
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
