// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Register, unregister, enable and disable probes: the functions that users call.
 *
 * A registration is a batch: all probes are attached to watches, then all CPUs load their
 * registers in one cross call.  If one probe is refused, none is registered.
 */
#include <linux/export.h>

#include "internal.h"

/* Protects all watches and probes, and the writers of wprobe_slots[]. */
DEFINE_MUTEX(wprobe_mutex);

/* Searches all watches, because the members of the struct may have any value. */
static bool is_registered(const struct wprobe *wp)
{
	struct wprobe_watch *watch;
	struct wprobe *pos;

	list_for_each_entry(watch, &wprobe_watches, list) {
		hlist_for_each_entry(pos, &watch->probes, node) {
			if (pos == wp)
				return true;
		}
	}
	return false;
}

/* Is it a probe on data of the kernel, or NULL? */
static bool is_of_kernel(const struct wprobe *wp)
{
	return !wp || !wp->pid;
}

static int attach(struct wprobe *wp)
{
	struct wprobe_place place = {};
	enum wprobe_refusal refusal = WPROBE_REFUSE_REGISTERED;

	if (!wp)
		return wprobe_refuse(0, WPROBE_REFUSE_BAD_ARGUMENT);
	wp->refusal = NULL;
	if (!is_registered(wp))
		refusal = wprobe_place_find(wp, &place);
	refusal = refusal ?: wprobe_attach(wp, &place);
	return refusal ? wprobe_refuse_probe(wp, place.want.addr, refusal) : 0;
}

/* Detaches those of the probes that are registered, waits for handlers, and frees registers. */
static void detach_all(struct wprobe **wps, int num)
{
	struct wprobe_watch *watch, *next;
	int i;

	for (i = 0; i < num; i++) {
		if (wps[i] && is_registered(wps[i]))
			wprobe_detach(wps[i]);
	}
	wprobe_commit();
	list_for_each_entry_safe(watch, next, &wprobe_watches, list)
		wprobe_watch_put(watch);
	wprobe_return_parked();
}

/* Has the array probes on data of the kernel, or NULL, if @of_kernel, else probes of processes? */
static bool has_any(struct wprobe **wps, int num, bool of_kernel)
{
	int i;

	for (i = 0; i < num; i++) {
		if (is_of_kernel(wps[i]) == of_kernel)
			return true;
	}
	return false;
}

/* Registers those of the probes that are on data of the kernel. */
static int register_all(struct wprobe **wps, int num)
{
	int i, ret = 0;

	guard(mutex)(&wprobe_mutex);
	for (i = 0; i < num && !ret; i++) {
		if (is_of_kernel(wps[i]))
			ret = attach(wps[i]);
	}
	if (ret) {
		detach_all(wps, i - 1);
		return ret;
	}
	wprobe_commit();
	/* The next hit must not take a change from before now, which no CPU has reported. */
	for (i = 0; i < num; i++) {
		if (is_of_kernel(wps[i]))
			wprobe_read_last(wps[i]);
	}
	return 0;
}

/**
 * register_wprobes() - register several probes, or none of them
 * @wps: pointers to the probes
 * @num: number of the pointers, at least 1
 *
 * If one is refused, handlers of others may have been called before.
 *
 * Context: task, may sleep; not in a handler of any probe on data of the kernel.
 * Return: 0, or the errno of the first probe that is refused, of those without a pid first:
 *
 * * -EINVAL - no probes, or a NULL in the array; no handler; both or neither of symbol and address;
 *   a length, alignment or type that the processor cannot watch; not an address of the kernel,
 *   memory of a device, or memory that the entry of exceptions uses; the probe is registered; with
 *   a pid: not an address of a process, a symbol or a flag for data of the kernel, a kernel thread,
 *   or perf refuses the watchpoint
 * * -ENOENT - symbol not found; the module is going, or the init data of one that is live
 * * -ESRCH - no process has the pid, or it has ended
 * * -EFAULT - the memory is not mapped; in a process: or cannot be read, or the process is
 *   executing another program
 * * -EOPNOTSUPP - the processor cannot watch for reads only; arm64: a 32-bit process; the kernel
 *   has no CONFIG_WPROBES
 * * -ENOSPC - other users or probes have the registers of a CPU, or of a thread
 * * -ENOMEM - out of memory
 */
