// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes whose text goes away.
 *
 * Text is freed without asking.  The points in it are disarmed while it is still
 * there, leave the table and become KPROBE_GONE; their handles stay on them,
 * marked KPROBE_FLAG_GONE, until their users unregister.  Nothing is written to
 * the text afterwards, and a later module at the same addresses starts with no
 * points there.
 *
 * kprobe_mutex guards the list of gone points and the hash of their handles.
 */
#include <linux/hashtable.h>
#include <linux/kprobes.h>
#include <asm/sections.h>

#include "internal.h"

/* Gone points that still have handles; linked through op.list. */
LIST_HEAD(kprobe_gone_points);

/*
 * The handles of gone points, by their own addresses: nothing in a struct that a caller
 * hands over is trusted.  Linked through kprobe::gone.
 */
static DEFINE_HASHTABLE(gone_handles, 8);

static bool is_gone_handle(const struct kprobe *kp)
{
	const struct kprobe *gone;

	hash_for_each_possible(gone_handles, gone, gone, (unsigned long)kp) {
		if (gone == kp)
			return true;
	}
	return false;
}

/**
 * kprobe_gone_find() - find the gone point that a handle is registered at
 * @kp: the handle; nothing in it is trusted before it has been found by its address
 *
 * Context: kprobe_mutex held.
 * Return: the point, or NULL.
 */
struct kprobe_point *kprobe_gone_find(struct kprobe *kp)
{
	struct list_head *node;

	lockdep_assert_held(&kprobe_mutex);

	if (!is_gone_handle(kp))
		return NULL;
	/* The list's head, which is in the point, is the only node that is no handle. */
	list_for_each_prev(node, &kp->list) {
		if (!is_gone_handle(list_entry(node, struct kprobe, list)))
			return container_of(node, struct kprobe_point, handles);
	}
	return NULL;
}

static void add_gone(struct kprobe_point *point)
{
	struct kprobe *handle;

	list_add(&point->op.list, &kprobe_gone_points);
	list_for_each_entry(handle, &point->handles, list)
		hash_add(gone_handles, &handle->gone, (unsigned long)handle);
}

/**
 * kprobe_gone_forget_handle() - a handle of a gone point is being unregistered
 * @kp: the handle
 *
 * Context: kprobe_mutex held.
 */
void kprobe_gone_forget_handle(struct kprobe *kp)
{
	hash_del(&kp->gone);
}

static bool point_within(struct kprobe_point *point, unsigned long start, unsigned long end)
{
	return kprobe_point_addr(point) >= start && kprobe_point_addr(point) < end;
}

/**
 * kprobe_bury_range() - text is about to be freed
 * @start: its first address
 * @end: the first address after it
 *
 * All points in it become gone.  They are disarmed first: until it is freed the
 * text may still be executed, by work that the module has left behind, and ftrace
 * still knows it and must forget it in order.
 *
 * Context: task, may sleep, kprobe_mutex held.
 */
void kprobe_bury_range(unsigned long start, unsigned long end)
{
	struct kprobe_point *point;
	LIST_HEAD(armed);
	unsigned long pos;

	for_each_kprobe_point(point, pos) {
		if (point_within(point, start, end) && kprobe_point_armed(point))
			kprobe_collect(point, &armed);
	}
	if (!list_empty(&armed))
		kprobe_disarm_points(&armed);
	kprobe_uncollect_all(&armed);

	for_each_kprobe_point(point, pos) {
		if (!point_within(point, start, end))
			continue;
		kprobe_table_remove(point);
		kprobe_point_set_state(point, KPROBE_GONE);
		add_gone(point);
	}
}

/**
 * kprobe_free_init_mem() - the kernel's init text is about to be freed
 *
 * Context: task, may sleep; once, at the end of boot.
 */
void kprobe_free_init_mem(void)
{
	guard(mutex)(&kprobe_mutex);
	kprobe_bury_range((unsigned long)__init_begin, (unsigned long)__init_end);
}
