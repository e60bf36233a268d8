// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: write slots and detours, those of a batch together.
 *
 * A slot is written through a temporary mapping of its page.  To map a page costs ten times as
 * much as to write a slot, and the slots of a batch are next to each other.  So contents are
 * collected, and written when there are many, and at the end of the batch: before the first of
 * its points is armed, and before a hit continues in one of its detours.
 *
 * kprobe_mutex guards the collected contents.  There are none while it is not held.
 */
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/string.h>
#include <asm/smap.h>
#include <asm/text-patching.h>

#include "common.h"
#include "detour.h"

#define MAX_SLOTS	TEXT_POKE_PAGES

/**
 * struct slot_content - the content of a slot or detour that has not been written yet
 * @kp: representative of the point whose @insn will be the slot; or NULL
 * @slot: address of the slot
 * @offset: where it is while the pages are mapped one after the other; no slot crosses a page
 * @len: number of bytes
 * @bytes: the content
 */
struct slot_content {
	struct kprobe *kp;
	void *slot;
	unsigned int offset;
	unsigned int len;
	u8 bytes[DETOUR_SIZE];
};

static struct {
	unsigned int nr;
	struct slot_content list[MAX_SLOTS];
} pending;

static_assert(KPROBE_SLOT_SIZE <= DETOUR_SIZE);

/* Copies all contents to the pages, which are mapped in the user part of the address space. */
static void copy_contents(void *pages, const void *src, size_t len)
{
	const struct slot_content *c;

	lass_stac();
	for (c = pending.list; c < pending.list + pending.nr; c++)
		__inline_memcpy(pages + c->offset, c->bytes, c->len);
	lass_clac();
}

/* Lists the pages of all slots, and sets the offsets.  Returns the number of pages. */
static unsigned int list_pages(void **pages)
{
	unsigned int nr = 0, i;
	struct slot_content *c;
	void *page;

	for (c = pending.list; c < pending.list + pending.nr; c++) {
		page = PTR_ALIGN_DOWN(c->slot, PAGE_SIZE);
		for (i = 0; i < nr && pages[i] != page; i++)
			;
		if (i == nr)
			pages[nr++] = page;
		c->offset = i * PAGE_SIZE + offset_in_page(c->slot);
	}
	return nr;
}

/* Hits find the slots from now on. */
static void publish_slots(void)
{
	const struct slot_content *c;

	for (c = pending.list; c < pending.list + pending.nr; c++) {
		if (!c->kp)
			continue;
		kprobe_publish_slot(&c->kp->ainsn.insn, c->slot, c->bytes, c->len);
		arch_kprobe_handlers_changed(c->kp);
	}
}

/**
 * probe_write_slots() - write all slots and detours that have been collected
 *
 * CPUs that have executed earlier instructions there are synchronised when the first point of the
 * batch is armed, or gets its jump.
 *
 * Context: task, may sleep, kprobe_mutex held, text_mutex not.
 */
void probe_write_slots(void)
{
	void *pages[TEXT_POKE_PAGES] __uninitialized;

	if (!pending.nr)
		return;
	scoped_guard(mutex, &text_mutex)
		text_poke_pages(pages, list_pages(pages), copy_contents, NULL);
	publish_slots();
	pending.nr = 0;
}

/**
 * probe_collect_slot() - write a slot or detour, together with others
 * @slot: its address; no CPU executes it
 * @bytes: its content
 * @len: number of bytes, at most %DETOUR_SIZE
 * @kp: representative of the point whose @insn is set to the slot after that has been written; or
 *	NULL if the caller has stored the address, and no hit uses it before
 *
 * It is written when probe_write_slots() returns, or earlier.  The caller must not free the slot
 * before.
 *
 * Context: task, may sleep, kprobe_mutex held, text_mutex not.
 */
void probe_collect_slot(kprobe_opcode_t *slot, const void *bytes, unsigned int len,
			struct kprobe *kp)
{
	struct slot_content *c = &pending.list[pending.nr];

	c->kp = kp;
	c->slot = slot;
	c->len = len;
	memcpy(c->bytes, bytes, len);
	if (++pending.nr == MAX_SLOTS)
		probe_write_slots();
}
