// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text that is freed while it has probes: modules, and init text.
 *
 * Before the text is freed, the points in it are disarmed, leave the table and
 * become KPROBE_GONE.  Their probes stay on them, with KPROBE_FLAG_GONE, until
 * their users unregister.  The core does not write to the text any more, and has
 * no points there when a later module is loaded at the same addresses.
 */
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/kprobes-coming.h>
#include <linux/module.h>
#include <asm/sections.h>

#include "internal.h"

static bool point_within(struct kprobe_point *point, unsigned long start, unsigned long end)
{
	return kprobe_point_addr(point) >= start && kprobe_point_addr(point) < end;
}

/*
 * Disarms all points from @start up to @end, where text is about to be freed, and makes them
 * KPROBE_GONE.  They have to be disarmed, because work that the module has left may still
 * execute the text, and because ftrace still has records of it, which must be updated.
 */
static void text_gone(unsigned long start, unsigned long end)
{
	struct kprobe_point *point;
	LIST_HEAD(armed);
	LIST_HEAD(unused);
	unsigned long pos;

	for_each_kprobe_point(point, pos) {
		if (point_within(point, start, end) && kprobe_point_armed(point))
			kprobe_collect(point, &armed);
	}
	if (!list_empty(&armed))
		kprobe_disarm_points(&armed);
	kprobe_uncollect_all(&armed);

	/* Gone points have no carriers: these are found by their addresses, in the table. */
	for_each_kprobe_point(point, pos) {
		if (point_within(point, start, end))
			kprobe_carrier_release(point, &unused);
	}
	kprobe_points_unpublish(&unused);
	kprobe_points_release(&unused);

	for_each_kprobe_point(point, pos) {
		if (!point_within(point, start, end))
			continue;
		kprobe_table_remove(point);
		kprobe_point_set_state(point, KPROBE_GONE);
		kprobe_point_add_gone(point);
	}
}

/**
 * kprobe_free_init_mem() - handle the points in the kernel's init text before it is freed
 *
 * Context: task, may sleep; once, at the end of boot.
 */
void kprobe_free_init_mem(void)
{
	guard(mutex)(&kprobe_mutex);
	text_gone((unsigned long)__init_begin, (unsigned long)__init_end);
}

#ifdef CONFIG_MODULES
/*
 * The modules that are coming: their ranges are in the blacklist, and a notification follows if
 * their load fails.  Guarded by kprobe_mutex.
 */
static struct coming_modules coming;

/**
 * kprobe_module_coming() - is a module being loaded, and may it be probed?
 * @mod: the module
 *
 * Context: kprobe_mutex held.
 * Return: true from our notification that it is coming to the next one.
 */
bool kprobe_module_coming(const struct module *mod)
{
	lockdep_assert_held(&kprobe_mutex);
	return coming_modules_has(&coming, mod);
}

static void module_text_gone(const struct module *mod, enum mod_mem_type type)
{
	unsigned long start = (unsigned long)mod->mem[type].base;

	text_gone(start, start + mod->mem[type].size);
}

/* Without its blacklist, a module must not be loaded: a probe might be hit while one is handled. */
static int module_comes(struct module *mod)
{
	int ret = kprobe_blacklist_add_module(mod);

	if (ret)
		return notifier_from_errno(ret);
	if (!coming_modules_add(&coming, mod))
		pr_warn("%s cannot be probed before it is live: too many modules are loading\n",
			mod->name);
	return NOTIFY_DONE;
}

static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;

	guard(mutex)(&kprobe_mutex);
	kprobe_reserved_forget();
	switch (event) {
	case MODULE_STATE_COMING:
		return module_comes(mod);
	case MODULE_STATE_LIVE:
		coming_modules_remove(&coming, mod);
		/* Only the init text of the module is freed. */
		module_text_gone(mod, MOD_INIT_TEXT);
		break;
	case MODULE_STATE_GOING:
		coming_modules_remove(&coming, mod);
		module_text_gone(mod, MOD_INIT_TEXT);
		module_text_gone(mod, MOD_TEXT);
		kprobe_blacklist_remove_module(mod);
		break;
	}
	return NOTIFY_DONE;
}

/*
 * Runs before all notifiers that may probe a module that is coming (kprobe events do), because
 * the blacklist must have the ranges of the module by then.
 */
static struct notifier_block module_notifier = {
	.notifier_call = module_event,
	.priority = INT_MAX,
};

/**
 * kprobe_module_init() - register the notifier of modules
 *
 * Context: boot.
 * Return: 0 or -errno.
 */
int __init kprobe_module_init(void)
{
	return register_module_notifier(&module_notifier);
}
#endif
