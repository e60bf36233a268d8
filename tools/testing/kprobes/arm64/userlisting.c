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
#include "../counts.h"
#include "../tap.h"
#include "listing.h"
#include "tests.h"

static void check_line(const struct line *line)
{
	struct arch_probe_insn asi = {};
	struct probe_insn desc;

	if (line->mnemonic[0] == '.') {
		count.unreadable++;
		return;
	}
	switch (arm_probe_decode_insn(line->insn, &asi)) {
	case INSN_REJECTED:
		probe_classify(line->insn, &desc);
		count_refusal(desc.refusal);
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
	report_counts(read_listing(path, check_line));
}
