// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: the parts of the kernel's functions that the compiler has split off, name.cold or
 * name.cold.7.
 *
 * A part cannot be looked up by its name, because the number in the name is not known.  The first
 * search reads the names of all symbols, in the order of their addresses, and collects the parts.
 * Linkers put parts before other functions.  So, when the name of one of these is read, it is known
 * whether it has a part, and the names of most functions need not be read again.  On Linux 6.12
 * parts are after other functions; names of functions before the last part are read twice.
 *
 * kprobe_mutex guards everything here.
 */
#include <linux/bitmap.h>
#include <linux/bsearch.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/stringhash.h>
#include <asm/sections.h>

#include "targets.h"

/**
 * struct named - a name of a function, and an address
 * @hash: of the function's name
 * @start: address of a part of the function; or of the function, which may have several names
 */
struct named {
	unsigned int hash;
	unsigned long start;
};

/**
 * struct names - an array that grows
 * @at: the elements
 * @nr: number of them
 * @room: size of @at, in elements
 */
struct names {
	struct named *at;
	unsigned int nr, room;
};

/* The parts of all functions, sorted by @hash; no array if they have not been collected. */
static struct names parts;

/* The address after all parts, and functions that may have parts before them, sorted by @start. */
static unsigned long parts_end;
static struct names owners;

#define PART_HASHES	SZ_32K

/**
 * struct collected_parts - the parts of all functions while they are being collected
 * @parts: the parts
 * @owners: names of functions that may have one of the parts
 * @last: address of the last part
 * @hashes: a bit for the hash of the name of each function that has a part
 */
struct collected_parts {
	struct names parts, owners;
	unsigned long last;
	DECLARE_BITMAP(hashes, PART_HASHES);
};

/* Makes room for another element. */
static int make_room(struct names *names)
{
	unsigned int room = names->room * 2 ?: 1024;
	struct named *at;

	if (names->nr < names->room)
		return 0;
	at = kvrealloc(names->at, room * sizeof(*at), GFP_KERNEL);
	if (!at)
		return -ENOMEM;
	names->at = at;
	names->room = room;
	return 0;
}

static int add_name(struct names *names, unsigned int hash, unsigned long addr)
{
	int ret = make_room(names);

	if (!ret)
		names->at[names->nr++] = (struct named) { .hash = hash, .start = addr };
	return ret;
}

/* Adds a name to the owners if a part has a name with the same hash. */
static int add_owner(struct collected_parts *all, unsigned int hash, unsigned long addr)
{
	return test_bit(hash % PART_HASHES, all->hashes) ? add_name(&all->owners, hash, addr) : 0;
}

static int visit_name(void *data, const char *name, unsigned long addr)
{
	struct collected_parts *all = data;
	size_t len = probe_part_of(name);
	unsigned int hash;

	if (!len && !all->parts.nr)
		return 0;
	hash = full_name_hash(NULL, name, len ?: strlen(name));
	if (!len)
		return add_owner(all, hash, addr);
	/* visit_before() finds those before this part. */
	all->owners.nr = 0;
	all->last = addr;
	__set_bit(hash % PART_HASHES, all->hashes);
	return add_name(&all->parts, hash, addr);
}

/* Visits the names before the last part, when all parts are known. */
static int visit_before(void *data, const char *name, unsigned long addr)
{
	struct collected_parts *all = data;

	if (addr >= all->last)
		return 1;
	if (probe_part_of(name))
		return 0;
	return add_owner(all, full_name_hash(NULL, name, strlen(name)), addr);
}

static int compare_hashes(const void *a, const void *b)
{
	const struct named *l = a, *r = b;

	return cmp_int(l->hash, r->hash);
}

static int compare_starts(const void *a, const void *b)
{
	const struct named *l = a, *r = b;

	return cmp_int(l->start, r->start);
}

static void keep_parts(struct collected_parts *all)
{
	unsigned long size, offset;

	/* The names were in the order of the addresses. */
	if (all->last)
		parts_end = kallsyms_lookup_size_offset(all->last, &size, &offset) ?
			    all->last - offset + size : ULONG_MAX;
	owners = all->owners;
	sort(owners.at, owners.nr, sizeof(*owners.at), compare_starts, NULL);
	parts = all->parts;
	sort(parts.at, parts.nr, sizeof(*parts.at), compare_hashes, NULL);
}

