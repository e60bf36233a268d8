// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes on top of rethook.
 *
 * rethook keeps the instances, replaces return addresses and finds them again
 * for unwinders; what is left here is a kprobe at the function's entry that
 * takes an instance, and the translation between the two sets of callbacks.
 */
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/rethook.h>
#include <linux/slab.h>

#include "internal.h"

/* At least this many calls can be in flight if the user does not say. */
#define DEFAULT_MAXACTIVE	10

/*
 * The entry that the architecture's blacklist means, as a probe would see it.
 * kretprobe_blacklist_size is a constant 0 where there is no list.
 */
int __init kretprobe_init(void)
{
	struct kprobe_place place;
	int i;

	for (i = 0; i < kretprobe_blacklist_size && kretprobe_blacklist[i].name; i++) {
		struct kprobe kp = { .symbol_name = kretprobe_blacklist[i].name };

		if (kprobe_place_find(&kp, &place))
			pr_warn("no %s to keep return probes off\n", kp.symbol_name);
		else
			kretprobe_blacklist[i].addr = (void *)place.addr;
	}
	return 0;
}

static bool blacklisted(unsigned long addr)
{
	int i;

	for (i = 0; i < kretprobe_blacklist_size && kretprobe_blacklist[i].name; i++) {
		if ((unsigned long)kretprobe_blacklist[i].addr == addr)
			return true;
	}
	return false;
}

static int enter(struct kprobe *kp, struct pt_regs *regs)
{
	struct kretprobe *rp = container_of(kp, struct kretprobe, kp);
	struct kretprobe_instance *ri;
	struct rethook_node *node;

	node = rethook_try_get(rp->rh);
	if (!node) {
		/* Calls on several CPUs miss at once, and the count is exact. */
		atomic_inc((atomic_t *)&rp->nmissed);
		return 0;
	}
	ri = container_of(node, struct kretprobe_instance, node);
	if (rp->entry_handler && rp->entry_handler(ri, regs))
		rethook_recycle(node);
	else
		rethook_hook(node, regs, kprobe_ftrace(kp));
	return 0;
}
NOKPROBE_SYMBOL(enter);

static void leave(struct rethook_node *node, void *data, unsigned long ret_addr,
		  struct pt_regs *regs)
{
	struct kretprobe_instance *ri;
	struct kretprobe *rp = data;

	ri = container_of(node, struct kretprobe_instance, node);
	if (rp->handler)
		rp->handler(ri, regs);
}
NOKPROBE_SYMBOL(leave);

/* Checks what is special about return probes, and makes the instances. */
static int prepare(struct kretprobe *rp)
{
	struct kprobe_place place;
	struct rethook *rh;
	int ret;

	ret = kprobe_place_find(&rp->kp, &place);
	if (ret)
		return ret;
	if (!place.on_func_entry)
		return kprobe_refuse(place.addr, KPROBE_REFUSE_NOT_ENTRY, -EINVAL);
	if (blacklisted(place.addr))
		return kprobe_refuse(place.addr, KPROBE_REFUSE_RETURN_BLACKLISTED,
				     -EINVAL);
	if (rp->data_size > KRETPROBE_MAX_DATA_SIZE)
		return kprobe_refuse(place.addr, KPROBE_REFUSE_DATA_SIZE, -E2BIG);

	rp->kp.pre_handler = enter;
	rp->kp.post_handler = NULL;
	rp->nmissed = 0;
	if (rp->maxactive <= 0)
		rp->maxactive = max_t(int, DEFAULT_MAXACTIVE, 2 * num_possible_cpus());

	rh = rethook_alloc(rp, leave,
			   sizeof(struct kretprobe_instance) + rp->data_size,
			   rp->maxactive);
	if (IS_ERR(rh))
		return kprobe_refuse(place.addr, KPROBE_REFUSE_NO_MEMORY, PTR_ERR(rh));
	rp->rh = rh;
	return 0;
}

/* The instances in flight outlive this; rethook frees them when they return. */
static void unprepare(struct kretprobe *rp)
{
	rethook_free(rp->rh);
	rp->rh = NULL;
}

