// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * End the watches of memory that is freed with a module.
 *
 * Its probes stay registered, without a register, until their users unregister them.
 */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/notifier.h>

#include "internal.h"

#ifdef CONFIG_SMP
/* A per-CPU address is not in the memory of the module. */
static bool is_percpu_of(const struct wprobe_range *range, const struct module *mod)
{
	unsigned long start = (unsigned long)mod->percpu;

	return range->percpu && range->addr - start < mod->percpu_size;
}
#else
static bool is_percpu_of(const struct wprobe_range *range, const struct module *mod)
{
	return false;
}
#endif

static bool is_freed(const struct wprobe_watch *watch, struct module *mod, unsigned long state)
{
	if (watch->state == WPROBE_GONE)
		return false;
	if (is_percpu_of(&watch->range, mod))
		return state == MODULE_STATE_GOING;
	if (watch->mod != mod)
		return false;
	return state == MODULE_STATE_GOING || within_module_init(watch->range.addr, mod);
}

/* Ends the watches of a module's memory; of its init memory when the module is live. */
static int module_changed(struct notifier_block *nb, unsigned long state, void *data)
{
	struct wprobe_watch *watch;
	unsigned int registers = 0;

	if (state != MODULE_STATE_GOING && state != MODULE_STATE_LIVE)
		return NOTIFY_DONE;

	guard(mutex)(&wprobe_mutex);
	list_for_each_entry(watch, &wprobe_watches, list) {
		if (!is_freed(watch, data, state))
			continue;
		registers += wprobe_has_register(watch);
		wprobe_watch_set_state(watch, WPROBE_GONE);
		watch->mod = NULL;
	}
	if (!registers)
		return NOTIFY_DONE;
	wprobe_commit();
	while (registers--)
		hw_breakpoint_release_wide();
	wprobe_return_parked();
	return NOTIFY_DONE;
}

/* Called before the notifiers that free data of the module. */
static struct notifier_block module_nb = {
	.notifier_call = module_changed,
	.priority = INT_MAX,
};

static int __init wprobe_module_init(void)
{
	return register_module_notifier(&module_nb);
}
core_initcall(wprobe_module_init);
