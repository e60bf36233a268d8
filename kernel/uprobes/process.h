/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes of one process: what process.c, process_point.c, deferred.c, uretprobe.c and
 * notifier.c call in each other.
 */
#ifndef _KERNEL_UPROBES_PROCESS_H
#define _KERNEL_UPROBES_PROCESS_H

#include "internal.h"

/**
 * struct uprobe_registration - a registered struct uprobe
 * @retired: frees it, see observe.c
 * @consumer: of the point
 * @point: the point
 * @user: the registered object
 * @pool: of a return probe, NULL otherwise
 * @node: in the list of all, under uprobe_points_lock
 * @disabled: its handlers are not called
 *
 * &uprobe.registration points to it until the probe is unregistered, by the user or by itself.
 * A hit may use it until the next uprobe_observe().
 */
struct uprobe_registration {
	struct uprobe_retired	retired;
	struct uprobe_consumer	consumer;
	struct uprobe_point	*point;
	struct uprobe		*user;
	struct uretprobe_pool	*pool;
	struct list_head	node;
	bool			disabled;
};

/* process.c */
int uprobe_check_context(void);
int uprobes_register(struct uprobe **us, int num, bool is_return);
int uprobes_unregister(struct uprobe **us, int num);
int uprobes_register_now(struct uprobe **us, int num, bool is_return);
void uprobes_unregister_now(struct uprobe **us, int num);
void uprobe_registration_end(struct uprobe_registration *registration);

/* process_point.c */
struct uprobe_point *uprobe_process_point_get(struct uprobe_mm *own, unsigned long vaddr,
					      const char **why);
int uprobe_process_arm(struct uprobe_mm *own, struct uprobe_point **points, unsigned int nr,
		       enum uprobe_text_op op);
void uprobe_process_disarm(struct uprobe_mm *own, unsigned long *vaddrs, unsigned int nr);

/* deferred.c */
bool uprobe_must_defer(void);
void uprobe_defer(struct uprobe *u, bool reg, bool is_return);
bool uprobe_deferred_wait(void);

/* uretprobe.c */
struct uretprobe_pool *uretprobe_pool_new(void);
void uretprobe_pool_put(struct uretprobe_pool *pool);
int uretprobe_entry(struct uprobe_consumer *uc, struct pt_regs *regs, __u64 *data);
int uretprobe_return(struct uprobe_consumer *uc, unsigned long func, struct pt_regs *regs,
		     __u64 *data);

/* notifier.c */
void uprobe_process_forked(struct task_struct *child);

#endif /* _KERNEL_UPROBES_PROCESS_H */
