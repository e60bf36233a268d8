// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Neighbours: probes so close to each other that the jump of one would cover the breakpoint
 * of the other.
 *
 * The breakpoint has precedence.  No jump is written over it, and an existing jump is removed
 * before the breakpoint is written.  When the breakpoint has been removed, the optimizer
 * checks the prevented jumps again.
 */
#include "internal.h"

/* Walks over the addresses after @addr that a jump at @addr might cover. */
#define for_each_covered(at, addr)					\
	for ((at) = (addr) + sizeof(kprobe_opcode_t);			\
	     (at) < (addr) + MAX_OPTIMIZED_LENGTH;			\
	     (at) += sizeof(kprobe_opcode_t))

/* Walks over the addresses before @addr at which a jump might cover @addr. */
#define for_each_covering(at, addr)					\
	for ((at) = (addr) - sizeof(kprobe_opcode_t);			\
	     (at) > (addr) - MAX_OPTIMIZED_LENGTH;			\
	     (at) -= sizeof(kprobe_opcode_t))

/**
 * kprobe_neighbour_armed() - would the jump of a point cover a breakpoint?
 * @point: the point
 *
 * Context: kprobe_mutex held.
 */
bool kprobe_neighbour_armed(struct kprobe_point *point)
{
	unsigned long addr = kprobe_point_addr(point), at;
	struct kprobe_point *other;

	for_each_covered(at, addr) {
		other = kprobe_table_find(at);
		if (other && kprobe_point_armed(other) &&
		    arch_within_optimized_kprobe(&point->op, (kprobe_opcode_t *)at))
			return true;
	}
	return false;
}

/**
 * kprobe_unoptimize_neighbours() - remove the jumps that cover addresses of breakpoints
 * @points: work list of points that will be armed
 *
 * Context: task, may sleep, kprobe_mutex held.
 */
void kprobe_unoptimize_neighbours(struct list_head *points)
{
	struct kprobe_point *point, *other;
	unsigned long at;
	LIST_HEAD(jumps);

	for_each_collected(point, points) {
		for_each_covering(at, kprobe_point_addr(point)) {
			other = kprobe_table_find(at);
			if (other && (other->state == KPROBE_JUMP || other->opt) &&
			    arch_within_optimized_kprobe(&other->op, point->kp.addr))
				kprobe_collect(other, &jumps);
		}
	}
	kprobe_unoptimize_points(&jumps, KPROBE_OBSTACLE_NEIGHBOUR);
	kprobe_uncollect_all(&jumps);
}

/**
 * kprobe_requeue_neighbours() - queue the points whose jumps breakpoints have prevented
 * @points: work list of points that have been disarmed
 *
 * If there are such points, looks for them at each address at which a jump could cover a
 * removed breakpoint.  Nearly always there are none.
 *
 * Context: kprobe_mutex held.
 */
void kprobe_requeue_neighbours(struct list_head *points)
{
	struct kprobe_point *point, *other;
	unsigned long at;

	if (!kprobe_neighbours_waiting)
		return;
	for_each_collected(point, points) {
		for_each_covering(at, kprobe_point_addr(point)) {
			other = kprobe_table_find(at);
			if (other && other->obstacle == KPROBE_OBSTACLE_NEIGHBOUR)
				kprobe_optimizer_queue(other);
		}
	}
}
