// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbols: their addresses, and text that must not be probed although no range of the
 * blacklist has it.  Only the name of its symbol shows that:
 *
 * - Compilers split parts off functions and mark them with suffixes (.cold, .isra.0, ...).
 *   A part of a blacklisted function is blacklisted.
 * - The padding in front of a function, and the type hash there, are symbols of their own.
 *   A kernel that tracks call depths or has FineIBT executes them, also in front of blacklisted
 *   functions, and enters them in the middle.
 * - static_call_update() rewrites the trampolines of static calls (__SCT__...), and expects a
 *   certain instruction there.
 *
 * To decode one name, kallsyms steps over up to 255 others; to find the function that a part
 * belongs to, it decodes a dozen names.  Decoding all names in order needs no such steps.  So
 * names are decoded singly until that has cost as much as one full pass; then the pass is made.
 * It records where in the kernel's text symbols with such names begin, and only these names
 * are decoded afterwards.
 */
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/static_call_types.h>
#include <linux/string.h>
#include <linux/stringhash.h>
#include <asm/sections.h>

#include "internal.h"

/* Number of bytes of text for each bit of &telling. */
#define BYTES_PER_BIT		16

/* Reading all names twice costs as much as reading singly one name for each 256 bytes of text. */
#define BYTES_PER_READ		256

/* Number of hash values for the names of blacklisted functions, one or two thousand. */
#define NAME_HASHES		SZ_32K

/* Bitmap of the places in the kernel's text where symbols begin whose names matter; may be NULL. */
static unsigned long *telling;

/**
 * kprobe_lookup_name() - find the address of a symbol that is to be probed
 * @name: symbol; "module:symbol" for a symbol of a module
 * @offset: offset from the symbol, for architectures whose functions have several entries
 *
 * Context: task.
 * Return: the address, or NULL.
 */
kprobe_opcode_t * __weak kprobe_lookup_name(const char *name, unsigned int offset)
{
	return (kprobe_opcode_t *)kallsyms_lookup_name(name);
}

/* Returns true for the symbols in front of a function: padding, or a type hash. */
static bool is_preamble(const char *name)
{
	return str_has_prefix(name, "__cfi_") || str_has_prefix(name, "__pfx_");
}

static bool is_static_call_trampoline(const char *name)
{
	return str_has_prefix(name, STATIC_CALL_TRAMP_PREFIX_STR);
}

/* Returns the length of @name without the suffix that marks a part of a function. */
static size_t whole_length(const char *name)
{
	return *name ? 1 + strcspn(name + 1, ".") : 0;
}

/**
 * kprobe_name_verdict() - derive the property of a symbol from its name
 * @name: name of a symbol; the suffix after a dot may be cut off
 *
 * Context: any.
 */
enum kprobe_name kprobe_name_verdict(char *name)
{
	size_t length = whole_length(name);
	bool part = name[length];

	if (is_preamble(name))
		return KPROBE_NAME_CFI;
	name[length] = '\0';
	if (is_static_call_trampoline(name))
		return KPROBE_NAME_BLACK;
	if (part && kprobe_blacklist_covers((unsigned long)kprobe_lookup_name(name, 0)))
		return KPROBE_NAME_BLACK;
	return KPROBE_NAME_PLAIN;
}

/**
 * within_kprobe_blacklist() - is probing an address forbidden?
 * @addr: any address
 *
 * Context: any.
 * Return: true if it is.
 */
bool within_kprobe_blacklist(unsigned long addr)
{
	char name[KSYM_NAME_LEN] __uninitialized;

	return kprobe_blacklist_covers(addr) ||
	       (!lookup_symbol_name(addr, name) &&
		kprobe_name_verdict(name) == KPROBE_NAME_BLACK);
}

/* --- All names at once --------------------------------------------------- */

static unsigned long text_size(void)
{
	return _etext - _stext;
}

static unsigned int bit_of(unsigned long addr)
{
	return (addr - (unsigned long)_stext) / BYTES_PER_BIT;
}

/**
 * struct all_names - data that is collected while all names are read
 * @telling: future value of the variable of that name
 * @black:	a bit for the hash value of the name of each blacklisted function
 */
struct all_names {
	unsigned long *telling;
	DECLARE_BITMAP(black, NAME_HASHES);
};

static unsigned int hash_of(const char *name, size_t length)
{
	return full_name_hash(NULL, name, length) % NAME_HASHES;
}

static int note_black(void *data, const char *name, unsigned long addr)
{
	struct all_names *all = data;

	if (kprobe_blacklist_covers(addr))
		__set_bit(hash_of(name, strlen(name)), all->black);
	return 0;
}

static int note_telling(void *data, const char *name, unsigned long addr)
{
	struct all_names *all = data;

	if (__is_kernel_text(addr) &&
	    (test_bit(hash_of(name, whole_length(name)), all->black) || is_preamble(name) ||
	     is_static_call_trampoline(name)))
		__set_bit(bit_of(addr), all->telling);
	return 0;
}

/**
 * kprobe_names_read_all() - read the names of all of the kernel's symbols
 *
 * Without memory for the result, names are still read singly.
 *
 * Context: task, may sleep.
 */
void kprobe_names_read_all(void)
{
	struct all_names *all = kzalloc(sizeof(*all), GFP_KERNEL);

	if (!all)
		return;
	all->telling = kvcalloc(BITS_TO_LONGS(text_size() / BYTES_PER_BIT + 1),
				sizeof(*all->telling), GFP_KERNEL);
	if (all->telling) {
		kallsyms_on_each_symbol(note_black, all);
		kallsyms_on_each_symbol(note_telling, all);
		/* Complete the bitmap first.  Pairs with the acquire in known_plain(). */
		if (cmpxchg_release(&telling, NULL, all->telling))
			kvfree(all->telling);
	}
	kfree(all);
}

/* Counts the names that are read singly; reads all names when that has cost as much. */
static void count_read(void)
{
	static atomic_t reads = ATOMIC_INIT(0);

	if (atomic_inc_return(&reads) == text_size() / BYTES_PER_READ)
		kprobe_names_read_all();
}

/* Returns true if the bitmap shows that the symbol around @addr is plain; sets @offset then. */
static bool known_plain(unsigned long addr, unsigned long *offset)
{
	/* Pairs with the release in kprobe_names_read_all(). */
	const unsigned long *bits = smp_load_acquire(&telling);

	return bits && __is_kernel_text(addr) && kallsyms_lookup_size_offset(addr, NULL, offset) &&
	       __is_kernel_text(addr - *offset) && !test_bit(bit_of(addr - *offset), bits);
}

/**
 * kprobe_symbol_find() - find the symbol around an address
 * @addr: the address
 * @offset: set to the offset of @addr from the start of the symbol
 * @verdict: set to the property of the symbol that follows from its name
 *
 * Context: task, may sleep.
 * Return: false if there is no symbol.
 */
bool kprobe_symbol_find(unsigned long addr, unsigned long *offset, enum kprobe_name *verdict)
{
	char name[KSYM_NAME_LEN] __uninitialized;
	char *module;

	*verdict = KPROBE_NAME_PLAIN;
	if (known_plain(addr, offset))
		return true;
	count_read();
	/* In a module, a look-up walks over all symbols of the module, so do only one. */
	if (!kallsyms_lookup(addr, NULL, offset, &module, name))
		return false;
	*verdict = kprobe_name_verdict(name);
	return true;
}
