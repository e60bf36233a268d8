/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_SLOTS_H
#define _LINUX_KPROBES_SLOTS_H
/*
 * Executable slots, for architectures that copy instructions; kernel/kprobes/slots.c.
 *
 * Included from <linux/kprobes-arch.h>; do not include it directly.
 */

#ifndef KPROBE_SLOT_SIZE
#define KPROBE_SLOT_SIZE	(MAX_INSN_SIZE * sizeof(kprobe_opcode_t))
#endif

/**
 * struct kprobe_insn_cache - executable slots of one size
 * @mutex:	guards the cache and its pages
 * @alloc:	makes an executable page
 * @free:	gives it back
 * @sym:	what kallsyms calls its pages
 * @pages:	its pages that have a free slot
 * @insn_size:	bytes of a slot
 * @nr_garbage:	always 0: a slot that is given back is free at once
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

/* What kallsyms and perf call the pages of slots, and those of detours. */
#define KPROBE_INSN_PAGE_SYM	"kprobe_insn_page"
#define KPROBE_OPTINSN_PAGE_SYM	"kprobe_optinsn_page"

/*
 * Declares the cache kprobe_@kind_slots, and get_@kind_slot(), free_@kind_slot() and
 * is_kprobe_@kind_slot(), which are about it.
 */
#define DEFINE_INSN_CACHE_OPS(kind)					\
extern struct kprobe_insn_cache kprobe_##kind##_slots;			\
									\
static inline bool is_kprobe_##kind##_slot(unsigned long addr)		\
{									\
	return __is_insn_slot_addr(&kprobe_##kind##_slots, addr);	\
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

/* Architectures whose text patching leaves something to be done about a slot say what. */
#ifndef flush_insn_slot
#define flush_insn_slot(p)	do { } while (0)
#endif

kprobe_opcode_t *get_insn_slot_for(struct kprobe *p);
struct kprobe *kprobe_slot_owner(unsigned long addr, unsigned long *slot);

/* HAVE_KPROBE_BATCH: slots are struct arch_specific_insn's @insn and @step, and detours. */
void kprobe_publish_slot(kprobe_opcode_t **where, kprobe_opcode_t *slot, size_t size);
#ifdef CONFIG_HAVE_KPROBE_BATCH
void arch_remove_kprobe(struct kprobe *p);
#endif
#else
/* Without slots no address is in one. */
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
