// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jprobes: registration.  A jprobe's handler has the prototype of the probed function;
 * hit/jprobe.c calls it.
 *
 * See Documentation/trace/kprobes.rst, Jprobes.
 */
#include <linux/export.h>
#include <linux/kernel.h>

#include "internal.h"

/**
 * register_jprobes() - register several jprobes, all or none
 * @jps: array of pointers to the probes
 * @num: number of the probes, > 0
 *
 * See Documentation/trace/kprobes.rst, Jprobes.
 *
 * Context: task, may sleep.
 * Return: 0; an errno of register_kprobes(); -EINVAL if entry is not in text, or if
 * the address is not a function's entry; -EEXIST if the function already has a
 * jprobe; -ENOMEM.
 */
int register_jprobes(struct jprobe **jps, int num)
{
	int i;

	for (i = 0; jps && i < num && jps[i]; i++) {
		if (!kernel_text_address((unsigned long)jps[i]->entry))
			return kprobe_refuse((unsigned long)jps[i]->entry,
					     KPROBE_REFUSE_JPROBE_HANDLER, NULL);
	}
	if (num <= 0 || !jps || i < num)
		return kprobe_refuse(0, KPROBE_REFUSE_BAD_ARGUMENT, NULL);

	for (i = 0; i < num; i++)
		jps[i]->kp.pre_handler = kprobe_enter_jprobe;
	return kprobe_register_batch((struct kprobe **)jps, num, KPROBE_FLAG_KIND_JPROBE, NULL);
}
EXPORT_SYMBOL_GPL(register_jprobes);

/**
 * register_jprobe() - register a jprobe
 * @jp: the probe
 *
 * Calls register_jprobes().
 *
 * See Documentation/trace/kprobes.rst, Jprobes.
 *
 * Context: task, may sleep.
 * Return: 0; an errno of register_kprobe(); -EINVAL if entry is not in text, or if
 * the address is not a function's entry; -EEXIST if the function already has a
 * jprobe; -ENOMEM.
 */
int register_jprobe(struct jprobe *jp)
{
	return register_jprobes(&jp, 1);
}
EXPORT_SYMBOL_GPL(register_jprobe);

/**
 * unregister_jprobes() - unregister several jprobes
 * @jps: array of pointers to the probes; NULL entries are skipped
 * @num: number of the probes
 *
 * When this returns, no handler of the jprobes is running or will run again.  If a
 * jprobe is not registered, its kp.addr is set to NULL.
 *
 * See Documentation/trace/kprobes.rst, API.
 *
 * Context: task, may sleep.
 */
void unregister_jprobes(struct jprobe **jps, int num)
{
	kprobe_unregister_batch((struct kprobe **)jps, num);
}
EXPORT_SYMBOL_GPL(unregister_jprobes);

/**
 * unregister_jprobe() - unregister a jprobe
 * @jp: the probe
 *
 * Calls unregister_jprobes().
 *
 * See Documentation/trace/kprobes.rst, API.
 *
 * Context: task, may sleep.
 */
void unregister_jprobe(struct jprobe *jp)
{
	unregister_jprobes(&jp, 1);
}
EXPORT_SYMBOL_GPL(unregister_jprobe);

/* Defined in the architecture's assembly. */
EXPORT_SYMBOL_GPL(jprobe_return);
