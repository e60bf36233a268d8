/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_COMING_H
#define _LINUX_KPROBES_COMING_H
/*
 * The modules that a notifier was told are coming, and that are not live yet.  A module is in that
 * state before its notifiers are called, and still when they are called because its load fails.
 */
#include <linux/array_size.h>
#include <linux/types.h>

struct module;

/**
 * struct coming_modules - modules between two calls of a notifier
 * @modules: in any order; NULL where there is none
 */
struct coming_modules {
	const struct module *modules[128];
};

/**
 * coming_modules_replace() - replace the first element that has a value
 * @coming: the modules
 * @old: the value: a module, or NULL
 * @new: the new value
 *
 * Context: the caller's lock held.
 * Return: false if no element has the value.
 */
static inline bool coming_modules_replace(struct coming_modules *coming, const struct module *old,
					  const struct module *new)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(coming->modules); i++) {
		if (coming->modules[i] == old) {
			coming->modules[i] = new;
			return true;
		}
	}
	return false;
}

/**
 * coming_modules_has() - is a module between the two calls?
 * @coming: the modules
 * @mod: the module
 *
 * Context: the caller's lock held.
 */
static inline bool coming_modules_has(const struct coming_modules *coming,
				      const struct module *mod)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(coming->modules); i++) {
		if (coming->modules[i] == mod)
			return true;
	}
	return false;
}

/**
 * coming_modules_add() - record a module that is coming
 * @coming: the modules
 * @mod: the module
 *
 * Context: the caller's lock held.
 * Return: false if there is no room.
 */
static inline bool coming_modules_add(struct coming_modules *coming, const struct module *mod)
{
	return coming_modules_replace(coming, NULL, mod);
}

/**
 * coming_modules_remove() - forget a module that is live, or gone
 * @coming: the modules
 * @mod: the module
 *
 * Context: the caller's lock held.
 */
static inline void coming_modules_remove(struct coming_modules *coming, const struct module *mod)
{
	coming_modules_replace(coming, mod, NULL);
}

#endif /* _LINUX_KPROBES_COMING_H */
