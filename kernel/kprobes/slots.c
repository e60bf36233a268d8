// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Executable slots: where copies of probed instructions live and run, and detours.
 *
 * Pages come from execmem through alloc_insn_page() and are never writable where they
 * are executable; the architecture writes a slot through another mapping, which it
 * has for that time only, and fills what it does not use with trap instructions.  A page holds
 * slots of one cache, all of one size, and is given back when its last slot is.
 *
 * The mutex of a cache guards its pages, their list and the bitmaps; pages_lock guards
 * the hash of all pages.  Trap and fault paths ask who owns an address: they look its
 * page up under RCU, and find the owner of a slot for as long as its probepoint lives.
 * A point gives its slots back only after no task can execute them
 * (kprobe_points_release()), so a slot is free for re-use the moment that it is freed.
 */
#include <linux/bitmap.h>
#include <linux/execmem.h>
#include <linux/kallsyms.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "slots.h"

#ifdef __ARCH_WANT_KPROBES_INSN_SLOT
/* All pages, by address: every kernel fault asks, with thousands of probes, too. */
DEFINE_HASHTABLE(kprobe_slot_pages, KPROBE_SLOT_PAGES_BITS);
static DEFINE_SPINLOCK(pages_lock);

void * __weak alloc_insn_page(void)
{
	return execmem_alloc(EXECMEM_KPROBES, PAGE_SIZE);
}

struct kprobe_insn_cache kprobe_insn_slots = {
	.sym		= KPROBE_INSN_PAGE_SYM,
	.insn_size	= KPROBE_SLOT_SIZE,
	.alloc		= alloc_insn_page,
	.free		= execmem_free,
	.pages		= LIST_HEAD_INIT(kprobe_insn_slots.pages),
	.mutex		= __MUTEX_INITIALIZER(kprobe_insn_slots.mutex),
};

#ifdef CONFIG_OPTPROBES
void * __weak alloc_optinsn_page(void)
{
	return alloc_insn_page();
}

void __weak free_optinsn_page(void *page)
{
	execmem_free(page);
}

/* Architectures may not know the size of their detours before the kernel is linked. */
struct kprobe_insn_cache kprobe_optinsn_slots = {
	.sym		= KPROBE_OPTINSN_PAGE_SYM,
	.alloc		= alloc_optinsn_page,
	.free		= free_optinsn_page,
	.pages		= LIST_HEAD_INIT(kprobe_optinsn_slots.pages),
	.mutex		= __MUTEX_INITIALIZER(kprobe_optinsn_slots.mutex),
};
#endif

static struct slot_page *make_page(struct kprobe_insn_cache *cache)
{
	unsigned int nr = PAGE_SIZE / cache->insn_size;
	struct slot_page *page;

	page = kzalloc(struct_size(page, owners, nr) +
		       BITS_TO_LONGS(nr) * sizeof(long), GFP_KERNEL);
	if (!page)
		return NULL;
	page->used = (unsigned long *)&page->owners[nr];
	page->nr = nr;
	page->cache = cache;
	page->insns = cache->alloc();
	if (!page->insns) {
		kfree(page);
		return NULL;
	}
	return page;
}

static struct slot_page *add_page(struct kprobe_insn_cache *cache)
{
	struct slot_page *page = make_page(cache);

	if (!page)
		return NULL;
	list_add(&page->roomy, &cache->pages);
	spin_lock(&pages_lock);
	/* Pairs with the walk in find_slot_page(). */
	hash_add_rcu(kprobe_slot_pages, &page->node, slot_page_key((unsigned long)page->insns));
	spin_unlock(&pages_lock);
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL,
			   (unsigned long)page->insns, PAGE_SIZE, false, cache->sym);
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
			   page->cache->sym);
	list_del(&page->roomy);
	spin_lock(&pages_lock);
	hash_del_rcu(&page->node);
	spin_unlock(&pages_lock);
	page->cache->free(page->insns);
	call_rcu(&page->rcu, free_page_rcu);
}

