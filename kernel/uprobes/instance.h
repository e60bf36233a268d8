/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is done with the instance of each call whose return is waited for; see instance.c.
 */
#ifndef _KERNEL_UPROBES_INSTANCE_H
#define _KERNEL_UPROBES_INSTANCE_H

#include "internal.h"

/**
 * uprobe_instance_note() - let a consumer wait for a return
 * @ri: the instance of the call
 * @uc: the consumer
 * @cookie: value for its return handler
 *
 * Context: task, may sleep.
 * Return: 0 or -ENOMEM.
 */
static __always_inline int uprobe_instance_note(struct return_instance *ri,
						struct uprobe_consumer *uc, u64 cookie)
{
	bool instance = uretprobe_is_consumer(uc);
	struct return_consumer *note;

	if (unlikely(ri->nr == ri->room) && uprobe_instance_grow(ri)) {
		if (instance)
			uretprobe_instance_free(cookie);
		return -ENOMEM;
	}
	note = &ri->consumers[ri->nr++];
	note->cookie = cookie;
	note->id = uc->id;
	note->instance = instance;
	return 0;
}

/**
 * uprobe_instance_release() - a call is over, or was abandoned
 * @ri: its instance; has no consumers then
 *
 * Context: task.
 */
static __always_inline void uprobe_instance_release(struct return_instance *ri)
{
	unsigned int i;

	for (i = 0; i < ri->nr; i++) {
		if (unlikely(ri->consumers[i].instance))
			uretprobe_instance_free(ri->consumers[i].cookie);
	}
	ri->nr = 0;
}

#endif /* _KERNEL_UPROBES_INSTANCE_H */
