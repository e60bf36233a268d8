/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KERNEL_KPROBES_SLOTS_H
#define _KERNEL_KPROBES_SLOTS_H
/*
 * Pages of executable slots, for the allocator (slots.c) and for readers at a hit
 * (hit/lookup.c).  A reader finds the owner of a slot for as long as its point lives: a point
 * gives its slots back only after no task can execute them.
 */
#include <linux/hashtable.h>

#include "internal.h"

/**
 * struct slot_page - a page of slots
 * @node:	in kprobe_slot_pages; RCU
 * @roomy:	pages of its cache that have a free slot
 * @cache:	whose slots they are
 * @insns:	the page, as it is executed
 * @used:	bitmap: which slots are taken; after @owners
 * @nr_used:	how many
 * @nr:		how many there are
 * @rcu:	delays freeing for readers of the list
 * @owners:	representative that a slot belongs to, NULL if not known
 */
struct slot_page {
	struct hlist_node node;
	struct list_head roomy;
	struct kprobe_insn_cache *cache;
	kprobe_opcode_t *insns;
	unsigned long *used;
	unsigned int nr_used, nr;
	struct rcu_head rcu;
	struct kprobe *owners[];
};

/* Defined with CONFIG_OPTPROBES only. */
extern struct kprobe_insn_cache kprobe_optinsn_slots;

#define KPROBE_SLOT_PAGES_BITS	6
extern struct hlist_head kprobe_slot_pages[1 << KPROBE_SLOT_PAGES_BITS];

/* Where a slot of @page runs. */
static __always_inline kprobe_opcode_t *slot_address(struct slot_page *page, unsigned int slot)
{
	return (void *)page->insns + slot * page->cache->insn_size;
}

/* What pages are hashed by, the same for every address in a page. */
static __always_inline unsigned long slot_page_key(unsigned long addr)
{
	return addr >> PAGE_SHIFT;
}

/* The page that @addr is in.  Context: preemption disabled. */
static __always_inline struct slot_page *find_slot_page(unsigned long addr)
{
	struct slot_page *page;

	/* No lockdep: called from traps and unwinders. */
	hash_for_each_possible_rcu_notrace(kprobe_slot_pages, page, node, slot_page_key(addr)) {
		if (slot_page_key((unsigned long)page->insns) == slot_page_key(addr))
			return page;
	}
	return NULL;
}

#endif /* _KERNEL_KPROBES_SLOTS_H */
