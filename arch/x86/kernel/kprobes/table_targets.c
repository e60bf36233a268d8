// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: places to which a table can send execution: the fixups of exceptions, and the targets
 * of jump labels that are nops for now.
 *
 * Those tables are sorted by source.  The first question sorts the kernel's by target, into
 * one array; a module's are short.
 *
 * Everything is used under kprobe_mutex and jump_label_lock(): a module that is coming has its
 * labels sorted in place.
 */
#include <linux/extable.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sort.h>
#include <asm/sections.h>

#include "common.h"
#include "targets.h"

/**
 * struct table_target - one way into the middle of a function
 * @to: where execution goes on
 * @from: where it comes from
 */
struct table_target {
	unsigned long to, from;
};

/* The kernel's, sorted by @to; NULL: not made yet. */
static struct table_target *targets;
static unsigned int nr_targets;

static struct table_target exception_target(const struct exception_table_entry *e)
{
	return (struct table_target) {
		.to = (unsigned long)&e->fixup + e->fixup,
		.from = (unsigned long)&e->insn + e->insn,
	};
}

typedef bool (*target_fn)(const struct table_target *target, void *data);

#if defined(CONFIG_JUMP_LABEL) && defined(CONFIG_MODULES)
static struct jump_entry *first_label(const struct module *mod)
{
	return mod ? mod->jump_entries : __start___jump_table;
}

static unsigned int count_labels(const struct module *mod)
{
	return mod ? mod->num_jump_entries : __stop___jump_table - __start___jump_table;
}
#elif defined(CONFIG_JUMP_LABEL)
/* Only the kernel has labels: there are no modules. */
static struct jump_entry *first_label(const struct module *mod)
{
	return __start___jump_table;
}

static unsigned int count_labels(const struct module *mod)
{
	return __stop___jump_table - __start___jump_table;
}
#endif

#ifdef CONFIG_JUMP_LABEL

/* Calls @fn for the labels of a module, or the kernel's, until it returns true. */
static bool each_label(const struct module *mod, target_fn fn, void *data)
{
	const struct jump_entry *entry = first_label(mod), *end = entry + count_labels(mod);
	struct table_target target;

	for (; entry < end; entry++) {
		target.to = jump_entry_target(entry);
		target.from = jump_entry_code(entry);
		if (fn(&target, data))
			return true;
	}
	return false;
}
#else
static unsigned int count_labels(const struct module *mod)
{
	return 0;
}

static bool each_label(const struct module *mod, target_fn fn, void *data)
{
	return false;
}
#endif

static int compare_targets(const void *a, const void *b)
{
	const struct table_target *l = a, *r = b;

	return l->to == r->to ? 0 : l->to < r->to ? -1 : 1;
}

static bool append_target(const struct table_target *target, void *data)
{
	struct table_target *all = data;

	all[nr_targets++] = *target;
	return false;
}

static bool sort_targets(void)
{
	const struct exception_table_entry *e;
	struct table_target target, *all;

	all = kvmalloc_array(__stop___ex_table - __start___ex_table + count_labels(NULL) + 1,
			     sizeof(*all), GFP_KERNEL);
	if (!all)
		return false;
	nr_targets = 0;
	for (e = __start___ex_table; e < __stop___ex_table; e++) {
		target = exception_target(e);
		append_target(&target, all);
	}
	each_label(NULL, append_target, all);
	sort(all, nr_targets, sizeof(*all), compare_targets, NULL);
	targets = all;
	return true;
}

/* Index of the first target at @start or after it. */
static unsigned int first_target(unsigned long start)
{
	unsigned int low = 0, high = nr_targets, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (targets[mid].to < start)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

#ifdef CONFIG_MODULES
static bool each_of_module(struct module *mod, target_fn fn, void *data)
{
	struct table_target target;
	unsigned int i;

	for (i = 0; i < mod->num_exentries; i++) {
		target = exception_target(&mod->extable[i]);
		if (fn(&target, data))
			return true;
	}
	return each_label(mod, fn, data);
}
#else
static bool each_of_module(struct module *mod, target_fn fn, void *data)
{
	return false;
}
#endif

/**
 * struct target_range - what to do with the targets in a piece of text
 * @start: its first address
 * @end: behind its last
 * @fn: called for the source of each; NULL: one is enough
 * @data: for @fn
 */
struct target_range {
	unsigned long start, end;
	int (*fn)(void *data, unsigned long from);
	void *data;
};

/* Returns true if no more have to be looked at. */
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
	struct module *mod;
	unsigned int i;

	rcu_read_lock();
	/* It stays: its going waits for kprobe_mutex. */
	mod = __module_text_address(range->start);
	rcu_read_unlock();
	if (mod)
		return each_of_module(mod, visit, range);

	for (i = first_target(range->start); i < nr_targets; i++) {
		if (targets[i].to >= range->end)
			break;
		if (visit(&targets[i], range))
			return true;
	}
	return false;
}

/**
 * probe_table_targets_check() - may execution go on in a piece of text?
 * @start: its first address
 * @end: behind its last
 *
 * Context: task, may sleep; kprobe_mutex and jump_label_lock() held.
 * Return: %KPROBE_OBSTACLE_NONE; %KPROBE_OBSTACLE_TABLE if it may; %KPROBE_OBSTACLE_MEMORY.
 */
enum kprobe_obstacle probe_table_targets_check(unsigned long start, unsigned long end)
{
	struct target_range range = { .start = start, .end = end };

	if (!targets && !sort_targets())
		return KPROBE_OBSTACLE_MEMORY;
	return walk(&range) ? KPROBE_OBSTACLE_TABLE : KPROBE_OBSTACLE_NONE;
}

/**
 * probe_table_targets_sources() - from where execution may come into a piece of text
 * @start: its first address
 * @end: behind its last
 * @fn: called for every place outside
 * @data: for @fn
 *
 * Context: task, may sleep; kprobe_mutex and jump_label_lock() held.
 */
void probe_table_targets_sources(unsigned long start, unsigned long end,
				 int (*fn)(void *data, unsigned long from), void *data)
{
	struct target_range range = {
		.start = start, .end = end, .fn = fn, .data = data,
	};

	/* Without memory probe_table_targets_check() will refuse. */
	if (targets || sort_targets())
		walk(&range);
}
