/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inline functions for the instance of each call whose return is waited for; see instance.c.
 */
#ifndef _KERNEL_UPROBES_INSTANCE_H
#define _KERNEL_UPROBES_INSTANCE_H

#include "internal.h"
#include "process.h"

/**
 * uprobe_instance_note() - let a consumer wait for a return
 * @ri: the instance of the call, or NULL if there was no memory for it
 * @uc: the consumer
 * @cookie: value for its return handler
 *
 * If memory is short, the consumer will not see the return.
 *
 * Context: task, may sleep.
 */
static __always_inline void uprobe_instance_note(struct return_instance *ri,
						 struct uprobe_consumer *uc, u64 cookie)
{
	bool instance = uc->ret_handler == uretprobe_return;
	struct return_consumer *note;

	if (unlikely(!ri || (ri->end == ri->limit && uprobe_instance_grow(ri)))) {
		if (instance)
			uretprobe_instance_free(cookie);
		/* Without an instance, the whole call is missed. */
		if (ri)
			uprobe_return_missed();
		return;
	}
	note = ri->end++;
	note->cookie = cookie;
	note->id = uc->id;
	note->instance = instance;
	ri->owns |= instance;
}

/**
 * uprobe_instance_release() - a call is over, or was abandoned
 * @ri: its instance; has no consumers then
 *
 * Context: task.
 */
static __always_inline void uprobe_instance_release(struct return_instance *ri)
{
	if (unlikely(ri->owns))
		uprobe_instance_disown(ri);
	ri->end = ri->consumers;
}

#endif /* _KERNEL_UPROBES_INSTANCE_H */
