// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every instruction of a program's disassembly: is a user-space probe accepted there, and how is
 * the instruction carried out?  The engine of x86 has no single steps.
 */
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "decide.h"
#include "disasm.h"
#include "tap.h"
#include "tests.h"

/* A slot is that far away from the text, or nearer. */
#define DISTANCE	0x40000000

static struct {
	unsigned long copied, emulated, refused, bad;
	unsigned long refusals[NR_REFUSE];
	unsigned long lengths, slots;	/* errors */
} count;

static void check_slot(const struct line *line, const struct user_insn *user)
{
	u8 out[USER_SLOT_SIZE];

	if (!uprobe_has_copy(user)) {
		count.emulated++;
		return;
	}
	count.copied++;
	if (uprobe_write_slot(user, line->bytes, line->mode, line->address,
			      line->address + DISTANCE, out))
		count.slots++;
}

static void check_event(enum disasm_event event, struct line *line)
{
	struct user_insn user;

	if (event != DISASM_INSN)
		return;
	if (disasm_is_bad(line)) {
		count.bad++;
		return;
	}
	if (uprobe_decide(line->bytes, line->len, line->mode, &user)) {
		count.refused++;
		count.refusals[user.insn.refusal]++;
		return;
	}
	/* objdump joins a wait and the x87 instruction after it; the CPU does not. */
	if (user.insn.len != line->len && line->bytes[0] != 0x9b)
		count.lengths++;
	check_slot(line, &user);
}

void test_user_listing(const char *path)
{
	unsigned long instructions = read_listing(path, check_event);
	unsigned int i;

	tap_note("%lu instructions: %lu copied, %lu emulated, %lu refused; %lu unreadable",
		 instructions, count.copied, count.emulated, count.refused, count.bad);
	for (i = REFUSE_NONE + 1; i < NR_REFUSE; i++)
		if (count.refusals[i])
			tap_note("%lu refused: %s", count.refusals[i], probe_refusal_name(i));
	tap_ok(instructions >= 3000, "the program has 3,000 instructions");
	tap_ok(!count.lengths, "every instruction is as long as objdump says");
	tap_ok(!count.slots, "every copy fits into a slot");
	tap_ok(count.refused * 1000 <= instructions, "of 3,000 instructions 2,997 are accepted");
}
