// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a detour has to call, and whether the one that is there does it.
 *
 * A detour calls the least that serves its point when it is made: who has no post handler
 * does not pay for one, and a return probe alone needs no registers saved.  When handlers
 * come that need more, the detour is a misfit, and the optimizer makes another; one that
 * does more than is needed stays.
 *
 * kprobe_mutex guards everything here.
 */
#include "internal.h"

/* The least that serves a point with the handlers that it has. */
static enum kprobe_detour_calls least_calls(const struct kprobe *kp)
{
	if (!IS_ENABLED(CONFIG_HAVE_KPROBE_DETOURS))
		return KPROBE_DETOUR_CALLS_PRE;
	if (kp->post_handler)
		return KPROBE_DETOUR_CALLS_POST;
	return kp->flags & KPROBE_FLAG_RETURN_ONLY ? KPROBE_DETOUR_CALLS_RETURN :
						     KPROBE_DETOUR_CALLS_PRE;
}

/**
 * kprobe_detour_choose() - decide what a detour will call that is about to be made
 * @point: the point, which has none
 *
 * The architecture asks kprobe_detour_calls().
 *
 * Context: kprobe_mutex held.
 */
void kprobe_detour_choose(struct kprobe_point *point)
{
	lockdep_assert_held(&kprobe_mutex);

	point->kp.flags &= ~KPROBE_FLAG_DETOUR_CALLS;
	point->kp.flags |= FIELD_PREP(KPROBE_FLAG_DETOUR_CALLS, least_calls(&point->kp));
}

/**
 * kprobe_detour_fits() - does a detour call all that is to be called?
 * @point: a point that has one
 *
 * Context: kprobe_mutex held.
 * Return: true if it does.
 */
bool kprobe_detour_fits(struct kprobe_point *point)
{
	lockdep_assert_held(&kprobe_mutex);

	switch (kprobe_detour_calls(&point->kp)) {
	case KPROBE_DETOUR_CALLS_RETURN:
		return point->kp.flags & KPROBE_FLAG_RETURN_ONLY;
	case KPROBE_DETOUR_CALLS_PRE:
		return !point->kp.post_handler;
	default:
		return true;
	}
}

/**
 * kprobe_detour_use() - let hits of the breakpoint go on in the detour's copy
 * @point: a point that has its detour
 * @use: or not any more
 *
 * With the copy in use nothing that is on its way from the breakpoint enters what the
 * jump will cover, or covers still.
 *
 * Context: task, kprobe_mutex held.
 */
void kprobe_detour_use(struct kprobe_point *point, bool use)
{
	lockdep_assert_held(&kprobe_mutex);

	point->kp.flags &= ~KPROBE_FLAG_DETOUR_USED;
	if (use)
		point->kp.flags |= KPROBE_FLAG_DETOUR_USED;
	arch_kprobe_handlers_changed(&point->kp);
}
