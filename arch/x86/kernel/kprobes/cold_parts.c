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
 * struct cold_part - a part of a kernel function that the compiler has split off
 * @hash: of the function's name
 * @start: address of the part
 */
struct cold_part {
	unsigned int hash;
	unsigned long start;
};

/**
 * struct part_owner - a name of a function that may have parts
 * @start: address of the function, which may have several names
 * @hash: of the name
 */
struct part_owner {
	unsigned long start;
	unsigned int hash;
};

/* The parts of all functions, sorted by @hash; NULL if they have not been collected. */
static struct cold_part *cold_parts;
static unsigned int nr_cold_parts;

/* The address after all parts, and functions that may have parts before them, sorted by @start. */
static unsigned long parts_end;
static struct part_owner *part_owners;
static unsigned int nr_part_owners;

#define PART_HASHES	SZ_32K

/**
 * struct collected_parts - the parts of all functions while they are being collected
 * @parts: the parts
 * @owners: names of functions that may have one of the parts
 * @last: address of the last part
 * @nr: number of parts
 * @room: size of @parts, in elements
 * @nr_owners: number of names
 * @owners_room: size of @owners, in elements
 * @hashes: a bit for the hash of the name of each function that has a part
 */
struct collected_parts {
	struct cold_part *parts;
	struct part_owner *owners;
	unsigned long last;
	unsigned int nr, room;
	unsigned int nr_owners, owners_room;
	DECLARE_BITMAP(hashes, PART_HASHES);
};

/* Makes room for another element of @array.  Returns the array, or NULL without memory. */
static void *make_room(void *array, unsigned int nr, unsigned int *room, size_t size)
{
	unsigned int more = *room * 2 ?: 1024;

	if (nr < *room)
		return array;
	array = kvrealloc(array, more * size, GFP_KERNEL);
	if (array)
		*room = more;
	return array;
}

static int add_part(struct collected_parts *all, unsigned int hash, unsigned long addr)
{
	struct cold_part *parts = make_room(all->parts, all->nr, &all->room, sizeof(*parts));

	if (!parts)
		return -ENOMEM;
	all->parts = parts;
	parts[all->nr++] = (struct cold_part) { .hash = hash, .start = addr };
	__set_bit(hash % PART_HASHES, all->hashes);
	return 0;
}

static int add_owner(struct collected_parts *all, unsigned int hash, unsigned long addr)
{
	struct part_owner *owners = make_room(all->owners, all->nr_owners, &all->owners_room,
					      sizeof(*owners));

	if (!owners)
		return -ENOMEM;
	all->owners = owners;
	owners[all->nr_owners++] = (struct part_owner) { .start = addr, .hash = hash };
	return 0;
}

static int visit_name(void *data, const char *name, unsigned long addr)
{
	struct collected_parts *all = data;
	size_t len = probe_part_of(name);
	unsigned int hash;

	if (!len && !all->nr)
		return 0;
	hash = full_name_hash(NULL, name, len ?: strlen(name));
	if (len) {
		/* visit_before() finds those before this part. */
		all->nr_owners = 0;
		all->last = addr;
		return add_part(all, hash, addr);
	}
	return test_bit(hash % PART_HASHES, all->hashes) ? add_owner(all, hash, addr) : 0;
}

/* Visits the names before the last part, when all parts are known. */
static int visit_before(void *data, const char *name, unsigned long addr)
{
	struct collected_parts *all = data;
	unsigned int hash;

	if (addr >= all->last)
		return 1;
	if (probe_part_of(name))
		return 0;
	hash = full_name_hash(NULL, name, strlen(name));
	return test_bit(hash % PART_HASHES, all->hashes) ? add_owner(all, hash, addr) : 0;
}

static int compare_parts(const void *a, const void *b)
{
	const struct cold_part *l = a, *r = b;

	return l->hash == r->hash ? 0 : l->hash < r->hash ? -1 : 1;
}

static int compare_owners(const void *a, const void *b)
{
	const struct part_owner *l = a, *r = b;

	return l->start == r->start ? 0 : l->start < r->start ? -1 : 1;
}

static void keep_parts(struct collected_parts *all)
{
	unsigned long last = all->nr ? all->parts[all->nr - 1].start : 0, size, offset;

	/* The names were in the order of the addresses. */
	if (last)
		parts_end = kallsyms_lookup_size_offset(last, &size, &offset) ?
			    last - offset + size : ULONG_MAX;
	sort(all->owners, all->nr_owners, sizeof(*all->owners), compare_owners, NULL);
	part_owners = all->owners;
	nr_part_owners = all->nr_owners;
	sort(all->parts, all->nr, sizeof(*all->parts), compare_parts, NULL);
	cold_parts = all->parts;
	nr_cold_parts = all->nr;
}

static bool collect_parts(struct collected_parts *all)
{
	/* There is an array even without parts. */
	all->parts = make_room(NULL, 0, &all->room, sizeof(*all->parts));
	if (all->parts && !kallsyms_on_each_symbol(visit_name, all) &&
	    kallsyms_on_each_symbol(visit_before, all) >= 0) {
		keep_parts(all);
		return true;
	}
	kvfree(all->parts);
	kvfree(all->owners);
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

	if (cold_parts)
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
static void *find_first(const void *key, const void *array, size_t nr, size_t size, cmp_func_t cmp)
{
	const void *at = bsearch(key, array, nr, size, cmp);

	while (at && at > array && !cmp(key, at - size))
		at -= size;
	return (void *)at;
}

/* Returns the first name of a function that may have parts, or NULL. */
static struct part_owner *first_owner(unsigned long start)
{
	struct part_owner key = { .start = start };

	return find_first(&key, part_owners, nr_part_owners, sizeof(key), compare_owners);
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
	struct cold_part key = { .hash = hash }, *part;

	part = find_first(&key, cold_parts, nr_cold_parts, sizeof(key), compare_parts);
	for (; part && part < cold_parts + nr_cold_parts && part->hash == hash; part++)
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
	struct part_owner *owner = first_owner(start), *end = part_owners + nr_part_owners;
	unsigned int hash = full_name_hash(NULL, name, strlen(name));

	visit_parts(hash, fn, data);
	for (; owner && owner < end && owner->start == start; owner++) {
		if (owner->hash != hash)
			visit_parts(owner->hash, fn, data);
	}
}
