// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * End the watches of a module's memory before it is freed, and refuse new ones after that.  Modules
 * are not pinned.
 *
 * The probes stay registered, without a register, until their users unregister them.
 */
#include <linux/init.h>
#include <linux/kprobes-coming.h>
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

/* Is the memory freed after the module has got into the state GOING or LIVE? */
static bool is_freed(const struct wprobe_range *range, struct module *mod, unsigned long state)
{
	unsigned long addr = READ_ONCE(range->addr);

	if (IS_ENABLED(CONFIG_SMP) && range->percpu)
		return is_percpu_of(range, mod) && state == MODULE_STATE_GOING;
	return state == MODULE_STATE_GOING ? within_module(addr, mod) :
					     within_module_init(addr, mod);
}

/*
 * Modules between the calls of the notifier for COMING and for LIVE or GOING.  If the load of a
 * module outside of that time fails, its memory is freed without another call.
 */
static struct coming_modules coming;

struct search {
	const struct wprobe_range *range;
	bool found;
};

static int look_at(struct module *mod, void *data)
{
	struct search *search = data;
	unsigned long state = READ_ONCE(mod->state);

	/* A load that fails frees the same memory as a module that goes. */
	if (state == MODULE_STATE_COMING && !coming_modules_has(&coming, mod))
		state = MODULE_STATE_GOING;
	search->found = (state == MODULE_STATE_GOING || state == MODULE_STATE_LIVE) &&
			is_freed(search->range, mod, state);
	return search->found;
}

/**
 * wprobe_module_frees() - will the memory be freed, without another call of the notifier?
 * @range: the memory
 *
 * A module gets into its state before the notifier is called, and the notifier takes the mutex.
 *
 * Context: task, wprobe_mutex held.
 */
bool wprobe_module_frees(const struct wprobe_range *range)
{
	struct search search = { .range = range };

	lockdep_assert_held(&wprobe_mutex);
	module_for_each_mod(look_at, &search);
	return search.found;
}

struct owner {
	const struct wprobe_range *range;
	const struct module *mod;
};

static int look_for_owner(struct module *mod, void *data)
{
	struct owner *owner = data;

	if (!is_percpu_of(owner->range, mod))
		return 0;
	owner->mod = mod;
	return 1;
}

/**
 * wprobe_module_of_percpu() - find the module that has a per-CPU variable
 * @range: the memory
 *
 * Context: task, wprobe_mutex held.
 * Return: the module, only to be compared; NULL if the variable is not one of a module, or @range
 * is not per-CPU.
 */
const struct module *wprobe_module_of_percpu(const struct wprobe_range *range)
{
	struct owner owner = { .range = range };

	lockdep_assert_held(&wprobe_mutex);
	if (range->percpu)
		module_for_each_mod(look_for_owner, &owner);
	return owner.mod;
}

/* Ends the watches of a module's memory; of its init memory when the module is live. */
static int module_changed(struct notifier_block *nb, unsigned long state, void *data)
{
	struct wprobe_watch *watch;
	unsigned int registers = 0;

	guard(mutex)(&wprobe_mutex);
	if (state == MODULE_STATE_COMING)
		coming_modules_add(&coming, data);
	else
		coming_modules_remove(&coming, data);
	if (state != MODULE_STATE_GOING && state != MODULE_STATE_LIVE)
		return NOTIFY_DONE;

	list_for_each_entry(watch, &wprobe_watches, list) {
		if (watch->state == WPROBE_GONE || !is_freed(&watch->range, data, state))
			continue;
		registers += wprobe_has_register(watch);
		wprobe_watch_set_state(watch, WPROBE_GONE);
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
