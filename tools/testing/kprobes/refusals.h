/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TEST_REFUSALS_H
#define _KPROBES_TEST_REFUSALS_H
/*
 * The test of the reasons of an architecture; include its classify.h first.
 */
#include <string.h>

#include "tap.h"

static void test_refusals_have_names(void)
{
	unsigned int i, j, bad = 0;

	for (i = 0; i < NR_REFUSE; i++) {
		if (!probe_refusal_name(i) || !probe_refusal_name(i)[0]) {
			tap_note("refusal %u has no name", i);
			bad++;
			continue;
		}
		for (j = 0; j < i; j++)
			bad += !strcmp(probe_refusal_name(i), probe_refusal_name(j));
	}
	tap_ok(!bad, "every refusal has a name of its own");
	tap_ok(!strcmp(probe_refusal_name(NR_REFUSE), "unknown refusal"),
	       "a number that is no refusal has a name too");
}

#endif /* _KPROBES_TEST_REFUSALS_H */
