/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes of one process: the registration, and functions that the files of these probes call in
 * each other.
 */
#ifndef _KERNEL_UPROBES_PROCESS_H
#define _KERNEL_UPROBES_PROCESS_H

#include <linux/sizes.h>

#include "internal.h"

/* Whose handler a registration calls, and when. */
enum uprobe_kind {
	UPROBE_KIND_HIT,	/* struct uprobe, at the instruction */
	UPROBE_KIND_RETURN,	/* struct uretprobe, after the return */
	UPROBE_KIND_EXIT,	/* struct uretprobe, before an exit of the function */
};

/**
 * struct uprobe_registration - a registered struct uprobe at one address
 * @retired: frees it, see observe.c
 * @consumer: of the point
 * @own: the process
 * @point: the point
 * @user: the registered object
 * @next: registration of the same object at another address, or NULL
 * @link: the pointer to this one: the @next of another, or &uprobe.registration
 * @pool: of a return probe, NULL otherwise
 * @node: in the list of all, or of those that are gone, under uprobe_points_lock
 * @kind: see &enum uprobe_kind
 * @disabled: its handlers are not called
 * @changed: the last change of @disabled has set another value, under uprobe_mutex
 * @pid: that of the object
 * @vaddr: address of the point
 *
 * &uprobe.registration points to it until the probe is unregistered, by the user or by itself.
 * A hit may use it until the next uprobe_observe().
 */
struct uprobe_registration {
	struct uprobe_retired	retired;
	struct uprobe_consumer	consumer;
	struct uprobe_mm	*own;
	struct uprobe_point	*point;
	struct uprobe		*user;
	struct uprobe_registration *next;
	struct uprobe_registration **link;
	struct uretprobe_pool	*pool;
	struct list_head	node;
	enum uprobe_kind	kind;
	bool			disabled;
	bool			changed;
	pid_t			pid;
	unsigned long		vaddr;
};

/* Has the probe been disabled? */
static inline bool uprobe_is_disabled(const struct uprobe_registration *registration)
{
	/* Hits that began before may call the handler: it does not matter which value they read. */
	return data_race(registration->disabled);
}

/* registration.c */
struct uprobe_registration *uprobe_registration_new(struct uprobe *u, enum uprobe_kind kind,
						    unsigned int needed);
void uprobe_registration_free(struct uprobe_registration *registration);
void uprobe_registration_publish(struct uprobe_registration *registration,
				 struct uprobe_point *point);
void uprobe_registration_end(struct uprobe_registration *registration);
void uprobe_registration_gone(struct uprobe_registration *registration);
void uprobe_registrations_forget(struct uprobe_mm *own, struct uprobe *u);
void uprobe_registrations_gone_for_each(struct uprobe_mm *own,
					void (*fn)(struct uprobe_registration *, void *),
					void *data);
int uprobe_registration_recheck(struct uprobe *u);

/**
 * uprobe_registration_check() - can an object be registered?
 * @u: the object
 *
 * Context: task, may sleep.
 * Return: 0, or an error of uprobe_registration_recheck().
 */
static inline int uprobe_registration_check(struct uprobe *u)
{
	return likely(!u->registration) ? 0 : uprobe_registration_recheck(u);
}

/* process.c */
int uprobe_check_context(void);
int uprobes_register(struct uprobe **us, int num, bool is_return);
int uprobes_unregister(struct uprobe **us, int num);
int uprobes_register_locked(struct uprobe **us, int num, bool is_return, int *removed);

/* process_remove.c */
unsigned int uprobes_count(struct uprobe **us, int num);
void uprobes_remove(struct uprobe **us, int num);

/* process_point.c */
int uprobe_process_read(struct uprobe_text_reader *reader, unsigned long vaddr, const char **why);
struct uprobe_point *uprobe_process_point_get(struct uprobe_mm *own,
					      struct uprobe_text_reader *reader,
					      unsigned long vaddr, const char **why);
int uprobe_process_text(struct uprobe_mm *own, unsigned long vaddr, u8 *text, unsigned int len,
			const char **why);

/* process_arm.c */
int uprobe_process_arm(struct uprobe_mm *own, struct uprobe_point **points, unsigned int nr,
		       enum uprobe_text_op op);
void uprobe_process_give_back(struct mm_struct *mm, unsigned long vaddr);
bool uprobe_process_disarm(struct uprobe_mm *own, unsigned long *vaddrs, unsigned int nr);

/**
 * struct uprobe_removal - probes that are being removed
 * @node: private, see uprobe_removal_begin()
 * @us: the probes
 * @num: number of probes
 */
struct uprobe_removal {
	struct list_head node;
	struct uprobe **us;
	int num;
};

/* deferred.c */
bool uprobe_must_defer(void);
void uprobe_defer(struct uprobe *u, bool reg, bool is_return);
void uprobe_deferred_cancel(struct uprobe **us, int num);
bool uprobe_in_callback(void);
bool uprobe_deferred_wait(void);
void uprobe_removal_begin(struct uprobe_removal *removal);
void uprobe_removal_end(struct uprobe_removal *removal);

/* Most bytes of a function whose exits can be probed. */
#define UPROBE_EXITS_SIZE	SZ_1M

/* exits.c */
int uprobe_exits_scan(const u8 *text, unsigned long size, unsigned long vaddr, unsigned int mode,
		      unsigned long *exits, const char **why);
int uprobe_exits_find(struct uprobe_mm *own, unsigned long vaddr, unsigned long size,
		      unsigned long **exits, const char **why);
typedef int uprobe_consumer_handler(struct uprobe_consumer *uc, struct pt_regs *regs, __u64 *data);
uprobe_consumer_handler *uretprobe_exit_handler(struct uprobe_point *point, unsigned int mode);

/* uretprobe.c */
struct uretprobe_pool *uretprobe_pool_new(void);
void uretprobe_pool_put(struct uretprobe_pool *pool);
int uretprobe_entry(struct uprobe_consumer *uc, struct pt_regs *regs, __u64 *data);
int uretprobe_return(struct uprobe_consumer *uc, unsigned long func, struct pt_regs *regs,
		     __u64 *data);

/* notifier.c */
void uprobe_process_forked(struct task_struct *child);

#endif /* _KERNEL_UPROBES_PROCESS_H */
