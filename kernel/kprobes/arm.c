// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arm and disarm points: the points of a work list are patched together.
 *
 * Writing all breakpoints takes one hold of text_mutex and, with
 * HAVE_KPROBE_BATCH, one synchronisation of all CPUs; all ftrace sites take one
 * update of ftrace.
 *
 * Protocol; comments in the code refer to these numbers:
 *	1. sort the list by the owner of the instruction; replace points on ftrace's instructions
 *	   by their carriers, where these serve them
 *	2. change ftrace sites first, because only they can fail
 *	3. remove jumps that cover a new breakpoint, and jumps of points to disarm
 *	4. write all breakpoints or instructions, synchronise once
 *	5. record the new states
 *	6. queue the points that may get a jump now
 */
#include <linux/cleanup.h>

#include "internal.h"

/*
 * True while debugfs "enabled" is 0: no point is armed, even if it has enabled probes.  When it
 * becomes 1 again, all points with enabled probes are armed.  Guarded by kprobe_mutex.
 */
bool kprobes_all_disarmed;

#ifndef CONFIG_HAVE_KPROBE_BATCH
/* For architectures that patch and synchronise one by one. */
static void arch_arm_kprobes(struct list_head *batch)
{
	struct kprobe *kp;

	list_for_each_entry(kp, batch, list)
		arch_arm_kprobe(kp);
}

static void arch_disarm_kprobes(struct list_head *batch)
{
	struct kprobe *kp;

	list_for_each_entry(kp, batch, list)
		arch_disarm_kprobe(kp);
}
#endif

/* Moves points that carriers serve from @points to @carried, and others of ftrace to @ftrace. */
static void sort_by_owner(struct list_head *points, struct list_head *ftrace,
			  struct list_head *carried)
{
	struct kprobe_point *point, *next;

	for_each_collected_safe(point, next, points) {
		if (point->state == KPROBE_CARRIED)
			list_move_tail(&point->kp.list, carried);
		else if (kprobe_ftrace(&point->kp))
			list_move_tail(&point->kp.list, ftrace);
	}
}

static void set_states(struct list_head *points, enum kprobe_state state)
{
	struct kprobe_point *point;

	for_each_collected(point, points)
		kprobe_point_set_state(point, state);
}

static void arm_breakpoints(struct list_head *points)
{
	struct kprobe_point *point;

	kprobe_unoptimize_neighbours(points);			/* 3 */
	scoped_guard(kprobe_text)				/* 4 */
		arch_arm_kprobes(points);
	set_states(points, KPROBE_BREAKPOINT);			/* 5 */
	for_each_collected(point, points)			/* 6 */
		kprobe_optimizer_queue(point);
}

static void disarm_breakpoints(struct list_head *points)
{
	kprobe_unoptimize_points(points, KPROBE_OBSTACLE_NONE);	/* 3 */
	scoped_guard(kprobe_text)				/* 4 */
		arch_disarm_kprobes(points);
	set_states(points, KPROBE_DISARMED);			/* 5 */
	kprobe_requeue_neighbours(points);			/* 6 */
}

/**
 * kprobe_arm_points() - arm disarmed points, all or none
 * @points: work list of points in KPROBE_DISARMED, which are in the table
 *
 * Context: task, may sleep, kprobe_mutex held.
 * Return: 0, or an errno of ftrace: -EBUSY if another user of a function may also
 * change its instruction pointer, -ENOMEM, -ENODEV.  On failure all are disarmed, and points
 * of ftrace are the first in the list, see kprobe_arm_ftrace().
 */
int kprobe_arm_points(struct list_head *points)
{
	LIST_HEAD(carried);
	LIST_HEAD(ftrace);
	int ret;

	lockdep_assert_held(&kprobe_mutex);

	sort_by_owner(points, &ftrace, &carried);		/* 1 */
	kprobe_carry(&ftrace, &carried, points);
	ret = kprobe_arm_ftrace(&ftrace);			/* 2 */
	if (!ret) {
		set_states(&ftrace, KPROBE_FTRACE);		/* 5 */
		if (!list_empty(points))
			arm_breakpoints(points);
	} else {
		kprobe_uncarry(&carried, KPROBE_DISARMED, points);
	}
	list_splice_tail(&carried, points);
	list_splice(&ftrace, points);
	return ret;
}

/**
 * kprobe_disarm_points() - restore the text of armed points
 * @points: work list of points in any armed state
 *
 * Cannot fail.  On return no CPU can take a new hit, but handlers of earlier hits may
 * still be running (batch.c waits for these).
 *
 * Context: task, may sleep, kprobe_mutex held.
 */
void kprobe_disarm_points(struct list_head *points)
{
	LIST_HEAD(carried);
	LIST_HEAD(ftrace);

	lockdep_assert_held(&kprobe_mutex);

	sort_by_owner(points, &ftrace, &carried);		/* 1 */
	kprobe_uncarry(&carried, KPROBE_DISARMED, points);
	if (!list_empty(&ftrace)) {
		kprobe_disarm_ftrace(&ftrace);			/* 2 */
		set_states(&ftrace, KPROBE_DISARMED);		/* 5 */
	}
	if (!list_empty(points))
		disarm_breakpoints(points);
	list_splice_tail(&carried, points);
	list_splice_tail(&ftrace, points);
}

/* Collects the points whose text has to change because of kprobes_all_disarmed. */
static void collect_switched(struct list_head *points)
{
	struct kprobe_point *point;
	unsigned long pos;

	for_each_kprobe_point(point, pos) {
		if (kprobe_point_armed(point) != kprobe_point_wants_arming(point))
			kprobe_collect(point, points);
	}
}

/* Arms all points that can be armed.  Returns the errno of ftrace for the last other one. */
static int arm_each(struct list_head *points)
{
	struct kprobe_point *point, *next;
	LIST_HEAD(ftrace);
	int err, ret = 0;

	/* The list may have carriers, which are not needed yet. */
	kprobe_uncollect_all(points);
	collect_switched(points);
	/* No point is carried, because all are disarmed. */
	sort_by_owner(points, &ftrace, &ftrace);
	kprobe_arm_points(points);
	for_each_collected_safe(point, next, &ftrace) {
		LIST_HEAD(one);

		list_move(&point->kp.list, &one);
		err = kprobe_arm_points(&one);
		list_splice_tail(&one, points);
		if (!err)
			continue;
		pr_warn_ratelimited("%pS cannot be armed (%d)\n",
				    (void *)kprobe_point_addr(point), err);
		ret = err;
	}
	return ret;
}

/**
 * kprobe_rearm_all() - arm or disarm all points, for debugfs "enabled"
 * @enable: true: arm the points that have enabled probes; false: disarm all
 *
 * Context: task, may sleep.
 * Return: 0, or an errno of ftrace for points that stay disarmed; all others are armed.
 */
int kprobe_rearm_all(bool enable)
{
	LIST_HEAD(points);
	bool changed;
	int ret = 0;

	guard(mutex)(&kprobe_mutex);

	changed = enable == kprobes_all_disarmed;
	kprobes_all_disarmed = !enable;
	collect_switched(&points);
	if (!enable)
		kprobe_disarm_points(&points);
	else if (kprobe_arm_points(&points))
		ret = arm_each(&points);
	kprobe_uncollect_all(&points);
	if (changed)
		pr_info("globally %s\n", kprobes_all_disarmed ? "disabled" : "enabled");
	return ret;
}
