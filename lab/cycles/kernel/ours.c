// SPDX-License-Identifier: GPL-2.0
/*
 * A point with one probe, without text.
 */
#include "cpu.h"
#include "internal.h"

struct kprobe_point cycles_point = {
	.state = KPROBE_JUMP,
};

void cycles_prepare(u64 *hits)
{
	hit_count = hits;
	kprobe_point_add_probe(&cycles_point, &probe);
}
