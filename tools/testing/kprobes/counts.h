/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts how the instructions of a program are carried out; <classify.h> is the architecture's. */
#ifndef _KPROBES_TEST_COUNTS_H
#define _KPROBES_TEST_COUNTS_H

#include "classify.h"
#include "tap.h"

/* @unreadable: data, and instructions that objdump does not know. */
static struct {
	unsigned long copied, emulated, refused, unreadable;
	unsigned long refusals[NR_REFUSE];
} count;

static inline void count_refusal(enum probe_refusal refusal)
{
	count.refused++;
	count.refusals[refusal]++;
}

static inline void report_counts(unsigned long instructions)
{
	unsigned int i;

	tap_note("%lu instructions: %lu copied, %lu emulated, %lu refused; %lu unreadable",
		 instructions, count.copied, count.emulated, count.refused, count.unreadable);
	for (i = REFUSE_NONE + 1; i < NR_REFUSE; i++)
		if (count.refusals[i])
			tap_note("%lu refused: %s", count.refusals[i], probe_refusal_name(i));
	tap_ok(instructions >= 3000, "the program has 3,000 instructions");
	tap_ok(count.refused * 1000 <= instructions, "of 3,000 instructions 2,997 are accepted");
}

#endif /* _KPROBES_TEST_COUNTS_H */
