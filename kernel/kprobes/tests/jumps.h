/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_JUMPS_H
#define _KPROBES_TESTS_JUMPS_H
/*
 * The switch for jump optimization, also for suites that have cases without jumps.
 */
#include "../internal.h"

#ifdef CONFIG_OPTPROBES
#define DETOURS	true

/* Returns the previous value. */
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
