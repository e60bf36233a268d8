// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes on top of rethook.
 *
 * rethook keeps the instances, replaces return addresses and finds them again for
 * unwinders.  Its callbacks are in hit/kretprobe_rethook.c.
 */
#include <linux/rethook.h>

#include "internal.h"

/* At least this many calls can be in flight if the user does not say. */
#define DEFAULT_MAXACTIVE	10

/**
 * kretprobe_engine_alloc() - make the instances of a return probe
 * @rp: the probe; maxactive and data_size are set
 *
 * Context: task, may sleep.
 * Return: 0 or -ENOMEM.
 */
int kretprobe_engine_alloc(struct kretprobe *rp)
{
	struct rethook *rh;

	/* Its pools do not grow, so the user is told what there is. */
	if (rp->maxactive <= 0)
		rp->maxactive = max_t(int, DEFAULT_MAXACTIVE, 2 * num_possible_cpus());
	rh = rethook_alloc(rp, kretprobe_engine_leave,
			   sizeof(struct kretprobe_instance) + rp->data_size,
			   rp->maxactive);
	if (IS_ERR(rh))
		return PTR_ERR(rh);
	rp->rh = rh;
	return 0;
}

/**
 * kretprobe_engine_stop() - begin no more return handlers
 * @rp: the probe; one that has no instances is left alone
 *
 * Context: task.
 */
void kretprobe_engine_stop(struct kretprobe *rp)
{
	if (rp->rh)
		rethook_stop(rp->rh);
}

/**
 * kretprobe_engine_free() - give the instances of stopped probes up
 * @rps: array of pointers to the probes; NULL, and probes that have no instances,
 *	are left alone
 * @num: how many
 *
 * Those of calls in flight are freed when the calls return.
 *
 * Context: task.
 */
void kretprobe_engine_free(struct kretprobe **rps, int num)
{
	int i;

	for (i = 0; i < num; i++) {
		if (!rps[i] || !rps[i]->rh)
			continue;
		rethook_free(rps[i]->rh);
		rps[i]->rh = NULL;
	}
}