static bool collect_parts(struct collected_parts *all)
{
	/* There is an array even without parts. */
	if (!make_room(&all->parts) && !kallsyms_on_each_symbol(visit_name, all) &&
	    kallsyms_on_each_symbol(visit_before, all) >= 0) {
		keep_parts(all);
		return true;
	}
	kvfree(all->parts.at);
	kvfree(all->owners.at);
	return false;
}

/**
 * probe_part_of() - is a symbol a part of a function?
 * @name: its name
 *
 * gcc names such a part NAME.cold or NAME.cold.N, clang NAME.cold or, if it has a profile of the
 * basic blocks (Propeller), NAME.__part.N.
 *
 * Context: any.
 * Return: the length of the function's name; 0 if it is no part.
 */
size_t probe_part_of(const char *name)
{
	const char *part;

	/* Most names have no dot, and strchr() is much faster than strstr(). */
	if (!strchr(name, '.'))
		return 0;
	part = strstr(name, ".cold");
	if (part && (!part[5] || part[5] == '.'))
		return part - name;
	part = strstr(name, ".__part.");
	return part ? part - name : 0;
}

/**
 * probe_parts_collect() - collect the parts of all functions, if that has not been done
 *
 * Context: task, may sleep, kprobe_mutex held.
 * Return: false if there is no memory.
 */
bool probe_parts_collect(void)
{
	struct collected_parts *all;
	bool ret;

	if (parts.at)
		return true;
	all = kvcalloc(1, sizeof(*all), GFP_KERNEL);
	ret = all && collect_parts(all);
	kvfree(all);
	return ret;
}

/**
 * probe_after_parts() - is an address after all parts of functions?
 * @addr: the address
 *
 * Context: kprobe_mutex held; probe_parts_collect() has succeeded.
 * Return: true if it is, so that it is in no part.
 */
bool probe_after_parts(unsigned long addr)
{
	return addr >= parts_end;
}

/* Returns the first of the elements that are equal to @key, or NULL. */
static const struct named *find_first(const struct named *key, const struct names *names,
				      cmp_func_t cmp)
{
	const struct named *at = bsearch(key, names->at, names->nr, sizeof(*at), cmp);

	while (at && at > names->at && !cmp(key, at - 1))
		at--;
	return at;
}

/* Returns the first name of a function that may have parts, or NULL. */
static const struct named *first_owner(unsigned long start)
{
	const struct named key = { .start = start };

	return find_first(&key, &owners, compare_starts);
}

/**
 * probe_may_have_parts() - may a function have another part?
 * @start: first address of the function, or of a part
 *
 * Context: kprobe_mutex held; probe_parts_collect() has succeeded if it is in the kernel's text.
 * Return: false if it has none; true if it has, if it is a part itself, or if only its name shows
 * that.
 */
bool probe_may_have_parts(unsigned long start)
{
	return !__is_kernel_text(start) || !probe_after_parts(start) || first_owner(start);
}

static void visit_parts(unsigned int hash, int (*fn)(void *data, unsigned long addr), void *data)
{
	const struct named key = { .hash = hash };
	const struct named *part = find_first(&key, &parts, compare_hashes);

	for (; part && part < parts.at + parts.nr && part->hash == hash; part++)
		fn(data, part->start);
}

/**
 * probe_parts_of() - find the parts of a kernel function
 * @start: first address of the function
 * @name: the name that kallsyms finds first.  The compiler may have merged functions, and the parts
 *	have the name of one of them
 * @fn: called with the address of each part; also with that of a part of another function whose
 *	name has the same hash
 * @data: argument of @fn
 *
 * Context: task, kprobe_mutex held; probe_parts_collect() has succeeded.
 */
void probe_parts_of(unsigned long start, const char *name,
		    int (*fn)(void *data, unsigned long addr), void *data)
{
	const struct named *owner = first_owner(start), *end = owners.at + owners.nr;
	unsigned int hash = full_name_hash(NULL, name, strlen(name));

	visit_parts(hash, fn, data);
	for (; owner && owner < end && owner->start == start; owner++) {
		if (owner->hash != hash)
			visit_parts(owner->hash, fn, data);
	}
}
