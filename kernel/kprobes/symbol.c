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
 * To decode one name, kallsyms steps over up to 255 others.  Decoding all names in order needs no
 * such steps.  A full pass is made in the background when a number of names have been decoded
 * singly, and at once for a batch to which it costs less.  It records where in the kernel's text
 * symbols with such names begin, and only these names are decoded afterwards.
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
#include <linux/workqueue.h>
#include <asm/sections.h>

#include "internal.h"

/* Number of bytes of text for each bit of all_names::telling. */
#define BYTES_PER_BIT		16

/* Reading all names costs as much as reading singly one name for each so many bytes of text. */
#define BYTES_PER_READ		400

/* After so many names that were read singly, all are read in the background. */
#define MANY_READS		64

/* Number of hash values for the names of blacklisted functions, one or two thousand. */
#define NAME_HASHES		SZ_32K

/**
 * struct all_names - data that reading all names has collected
 * @black:	a bit for the hash value of the name of each blacklisted function
 * @telling:	a bit for each place in the kernel's text where a symbol begins whose name
 *		matters
 */
static struct all_names {
	DECLARE_BITMAP(black, NAME_HASHES);
	unsigned long telling[];
} *all_names;

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

/* Returns the suffix of @name that marks a part of a function, or NULL. */
static char *part_suffix(const char *name)
{
	return *name ? strchr(name + 1, '.') : NULL;
}

static unsigned int hash_of(const char *name)
{
	return full_name_hash(NULL, name, strlen(name)) % NAME_HASHES;
}

/*
 * Is the function with this name in the blacklist?  Looking a name up decodes a dozen others, so
 * do that only if the hash value of a name of the kernel allows it.
 */
static bool is_black(const char *name, bool of_module)
{
	/* Pairs with the release in kprobe_names_read_all(). */
	const struct all_names *all = smp_load_acquire(&all_names);

	if (all && !of_module && !test_bit(hash_of(name), all->black))
		return false;
	return kprobe_blacklist_covers((unsigned long)kprobe_lookup_name(name, 0));
}

/**
 * kprobe_name_verdict() - derive the property of a symbol from its name
 * @name: name of a symbol; the suffix after a dot may be cut off
 * @of_module: the symbol may be one of a module
 *
 * Context: any.
 */
enum kprobe_name kprobe_name_verdict(char *name, bool of_module)
{
	char *suffix = part_suffix(name);

	if (is_preamble(name))
		return KPROBE_NAME_CFI;
	if (suffix)
		*suffix = '\0';
	if (is_static_call_trampoline(name) || (suffix && is_black(name, of_module)))
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
		kprobe_name_verdict(name, true) == KPROBE_NAME_BLACK);
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

static int note_name(void *data, const char *name, unsigned long addr)
{
	struct all_names *all = data;

	if (kprobe_blacklist_covers(addr))
		__set_bit(hash_of(name), all->black);
	if (__is_kernel_text(addr) &&
	    (part_suffix(name) || is_preamble(name) || is_static_call_trampoline(name)))
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
	size_t bits = text_size() / BYTES_PER_BIT + 1;
	struct all_names *all = kvzalloc(struct_size(all, telling, BITS_TO_LONGS(bits)),
					 GFP_KERNEL);

	if (!all)
		return;
	kallsyms_on_each_symbol(note_name, all);
	/* Complete the bitmaps first.  Pairs with the acquire in is_black() and known_plain(). */
	if (cmpxchg_release(&all_names, NULL, all))
		kvfree(all);
}

static void read_all(struct work_struct *unused)
{
	if (!READ_ONCE(all_names))
		kprobe_names_read_all();
}

static DECLARE_WORK(read_all_work, read_all);

/**
 * kprobe_names_expect() - names are going to be read
 * @nr: number of the names
 *
 * Reads all names if that costs less than reading so many singly.
 *
 * Context: task, may sleep.
 */
void kprobe_names_expect(unsigned int nr)
{
	static atomic_long_t reads = ATOMIC_LONG_INIT(0);
	long before;

	if (READ_ONCE(all_names))
		return;
	if (nr >= text_size() / BYTES_PER_READ) {
		kprobe_names_read_all();
		return;
	}
	before = atomic_long_fetch_add(nr, &reads);
	/* Without memory, this is tried again after as many reads. */
	if (before / MANY_READS != (before + nr) / MANY_READS)
		schedule_work(&read_all_work);
}

/* Returns true if the bitmap shows that the symbol around @addr is plain; sets @offset then. */
static bool known_plain(unsigned long addr, unsigned long *offset)
{
	/* Pairs with the release in kprobe_names_read_all(). */
	const struct all_names *all = smp_load_acquire(&all_names);

	return all && __is_kernel_text(addr) && kallsyms_lookup_size_offset(addr, NULL, offset) &&
	       __is_kernel_text(addr - *offset) && !test_bit(bit_of(addr - *offset), all->telling);
}

/**
 * kprobe_symbol_find() - find the symbol around an address
 * @addr: the address
 * @offset: set to the offset of @addr from the start of the symbol
 * @verdict: set to the property of the symbol that follows from its name
 *
 * Context: task.  The caller has called kprobe_names_expect() if it reads many names.
 * Return: false if there is no symbol.
 */
bool kprobe_symbol_find(unsigned long addr, unsigned long *offset, enum kprobe_name *verdict)
{
	char name[KSYM_NAME_LEN] __uninitialized;
	char *module;

	*verdict = KPROBE_NAME_PLAIN;
	if (known_plain(addr, offset))
		return true;
	/* In a module, a look-up walks over all symbols of the module, so do only one. */
	if (!kallsyms_lookup(addr, NULL, offset, &module, name))
		return false;
	*verdict = kprobe_name_verdict(name, module);
	return true;
}
