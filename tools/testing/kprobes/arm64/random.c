// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random words, and random instructions that match rows of the table: classified, moved, and
 * emulated.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "classify.h"
#include "../random.h"
#include "../tap.h"
#include "machine.h"
#include "same.h"
#include "tests.h"

#define BROKEN_MAX	10

/* Literals reach 1 MiB in either direction: from the middle, they are in real memory. */
#define MEMORY_LEN	(3UL << 20)

static unsigned char *memory;

static bool make_memory(void)
{
	unsigned long i;

	memory = malloc(MEMORY_LEN);
	if (!memory)
		return false;
	for (i = 0; i < MEMORY_LEN; i++)
		memory[i] = random_next();
	machine_memory(memory, MEMORY_LEN);
	return true;
}

static u64 random_address(void)
{
	/* Kernel addresses are built from other constants than random ones. */
	u64 top = random_next() & 1 ? 0xffff800000000000 : random_next();

	return (top ^ (random_next() & 0xffffffff)) & ~3ULL;
}

/* An address near @src, mostly within reach of a branch. */
static u64 random_near(u64 src)
{
	return src + (s64)(s32)(random_next() & 0x1fffffff) * 4 / 8 / 4 * 4 -
	       (random_next() & 1 ? 0x8000000 : 0);
}

static u64 random_real_address(void)
{
	u64 middle = (unsigned long)memory + MEMORY_LEN / 2 + random_next() % 0x10000;

	return middle & ~3ULL;
}

static const char *broken_verdict(u32 insn, int ret, const struct probe_insn *desc)
{
	bool refused = desc->action == PROBE_REFUSE, emulated = desc->action == PROBE_EMULATE;
	bool prefix = desc->refusal == REFUSE_PREFIX;
	struct probe_insn again;

	if (ret != (refused ? -EINVAL : 0))
		return "return value";
	if (refused != !!desc->refusal)
		return "refusal without reason, or reason without refusal";
	if (emulated != !!desc->kind)
		return "emulation";
	if (desc->landing && desc->action != PROBE_COPY)
		return "landing pad";
	if (probe_exclusive(insn) != desc->exclusive)
		return "role in an exclusive sequence";
	if (probe_is_prefix(insn) != prefix)
		return "prefix";
	memset(&again, 0xff, sizeof(again));
	if (probe_classify(insn, &again) != ret || !same_verdict(&again, desc))
		return "not stable";
	return NULL;
}

static const char *broken_word(u32 insn, struct probe_insn *desc)
{
	int ret = probe_classify(insn, desc);
	const char *law = broken_verdict(insn, ret, desc);
	u64 src = random_address();

	if (!law)
		law = broken_uprobe(insn, desc);
	if (!law)
		law = broken_move(insn, desc, src, random_near(src));
	if (!law && desc->action == PROBE_EMULATE)
		law = broken_emulation(insn, desc, random_real_address());
	return law;
}

void test_random(unsigned long long seed, unsigned long rounds)
{
	unsigned long i, broken = 0, actions[PROBE_REFUSE + 1] = { 0 };

	tap_note("random words: seed %llu, %lu rounds", seed, rounds);
	random_seed(seed);
	if (!make_memory()) {
		tap_ok(false, "there is memory for literals");
		return;
	}
	for (i = 0; i < rounds && broken < BROKEN_MAX; i++) {
		u32 insn = random_next();
		struct probe_insn desc;
		const char *law;

		/* Three of four words match a row of the table. */
		if (random_next() % 4)
			table_force_any(random_next(), &insn);
		law = broken_word(insn, &desc);
		if (law) {
			tap_note("round %lu, %08x, %s: %s", i, insn, table_name(insn), law);
			broken++;
		}
		actions[desc.action]++;
	}
	machine_memory(NULL, 0);
	free(memory);

	tap_note("%lu copied, %lu emulated, %lu refused", actions[PROBE_COPY],
		 actions[PROBE_EMULATE], actions[PROBE_REFUSE]);
	tap_note("compared: %lu moved (%lu branched), %lu emulated; %lu out of reach",
		 same_count.moved, same_count.taken, same_count.emulated,
		 same_count.out_of_reach);
	tap_ok(!broken, "random words are classified, moved and emulated right");
	tap_ok(actions[PROBE_COPY] && actions[PROBE_EMULATE] && actions[PROBE_REFUSE] &&
	       same_count.moved && same_count.taken && same_count.emulated &&
	       same_count.out_of_reach && same_count.impossible,
	       "random words reach everything");
	tap_ok(same_count.longest == 5, "the longest moved code has five words");
}
