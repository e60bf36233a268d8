// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: find places between a load-exclusive and its store-exclusive.
 *
 * An exception clears the exclusive monitor, and so may the handlers that a detour calls.
 * A probe between a load-exclusive and its store would make each store fail, and the loop
 * around both would never end.  So such places are refused.
 *
 * Two searches find such a place.  One reads the text in front of it, and stops at the
 * nearest load-exclusive, store-exclusive, or clrex.  The other follows all paths of
 * execution from the place on.  If a path reaches a store-exclusive without a load-exclusive
 * or clrex before it, the load has been executed before the place.  The load may be at any
 * address, because branches may lead into a sequence, and out of it and back.
 *
 * A sequence has at most 32 instructions, because the architecture guarantees progress only
 * up to 128 bytes (Arm ARM, B2.17.5).
 */
#include <linux/bitmap.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include <asm/sections.h>
#include <asm/text-patching.h>

#include "common.h"
#include "fields.h"

/* The longest sequence, in instructions. */
#define MAX_INSNS	32UL

/* The most words that the paths of execution may reach. */
#define MAX_WORDS	256

/*
 * Sets of values of bits 31 to 26: of words for which probe_may_be_exclusive() is true, of words
 * that may be a probe, and of words that end or split a path.  Most words have other values.
 * This test keeps the searches, the longest loops of the preparation, short.
 */
#define TOPS_EXCLUSIVE						\
	(BIT_ULL(0x02) | BIT_ULL(0x12) | BIT_ULL(0x22) | BIT_ULL(0x32) | BIT_ULL(0x35))
#define TOP_B		BIT_ULL(0x05)
#define TOP_COND	BIT_ULL(0x15)
#define TOPS_COMPARE	(BIT_ULL(0x0d) | BIT_ULL(0x2d))
#define TOPS_CB		(BIT_ULL(0x1d) | BIT_ULL(0x3d))

#define TOPS_BACK	(TOPS_EXCLUSIVE | TOP_B)
#define TOPS_FORWARD	(TOPS_EXCLUSIVE | TOP_B | TOP_COND | TOPS_COMPARE | TOPS_CB)

static bool is_one_of(u64 tops, u32 insn)
{
	return tops & BIT_ULL(insn >> 26);
}

/* Does a load-exclusive precede @addr in the text of the function that begins at @start? */
static bool load_precedes(unsigned long start, unsigned long addr)
{
	unsigned int nr = min((addr - start) / AARCH64_INSN_SIZE, MAX_INSNS);
	__le32 text[MAX_INSNS] __uninitialized;

	addr -= nr * AARCH64_INSN_SIZE;
	if (copy_from_kernel_nofault(text, (void *)addr, nr * AARCH64_INSN_SIZE))
		return true;
	while (nr--) {
		u32 insn = le32_to_cpu(text[nr]);

		if (!is_one_of(TOPS_BACK, insn))
			continue;
		switch (probe_exclusive(probe_original(addr + nr * AARCH64_INSN_SIZE, insn))) {
		case EXCLUSIVE_LOAD:
			return true;
		case EXCLUSIVE_STORE:
		case EXCLUSIVE_CLEAR:
			return false;
		case EXCLUSIVE_NONE:
			break;
		}
	}
	return false;
}

/**
 * struct paths - the search for a store-exclusive, under text_mutex
 * @words:	addresses that any path has reached, in the order of their distance
 * @nr_words:	number of them
 * @doubtful:	the paths reach more words
 * @reached:	hashes of the addresses in @words
 */
static struct paths {
	unsigned long words[MAX_WORDS];
	unsigned int nr_words;
	bool doubtful;
	DECLARE_BITMAP(reached, 2 * MAX_WORDS);
} paths;

static bool has_word(unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < paths.nr_words; i++) {
		if (paths.words[i] == addr)
			return true;
	}
	return false;
}

/* A path reaches @addr.  The bitmap saves most searches. */
static void go_to(unsigned long addr)
{
	unsigned int hash = addr / AARCH64_INSN_SIZE % (2 * MAX_WORDS);

	if (__test_and_set_bit(hash, paths.reached) && has_word(addr))
		return;
	if (paths.nr_words == MAX_WORDS)
		paths.doubtful = true;
	else
		paths.words[paths.nr_words++] = addr;
}

/*
 * Reads an instruction.  A path may lead to data in the text, and from there to any address, which
 * may be a device.  So only text is read.
 */
static bool read_insn(unsigned long addr, u32 *insn)
{
	if (!__is_kernel_text(addr)) {
		return (core_kernel_text(addr) || is_module_text_address(addr)) &&
		       !aarch64_insn_read((void *)addr, insn);
	}
	*insn = le32_to_cpu(READ_ONCE(*(__le32 *)addr));
	return true;
}

/* Does execution continue after @insn?  After a branch by register, only if it is a call. */
static bool falls_through(u32 insn)
{
	/* A brk ends the path.  A udf does not get here. */
	if ((insn & 0xffe0001f) == 0xd4200000)
		return false;
	if ((insn & 0xfe000000) != 0xd6000000)
		return true;
	/* Bits 23 to 21: blr, blraa, blrab and so on. */
	return (insn >> 21 & 7) == 1;
}

/* Follows a path over the instruction at @addr.  Returns true if that is a store-exclusive. */
static bool step(unsigned long addr)
{
	u32 insn;

	/* The path ends where the text ends. */
	if (!read_insn(addr, &insn))
		return false;
	if (!is_one_of(TOPS_FORWARD, insn)) {
		go_to(addr + AARCH64_INSN_SIZE);
		return false;
	}
	insn = probe_original(addr, insn);
	switch (probe_exclusive(insn)) {
	case EXCLUSIVE_STORE:
		return true;
	case EXCLUSIVE_LOAD:
	case EXCLUSIVE_CLEAR:
		return false;
	case EXCLUSIVE_NONE:
		break;
	}
	if (is_one_of(TOP_B, insn)) {
		go_to(a64_target26(insn, addr));
		return false;
	}
	if ((insn & 0xff000000) == 0x54000000 || (insn & 0x7e000000) == 0x34000000)
		go_to(a64_target19(insn, addr));
	else if ((insn & 0x7e000000) == 0x36000000)
		go_to(a64_target14(insn, addr));
	else if ((insn & 0x7e000000) == 0x74000000)
		go_to(a64_target9(insn, addr));
	if (falls_through(insn))
		go_to(addr + AARCH64_INSN_SIZE);
	return false;
}

/*
 * Does a path from @addr reach a store-exclusive before a load-exclusive or clrex?  There may be
 * too many paths to tell, for instance in a large switch statement.
 */
static bool store_follows(unsigned long addr)
{
	unsigned int insns, next = 0, end;

	paths.nr_words = 0;
	paths.doubtful = false;
	bitmap_zero(paths.reached, 2 * MAX_WORDS);
	go_to(addr);
	for (insns = 0; insns < MAX_INSNS; insns++) {
		for (end = paths.nr_words; next < end; next++) {
			if (step(paths.words[next]))
				return true;
		}
	}
	return false;
}

/**
 * probe_splits_exclusive() - would a probe be between a load-exclusive and its store?
 * @start: address of the function
 * @addr: address of the probe in it; the instruction is no exclusive itself
 *
 * Context: task; text_mutex.
 * Return: true if it would, or if that cannot be determined: no sequence has begun where a
 * function begins.
 */
bool probe_splits_exclusive(unsigned long start, unsigned long addr)
{
	lockdep_assert_held(&text_mutex);

	return load_precedes(start, addr) || store_follows(addr) ||
	       (paths.doubtful && addr != start);
}
