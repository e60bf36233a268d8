// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes: registration, common to both engines.
 *
 * A return probe is a kprobe at a function's entry that takes an instance for the
 * call and replaces the return address by that of a trampoline.  An engine keeps the
 * instances and runs the trampoline: the core (kretprobe_native.c), or rethook on
 * architectures without HAVE_KRETPROBE_NATIVE (kretprobe_rethook.c).
 */
#include <linux/export.h>
#include <linux/init.h>

#include "internal.h"

/**
 * kretprobe_init() - find the functions that cannot have return probes
 *
 * Resolves the symbols of the architecture's blacklist as those of probes are resolved.
 * kretprobe_blacklist_size is a constant 0 if there is no list.
 *
 * Context: boot, before probes can be registered.
 * Return: 0.
 */
int __init kretprobe_init(void)
{
	struct kprobe_place place;
	int i;

	for (i = 0; i < kretprobe_blacklist_size; i++) {
		struct kprobe kp = { .symbol_name = kretprobe_blacklist[i].name };

		/* The kernel may not have this function. */
		if (!kprobe_place_find(&kp, &place))
			kretprobe_blacklist[i].addr = (void *)place.addr;
	}
	return 0;
}

static bool blacklisted(unsigned long addr)
{
	int i;

	for (i = 0; i < kretprobe_blacklist_size; i++) {
		if ((unsigned long)kretprobe_blacklist[i].addr == addr)
			return true;
	}
	return false;
}

/**
 * kretprobe_prepare() - check a return probe, and allocate its instances
 * @kp: embedded in the return probe, which is not in use
 * @place: resolved address, a function's entry
 *
 * kretprobe_unprepare() undoes this.
 *
 * Context: task, may sleep, kprobe_mutex held.
 * Return: %KPROBE_REFUSE_NONE, or the reason why there can be no return probe.
 */
enum kprobe_refusal kretprobe_prepare(struct kprobe *kp, const struct kprobe_place *place)
{
	struct kretprobe *rp = container_of(kp, struct kretprobe, kp);

	if (blacklisted(place->addr))
		return KPROBE_REFUSE_RETURN_BLACKLISTED;
	if (rp->data_size > KRETPROBE_MAX_DATA_SIZE)
		return KPROBE_REFUSE_DATA_SIZE;

	kp->pre_handler = rp->entry_handler ? kretprobe_engine_enter :
					      kretprobe_engine_enter_bare;
	kp->post_handler = NULL;
	rp->nmissed = 0;
	return kretprobe_engine_alloc(rp) ? KPROBE_REFUSE_NO_MEMORY : KPROBE_REFUSE_NONE;
}

/**
 * kretprobe_stop() - make returns stop calling the handler
 * @kp: member of a return probe
 *
 * Context: kprobe_mutex held.
 */
void kretprobe_stop(struct kprobe *kp)
{
	kretprobe_engine_stop(container_of(kp, struct kretprobe, kp));
}

/**
 * kretprobe_unprepare() - release the instances of a return probe
 * @kp: embedded in the return probe.  Either hits have never found it, or a grace period has
 *	passed since kretprobe_stop()
 *
 * Context: task.
 */
void kretprobe_unprepare(struct kprobe *kp)
{
	struct kretprobe *rp = container_of(kp, struct kretprobe, kp);

	kretprobe_engine_stop(rp);
	kretprobe_engine_free(&rp, 1);
}

/**
 * register_kretprobes() - register several return probes, all or none
 * @rps: array of pointers to the probes
 * @num: number of the probes, > 0
 *
 * See Documentation/trace/kprobes.rst, Return probes.
 *
 * Context: task, may sleep.
 * Return: 0; an errno of register_kprobes(); -EINVAL if an address is not a
 * function's entry, or return probes cannot work there; -E2BIG if data_size is
 * above KRETPROBE_MAX_DATA_SIZE; -ENOMEM.
 */
int register_kretprobes(struct kretprobe **rps, int num)
{
	return kprobe_register_batch((struct kprobe **)rps, num, KPROBE_FLAG_KIND_RETURN, NULL);
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
 * register_kretprobe_why() - register one return probe, and get the reason of a refusal
 * @rp: the probe
 * @why: set to the reason if the probe is refused, otherwise to NULL pointers
 *
 * Context, errnos: see register_kretprobes().
 */
int register_kretprobe_why(struct kretprobe *rp, struct kprobe_why *why)
{
	struct kprobe *kp = &rp->kp;

	*why = (struct kprobe_why) {};
	return kprobe_register_batch(&kp, 1, KPROBE_FLAG_KIND_RETURN, why);
}

/**
 * unregister_kretprobe() - unregister one return probe
 * @rp: the probe
 *
 * When this returns, no handler of the probe is running or will run again; calls in
 * flight return without it.  If the probe is not registered, its kp.addr is set to
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
 * @rps: array of pointers to the probes; NULL entries are skipped
 * @num: number of the probes
 *
 * See unregister_kretprobe().
 *
 * Context: task, may sleep.
 */
void unregister_kretprobes(struct kretprobe **rps, int num)
{
	int i;

	/*
	 * From here on, no call of a return handler begins.  kprobe_unregister_batch()
	 * waits for running ones, as it does for entry handlers.
	 */
	for (i = 0; i < num; i++) {
		if (rps[i])
			kretprobe_engine_stop(rps[i]);
	}
	kprobe_unregister_batch((struct kprobe **)rps, num);
	kretprobe_engine_free(rps, num);
}
EXPORT_SYMBOL_GPL(unregister_kretprobes);