static kprobe_opcode_t *take_slot(struct kprobe_insn_cache *cache, struct kprobe *p)
{
	kprobe_opcode_t *insns = NULL;
	struct slot_page *page;
	unsigned int slot;

	mutex_lock(&cache->mutex);
	page = list_first_entry_or_null(&cache->pages, struct slot_page, roomy);
	if (!page)
		page = add_page(cache);
	if (page) {
		slot = find_first_zero_bit(page->used, page->nr);
		__set_bit(slot, page->used);
		WRITE_ONCE(page->owners[slot], p);
		if (++page->nr_used == page->nr)
			list_del_init(&page->roomy);
		insns = slot_address(page, slot);
	}
	mutex_unlock(&cache->mutex);
	return insns;
}

/**
 * __get_insn_slot() - take a slot of a cache
 * @cache: kprobe_insn_slots, kprobe_optinsn_slots, or the caller's
 *
 * get_insn_slot() and the like call it, see DEFINE_INSN_CACHE_OPS().
 *
 * Context: task, may sleep.
 * Return: where the slot runs; NULL if there is no memory.
 */
kprobe_opcode_t *__get_insn_slot(struct kprobe_insn_cache *cache)
{
	return take_slot(cache, NULL);
}

/**
 * get_insn_slot_for() - take a slot
 * @p: representative that it will belong to, or NULL if the owner need not be known
 *
 * Context: task, may sleep.
 * Return: where the slot runs; KPROBE_SLOT_SIZE bytes, to be written with the
 * architecture's text patching.  NULL if there is no memory.
 */
kprobe_opcode_t *get_insn_slot_for(struct kprobe *p)
{
	return take_slot(&kprobe_insn_slots, p);
}

static void free_slot(struct slot_page *page, kprobe_opcode_t *insns)
{
	struct kprobe_insn_cache *cache = page->cache;
	unsigned int slot = ((void *)insns - (void *)page->insns) / cache->insn_size;

	if (WARN_ON_ONCE(!test_bit(slot, page->used)))
		return;
	if (page->nr_used-- == page->nr)
		list_add(&page->roomy, &cache->pages);
	__clear_bit(slot, page->used);
	WRITE_ONCE(page->owners[slot], NULL);
	/* One page with room is kept: single probes come and go. */
	if (!page->nr_used && !list_is_singular(&cache->pages))
		remove_page(page);
}

/* The page of that cache that @addr is in.  Context: the cache's mutex held. */
static struct slot_page *page_of(struct kprobe_insn_cache *cache, unsigned long addr)
{
	struct slot_page *page;

	preempt_disable_notrace();
	page = find_slot_page(addr);
	preempt_enable_notrace();
	return page && page->cache == cache ? page : NULL;
}

/**
 * __free_insn_slot() - give a slot back
 * @cache: whose slot it is
 * @slot: from __get_insn_slot() or the like; no task executes it any more
 * @dirty: ignored; some architectures say whether it may have been executed
 *
 * Context: task, may sleep.
 */
void __free_insn_slot(struct kprobe_insn_cache *cache, kprobe_opcode_t *slot, int dirty)
{
	struct slot_page *page;

	mutex_lock(&cache->mutex);
	page = page_of(cache, (unsigned long)slot);
	if (!WARN_ON_ONCE(!page))
		free_slot(page, slot);
	mutex_unlock(&cache->mutex);
}

#ifdef CONFIG_OPTPROBES
/**
 * get_optinsn_slot_for() - take room for a detour
 * @p: representative that it will belong to, or NULL if the owner need not be known
 *
 * Context: task, may sleep.
 * Return: where it runs; MAX_OPTINSN_SIZE instruction units, aligned to as many if
 * that is a power of two; NULL if there is no memory.
 */
kprobe_opcode_t *get_optinsn_slot_for(struct kprobe *p)
{
	return take_slot(&kprobe_optinsn_slots, p);
}

/* Boot, before there are detours. */
void __init kprobe_optinsn_slots_init(void)
{
	kprobe_optinsn_slots.insn_size = MAX_OPTINSN_SIZE * sizeof(kprobe_opcode_t);
}
#endif

