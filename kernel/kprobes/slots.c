// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Executable slots: memory for copies of probed instructions, and for detours.
 *
 * Pages come from execmem through alloc_insn_page() and are never writable at the
 * address where they are executable.  The architecture writes to a slot through a
 * temporary mapping, and fills unused bytes with trap instructions.  A page holds slots
 * of one cache, all of one size, and is freed with its last slot (but a cache keeps one
 * page with free slots).
 *
 * The mutex of a cache guards its pages, their list and the bitmaps; pages_lock guards
 * the hash of all pages.  Trap and fault paths look up the page of an address under RCU.
 * They find the owner of a slot as long as its probepoint exists.  The slots of a point
 * are freed only after no task can execute them (kprobe_points_release()), so a freed
 * slot can be reused at once.
 */
#include <linux/bitmap.h>
#include <linux/execmem.h>
#include <linux/kallsyms.h>
#include <linux/llist.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "slots.h"

struct kprobe_copies kprobe_copies __read_mostly = { .low = ULONG_MAX };

#ifdef __ARCH_WANT_KPROBES_INSN_SLOT
/* All pages, by address.  It is a hash because every kernel fault searches it. */
DEFINE_HASHTABLE(kprobe_slot_pages, KPROBE_SLOT_PAGES_BITS);
static DEFINE_SPINLOCK(pages_lock);

/* Pages to be freed. */
static LLIST_HEAD(left_pages);

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

/* insn_size is set at boot, because it may not be a constant: kprobe_optinsn_slots_init(). */
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

/* No barrier: CPUs are synchronised before they can execute a copy in the page. */
static void extend_copies(unsigned long addr)
{
	WRITE_ONCE(kprobe_copies.low, min(kprobe_copies.low, addr));
	WRITE_ONCE(kprobe_copies.high, max(kprobe_copies.high, addr + PAGE_SIZE));
}

static struct slot_page *add_page(struct kprobe_insn_cache *cache)
{
	struct slot_page *page = make_page(cache);

	if (!page)
		return NULL;
	list_add(&page->roomy, &cache->pages);
	spin_lock(&pages_lock);
	extend_copies((unsigned long)page->insns);
	/* Pairs with the walk in find_slot_page(). */
	hash_add_rcu(kprobe_slot_pages, &page->node, slot_page_key((unsigned long)page->insns));
	spin_unlock(&pages_lock);
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL,
			   (unsigned long)page->insns, PAGE_SIZE, false, cache->sym);
	return page;
}

/* Frees pages after all readers have left them.  A worker, because freeing a page may sleep. */
static void free_left_pages(struct work_struct *work)
{
	struct slot_page *page, *next;

	llist_for_each_entry_safe(page, next, llist_del_all(&left_pages), left) {
		page->cache->free(page->insns);
		kfree(page);
	}
}

static DECLARE_WORK(free_pages_work, free_left_pages);

static void page_left(struct rcu_head *rcu)
{
	struct slot_page *page = container_of(rcu, struct slot_page, rcu);

	if (llist_add(&page->left, &left_pages))
		queue_work(system_dfl_wq, &free_pages_work);
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
	/* An unwinder may be reading a detour in it. */
	call_rcu(&page->rcu, page_left);
}

static kprobe_opcode_t *take_slot(struct kprobe_insn_cache *cache, struct kprobe *p)
{
	struct slot_page *page;
	unsigned int slot;

	guard(mutex)(&cache->mutex);
	page = list_first_entry_or_null(&cache->pages, struct slot_page, roomy);
	if (!page)
		page = add_page(cache);
	if (!page)
		return NULL;
	slot = find_first_zero_bit(page->used, page->nr);
	__set_bit(slot, page->used);
	WRITE_ONCE(page->owners[slot], p);
	if (++page->nr_used == page->nr)
		list_del_init(&page->roomy);
	return slot_address(page, slot);
}

/**
 * __get_insn_slot() - take a slot of a cache
 * @cache: kprobe_insn_slots, kprobe_optinsn_slots, or a cache of the caller
 *
 * Callers use get_insn_slot() and similar functions, see DEFINE_INSN_CACHE_OPS().
 *
 * Context: task, may sleep.
 * Return: the executable address of the slot; NULL if there is no memory.
 */
kprobe_opcode_t *__get_insn_slot(struct kprobe_insn_cache *cache)
{
	return take_slot(cache, NULL);
}

/**
 * get_insn_slot_for() - take a slot
 * @p: representative that will own the slot, or NULL if no owner has to be recorded
 *
 * Context: task, may sleep.
 * Return: the executable address of the slot, KPROBE_SLOT_SIZE bytes, to be written with
 * the architecture's text patching; NULL if there is no memory.
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
	/* Keep one page with free slots, for probes that are registered and unregistered singly. */
	if (!page->nr_used && !list_is_singular(&cache->pages))
		remove_page(page);
}

/* Returns the page of @cache that contains @addr, or NULL.  Context: the cache's mutex held. */
static struct slot_page *page_of(struct kprobe_insn_cache *cache, unsigned long addr)
{
	struct slot_page *page;

