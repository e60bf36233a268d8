// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Modules come with text that must not be probed, and go with text that is.
 */
#include <linux/init.h>
#include <linux/module.h>

#include "internal.h"

static void bury(const struct module *mod, enum mod_mem_type type)
{
	unsigned long start = (unsigned long)mod->mem[type].base;

	kprobe_bury_range(start, start + mod->mem[type].size);
}

static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;

	guard(mutex)(&kprobe_mutex);
	kprobe_owned_forget();
	switch (event) {
	case MODULE_STATE_COMING:
		kprobe_blacklist_add_module(mod);
		break;
	case MODULE_STATE_LIVE:
		/* Only its init text is freed. */
		bury(mod, MOD_INIT_TEXT);
		break;
	case MODULE_STATE_GOING:
		bury(mod, MOD_INIT_TEXT);
		bury(mod, MOD_TEXT);
		kprobe_blacklist_remove_module(mod);
		break;
	}
	return NOTIFY_DONE;
}

/*
 * Before everybody who may probe a module that is coming, such as kprobe events that wait
 * for it: its blacklist has to be known by then.
 */
static struct notifier_block module_notifier = {
	.notifier_call = module_event,
	.priority = INT_MAX,
};

/* Boot.  Return: 0 or -errno. */
int __init kprobe_module_init(void)
{
	return register_module_notifier(&module_notifier);
}