/* The embedded kprobes of @rps, to be given to kvfree(); NULL without memory. */
static struct kprobe **embedded_kprobes(struct kretprobe **rps, int num)
{
	struct kprobe **kps = kvmalloc_array(num, sizeof(*kps), GFP_KERNEL);
	int i;

	for (i = 0; kps && i < num; i++)
		kps[i] = &rps[i]->kp;
	return kps;
}

/* A probe that is in use must not be touched; one that is free has no rethook. */
static bool in_use(struct kretprobe *rp)
{
	guard(mutex)(&kprobe_mutex);
	return kprobe_point_of(&rp->kp);
}

/**
 * register_kretprobes() - register several return probes, all or none
 * @rps: array of pointers to the probes
 * @num: how many, > 0
 *
 * Seed: kprobes.txt sections 1.3, 4.3, 4.5.
 *
 * Context: task, may sleep.
 * Return: 0; what register_kprobes() returns; -EINVAL if it is not a function's
 * entry or return probes cannot work there; -E2BIG if data_size is above
 * KRETPROBE_MAX_DATA_SIZE; -ENOMEM.
 */
int register_kretprobes(struct kretprobe **rps, int num)
{
	struct kprobe **kps;
	int prepared = 0, ret = 0;

	if (num <= 0 || !rps)
		return kprobe_refuse(0, KPROBE_REFUSE_BAD_ARGUMENT, -EINVAL);
	kps = embedded_kprobes(rps, num);
	if (!kps)
		return kprobe_refuse(0, KPROBE_REFUSE_NO_MEMORY, -ENOMEM);

	while (!ret && prepared < num) {
		struct kretprobe *rp = rps[prepared];

		ret = in_use(rp) ? kprobe_refuse((unsigned long)rp->kp.addr,
						 KPROBE_REFUSE_REGISTERED, -EINVAL) :
				   prepare(rp);
		if (!ret)
			prepared++;
	}
	if (!ret)
		ret = kprobe_register_batch(kps, num, KPROBE_FLAG_KIND_RETURN);
	if (ret) {
		while (prepared--)
			unprepare(rps[prepared]);
	}
	kvfree(kps);
	return ret;
}
EXPORT_SYMBOL_GPL(register_kretprobes);

/**
 * register_kretprobe() - register one return probe
 * @rp: the probe
 *
 * See register_kretprobes().
 */
int register_kretprobe(struct kretprobe *rp)
{
	return register_kretprobes(&rp, 1);
}
EXPORT_SYMBOL_GPL(register_kretprobe);

/**
 * unregister_kretprobe() - unregister one return probe
 * @rp: the probe
 *
 * When it returns no handler of it is running or will run again; calls that
 * are in flight return without it.  If it was not registered, kp.addr is set to
 * NULL.
 *
 * Context: task, may sleep.
 */
void unregister_kretprobe(struct kretprobe *rp)
{
	unregister_kretprobes(&rp, 1);
}
EXPORT_SYMBOL_GPL(unregister_kretprobe);

/**
 * unregister_kretprobes() - unregister several return probes
 * @rps: array of pointers to the probes
 * @num: how many
 *
 * See unregister_kretprobe().
 *
 * Context: task, may sleep.
 */
void unregister_kretprobes(struct kretprobe **rps, int num)
{
	struct kprobe *one, **kps = &one;
	int i;

	if (num <= 0)
		return;
	if (num > 1)
		kps = embedded_kprobes(rps, num);
	if (!kps) {
		/* No memory for the array: slower, but it must not fail. */
		for (i = 0; i < num; i++)
			unregister_kretprobes(&rps[i], 1);
		return;
	}
	one = &rps[0]->kp;

	/* No return handler is begun from here on: see rethook_stop(). */
	for (i = 0; i < num; i++) {
		if (rps[i]->rh)
			rethook_stop(rps[i]->rh);
	}
	unregister_kprobes(kps, num);
	for (i = 0; i < num; i++) {
		if (rps[i]->kp.addr && rps[i]->rh)
			unprepare(rps[i]);
	}
	if (kps != &one)
		kvfree(kps);
}
EXPORT_SYMBOL_GPL(unregister_kretprobes);
