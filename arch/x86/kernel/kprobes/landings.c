// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: where execution may go on by a table: behind a fault that is fixed up, and at the
 * target of a jump label that is a nop for now.
 *
 * Those tables are sorted by where execution comes from.  The kernel's are put into one
 * array, sorted by where it goes, at the first question; a module's are short.
 *
 * Everything is used under kprobe_mutex.
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

#ifdef CONFIG_JUMP_LABEL
static struct landing label_landing(const struct jump_entry *entry)
{
	return (struct landing) {
		.to = jump_entry_target(entry),
		.from = jump_entry_code(entry),
	};
}

/* The labels of a module, or the kernel's. */
static const struct jump_entry *labels_of(const struct module *mod, unsigned int *nr)
{
	*nr = mod ? mod->num_jump_entries : __stop___jump_table - __start___jump_table;
	return mod ? mod->jump_entries : __start___jump_table;
}
#else
static struct landing label_landing(const struct jump_entry *entry)
{
	return (struct landing) {};
}

static const struct jump_entry *labels_of(const struct module *mod, unsigned int *nr)
{
	*nr = 0;
	return NULL;
}
#endif

static int compare_landings(const void *a, const void *b)
{
	const struct landing *l = a, *r = b;

	return l->to == r->to ? 0 : l->to < r->to ? -1 : 1;
}

static bool sort_landings(void)
{
	const struct exception_table_entry *e;
	unsigned int nr = 0, nr_labels, i;
	const struct jump_entry *labels;
	struct landing *all;

	labels = labels_of(NULL, &nr_labels);
	all = kvmalloc_array(__stop___ex_table - __start___ex_table + nr_labels + 1,
			     sizeof(*all), GFP_KERNEL);
	if (!all)
		return false;
	for (e = __start___ex_table; e < __stop___ex_table; e++)
		all[nr++] = exception_landing(e);
	for (i = 0; i < nr_labels; i++)
		all[nr++] = label_landing(&labels[i]);
	sort(all, nr, sizeof(*all), compare_landings, NULL);
	nr_landings = nr;
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

typedef bool (*landing_fn)(const struct landing *landing, void *data);

#ifdef CONFIG_MODULES
static bool each_of_module(struct module *mod, landing_fn fn, void *data)
{
	const struct jump_entry *labels;
	struct landing landing;
	unsigned int nr, i;

	for (i = 0; i < mod->num_exentries; i++) {
		landing = exception_landing(&mod->extable[i]);
		if (fn(&landing, data))
			return true;
	}
	labels = labels_of(mod, &nr);
	for (i = 0; i < nr; i++) {
		landing = label_landing(&labels[i]);
		if (fn(&landing, data))
			return true;
	}
	return false;
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

	preempt_disable();
	/* It stays: its going waits for kprobe_mutex. */
	mod = __module_text_address(range->start);
	preempt_enable();
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
 * Context: task, may sleep; kprobe_mutex held.
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
 * Context: task, may sleep; kprobe_mutex held.
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
