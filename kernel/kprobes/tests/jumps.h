/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_JUMPS_H
#define _KPROBES_TESTS_JUMPS_H
/*
 * The knob, for suites that have something to do also where there are no jumps.
 */
#include "../internal.h"

#ifdef CONFIG_OPTPROBES
#define DETOURS	true

/* Returns what it was before. */
static inline bool allow_jumps(bool allow)
{
	bool before = kprobe_optimization_allowed;

	kprobe_optimizer_allow(allow);
	return before;
}
#else
#define DETOURS	false

static inline bool allow_jumps(bool allow)
{
	return false;
}
#endif

#endif /* _KPROBES_TESTS_JUMPS_H */
