// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The blacklist: text that must not be probed because it runs while a probe is handled.
 *
 * It has the functions in NOKPROBE_SYMBOL(), and .kprobes.text, entry text and
 * noinstr sections, of the kernel and of modules.  It is an array of ranges, sorted
 * by start.  Each range has the highest end of all ranges up to it.  So a binary
 * search and a few steps back find an address, even if ranges overlap.
 *
 * The array is replaced as a whole (RCU), under kprobe_mutex.  Readers take no lock,
 * because kgdb and hw_breakpoint call within_kprobe_blacklist() (symbol.c) in any context.  Until
 * the array exists, early in the boot, only .kprobes.text is blacklisted for them.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes-tables.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <asm/sections.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "internal.h"

/**
 * struct blacklist_range - [start, end) must not be probed
 * @start: first address
 * @end: first address after it
 * @max_end: highest @end of this range and all before it
 * @mod: module whose text it is, or NULL
 */
struct blacklist_range {
	unsigned long start;
	unsigned long end;
	unsigned long max_end;
	struct module *mod;
};

struct blacklist {
	struct rcu_head rcu;
	unsigned int nr;
	unsigned int room;
	struct blacklist_range ranges[];
};

static struct blacklist __rcu *blacklist;

/* The array that is being built; NULL unless kprobe_mutex is held or at boot. */
static struct blacklist *building;

bool __weak arch_within_kprobe_blacklist(unsigned long addr)
{
	return addr >= (unsigned long)__kprobes_text_start &&
	       addr < (unsigned long)__kprobes_text_end;
}

int __weak __init arch_populate_kprobe_blacklist(void)
{
	return 0;
}

/* Returns the number of ranges that start at or before @addr. */
static unsigned int ranges_up_to(const struct blacklist *list, unsigned long addr)
{
	return kprobe_lower_bound(list->nr, i, list->ranges[i].start <= addr);
}

static bool within_ranges(unsigned long addr)
{
	const struct blacklist *list;
	unsigned int i;

	guard(rcu)();
	list = rcu_dereference(blacklist);
	/* Step back over ranges that end before @addr, while one before them may contain it. */
	for (i = list ? ranges_up_to(list, addr) : 0; i--; ) {
		if (list->ranges[i].max_end <= addr)
			return false;
		if (list->ranges[i].end > addr)
			return true;
	}
	return false;
}

/**
 * kprobe_blacklist_covers() - is an address in a blacklisted range?
 * @addr: the address
 *
 * Symbol names, which may forbid a probe as well, are ignored.
 *
 * Context: any.
 */
bool kprobe_blacklist_covers(unsigned long addr)
{
	return arch_within_kprobe_blacklist(addr) || within_ranges(addr);
}

/* --- Building ----------------------------------------------------------- */

static int compare_ranges(const void *a, const void *b)
{
	const struct blacklist_range *l = a, *r = b;

	return cmp_int(l->start, r->start);
}

/* Copies the present array into @building, without the ranges of @except; room for @more. */
static int begin_update(unsigned int more, struct module *except)
{
	struct blacklist *old = rcu_dereference_protected(blacklist,
					lockdep_is_held(&kprobe_mutex));
	unsigned int i, room = (old ? old->nr : 0) + more;

	/* No warning: without memory, callers fail, or keep ranges that forbid too much. */
	building = kvmalloc(struct_size(building, ranges, room), GFP_KERNEL | __GFP_NOWARN);
	if (!building)
		return -ENOMEM;
	building->nr = 0;
	building->room = room;
	for (i = 0; old && i < old->nr; i++) {
		if (!except || old->ranges[i].mod != except)
			building->ranges[building->nr++] = old->ranges[i];
	}
	return 0;
}

static int append_range(unsigned long start, unsigned long end, struct module *mod)
{
	if (start > end)
		return -EINVAL;
	/* Sections of an architecture may be empty. */
	if (start == end)
		return 0;
	if (building->nr == building->room) {
		unsigned int room = building->room * 2 + 64;
		struct blacklist *grown = kvrealloc(building, struct_size(grown, ranges, room),
						    GFP_KERNEL);

		if (!grown)
			return -ENOMEM;
		grown->room = room;
		building = grown;
	}
	building->ranges[building->nr++] = (struct blacklist_range) {
		.start = start, .end = end, .mod = mod,
	};
	return 0;
}

static void end_update(void)
{
	struct blacklist *old = rcu_dereference_protected(blacklist,
					lockdep_is_held(&kprobe_mutex));
	unsigned long max_end = 0;
	unsigned int i;

	sort(building->ranges, building->nr, sizeof(building->ranges[0]),
	     compare_ranges, NULL);
	for (i = 0; i < building->nr; i++) {
		max_end = max(max_end, building->ranges[i].end);
		building->ranges[i].max_end = max_end;
	}
	/* Pairs with rcu_dereference() in within_ranges(). */
	rcu_assign_pointer(blacklist, building);
	building = NULL;
	if (old)
		kvfree_rcu(old, rcu);
}

static int add_function(unsigned long entry, struct module *mod)
{
	unsigned long size = 0, offset = 0;

	if (!kernel_text_address(entry) ||
	    !kallsyms_lookup_size_offset(entry, &size, &offset))
		return -EINVAL;
	/* An alias without a size of its own still covers its first byte. */
	return append_range(entry, entry - offset + max(size, offset + 1), mod);
}

/**
 * kprobe_add_ksym_blacklist() - forbid probing a function
 * @entry: address of the function
 *
 * Context: arch_populate_kprobe_blacklist() only.
 * Return: 0; -EINVAL if @entry is no function; -ENOMEM.
 */
