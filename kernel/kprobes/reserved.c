// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reserved text: instructions that other code rewrites at run time, or recognises by their
 * address.  They are in the tables of jump labels, static calls, and bugs.
 *
 * None of these tables is sorted by the address of the instruction.  To check thousands of
 * probes quickly, the addresses are copied to sorted arrays.  The array of the kernel is built at
 * the first registration and kept.  That of a module is built at the first registration in the
 * module, and freed when any module comes or goes.  Only if an address is reserved, the tables
 * are searched for its owner.
 *
 * kprobe_mutex guards all arrays.
 */
#include <linux/bug.h>
#include <linux/elf.h>
#include <linux/jump_label.h>
#include <linux/kprobes-tables.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/static_call.h>

#include "internal.h"

/**
 * struct reserved_index - reserved addresses of the kernel or of a module
 * @list:	links the indexes of modules, the most recently used first
 * @mod:	the module, NULL for the kernel
 * @nr:		number of addresses
 * @addrs:	sorted array of addresses; NULL if not built yet
 */
struct reserved_index {
	struct list_head list;
	const struct module *mod;
	unsigned int nr;
	unsigned long *addrs;
};

static struct reserved_index kernel_index;
static LIST_HEAD(module_indexes);

/*
 * Adds @addr to @index, or only counts it if there is no array yet.  Not used in a kernel that
 * has none of the three tables.
 */
static void __maybe_unused add(struct reserved_index *index, unsigned long addr)
{
	if (index->addrs)
		index->addrs[index->nr] = addr;
	index->nr++;
}

/* --- The three tables ------------------------------------------------------ */

#ifdef CONFIG_JUMP_LABEL
static void add_jump_labels(struct reserved_index *index)
{
	const struct module *mod = index->mod;
	struct jump_entry *entry, *stop;

	entry = mod ? kprobe_of_mod(mod, jump_entries, NULL) : __start___jump_table;
	stop = mod ? entry + kprobe_of_mod(mod, num_jump_entries, 0) : __stop___jump_table;
	for (; entry < stop; entry++)
		add(index, jump_entry_code(entry));
}
#else
static void add_jump_labels(struct reserved_index *index) { }
#endif

#ifdef CONFIG_HAVE_STATIC_CALL_INLINE
static void add_static_calls(struct reserved_index *index)
{
	const struct module *mod = index->mod;
	struct static_call_site *site, *stop;

	site = mod ? kprobe_of_mod(mod, static_call_sites, NULL) : __start_static_call_sites;
	stop = mod ? site + kprobe_of_mod(mod, num_static_call_sites, 0) : __stop_static_call_sites;
	for (; site < stop; site++)
		add(index, (unsigned long)offset_to_ptr(&site->addr));
}
#else
static void add_static_calls(struct reserved_index *index) { }
#endif

#ifdef CONFIG_GENERIC_BUG
#ifdef CONFIG_GENERIC_BUG_RELATIVE_POINTERS
static unsigned long bug_site(const struct bug_entry *bug)
{
	return (unsigned long)offset_to_ptr(&bug->bug_addr_disp);
}
#else
static unsigned long bug_site(const struct bug_entry *bug)
{
	return bug->bug_addr;
}
#endif

static void add_bugs(struct reserved_index *index)
{
	const struct module *mod = index->mod;
	const struct bug_entry *bug, *stop;

	bug = mod ? kprobe_of_mod(mod, bug_table, NULL) : __start___bug_table;
	stop = mod ? bug + kprobe_of_mod(mod, num_bugs, 0) : __stop___bug_table;
	for (; bug < stop; bug++)
		add(index, bug_site(bug));
}
#else
static void add_bugs(struct reserved_index *index) { }
#endif

/* --- The index --------------------------------------------------------------- */

static int compare_addrs(const void *a, const void *b)
{
	return cmp_int(*(const unsigned long *)a, *(const unsigned long *)b);
}

static void collect(struct reserved_index *index)
{
	index->nr = 0;
	/* The tables of a module that is coming are sorted under these locks. */
	jump_label_lock();
	add_jump_labels(index);
	jump_label_unlock();
	static_call_lock();
	add_static_calls(index);
	static_call_unlock();
	add_bugs(index);
}

/* Returns false without memory. */
static bool build(struct reserved_index *index)
{
	unsigned long *addrs;

	collect(index);		/* only counts */
	addrs = kvmalloc_array(index->nr + 1, sizeof(*addrs), GFP_KERNEL);
	if (!addrs)
		return false;
	index->addrs = addrs;
	collect(index);
	sort(addrs, index->nr, sizeof(*addrs), compare_addrs, NULL);
	return true;
}

/* Does @index have an address in the range? */
static bool reserved(const struct reserved_index *index, unsigned long start, unsigned long end)
{
	unsigned int first = kprobe_lower_bound(index->nr, i, index->addrs[i] < start);

	return first < index->nr && index->addrs[first] < end;
}

/**
 * kprobe_reserved_forget() - free the indexes of all modules, when a module comes or goes
 *
 * A module that comes may be at the address of an earlier one.
 *
 * Context: task, may sleep, kprobe_mutex held.
 */
void kprobe_reserved_forget(void)
{
	struct reserved_index *index, *next;

	lockdep_assert_held(&kprobe_mutex);

	list_for_each_entry_safe(index, next, &module_indexes, list) {
		list_del(&index->list);
		kvfree(index->addrs);
		kfree(index);
	}
}

