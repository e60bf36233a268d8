// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes whose text goes away: modules, and init text.
 *
 * Text is freed without asking.  The points in it are taken off ftrace where
 * it owns them, leave the table and become KPROBE_GONE; their handles stay on
 * them, marked KPROBE_FLAG_GONE, until their users unregister.  Nothing is
 * written to the dying text, and a later module at the same addresses starts
 * with no points there.
 *
 * kprobe_mutex guards the list of gone points.
 */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <asm/sections.h>

#include "internal.h"

/* Gone points that still have handles; linked through kp.hlist. */
HLIST_HEAD(kprobe_gone_points);

struct text_range {
	unsigned long start;
	unsigned long end;
};

/**
 * kprobe_gone_find() - the gone point that a handle is registered at
 * @kp: the handle; only its address is used
 *
 * Context: kprobe_mutex held.
 * Return: the point, or NULL.
 */
struct kprobe_point *kprobe_gone_find(struct kprobe *kp)
{
	struct kprobe *gone;

	lockdep_assert_held(&kprobe_mutex);

	hlist_for_each_entry(gone, &kprobe_gone_points, hlist) {
		if (kprobe_point_find_handle(kprobe_to_point(gone), kp))
			return kprobe_to_point(gone);
	}
	return NULL;
}

static void bury(struct kprobe_point *point)
{
	LIST_HEAD(one);

	if (point->state == KPROBE_FTRACE) {
		/* ftrace still knows the text, and must forget it in order. */
		list_add(&point->kp.list, &one);
		kprobe_disarm_points(&one);
		list_del_init(&point->kp.list);
	}
	kprobe_table_remove(point);
	kprobe_point_set_state(point, KPROBE_GONE);
	hlist_add_head(&point->kp.hlist, &kprobe_gone_points);
}

/* All points in [start, end) of each of @nr ranges become gone. */
static void bury_ranges(const struct text_range *ranges, int nr)
{
	struct kprobe_point *point;
	unsigned long pos;
	int i;

	for_each_kprobe_point(point, pos) {
		for (i = 0; i < nr; i++) {
			if (point->addr >= ranges[i].start &&
			    point->addr < ranges[i].end) {
				bury(point);
				break;
			}
		}
	}
}

static struct text_range module_range(const struct module *mod, enum mod_mem_type type)
{
	unsigned long base = (unsigned long)mod->mem[type].base;

	return (struct text_range) { base, base + mod->mem[type].size };
}

static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;
	struct text_range ranges[] = {
		module_range(mod, MOD_INIT_TEXT),
		module_range(mod, MOD_TEXT),
	};

	mutex_lock(&kprobe_mutex);
	switch (event) {
	case MODULE_STATE_COMING:
		kprobe_blacklist_add_module(mod);
		break;
	case MODULE_STATE_LIVE:
		/* Only its init text is freed. */
		bury_ranges(ranges, 1);
		break;
	case MODULE_STATE_GOING:
		bury_ranges(ranges, ARRAY_SIZE(ranges));
		kprobe_blacklist_remove_module(mod);
		break;
	}
	mutex_unlock(&kprobe_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = {
	.notifier_call = module_event,
};

/* Boot.  Return: 0 or -errno. */
int __init kprobe_module_init(void)
{
	return register_module_notifier(&module_notifier);
}

/**
 * kprobe_free_init_mem() - the kernel's init text is about to be freed
 *
 * Context: task, may sleep; once, at the end of boot.
 */
void kprobe_free_init_mem(void)
{
	const struct text_range init = {
		(unsigned long)__init_begin, (unsigned long)__init_end,
	};

	mutex_lock(&kprobe_mutex);
	bury_ranges(&init, 1);
	mutex_unlock(&kprobe_mutex);
}