int kprobe_add_ksym_blacklist(unsigned long entry)
{
	return add_function(entry, NULL);
}

/**
 * kprobe_add_area_blacklist() - forbid probing an area
 * @start: first address of the area
 * @end: first address after the area; if it equals @start, the area is empty
 *
 * Context: arch_populate_kprobe_blacklist() only.
 * Return: 0; -EINVAL if the area ends before it starts; -ENOMEM.
 */
int kprobe_add_area_blacklist(unsigned long start, unsigned long end)
{
	return append_range(start, end, NULL);
}

static int add_section(void *start, unsigned long size, struct module *mod)
{
	return append_range((unsigned long)start, (unsigned long)start + size, mod);
}

#ifdef CONFIG_MODULES
static bool forbids_anything(const struct module *mod)
{
	return mod->num_kprobe_blacklist || mod->kprobes_text_size ||
	       mod->noinstr_text_size;
}

/**
 * kprobe_blacklist_add_module() - add the ranges of a module that is coming
 * @mod: the module
 *
 * Context: task, may sleep, kprobe_mutex held.
 * Return: 0; -ENOMEM if some of its ranges could be probed.
 */
int kprobe_blacklist_add_module(struct module *mod)
{
	unsigned int i;
	int ret;

	lockdep_assert_held(&kprobe_mutex);

	if (!forbids_anything(mod))
		return 0;
	ret = begin_update(mod->num_kprobe_blacklist + 2, NULL);
	if (ret)
		return ret;
	for (i = 0; i < mod->num_kprobe_blacklist; i++)
		add_function(mod->kprobe_blacklist[i], mod);
	ret = add_section(mod->kprobes_text_start, mod->kprobes_text_size, mod);
	if (!ret)
		ret = add_section(mod->noinstr_text_start,
				  mod->noinstr_text_size, mod);
	end_update();
	return ret;
}

/**
 * kprobe_blacklist_remove_module() - remove the ranges of a module that goes
 * @mod: the module
 *
 * Context: task, may sleep, kprobe_mutex held.
 */
void kprobe_blacklist_remove_module(struct module *mod)
{
	lockdep_assert_held(&kprobe_mutex);

	/* Without memory, stale ranges stay: they forbid too much, not too little. */
	if (forbids_anything(mod) && !begin_update(0, mod))
		end_update();
}

#endif /* CONFIG_MODULES */

/**
 * kprobe_blacklist_init() - add the ranges of the kernel itself
 *
 * Context: boot, kprobe_mutex held.
 * Return: 0 or -ENOMEM.
 */
int __init kprobe_blacklist_init(void)
{
	unsigned long *entry;
	int ret;

	ret = begin_update(__stop_kprobe_blacklist - __start_kprobe_blacklist + 8,
			   NULL);
	if (ret)
		return ret;

	for (entry = __start_kprobe_blacklist; entry < __stop_kprobe_blacklist; entry++) {
		unsigned long addr;

		addr = (unsigned long)dereference_symbol_descriptor((void *)*entry);
		/* begin_update() has reserved the memory. */
		if (add_function(addr, NULL))
			pr_warn("the size of blacklisted %pS is unknown\n", (void *)addr);
	}
	ret = add_section(__kprobes_text_start,
			  __kprobes_text_end - __kprobes_text_start, NULL);
	if (!ret)
		ret = add_section(__noinstr_text_start,
				  __noinstr_text_end - __noinstr_text_start, NULL);
	if (!ret)
		ret = arch_populate_kprobe_blacklist();
	end_update();
	return ret;
}

/**
 * kprobe_blacklist_has() - is there a range with a number?
 * @index: the number
 *
 * Context: kprobe_mutex held.
 */
bool kprobe_blacklist_has(unsigned int index)
{
	const struct blacklist *list = rcu_dereference_protected(blacklist,
					lockdep_is_held(&kprobe_mutex));

	return list && index < list->nr;
}

/* Returns the end of the function at @addr, or @end if that comes first. */
static unsigned long end_of_function(unsigned long addr, unsigned long end)
{
	unsigned long size, offset;

	if (!kallsyms_lookup_size_offset(addr, &size, &offset) || size <= offset)
		return end;
	return min(addr - offset + size, end);
}

static bool is_function(unsigned long addr)
{
	unsigned long size, offset;

	return kallsyms_lookup_size_offset(addr, &size, &offset) && !offset;
}

/**
 * kprobe_blacklist_show() - print the functions of one range for debugfs
 * @m: the file
 * @index: number of the range, for which kprobe_blacklist_has() is true
 * @show_addresses: the reader may see addresses
 *
 * Tools look for the names of functions in this file, so each function of a section gets a line.
 * A section may begin with data in front of its first function (on arm64, the hash of its type),
 * which kallsyms attributes to the symbol before; these bytes go with the first function.
 *
 * Context: task, kprobe_mutex held.
 */
void kprobe_blacklist_show(struct seq_file *m, unsigned int index, bool show_addresses)
{
	const struct blacklist *list = rcu_dereference_protected(blacklist,
					lockdep_is_held(&kprobe_mutex));
	const struct blacklist_range *range = &list->ranges[index];
	unsigned long start = range->start, name, end;

	/* Print addresses that several ranges cover only once. */
	if (index)
		start = max(start, list->ranges[index - 1].max_end);
	for (; start < range->end; start = end) {
		name = start;
		end = end_of_function(start, range->end);
		if (!is_function(start) && end < range->end) {
			name = end;
			end = end_of_function(name, range->end);
		}
		seq_printf(m, "0x%px-0x%px\t%ps\n", show_addresses ? (void *)start : NULL,
			   show_addresses ? (void *)end : NULL, (void *)name);
	}
}
