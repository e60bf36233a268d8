// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Consumers of one process: the interface of probes of files, for probes by pid and address.
 * Events use it, so that they need one kind of handler.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "internal.h"
#include "process.h"

/**
 * struct process_consumer - a probe of a process with a consumer
 * @rp: its first member is registered if the consumer has no return handler
 * @uc: the consumer
 */
struct process_consumer {
	struct uretprobe	rp;
	struct uprobe_consumer	*uc;
};

static void on_hit(struct uprobe *u, struct pt_regs *regs)
{
	struct process_consumer *consumer = container_of(u, struct process_consumer, rp.up);
	u64 ignored = 0;

	consumer->uc->handler(consumer->uc, regs, &ignored);
}

static int on_entry(struct uretprobe_instance *ri, struct pt_regs *regs)
{
	struct process_consumer *consumer = container_of(ri->rp, struct process_consumer, rp);
	u64 ignored = 0;

	return consumer->uc->handler ? consumer->uc->handler(consumer->uc, regs, &ignored) : 0;
}

static int on_return(struct uretprobe_instance *ri, struct pt_regs *regs)
{
	struct process_consumer *consumer = container_of(ri->rp, struct process_consumer, rp);

	return consumer->uc->ret_handler(consumer->uc, ri->func, regs, NULL);
}

/**
 * uprobe_register_process() - register a consumer for an address of a process
 * @pid: see &struct uprobe
 * @vaddr: see &struct uprobe
 * @uc: has a return handler, or a handler, or both; its filter is not asked
 *
 * Context: task, may sleep; not in a handler.
 * Return: a handle for uprobe_unregister_process(), or an ERR_PTR(): see register_uprobe(); -EINVAL
 * in a handler.
 */
struct uprobe *uprobe_register_process(pid_t pid, unsigned long vaddr, struct uprobe_consumer *uc)
{
	struct process_consumer *consumer;
	int err;

	/* It would be noted, and the consumer freed. */
	if (WARN_ON_ONCE(uprobe_must_defer()))
		return ERR_PTR(-EINVAL);
	consumer = kzalloc_obj(*consumer);
	if (!consumer)
		return ERR_PTR(-ENOMEM);
	consumer->uc = uc;
	consumer->rp.up.pid = pid;
	consumer->rp.up.vaddr = vaddr;
	if (uc->ret_handler) {
		consumer->rp.handler = on_return;
		consumer->rp.entry_handler = on_entry;
		err = register_uretprobe(&consumer->rp);
	} else {
		consumer->rp.up.handler = on_hit;
		err = register_uprobe(&consumer->rp.up);
	}
	if (!err)
		return &consumer->rp.up;
	kfree(consumer);
	return ERR_PTR(err);
}

/**
 * uprobe_unregister_process() - remove a consumer
 * @u: from uprobe_register_process(); freed
 *
 * The handlers do not run any more after the return of this function.
 *
 * Context: task, may sleep; not in a handler.
 */
void uprobe_unregister_process(struct uprobe *u)
{
	unregister_uprobe(u);
	kfree(container_of(u, struct process_consumer, rp.up));
}
