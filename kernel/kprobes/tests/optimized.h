/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_OPTIMIZED_H
#define _KPROBES_TESTS_OPTIMIZED_H
/*
 * Helpers of the suites of jump optimization: has a probe become a jump, and if not, why?
 */
#include <kunit/test.h>
#include <linux/cleanup.h>

#include "../internal.h"
#include "entry.h"

/* The jump that the optimizer writes on x86 or on arm64. */
static inline bool is_jump(void *addr)
{
	if (IS_ENABLED(CONFIG_X86))
		return *(u8 *)probe_entry(addr) == 0xe9;
	return (le32_to_cpup(addr) & 0xfc000000) == 0x14000000;
}

static inline enum kprobe_state state_at(void *addr)
{
	struct kprobe_point *point;

	guard(mutex)(&kprobe_mutex);
	point = kprobe_table_find((unsigned long)probe_entry(addr));
	return point ? point->state : KPROBE_GONE;
}

static inline const char *said_at(void *addr)
{
	struct kprobe_point *point;

	guard(mutex)(&kprobe_mutex);
	point = kprobe_table_find((unsigned long)probe_entry(addr));
	return point ? kprobe_obstacle_shown(point) : NULL;
}

/* The state of the point equals the text, and the probe reports the same. */
#define EXPECT_JUMP(test, probe, wanted)					\
do {										\
	wait_for_kprobe_optimizer();						\
	KUNIT_EXPECT_EQ(test, is_jump((probe)->addr), wanted);			\
	KUNIT_EXPECT_EQ(test, kprobe_optimized(probe), wanted);		\
	KUNIT_EXPECT_EQ(test, state_at((probe)->addr) == KPROBE_JUMP, wanted);	\
} while (0)

#endif /* _KPROBES_TESTS_OPTIMIZED_H */