int register_wprobes(struct wprobe **wps, int num)
{
	bool of_kernel;
	int ret = 0;

	if (num <= 0 || !wps)
		return wprobe_refuse(0, WPROBE_REFUSE_BAD_ARGUMENT);
	of_kernel = has_any(wps, num, true);
	if (of_kernel)
		ret = register_all(wps, num);
	if (ret || !has_any(wps, num, false))
		return ret;
	/* From here on handlers of processes may free their probes, so only pointers are used. */
	ret = wprobe_users_register(wps, num);
	if (ret && of_kernel) {
		guard(mutex)(&wprobe_mutex);
		detach_all(wps, num);
	}
	return ret;
}
EXPORT_SYMBOL_GPL(register_wprobes);

/**
 * register_wprobe() - register a probe
 * @wp: the probe
 *
 * After success, all CPUs watch the memory, also those that come online later.  If the probe has
 * a pid, the threads of that process watch, also those that are created later.
 *
 * Context: task, may sleep; not in a handler of any probe on data of the kernel.
 * Return: as register_wprobes().
 */
int register_wprobe(struct wprobe *wp)
{
	return register_wprobes(&wp, 1);
}
EXPORT_SYMBOL_GPL(register_wprobe);

/**
 * unregister_wprobes() - unregister several probes
 * @wps: pointers to the probes; those that are not registered are left alone
 * @num: number of the pointers
 *
 * Afterwards their handlers do not run any more, and the probes may be freed. If a handler of a
 * probe with a pid unregisters that probe, only this handler continues. A probe that another task
 * is unregistering is left alone.
 *
 * Context: task, may sleep; not in a handler of any probe on data of the kernel. Two handlers that
 * unregister each other's probe wait for ever.
 */
void unregister_wprobes(struct wprobe **wps, int num)
{
	bool of_kernel;

	if (num <= 0)
		return;
	/* A handler of a process may free its probe as soon as it has returned. */
	of_kernel = has_any(wps, num, true);
	/* Otherwise the caller may hold locks that are taken after those of processes. */
	if (has_any(wps, num, false))
		wprobe_users_unregister(wps, num);
	if (!of_kernel)
		return;
	guard(mutex)(&wprobe_mutex);
	detach_all(wps, num);
}
EXPORT_SYMBOL_GPL(unregister_wprobes);

/**
 * unregister_wprobe() - unregister a probe
 * @wp: the probe
 *
 * Context: as unregister_wprobes().
 */
void unregister_wprobe(struct wprobe *wp)
{
	unregister_wprobes(&wp, 1);
}
EXPORT_SYMBOL_GPL(unregister_wprobe);

static int set_disabled(struct wprobe *wp, u32 disabled)
{
	if (wp->pid)
		return wprobe_user_set_disabled(wp, disabled);

	guard(mutex)(&wprobe_mutex);
	if (!is_registered(wp) || wp->watch->state == WPROBE_GONE)
		return -EINVAL;
	if ((wp->flags & WPROBE_FLAG_DISABLED) == disabled)
		return 0;
	if (!disabled)
		wprobe_read_last(wp);
	WRITE_ONCE(wp->flags, wp->flags ^ WPROBE_FLAG_DISABLED);
	wprobe_watch_update(wp->watch);
	wprobe_commit();
	if (!disabled)
		wprobe_read_last(wp);
	return 0;
}

/**
 * enable_wprobe() - call the handler of a disabled probe again
 * @wp: a registered probe
 *
 * A disabled probe keeps its register, so there is always one.
 *
 * Context: task, may sleep; not in a handler of any probe on data of the kernel.
 * Return: 0; -EINVAL if the probe is not registered, or its memory or process is gone; -EOPNOTSUPP
 * without CONFIG_WPROBES.
 */
int enable_wprobe(struct wprobe *wp)
{
	return set_disabled(wp, 0);
}
EXPORT_SYMBOL_GPL(enable_wprobe);

/**
 * disable_wprobe() - do not call the handler of a probe any more
 * @wp: a registered probe
 *
 * Afterwards the handler does not run any more, unless it disables its own probe: then it
 * continues, and others that run are not waited for.
 *
 * Context: task, may sleep; not in a handler of any probe on data of the kernel.
 * Return: 0; -EINVAL if the probe is not registered, or its memory or process is gone; -EOPNOTSUPP
 * without CONFIG_WPROBES.
 */
int disable_wprobe(struct wprobe *wp)
{
	return set_disabled(wp, WPROBE_FLAG_DISABLED);
}
EXPORT_SYMBOL_GPL(disable_wprobe);
