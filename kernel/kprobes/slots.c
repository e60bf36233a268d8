// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Executable slots: where copies of probed instructions live and run.
 *
 * Pages come from execmem through alloc_insn_page() and are never writable and
 * executable at once; the architecture writes a slot with its text-patching
 * primitive and fills what it does not use with trap instructions.  A page is
 * given back when its last slot is.
 *
 * slot_mutex guards the pages, the list and the bitmaps.  Trap and fault paths ask
 * who owns an address: they look its page up under RCU, and find the owner of a
 * slot for as long as its probepoint lives.  A point gives its slots back only after
 * nobody can execute them (kprobe_point_release()), so a slot is free for
 * re-use the moment that it is freed.
 */
#include <linux/bitmap.h>
#include <linux/execmem.h>
#include <linux/hashtable.h>
#include <linux/kallsyms.h>
#include <linux/perf_event.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "internal.h"

#define SLOTS_PER_PAGE	(PAGE_SIZE / KPROBE_SLOT_SIZE)
#define SLOT_PAGE_SYM	"kprobe_insn_page"

/**
 * struct slot_page - a page of slots
 * @node:	in slot_pages; RCU
 * @roomy:	pages that have a free slot
 * @insns:	the page, as it is executed
 * @used:	which slots are taken
 * @nr_used:	how many
 * @rcu:	delays freeing for readers of the list
 * @owners:	representative that a slot belongs to, NULL if not known
 */
struct slot_page {
	struct hlist_node node;
	struct list_head roomy;
	kprobe_opcode_t *insns;
	DECLARE_BITMAP(used, SLOTS_PER_PAGE);
	unsigned int nr_used;
	struct rcu_head rcu;
	struct kprobe *owners[SLOTS_PER_PAGE];
};

/* All pages, by address: every kernel fault asks, with thousands of probes, too. */
static DEFINE_HASHTABLE(slot_pages, 6);
static LIST_HEAD(roomy_pages);
static DEFINE_MUTEX(slot_mutex);

void * __weak alloc_insn_page(void)
{
	return execmem_alloc(EXECMEM_KPROBES, PAGE_SIZE);
}

static kprobe_opcode_t *slot_address(struct slot_page *page, unsigned int slot)
{
	return (void *)page->insns + slot * KPROBE_SLOT_SIZE;
}

/* What pages are hashed by, the same for every address in a page. */
static __always_inline unsigned long page_key(unsigned long addr)
{
	return addr >> PAGE_SHIFT;
}

static struct slot_page *add_page(void)
{
	struct slot_page *page = kzalloc(sizeof(*page), GFP_KERNEL);

	if (!page)
		return NULL;
	page->insns = alloc_insn_page();
	if (!page->insns) {
		kfree(page);
		return NULL;
	}
	list_add(&page->roomy, &roomy_pages);
	/* Pairs with the walk in find_page(). */
	hash_add_rcu(slot_pages, &page->node, page_key((unsigned long)page->insns));
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL,
			   (unsigned long)page->insns, PAGE_SIZE, false,
			   SLOT_PAGE_SYM);
	return page;
}

static void free_page_rcu(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct slot_page, rcu));
}

static void remove_page(struct slot_page *page)
{
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL,
			   (unsigned long)page->insns, PAGE_SIZE, true,
			   SLOT_PAGE_SYM);
	list_del(&page->roomy);
	hash_del_rcu(&page->node);
	execmem_free(page->insns);
	call_rcu(&page->rcu, free_page_rcu);
}

/**
 * get_insn_slot_for() - take a slot
 * @p: representative that it will belong to, or NULL if nobody needs to know
 *
 * Context: task, may sleep.
 * Return: where the slot runs; KPROBE_SLOT_SIZE bytes, to be written with the
 * architecture's text patching.  NULL if there is no memory.
 */
kprobe_opcode_t *get_insn_slot_for(struct kprobe *p)
{
	kprobe_opcode_t *insns = NULL;
	struct slot_page *page;
	unsigned int slot;

	mutex_lock(&slot_mutex);
	page = list_first_entry_or_null(&roomy_pages, struct slot_page, roomy);
	if (!page)
		page = add_page();
	if (page) {
		slot = find_first_zero_bit(page->used, SLOTS_PER_PAGE);
		__set_bit(slot, page->used);
		WRITE_ONCE(page->owners[slot], p);
		if (++page->nr_used == SLOTS_PER_PAGE)
			list_del_init(&page->roomy);
		insns = slot_address(page, slot);
	}
	mutex_unlock(&slot_mutex);
	return insns;
}

