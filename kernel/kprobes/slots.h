/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KERNEL_KPROBES_SLOTS_H
#define _KERNEL_KPROBES_SLOTS_H
/*
 * Pages of executable slots, for the allocator (slots.c) and for readers at a hit
 * (hit/lookup.c).  A reader finds the owner of a slot as long as its point exists.  The slots
 * of a point are freed only after no task can execute them.
 */
#include <linux/hashtable.h>
#include <linux/llist.h>

#include "internal.h"

/**
 * struct slot_page - a page of slots
 * @node:	links the page into kprobe_slot_pages; RCU
 * @roomy:	links the page into kprobe_insn_cache::pages while it has a free slot
 * @cache:	cache of the page
 * @insns:	executable address of the page
 * @used:	bitmap of taken slots, stored after @owners
 * @nr_used:	number of taken slots
 * @nr:		number of slots
 * @rcu:	delays freeing for readers of the hash and of the page
 * @left:	then links the page into the list of those to be freed
 * @owners:	representative that owns each slot; NULL if not recorded
 */
struct slot_page {
	struct hlist_node node;
	struct list_head roomy;
	struct kprobe_insn_cache *cache;
	kprobe_opcode_t *insns;
	unsigned long *used;
	unsigned int nr_used, nr;
	union {
		struct rcu_head rcu;
		struct llist_node left;
	};
	struct kprobe *owners[];
};

/* Defined with CONFIG_OPTPROBES only. */
extern struct kprobe_insn_cache kprobe_optinsn_slots;

#define KPROBE_SLOT_PAGES_BITS	6
extern struct hlist_head kprobe_slot_pages[1 << KPROBE_SLOT_PAGES_BITS];

/* Returns the executable address of a slot of @page. */
static __always_inline kprobe_opcode_t *slot_address(struct slot_page *page, unsigned int slot)
{
	return (void *)page->insns + slot * page->cache->insn_size;
}

/* Returns the hash key of a page, the same for every address in the page. */
static __always_inline unsigned long slot_page_key(unsigned long addr)
{
	return addr >> PAGE_SHIFT;
}

/* Does no page of slots have the hash of @addr?  Then @addr is not in a slot.  Context: any. */
static __always_inline bool no_slot_page(unsigned long addr)
{
	return hlist_empty(&kprobe_slot_pages[hash_min(slot_page_key(addr),
						       HASH_BITS(kprobe_slot_pages))]);
}

/* Returns the page that contains @addr, or NULL.  Context: preemption disabled. */
static __always_inline struct slot_page *find_slot_page(unsigned long addr)
{
	struct slot_page *page;

	/* Without lockdep, because traps and unwinders call this. */
	hash_for_each_possible_rcu_notrace(kprobe_slot_pages, page, node, slot_page_key(addr)) {
		if (slot_page_key((unsigned long)page->insns) == slot_page_key(addr))
			return page;
	}
	return NULL;
}

#endif /* _KERNEL_KPROBES_SLOTS_H */
