// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every instruction of a program's disassembly: is a user-space probe accepted there, and how is
 * the instruction carried out?  The engine of x86 has no single steps.
 */
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "counts.h"
#include "decide.h"
#include "disasm.h"
#include "tap.h"
#include "tests.h"

/* A slot is that far away from the text, or nearer. */
#define DISTANCE	0x40000000

static unsigned long wrong_lengths, without_slot;

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
		without_slot++;
}

static void check_event(enum disasm_event event, struct line *line)
{
	struct user_insn user;

	if (event != DISASM_INSN)
		return;
	if (disasm_is_bad(line)) {
		count.unreadable++;
		return;
	}
	if (uprobe_decide(line->bytes, line->len, line->mode, &user)) {
		count_refusal(user.insn.refusal);
		return;
	}
	/* objdump joins a wait and the x87 instruction after it; the CPU does not. */
	if (user.insn.len != line->len && line->bytes[0] != 0x9b)
		wrong_lengths++;
	check_slot(line, &user);
}

void test_user_listing(const char *path)
{
	report_counts(read_listing(path, check_event));
	tap_ok(!wrong_lengths, "every instruction is as long as objdump says");
	tap_ok(!without_slot, "every copy fits into a slot");
}
