// SPDX-License-Identifier: GPL-2.0
/*
 * A point of the base with one probe, without text.
 */
#include <linux/rculist.h>

#include "cpu.h"

struct optimized_kprobe cycles_point = {
	.kp.list = LIST_HEAD_INIT(cycles_point.kp.list),
};

void cycles_prepare(u64 *hits)
{
	hit_count = hits;
	list_add_rcu(&probe.list, &cycles_point.kp.list);
}