	scoped_guard(preempt_notrace)
		page = find_slot_page(addr);
	return page && page->cache == cache ? page : NULL;
}

/**
 * __free_insn_slot() - free a slot
 * @cache: cache of the slot
 * @slot: from __get_insn_slot() or get_insn_slot_for(); no task executes it any more
 * @dirty: ignored; some architectures pass whether the slot may have been executed
 *
 * Context: task, may sleep.
 */
void __free_insn_slot(struct kprobe_insn_cache *cache, kprobe_opcode_t *slot, int dirty)
{
	struct slot_page *page;

	guard(mutex)(&cache->mutex);
	page = page_of(cache, (unsigned long)slot);
	if (!WARN_ON_ONCE(!page))
		free_slot(page, slot);
}

#ifdef CONFIG_OPTPROBES
/**
 * get_optinsn_slot_for() - take a slot for a detour
 * @p: representative that will own the slot, or NULL if no owner has to be recorded
 *
 * Context: task, may sleep.
 * Return: the executable address of the slot, MAX_OPTINSN_SIZE instruction units, aligned
 * to its size if that is a power of two; NULL if there is no memory.
 */
kprobe_opcode_t *get_optinsn_slot_for(struct kprobe *p)
{
	return take_slot(&kprobe_optinsn_slots, p);
}

/**
 * kprobe_optinsn_slots_init() - set the size of detours
 *
 * Context: boot, before there are detours.
 */
void __init kprobe_optinsn_slots_init(void)
{
	kprobe_optinsn_slots.insn_size = MAX_OPTINSN_SIZE * sizeof(kprobe_opcode_t);
}
#endif

#ifdef CONFIG_HAVE_KPROBE_BATCH
/**
 * kprobe_publish_slot() - store the address of a slot, so that hits use it
 * @where: the field of the point that hits read
 * @slot: the slot, or detour; if the point is armed, completely written
 * @bytes: its content
 * @size: size of @slot
 *
 * Context: task.
 */
void kprobe_publish_slot(kprobe_opcode_t **where, kprobe_opcode_t *slot, const void *bytes,
			 size_t size)
{
	perf_event_text_poke(slot, NULL, 0, bytes, size);
	/* Complete the slot before a hit finds it.  Pairs with the hit's read of *@where. */
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

/**
 * arch_remove_kprobe() - free the slots of a point
 * @p: representative of the point; no task executes its slots
 *
 * Context: task, may sleep.
 */
void arch_remove_kprobe(struct kprobe *p)
{
	drop_slot(&kprobe_insn_slots, &p->ainsn.insn);
	drop_slot(&kprobe_insn_slots, &p->ainsn.step);
}

#ifdef CONFIG_OPTPROBES
/**
 * arch_remove_optimized_kprobe() - free the detour of a point
 * @op: the point; no task executes its detour
 *
 * Context: task, may sleep.
 */
void arch_remove_optimized_kprobe(struct optimized_kprobe *op)
{
	drop_slot(&kprobe_optinsn_slots, &op->optinsn.insn);
}
#endif
#endif

/**
 * kprobe_cache_get_kallsym() - get the symbol of a page of a cache
 * @cache: the cache
 * @symnum: number of the page; reduced by the number of pages if there are fewer
 * @value: set to the address of the page
 * @type: set to the type of the symbol
 * @sym: set to the name of the symbol, KSYM_NAME_LEN bytes
 *
 * Context: task.
 * Return: 0, or -ERANGE if there are fewer pages.
 */
int kprobe_cache_get_kallsym(struct kprobe_insn_cache *cache, unsigned int *symnum,
			     unsigned long *value, char *type, char *sym)
{
	struct slot_page *page;
	int bucket;

	guard(rcu)();
	hash_for_each_rcu(kprobe_slot_pages, bucket, page, node) {
		if (page->cache != cache || (*symnum)--)
			continue;
		strscpy(sym, cache->sym, KSYM_NAME_LEN);
		*type = 't';
		*value = (unsigned long)page->insns;
		return 0;
	}
	return -ERANGE;
}

static int symbol_of_slots(char *sym, char *type, unsigned long *value, unsigned int *symnum)
{
	int ret = kprobe_cache_get_kallsym(&kprobe_insn_slots, symnum, value, type, sym);

	if (ret && IS_ENABLED(CONFIG_OPTPROBES))
		ret = kprobe_cache_get_kallsym(&kprobe_optinsn_slots, symnum, value, type, sym);
	return ret;
}
#else
/* Without slots, there are no symbols of slots. */
static int symbol_of_slots(char *sym, char *type, unsigned long *value, unsigned int *symnum)
{
	return -ERANGE;
}
#endif

/**
 * kprobe_get_kallsym() - get a symbol of the executable memory of probes
 * @symnum: number of the symbol, from 0
 * @value: set to the address of the symbol
 * @type: set to the type of the symbol
 * @sym: set to the name of the symbol, KSYM_NAME_LEN bytes
 *
 * Context: task.
 * Return: 0, or -ERANGE if there are fewer symbols.
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
