// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jprobes: a handler with the prototype of the probed function.  Registration; the handler
 * is called in hit/jprobe.c.
 *
 * Spec: kprobes.txt sections 1.2, 4.2.
 */
#include <linux/export.h>
#include <linux/kernel.h>

#include "internal.h"

/**
 * register_jprobes() - register several jprobes, all or none
 * @jps: array of pointers to the probes
 * @num: how many, > 0
 *
 * Spec: kprobes.txt sections 4.2, 4.5.
 *
 * Context: task, may sleep.
 * Return: 0; what register_kprobes() returns; -EINVAL if entry is no function, or
 * if the place is not a function's entry; -EEXIST if the function has a jprobe;
 * -ENOMEM.
 */
int register_jprobes(struct jprobe **jps, int num)
{
	int i;

	for (i = 0; jps && i < num && jps[i]; i++) {
		if (!kernel_text_address((unsigned long)jps[i]->entry))
			return kprobe_refuse((unsigned long)jps[i]->entry,
					     KPROBE_REFUSE_JPROBE_HANDLER);
	}
	if (num <= 0 || !jps || i < num)
		return kprobe_refuse(0, KPROBE_REFUSE_BAD_ARGUMENT);

	for (i = 0; i < num; i++)
		jps[i]->kp.pre_handler = kprobe_enter_jprobe;
	return kprobe_register_batch((struct kprobe **)jps, num, KPROBE_FLAG_KIND_JPROBE);
}
EXPORT_SYMBOL_GPL(register_jprobes);

/* register_jprobes() for one. */
int register_jprobe(struct jprobe *jp)
{
	return register_jprobes(&jp, 1);
}
EXPORT_SYMBOL_GPL(register_jprobe);

/**
 * unregister_jprobes() - unregister several jprobes
 * @jps: array of pointers to the probes; NULL is left out
 * @num: how many
 *
 * When it returns no handler of them is running or will run again.  The kp.addr of
 * one that was not registered is set to NULL.
 *
 * Spec: kprobes.txt sections 4.4, 4.6.
 *
 * Context: task, may sleep.
 */
void unregister_jprobes(struct jprobe **jps, int num)
{
	unregister_kprobes((struct kprobe **)jps, num);
}
EXPORT_SYMBOL_GPL(unregister_jprobes);

/* unregister_jprobes() for one. */
void unregister_jprobe(struct jprobe *jp)
{
	unregister_jprobes(&jp, 1);
}
EXPORT_SYMBOL_GPL(unregister_jprobe);

/* In the architecture's assembly. */
EXPORT_SYMBOL_GPL(jprobe_return);
