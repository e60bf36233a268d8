// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: where execution may go on by a table: behind a fault that is fixed up, and at the
 * target of a jump label that is a nop for now.
 *
 * Those tables are sorted by where execution comes from.  The kernel's are put into one
 * array, sorted by where it goes, at the first question; a module's are short.
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
 * struct landing - one way into the middle of a function
 * @to: where execution goes on
 * @from: where it comes from
 */
struct landing {
	unsigned long to, from;
};

/* The kernel's, sorted by @to; NULL: not made yet. */
static struct landing *landings;
static unsigned int nr_landings;

static struct landing exception_landing(const struct exception_table_entry *e)
{
	return (struct landing) {
		.to = (unsigned long)&e->fixup + e->fixup,
		.from = (unsigned long)&e->insn + e->insn,
	};
}

typedef bool (*landing_fn)(const struct landing *landing, void *data);

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
static bool each_label(const struct module *mod, landing_fn fn, void *data)
{
	const struct jump_entry *entry = first_label(mod), *end = entry + count_labels(mod);
	struct landing landing;

	for (; entry < end; entry++) {
		landing.to = jump_entry_target(entry);
		landing.from = jump_entry_code(entry);
		if (fn(&landing, data))
			return true;
	}
	return false;
}
#else
static unsigned int count_labels(const struct module *mod)
{
	return 0;
}

static bool each_label(const struct module *mod, landing_fn fn, void *data)
{
	return false;
}
#endif

static int compare_landings(const void *a, const void *b)
{
	const struct landing *l = a, *r = b;

	return l->to == r->to ? 0 : l->to < r->to ? -1 : 1;
}

static bool append_landing(const struct landing *landing, void *data)
{
	struct landing *all = data;

	all[nr_landings++] = *landing;
	return false;
}

static bool sort_landings(void)
{
	const struct exception_table_entry *e;
	struct landing landing, *all;

	all = kvmalloc_array(__stop___ex_table - __start___ex_table + count_labels(NULL) + 1,
			     sizeof(*all), GFP_KERNEL);
	if (!all)
		return false;
	nr_landings = 0;
	for (e = __start___ex_table; e < __stop___ex_table; e++) {
		landing = exception_landing(e);
		append_landing(&landing, all);
	}
	each_label(NULL, append_landing, all);
	sort(all, nr_landings, sizeof(*all), compare_landings, NULL);
	landings = all;
	return true;
}

/* Index of the first landing at @start or behind it. */
static unsigned int first_landing(unsigned long start)
{
	unsigned int low = 0, high = nr_landings, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (landings[mid].to < start)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

#ifdef CONFIG_MODULES
static bool each_of_module(struct module *mod, landing_fn fn, void *data)
{
	struct landing landing;
	unsigned int i;

	for (i = 0; i < mod->num_exentries; i++) {
		landing = exception_landing(&mod->extable[i]);
		if (fn(&landing, data))
			return true;
	}
	return each_label(mod, fn, data);
}
#else
static bool each_of_module(struct module *mod, landing_fn fn, void *data)
{
	return false;
}
#endif

/**
 * struct landing_range - what to do with the landings in a piece of text
 * @start: its first address
 * @end: behind its last
 * @fn: called for the source of each; NULL: one is enough
 * @data: for @fn
 */
struct landing_range {
	unsigned long start, end;
	int (*fn)(void *data, unsigned long from);
	void *data;
};

/* Returns true if no more have to be looked at. */
static bool visit(const struct landing *landing, void *data)
{
	struct landing_range *range = data;

	if (landing->to < range->start || landing->to >= range->end)
		return false;
	if (!range->fn)
		return true;
	if (landing->from < range->start || landing->from >= range->end)
		range->fn(range->data, landing->from);
	return false;
}

static bool walk(struct landing_range *range)
{
	struct module *mod;
	unsigned int i;

	rcu_read_lock();
	/* It stays: its going waits for kprobe_mutex. */
	mod = __module_text_address(range->start);
	rcu_read_unlock();
	if (mod)
		return each_of_module(mod, visit, range);

	for (i = first_landing(range->start); i < nr_landings; i++) {
		if (landings[i].to >= range->end)
			break;
		if (visit(&landings[i], range))
			return true;
	}
	return false;
}

/**
 * probe_landings_check() - may execution go on in a piece of text?
 * @start: its first address
 * @end: behind its last
 *
 * Context: task, may sleep; kprobe_mutex and jump_label_lock() held.
 * Return: %OBSTACLE_NONE; %OBSTACLE_LANDING if it may; %OBSTACLE_MEMORY.
 */
enum probe_obstacle probe_landings_check(unsigned long start, unsigned long end)
{
	struct landing_range range = { .start = start, .end = end };

	if (!landings && !sort_landings())
		return OBSTACLE_MEMORY;
	return walk(&range) ? OBSTACLE_LANDING : OBSTACLE_NONE;
}

/**
 * probe_landings_sources() - from where execution may come into a piece of text
 * @start: its first address
 * @end: behind its last
 * @fn: called for every place outside
 * @data: for @fn
 *
 * Context: task, may sleep; kprobe_mutex and jump_label_lock() held.
 */
void probe_landings_sources(unsigned long start, unsigned long end,
			    int (*fn)(void *data, unsigned long from), void *data)
{
	struct landing_range range = {
		.start = start, .end = end, .fn = fn, .data = data,
	};

	/* Without memory probe_landings_check() will refuse. */
	if (landings || sort_landings())
		walk(&range);
}
