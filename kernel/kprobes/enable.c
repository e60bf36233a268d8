// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Switching registered probes off and on: one at a time, and all of them.
 *
 * A disabled handle stays on its point; the point is armed while some handle
 * wants it.  The switch for all is on top of that and forgets nothing: what is
 * armed when it goes on again follows from the handles as they are then.
 */
#include <linux/cleanup.h>
#include <linux/export.h>

#include "internal.h"

/* debugfs "enabled" is 0: nothing is armed.  Under kprobe_mutex. */
bool kprobes_all_disarmed;

/**
 * disable_kprobe() - stop calling a probe's handlers
 * @kp: a registered probe
 *
 * The text is restored when no other probe at the address needs it.  Handlers
 * that are already running may go on for a moment.
 *
 * Spec: kprobes.txt section 4.7.
 *
 * Context: task, may sleep.
 * Return: 0, or -EINVAL if @kp is not registered.
 */
int disable_kprobe(struct kprobe *kp)
{
	struct kprobe_point *point;
	LIST_HEAD(points);

	guard(mutex)(&kprobe_mutex);

	point = kprobe_point_of(kp);
	if (!point)
		return -EINVAL;
	kp->flags |= KPROBE_FLAG_DISABLED;
	kprobe_point_update_handlers(point);
	if (kprobe_point_armed(point) && !kprobe_point_wants_arming(point)) {
		kprobe_collect(point, &points);
		kprobe_disarm_points(&points);
		kprobe_uncollect_all(&points);
	}
	return 0;
}
EXPORT_SYMBOL_GPL(disable_kprobe);

/**
 * enable_kprobe() - call a disabled probe's handlers again
 * @kp: a registered probe
 *
 * Spec: kprobes.txt section 4.8.
 *
 * Context: task, may sleep.
 * Return: 0; -EINVAL if @kp is not registered or its text has gone; what
 * ftrace says where it owns the function.
 */
int enable_kprobe(struct kprobe *kp)
{
	struct kprobe_point *point;
	LIST_HEAD(points);
	u32 flags;
	int ret;

	guard(mutex)(&kprobe_mutex);

	point = kprobe_point_of(kp);
	if (!point || point->state == KPROBE_GONE)
		return -EINVAL;
	flags = kp->flags;
	kp->flags &= ~KPROBE_FLAG_DISABLED;
	kprobe_point_update_handlers(point);
	if (kprobe_optimizer_misfit(point)) {
		kprobe_collect(point, &points);
		kprobe_optimizer_refit(&points);
		kprobe_uncollect_all(&points);
	}
	if (point->state != KPROBE_DISARMED || !kprobe_point_wants_arming(point))
		return 0;
	kprobe_collect(point, &points);
	ret = kprobe_arm_points(&points);
	kprobe_uncollect_all(&points);
	if (ret) {
		kp->flags = flags;
		kprobe_point_update_handlers(point);
	}
	return ret;
}
EXPORT_SYMBOL_GPL(enable_kprobe);

/**
 * kprobe_rearm_all() - arm or disarm all points, for debugfs "enabled"
 * @enable: arm those that have enabled probes; otherwise disarm all
 *
 * Context: task, may sleep.
 * Return: 0, or what ftrace said; then all stay disarmed.
 */
int kprobe_rearm_all(bool enable)
{
	struct kprobe_point *point;
	LIST_HEAD(points);
	unsigned long pos;
	int ret = 0;

	guard(mutex)(&kprobe_mutex);

	if (enable == !kprobes_all_disarmed)
		return 0;
	kprobes_all_disarmed = !enable;
	for_each_kprobe_point(point, pos) {
		if (kprobe_point_armed(point) != kprobe_point_wants_arming(point))
			kprobe_collect(point, &points);
	}
	if (!enable)
		kprobe_disarm_points(&points);
	else
		ret = kprobe_arm_points(&points);
	kprobe_uncollect_all(&points);
	if (ret)
		kprobes_all_disarmed = true;
	pr_info("globally %s\n", kprobes_all_disarmed ? "disabled" : "enabled");
	return ret;
}