/* Returns the index of @mod, which may not be built yet; NULL without memory. */
static struct reserved_index *module_index(const struct module *mod)
{
	struct reserved_index *index;

	list_for_each_entry(index, &module_indexes, list) {
		if (index->mod == mod) {
			list_move(&index->list, &module_indexes);
			return index;
		}
	}
	index = kzalloc(sizeof(*index), GFP_KERNEL);
	if (index) {
		index->mod = mod;
		list_add(&index->list, &module_indexes);
	}
	return index;
}

/* Returns the index of @mod, or of the kernel if @mod is NULL; NULL without memory. */
static struct reserved_index *index_of(const struct module *mod)
{
	struct reserved_index *index = mod ? module_index(mod) : &kernel_index;

	return index && (index->addrs || build(index)) ? index : NULL;
}

/*
 * Text of a live patch is relocated again while it is executed, when the module comes that it
 * patches: the bytes have to be 0 until then, and copies of them stay as they were.
 */
#ifdef CONFIG_LIVEPATCH
static bool is_relocated_late(const struct module *mod)
{
	return mod && mod->klp;
}

/* Does a section of late relocations have one that writes to the range? */
static bool relocates(const struct klp_modinfo *info, const Elf_Shdr *section,
		      unsigned long start, unsigned long end)
{
	const Elf_Rela *rela = (const Elf_Rela *)section->sh_addr;
	const Elf_Rela *stop = rela + section->sh_size / sizeof(*rela);
	unsigned long base = info->sechdrs[section->sh_info].sh_addr;

	for (; rela < stop; rela++) {
		if (base + rela->r_offset >= start && base + rela->r_offset < end)
			return true;
	}
	return false;
}

/*
 * May a late relocation write to the instruction at @addr, whose length is not known?  The tables
 * can be read only when the module is live.
 */
static bool has_late_relocation(const struct module *mod, unsigned long addr)
{
	unsigned long end = addr + MAX_INSN_SIZE * sizeof(kprobe_opcode_t);
	const Elf_Shdr *section, *stop;

	if (!is_relocated_late(mod))
		return false;
	if (mod->state != MODULE_STATE_LIVE)
		return true;
	section = mod->klp_info->sechdrs;
	for (stop = section + mod->klp_info->hdr.e_shnum; section < stop; section++) {
		if (section->sh_flags & SHF_RELA_LIVEPATCH &&
		    relocates(mod->klp_info, section, addr, end))
			return true;
	}
	return false;
}
#else
static bool is_relocated_late(const struct module *mod)
{
	return false;
}

static bool has_late_relocation(const struct module *mod, unsigned long addr)
{
	return false;
}
#endif

/**
 * kprobe_reserved_range() - does a range of text have a reserved instruction?
 * @start: first address of the range
 * @end: first address after the range
 *
 * Context: task, may sleep, kprobe_mutex held.  A module with probepoints cannot be freed while
 * kprobe_mutex is held.
 * Return: %KPROBE_OBSTACLE_NONE; %KPROBE_OBSTACLE_RESERVED if it does; %KPROBE_OBSTACLE_MEMORY.
 */
enum kprobe_obstacle kprobe_reserved_range(unsigned long start, unsigned long end)
{
	struct reserved_index *index;
	const struct module *mod;

	lockdep_assert_held(&kprobe_mutex);

	mod = kprobe_module_of(start);
	if (is_relocated_late(mod))
		return KPROBE_OBSTACLE_RESERVED;
	index = index_of(mod);
	if (!index)
		return KPROBE_OBSTACLE_MEMORY;
	return reserved(index, start, end) ? KPROBE_OBSTACLE_RESERVED : KPROBE_OBSTACLE_NONE;
}

static enum kprobe_refusal who_owns(void *addr)
{
	bool jump_label, static_call;

	/* Under the locks of collect(). */
	jump_label_lock();
	jump_label = jump_label_text_reserved(addr, addr);
	jump_label_unlock();
	if (jump_label)
		return KPROBE_REFUSE_JUMP_LABEL;
	static_call_lock();
	static_call = static_call_text_reserved(addr, addr);
	static_call_unlock();
	return static_call ? KPROBE_REFUSE_STATIC_CALL : KPROBE_REFUSE_BUG;
}

/**
 * kprobe_reserved_check() - is an instruction reserved?
 * @place: address of the instruction; if it is in a module, the module is pinned
 *
 * Context: task, may sleep, kprobe_mutex held.
 * Return: %KPROBE_REFUSE_NONE; %KPROBE_REFUSE_NO_MEMORY; or the reason for the owner.
 */
enum kprobe_refusal kprobe_reserved_check(const struct kprobe_place *place)
{
	enum kprobe_refusal owner;
	struct reserved_index *index;

	lockdep_assert_held(&kprobe_mutex);

	if (!place->ftrace && has_late_relocation(place->mod, place->addr))
		return KPROBE_REFUSE_LIVE_PATCH;
	index = index_of(place->mod);
	if (!index)
		return KPROBE_REFUSE_NO_MEMORY;
	if (!reserved(index, place->addr, place->addr + 1))
		return KPROBE_REFUSE_NONE;
	owner = who_owns((void *)place->addr);
	if (owner == KPROBE_REFUSE_BUG && IS_ENABLED(CONFIG_HAVE_KPROBES_ON_BUGS))
		return KPROBE_REFUSE_NONE;
	return owner;
}
