// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: places that a table can send execution to: exception fixups, and targets of disabled
 * jump labels; and instructions that have a fixup.
 *
 * The tables are sorted by source, but are needed by target.  The first look-up sorts the
 * targets of the kernel's tables into one array.  The tables of a module are short, and are
 * searched linearly.
 *
 * All functions run under kprobe_mutex and jump_label_lock(), because loading a module sorts
 * its labels in place.
 */
#include <linux/extable.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/kprobes-tables.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sort.h>
#include <asm/sections.h>

#include "common.h"
#include "targets.h"

/**
 * struct table_target - a possible jump into the middle of a function
 * @to: address at which execution continues
 * @from: address of the faulting instruction, or of the jump label
 */
struct table_target {
	unsigned long to, from;
};

/* Targets of the kernel's tables, sorted by @to; NULL if they have not been collected. */
static struct table_target *targets;
static unsigned int nr_targets;

static struct table_target exception_target(const struct exception_table_entry *e)
{
	return (struct table_target) {
		.to = (unsigned long)&e->fixup + e->fixup,
		.from = (unsigned long)&e->insn + e->insn,
	};
}

/* Does a table, which is sorted, have an entry for an instruction in a range of text? */
static bool has_entry(const struct exception_table_entry *table, unsigned int nr,
		      unsigned long start, unsigned long end)
{
	unsigned int first = kprobe_lower_bound(nr, i, exception_target(&table[i]).from < start);

	return first < nr && exception_target(&table[first]).from < end;
}

/* Returns the exception table of @mod, or of the kernel, and sets @nr to its length. */
static const struct exception_table_entry *extable_of(const struct module *mod, unsigned int *nr)
{
	*nr = mod ? kprobe_of_mod(mod, num_exentries, 0) : __stop___ex_table - __start___ex_table;
	return mod ? kprobe_of_mod(mod, extable, NULL) : __start___ex_table;
}

typedef bool (*target_fn)(const struct table_target *target, void *data);

#ifdef CONFIG_JUMP_LABEL
static bool each_label(const struct module *mod, target_fn fn, void *data)
{
	const struct jump_entry *entry, *end;
	struct table_target target;

	entry = mod ? kprobe_of_mod(mod, jump_entries, NULL) : __start___jump_table;
	end = mod ? entry + kprobe_of_mod(mod, num_jump_entries, 0) : __stop___jump_table;
	for (; entry < end; entry++) {
		target.to = jump_entry_target(entry);
		target.from = jump_entry_code(entry);
		if (fn(&target, data))
			return true;
	}
	return false;
}
#else
static bool each_label(const struct module *mod, target_fn fn, void *data)
{
	return false;
}
#endif

/* Calls @fn for each target in the tables of @mod, or of the kernel, until it returns true. */
static bool each_target(const struct module *mod, target_fn fn, void *data)
{
	const struct exception_table_entry *table;
	struct table_target target;
	unsigned int nr, i;

	table = extable_of(mod, &nr);
	for (i = 0; i < nr; i++) {
		target = exception_target(&table[i]);
		if (fn(&target, data))
			return true;
	}
	return each_label(mod, fn, data);
}

static int compare_targets(const void *a, const void *b)
{
	const struct table_target *l = a, *r = b;

	return cmp_int(l->to, r->to);
}

/* Appends a target to the array, or only counts it if there is no array yet. */
static bool append_target(const struct table_target *target, void *data)
{
	struct table_target *all = data;

	if (all)
		all[nr_targets] = *target;
	nr_targets++;
	return false;
}

static bool sort_targets(void)
{
	struct table_target *all;

	nr_targets = 0;
	each_target(NULL, append_target, NULL);
	all = kvmalloc_array(nr_targets + 1, sizeof(*all), GFP_KERNEL);
	if (!all)
		return false;
	nr_targets = 0;
	each_target(NULL, append_target, all);
	sort(all, nr_targets, sizeof(*all), compare_targets, NULL);
	targets = all;
	return true;
}

/**
 * struct target_range - a search for targets in a range of text
 * @start: first address of the range
 * @end: address after the range
 * @fn: called for each source outside of the range; NULL: stop at the first target
 * @data: argument of @fn
 */
struct target_range {
	unsigned long start, end;
	int (*fn)(void *data, unsigned long from);
	void *data;
};

/* Returns true if the search can stop. */
static bool visit(const struct table_target *target, void *data)
{
	struct target_range *range = data;

	if (target->to < range->start || target->to >= range->end)
		return false;
	if (!range->fn)
		return true;
	if (target->from < range->start || target->from >= range->end)
		range->fn(range->data, target->from);
	return false;
}

static bool walk(struct target_range *range)
{
	struct module *mod = kprobe_module_of(range->start);
	unsigned int i;

	if (mod)
		return each_target(mod, visit, range);

	i = kprobe_lower_bound(nr_targets, at, targets[at].to < range->start);
	for (; i < nr_targets && targets[i].to < range->end; i++) {
		if (visit(&targets[i], range))
			return true;
	}
	return false;
}

/**
 * probe_table_targets_check() - does a table have a target in a range of text?
 * @start: first address of the range
 * @end: address after the range
 *
 * Context: task, may sleep; kprobe_mutex and jump_label_lock() held.
 * Return: %KPROBE_OBSTACLE_NONE; %KPROBE_OBSTACLE_TABLE if there is a target in the range;
 * %KPROBE_OBSTACLE_MEMORY.
 */
enum kprobe_obstacle probe_table_targets_check(unsigned long start, unsigned long end)
{
	struct target_range range = { .start = start, .end = end };

	if (!targets && !sort_targets())
		return KPROBE_OBSTACLE_MEMORY;
	return walk(&range) ? KPROBE_OBSTACLE_TABLE : KPROBE_OBSTACLE_NONE;
}

/**
 * probe_table_targets_sources() - find sources of the targets in a range of text
 * @start: first address of the range
 * @end: address after the range
 * @fn: called for every source outside of the range
 * @data: argument of @fn
 *
 * Context: task, may sleep; kprobe_mutex and jump_label_lock() held.
 */
void probe_table_targets_sources(unsigned long start, unsigned long end,
				 int (*fn)(void *data, unsigned long from), void *data)
{
	struct target_range range = {
		.start = start, .end = end, .fn = fn, .data = data,
	};

	/* If memory is short, probe_table_targets_check() will return that obstacle. */
	if (targets || sort_targets())
		walk(&range);
}

/**
 * probe_may_fault() - does an instruction in a range of text have a fixup?
 * @start: first address of the range
 * @end: address after the range
 *
 * Context: task, kprobe_mutex held.
 * Return: true if one has.
 */
bool probe_may_fault(unsigned long start, unsigned long end)
{
	const struct exception_table_entry *table;
	unsigned int nr;

	table = extable_of(kprobe_module_of(start), &nr);
	return has_entry(table, nr, start, end);
}
