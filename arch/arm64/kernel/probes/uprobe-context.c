// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64 uprobes: find instructions that must not be separated from their neighbours.
 *
 * An exception clears the exclusive monitor.  A probe between a load-exclusive and its store
 * would make each store fail, and the loop around both would never end.  A sequence has at most
 * 128 bytes (Arm ARM, B2.17.5), and nearly always its load is before its store in the text.
 *
 * The text may be that of any program, so only straight lines are followed: backwards to the
 * nearest exclusive, and forwards likewise.  A place is refused only if both searches say so; a
 * load-exclusive that waits for an event has no store, and the instructions after it can be probed.
 *
 * All functions are pure, and build on any host (tools/testing/kprobes).
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include "classify.h"
#include "fields.h"
#include "uprobe-context.h"

static __always_inline u32 word_at(const u8 *text)
{
	u32 word;

	memcpy(&word, text, sizeof(word));
	return le32_to_cpu((__force __le32)word);
}

/* Returns the nearest exclusive before the place, or EXCLUSIVE_NONE. */
static enum probe_exclusive exclusive_before(const u8 *text, size_t before)
{
	enum probe_exclusive role = EXCLUSIVE_NONE;

	while (before >= A64_LEN && role == EXCLUSIVE_NONE) {
		before -= A64_LEN;
		role = probe_exclusive(word_at(text + before));
	}
	return role;
}

/* Returns the nearest exclusive from the place on, or EXCLUSIVE_NONE. */
static enum probe_exclusive exclusive_after(const u8 *text, size_t at, size_t len)
{
	enum probe_exclusive role = EXCLUSIVE_NONE;

	for (; at + A64_LEN <= len && role == EXCLUSIVE_NONE; at += A64_LEN)
		role = probe_exclusive(word_at(text + at));
	return role;
}

/**
 * uprobe_context_refusal() - must an instruction stay with its neighbours?
 * @text: text around the instruction
 * @before: bytes before the instruction, a multiple of the length of an instruction
 * @len: all bytes of @text
 *
 * Context: any; pure.
 * Return: NULL if it can be probed, or the reason why not, a constant string.
 */
const char *uprobe_context_refusal(const u8 *text, size_t before, size_t len)
{
	if (before >= A64_LEN && probe_is_prefix(word_at(text + before - A64_LEN)))
		return "one operation with the instruction before it";
	if (exclusive_before(text, before) == EXCLUSIVE_LOAD &&
	    exclusive_after(text, before, len) == EXCLUSIVE_STORE)
		return "between a load-exclusive and its store";
	return NULL;
}

/*
 * May an instruction have to stay with one after it, or is it a breakpoint, which may hide one?
 * By the first byte of the encoding only, because a batch looks at many words.
 */
static const bool may_tie[256] = {
	/* Prefixes */
	[0x04] = true,
	/* Exclusives */
	[0x08] = true, [0x48] = true, [0x88] = true, [0xc8] = true,
	[0x09] = true, [0x49] = true, [0x89] = true, [0xc9] = true,
	/* Breakpoints */
	[0xd4] = true,
};

/**
 * uprobe_context_ties() - may a later instruction have to stay with one of these?
 * @text: instructions, a multiple of their length
 * @len: bytes of @text
 *
 * Context: any; pure.
 * Return: false if uprobe_context_refusal() refuses no instruction because of these, whatever
 * follows.
 */
bool uprobe_context_ties(const u8 *text, size_t len)
{
	size_t at;

	/* Instructions are little-endian. */
	for (at = A64_LEN - 1; at < len; at += A64_LEN) {
		if (unlikely(may_tie[text[at]]))
			return true;
	}
	return false;
}
