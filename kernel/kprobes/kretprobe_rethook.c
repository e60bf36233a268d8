// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rethook as the engine of return probes.
 *
 * rethook keeps the instances, replaces return addresses, and finds the original ones
 * for unwinders.  hit/kretprobe_rethook.c has the callbacks.
 */
#include <linux/rethook.h>

#include "internal.h"

/* Minimum of calls that can be in flight if the user sets no maxactive. */
#define DEFAULT_MAXACTIVE	10

/**
 * kretprobe_engine_alloc() - allocate the instances of a return probe
 * @rp: the probe; maxactive and data_size are set
 *
 * Context: task, may sleep.
 * Return: 0 or -ENOMEM.
 */
int kretprobe_engine_alloc(struct kretprobe *rp)
{
	struct rethook *rh;

	/* The pools of rethook do not grow: report their size to the user in maxactive. */
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
 * kretprobe_engine_stop() - make returns stop calling the handler of a probe
 * @rp: the probe; nothing is done if it has no instances
 *
 * Context: task.
 */
void kretprobe_engine_stop(struct kretprobe *rp)
{
	if (rp->rh)
		rethook_stop(rp->rh);
}

/**
 * kretprobe_engine_free() - release the instances of stopped probes
 * @rps: array of pointers to the probes; NULL entries, and probes that have no
 *	instances, are skipped
 * @num: number of the probes
 *
 * Instances of calls in flight are freed when the calls return.
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
