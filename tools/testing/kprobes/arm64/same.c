// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares moved and emulated instructions with the original instruction on the machine. */
#include <errno.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <asm/ptrace.h>

#include "classify.h"
#include "relocate.h"
#include "emulate.h"
#include "../random.h"
#include "../tap.h"
#include "../vector.h"
#include "machine.h"
#include "same.h"

/* The reach of a branch; REACH_SURE is less by the words in front of it in the moved code. */
#define REACH		(128LL << 20)
#define REACH_SURE	(REACH - 4 * PROBE_RELOCATED_WORDS)

struct same_count same_count;

/* Cannot be moved: a refused instruction, and blr x30, which would need a second register. */
static bool must_be_impossible(u32 insn, const struct probe_insn *desc)
{
	return desc->action == PROBE_REFUSE ||
	       (desc->kind == KIND_BLR && (insn >> 5 & 31) == 30);
}

static bool can_be_out_of_reach(u32 insn, const struct probe_insn *desc, u64 src, u64 dst)
{
	s64 distance = machine_target(insn, src) - dst;

	if (desc->kind < KIND_B || desc->kind > KIND_TBZ)
		return false;
	return distance < -REACH_SURE || distance >= REACH_SURE;
}

static bool untouched(const u32 *words, unsigned int first)
{
	const unsigned char *bytes = (const unsigned char *)words;

	return all_untouched(bytes, first * 4, (PROBE_RELOCATED_WORDS + 1) * 4);
}

/* Runs moved code until it leaves. Its end stands for the instruction after the original. */
static bool run_moved(struct machine *machine, const u32 *words, int count, u64 src, u64 dst)
{
	int steps;

	machine->pc = dst;
	for (steps = 0; steps <= count; steps++) {
		u64 at = (machine->pc - dst) / 4;

		if (machine->pc == dst + count * 4) {
			machine->pc = src + 4;
			return true;
		}
		if (at >= count)
			return true;
		if (machine->pc % 4 || !machine_step(machine, words[at]))
			return false;
	}
	return false;
}

static const char *complain(const char *what, u32 insn, u64 src, u64 dst, const u32 *words,
			    int count)
{
	int i;

	tap_note("%08x from %llx to %llx: %s (%d)", insn, (unsigned long long)src,
		 (unsigned long long)dst, what, count);
	for (i = 0; i < count && i < PROBE_RELOCATED_WORDS; i++)
		tap_note("    %08x", words[i]);
	return what;
}

const char *broken_move(u32 insn, const struct probe_insn *desc, u64 src, u64 dst)
{
	u32 words[PROBE_RELOCATED_WORDS + 1];
	struct machine before, original, moved;
	int count;

	memset(words, UNTOUCHED, sizeof(words));
	count = probe_relocate(insn, desc, src, dst, words);

	if (!untouched(words, count < 0 ? 0 : count))
		return complain("wrote more than it said", insn, src, dst, words, count);
	if ((count == -EINVAL) != must_be_impossible(insn, desc))
		return complain("possible or not?", insn, src, dst, words, count);
	if (count == -EINVAL) {
		same_count.impossible++;
		return NULL;
	}
	if (count == -ERANGE) {
		same_count.out_of_reach++;
		if (can_be_out_of_reach(insn, desc, src, dst))
			return NULL;
		return complain("is in reach", insn, src, dst, words, count);
	}
	if (count < 1 || count > PROBE_RELOCATED_WORDS)
		return complain("number of words", insn, src, dst, words, count);
	if (desc->action == PROBE_COPY)
		return count == 1 && words[0] == insn ? NULL :
		       complain("copy differs", insn, src, dst, words, count);

	machine_random(&before);
	original = before;
	original.pc = src;
	if (!machine_step(&original, insn))
		return complain("machine does not know it", insn, src, dst, words, count);
	/* A branch into the moved code itself looks like code that has not left. */
	if (original.pc - dst <= count * 4)
		return NULL;
	moved = before;
	if (!run_moved(&moved, words, count, src, dst))
		return complain("moved code does not end", insn, src, dst, words, count);
	if (!machine_same(&original, &moved)) {
		machine_show("before", &before);
		machine_show("original", &original);
		machine_show("moved", &moved);
		return complain("does something else", insn, src, dst, words, count);
	}
	same_count.moved++;
	same_count.taken += original.pc != src + 4;
	if (count > same_count.longest)
		same_count.longest = count;
	return NULL;
}

/* PSTATE with the machine's flags; all other bits, BTYPE among them, are those of @rest. */
static u64 pstate_of(const struct machine *machine, u64 rest)
{
	const u64 flags = PSR_N_BIT | PSR_Z_BIT | PSR_C_BIT | PSR_V_BIT;

	return (rest & ~flags) | (machine->n ? PSR_N_BIT : 0) | (machine->z ? PSR_Z_BIT : 0) |
	       (machine->c ? PSR_C_BIT : 0) | (machine->v ? PSR_V_BIT : 0);
}

const char *broken_emulation(u32 insn, const struct probe_insn *desc, u64 at)
{
	u64 rest = random_next(), sp = random_next();
	struct machine before, original, emulated;
	struct pt_regs regs = { .pc = at, .sp = sp };

	machine_random(&before);
	original = before;
	original.pc = at;
	if (!machine_step(&original, insn))
		return complain("machine does not know it", insn, at, at, NULL, 0);

	memcpy(regs.regs, before.x, sizeof(regs.regs));
	regs.pstate = pstate_of(&before, rest);
	probe_emulate(insn, desc, &regs);

	emulated = before;
	memcpy(emulated.x, regs.regs, sizeof(regs.regs));
	emulated.pc = regs.pc;
	if (regs.sp != sp)
		return complain("moves the stack pointer", insn, at, at, NULL, 0);
	if (regs.pstate != (pstate_of(&before, rest) & ~(u64)PSR_BTYPE_MASK))
		return complain("leaves another PSTATE", insn, at, at, NULL, 0);
	if (!machine_same(&original, &emulated)) {
		machine_show("before", &before);
		machine_show("original", &original);
		machine_show("emulated", &emulated);
		return complain("is emulated as something else", insn, at, at, NULL, 0);
	}
	same_count.emulated++;
	return NULL;
}
