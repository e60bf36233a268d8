/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_POINTS_H
#define _KPROBES_TESTS_POINTS_H
/*
 * The number of probepoints, for suites that check that none is left.
 */
#include <linux/cleanup.h>

#include "../internal.h"

static inline unsigned int all_points(void)
{
	struct kprobe_point *point;
	unsigned int nr = 0;
	unsigned long pos;

	guard(mutex)(&kprobe_mutex);
	for_each_kprobe_point(point, pos)
		nr++;
	return nr;
}

#endif /* _KPROBES_TESTS_POINTS_H */