#ifdef CONFIG_HAVE_KPROBE_BATCH
/**
 * kprobe_publish_slot() - let hits find a slot
 * @where: the member of the point's structs that they read
 * @slot: the slot, or detour, completely written
 * @size: of it
 *
 * Context: task.
 */
void kprobe_publish_slot(kprobe_opcode_t **where, kprobe_opcode_t *slot, size_t size)
{
	perf_event_text_poke(slot, NULL, 0, slot, size);
	/* Published complete; pairs with the read of a hit under way. */
	smp_store_release(where, slot);
}

static noinline void drop_slot(struct kprobe_insn_cache *cache, kprobe_opcode_t **where)
{
	if (!*where)
		return;
	perf_event_text_poke(*where, *where, cache->insn_size, NULL, 0);
	__free_insn_slot(cache, *where, 1);
	*where = NULL;
}

/* Gives a point's slots back, which nobody executes.  Context: task, may sleep. */
void arch_remove_kprobe(struct kprobe *p)
{
	drop_slot(&kprobe_insn_slots, &p->ainsn.insn);
	drop_slot(&kprobe_insn_slots, &p->ainsn.step);
}

#ifdef CONFIG_OPTPROBES
/* The same of a detour. */
void arch_remove_optimized_kprobe(struct optimized_kprobe *op)
{
	drop_slot(&kprobe_optinsn_slots, &op->optinsn.insn);
}
#endif
#endif

/**
 * kprobe_cache_get_kallsym() - symbols of the pages of a cache
 * @cache: which
 * @symnum: which page; reduced by the number of pages if there are fewer
 * @value: set to its address
 * @type: set to its symbol type
 * @sym: set to its name, KSYM_NAME_LEN bytes
 *
 * Context: task.
 * Return: 0, or -ERANGE if there are fewer.
 */
int kprobe_cache_get_kallsym(struct kprobe_insn_cache *cache, unsigned int *symnum,
			     unsigned long *value, char *type, char *sym)
{
	struct slot_page *page;
	int ret = -ERANGE, bucket;

	rcu_read_lock();
	hash_for_each_rcu(kprobe_slot_pages, bucket, page, node) {
		if (page->cache != cache || (*symnum)--)
			continue;
		strscpy(sym, cache->sym, KSYM_NAME_LEN);
		*type = 't';
		*value = (unsigned long)page->insns;
		ret = 0;
		break;
	}
	rcu_read_unlock();
	return ret;
}

static struct kprobe_insn_cache *const caches[] = {
	&kprobe_insn_slots,
#ifdef CONFIG_OPTPROBES
	&kprobe_optinsn_slots,
#endif
};

static int symbol_of_slots(char *sym, char *type, unsigned long *value, unsigned int *symnum)
{
	int i, ret = -ERANGE;

	for (i = 0; ret && i < ARRAY_SIZE(caches); i++)
		ret = kprobe_cache_get_kallsym(caches[i], symnum, value, type, sym);
	return ret;
}
#else
/* No slots, no symbols of any. */
static int symbol_of_slots(char *sym, char *type, unsigned long *value, unsigned int *symnum)
{
	return -ERANGE;
}
#endif

/**
 * kprobe_get_kallsym() - symbol number @symnum of executable memory of probes
 * @symnum: which, from 0
 * @value: set to its address
 * @type: set to its type
 * @sym: set to its name, KSYM_NAME_LEN bytes
 *
 * Context: task.
 * Return: 0, or -ERANGE if there are no more.
 */
int kprobe_get_kallsym(unsigned int symnum, unsigned long *value, char *type,
		       char *sym)
{
	int ret = symbol_of_slots(sym, type, value, &symnum);

	return ret ? arch_kprobe_get_kallsym(&symnum, value, type, sym) : 0;
}

int __weak arch_kprobe_get_kallsym(unsigned int *symnum, unsigned long *value,
				   char *type, char *sym)
{
	return -ERANGE;
}
