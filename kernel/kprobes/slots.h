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

/* Returns the hash key of a page: that of its first address. */
static __always_inline unsigned long slot_page_key(unsigned long addr)
{
	return addr >> PAGE_SHIFT;
}

/* Returns the page with this key that contains @addr, or NULL. */
static __always_inline struct slot_page *page_with_key(unsigned long key, unsigned long addr)
{
	struct slot_page *page;

	/* Without lockdep, because traps and unwinders call this. */
	hash_for_each_possible_rcu_notrace(kprobe_slot_pages, page, node, key) {
		if (addr - (unsigned long)page->insns < PAGE_SIZE)
			return page;
	}
	return NULL;
}

/* Other backends may have a page that begins in the middle of a page, as powerpc does. */
#define SLOT_PAGES_ALIGNED	IS_ENABLED(CONFIG_HAVE_KPROBE_BATCH)

/* Returns the page that contains @addr, or NULL.  Context: preemption disabled. */
static __always_inline struct slot_page *find_slot_page(unsigned long addr)
{
	unsigned long key = slot_page_key(addr);
	struct slot_page *page = page_with_key(key, addr);

	return SLOT_PAGES_ALIGNED ? page : page ?: page_with_key(key - 1, addr);
}

#endif /* _KERNEL_KPROBES_SLOTS_H */
