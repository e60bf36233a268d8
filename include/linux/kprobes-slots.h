/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_SLOTS_H
#define _LINUX_KPROBES_SLOTS_H
/*
 * Executable slots for architectures that copy instructions.  See kernel/kprobes/slots.c.
 *
 * Included from <linux/kprobes-arch.h>; do not include it directly.
 */

#ifndef KPROBE_SLOT_SIZE
#define KPROBE_SLOT_SIZE	(MAX_INSN_SIZE * sizeof(kprobe_opcode_t))
#endif

/**
 * struct kprobe_insn_cache - executable slots of one size
 * @mutex:	guards the cache and its pages
 * @alloc:	allocates an executable page
 * @free:	frees such a page
 * @sym:	name of the pages in kallsyms
 * @pages:	pages of the cache that have a free slot
 * @insn_size:	size of a slot in bytes
 * @nr_garbage:	always 0: a released slot can be reused at once
 */
struct kprobe_insn_cache {
	struct mutex mutex;	/* guards the cache and its pages */
	void *(*alloc)(void);
	void (*free)(void *page);
	const char *sym;
	struct list_head pages;
	size_t insn_size;
	int nr_garbage;
};

#ifdef __ARCH_WANT_KPROBES_INSN_SLOT
kprobe_opcode_t *__get_insn_slot(struct kprobe_insn_cache *cache);
void __free_insn_slot(struct kprobe_insn_cache *cache, kprobe_opcode_t *slot, int dirty);
bool __is_insn_slot_addr(struct kprobe_insn_cache *cache, unsigned long addr);
int kprobe_cache_get_kallsym(struct kprobe_insn_cache *cache, unsigned int *symnum,
			     unsigned long *value, char *type, char *sym);

/* Names of the pages of slots and of detours in kallsyms and perf. */
#define KPROBE_INSN_PAGE_SYM	"kprobe_insn_page"
#define KPROBE_OPTINSN_PAGE_SYM	"kprobe_optinsn_page"

/*
 * Declares the cache kprobe_@kind_slots, and its functions get_@kind_slot(),
 * free_@kind_slot() and is_kprobe_@kind_slot().
 */
#define DEFINE_INSN_CACHE_OPS(kind)					\
extern struct kprobe_insn_cache kprobe_##kind##_slots;			\
									\
static inline bool is_kprobe_##kind##_slot(unsigned long addr)		\
{									\
	return kprobes_in_use() &&					\
	       __is_insn_slot_addr(&kprobe_##kind##_slots, addr);	\
}									\
									\
static inline void free_##kind##_slot(kprobe_opcode_t *slot, int dirty)	\
{									\
	__free_insn_slot(&kprobe_##kind##_slots, slot, dirty);		\
}									\
									\
static inline kprobe_opcode_t *get_##kind##_slot(void)			\
{									\
	return __get_insn_slot(&kprobe_##kind##_slots);			\
}

DEFINE_INSN_CACHE_OPS(insn)

/* Overridden by architectures that have to flush a slot after writing it. */
#ifndef flush_insn_slot
#define flush_insn_slot(p)	do { } while (0)
#endif

kprobe_opcode_t *get_insn_slot_for(struct kprobe *p);
struct kprobe *kprobe_slot_owner(unsigned long addr, unsigned long *slot);

/* HAVE_KPROBE_BATCH: the slots are @insn and @step of struct arch_specific_insn, and detours. */
void kprobe_publish_slot(kprobe_opcode_t **where, kprobe_opcode_t *slot, const void *bytes,
			 size_t size);
#ifdef CONFIG_HAVE_KPROBE_BATCH
void arch_remove_kprobe(struct kprobe *p);
#endif
#else
/* Without slots, no address is in a slot. */
#define DEFINE_INSN_CACHE_OPS(kind)					\
static inline bool is_kprobe_##kind##_slot(unsigned long addr)		\
{									\
	return false;							\
}

DEFINE_INSN_CACHE_OPS(insn)

static inline struct kprobe *kprobe_slot_owner(unsigned long addr,
					       unsigned long *slot)
{
	return NULL;
}
#endif

#endif /* _LINUX_KPROBES_SLOTS_H */