/* Take a slot whose owner the core need not know.  See get_insn_slot_for(). */
kprobe_opcode_t *get_insn_slot(void)
{
	return get_insn_slot_for(NULL);
}

/* The page that @addr is in.  Context: slot_mutex held or preemption disabled. */
static struct slot_page *find_page(unsigned long addr)
{
	struct slot_page *page;

	/* No lockdep: called from traps and unwinders. */
	hash_for_each_possible_rcu_notrace(slot_pages, page, node, page_key(addr)) {
		if (page_key((unsigned long)page->insns) == page_key(addr))
			return page;
	}
	return NULL;
}
NOKPROBE_SYMBOL(find_page);

/**
 * free_insn_slot() - give a slot back
 * @insns: from get_insn_slot() or get_insn_slot_for(); nobody executes it
 * @dirty: ignored; some architectures say whether it may have been executed
 *
 * Context: task, may sleep.
 */
void free_insn_slot(kprobe_opcode_t *insns, int dirty)
{
	struct slot_page *page;
	unsigned int slot;

	mutex_lock(&slot_mutex);
	page = find_page((unsigned long)insns);
	if (WARN_ON_ONCE(!page))
		goto out;
	slot = ((void *)insns - (void *)page->insns) / KPROBE_SLOT_SIZE;
	if (WARN_ON_ONCE(!test_bit(slot, page->used)))
		goto out;

	if (page->nr_used-- == SLOTS_PER_PAGE)
		list_add(&page->roomy, &roomy_pages);
	__clear_bit(slot, page->used);
	WRITE_ONCE(page->owners[slot], NULL);
	/* One page with room is kept: single probes come and go. */
	if (!page->nr_used && !list_is_singular(&roomy_pages))
		remove_page(page);
out:
	mutex_unlock(&slot_mutex);
}

/**
 * is_kprobe_insn_slot() - is this address in a slot?
 * @addr: any address
 *
 * Context: any; RCU is watching.
 * Return: true if it is in a page of slots.
 */
bool is_kprobe_insn_slot(unsigned long addr)
{
	bool found;

	preempt_disable_notrace();
	found = find_page(addr);
	preempt_enable_no_resched_notrace();
	return found;
}
NOKPROBE_SYMBOL(is_kprobe_insn_slot);

/**
 * kprobe_slot_owner() - whose copy is at an address
 * @addr: any address
 * @start: set to where the slot starts, if it is one
 *
 * Context: any, preemption disabled.
 * Return: the representative whose slot it is; NULL if it is not in a slot,
 * or the owner is not known.
 */
struct kprobe *kprobe_slot_owner(unsigned long addr, unsigned long *start)
{
	struct slot_page *page = find_page(addr);
	unsigned int slot;

	if (!page)
		return NULL;
	slot = (addr - (unsigned long)page->insns) / KPROBE_SLOT_SIZE;
	if (slot >= SLOTS_PER_PAGE)
		return NULL;
	*start = (unsigned long)slot_address(page, slot);
	return READ_ONCE(page->owners[slot]);
}
NOKPROBE_SYMBOL(kprobe_slot_owner);

/**
 * kprobe_slots_get_kallsym() - symbols of the pages of slots
 * @symnum: which page; reduced by the number of pages if there are fewer
 * @value: set to its address
 * @type: set to its symbol type
 * @sym: set to its name, KSYM_NAME_LEN bytes
 *
 * Context: task.
 * Return: 0, or -ERANGE if there are fewer.
 */
int kprobe_slots_get_kallsym(unsigned int *symnum, unsigned long *value,
			     char *type, char *sym)
{
	struct slot_page *page;
	int ret = -ERANGE, bucket;

	rcu_read_lock();
	hash_for_each_rcu(slot_pages, bucket, page, node) {
		if ((*symnum)--)
			continue;
		strscpy(sym, SLOT_PAGE_SYM, KSYM_NAME_LEN);
		*type = 't';
		*value = (unsigned long)page->insns;
		ret = 0;
		break;
	}
	rcu_read_unlock();
	return ret;
}
