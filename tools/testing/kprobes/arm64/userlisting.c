// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every instruction of a program's disassembly: is a user-space probe accepted there, and how is
 * the instruction carried out?
 */
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <asm/insn.h>
#include <asm/probes.h>

#include "classify.h"
#include "decode-insn.h"
#include "../tap.h"
#include "listing.h"
#include "tests.h"

static struct {
	unsigned long emulated, copied, refused, data;
	unsigned long refusals[NR_REFUSE];
} count;

static void check_line(const struct line *line)
{
	struct arch_probe_insn asi = {};
	struct probe_insn desc;

	if (line->mnemonic[0] == '.') {
		count.data++;
		return;
	}
	switch (arm_probe_decode_insn(line->insn, &asi)) {
	case INSN_REJECTED:
		probe_classify(line->insn, &desc);
		count.refused++;
		count.refusals[desc.refusal]++;
		break;
	case INSN_GOOD_NO_SLOT:
		count.emulated++;
		break;
	default:
		count.copied++;
	}
}

void test_user_listing(const char *path)
{
	unsigned long instructions = read_listing(path, check_line);
	unsigned int i;

	tap_note("%lu instructions: %lu copied, %lu emulated, %lu refused; %lu are data",
		 instructions, count.copied, count.emulated, count.refused, count.data);
	for (i = REFUSE_NONE + 1; i < NR_REFUSE; i++)
		if (count.refusals[i])
			tap_note("%lu refused: %s", count.refusals[i], probe_refusal_name(i));
	tap_ok(instructions >= 3000, "the program has 3,000 instructions");
	tap_ok(count.refused * 1000 <= instructions, "of 3,000 instructions 2,997 are accepted");
}
