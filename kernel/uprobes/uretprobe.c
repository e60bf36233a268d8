// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes of one process, with the interface of kretprobes.
 *
 * A call whose return is waited for has an instance with data of the user. The engine's note of
 * the call (instance.c) owns it, and frees it when the call is over, also if it never returns.
 */
#include <linux/ptrace.h>
#include <linux/refcount.h>
#include <linux/slab.h>

#include "internal.h"
#include "process.h"

/**
 * struct uretprobe_pool - instances of a return probe
 * @retired: frees it, see observe.c
 * @refs: one of the registration, and one of each instance, also those that tasks keep
 * @active: number of calls in progress
 */
struct uretprobe_pool {
	struct uprobe_retired	retired;
	refcount_t		refs;
	atomic_t		active;
};

/**
 * uretprobe_pool_new() - prepare the registration of a return probe
 *
 * Context: task, may sleep.
 * Return: NULL if there is no memory.
 */
struct uretprobe_pool *uretprobe_pool_new(void)
{
	struct uretprobe_pool *pool = kzalloc_obj(*pool);

	if (pool)
		refcount_set(&pool->refs, 1);
	return pool;
}

/**
 * uretprobe_pool_put() - drop a reference to the pool of a return probe
 * @pool: a hit may use it until the next uprobe_observe()
 *
 * Context: task.
 */
void uretprobe_pool_put(struct uretprobe_pool *pool)
{
	if (refcount_dec_and_test(&pool->refs))
		uprobe_retire(&pool->retired);
}

static void destroy(struct uretprobe_instance *ri)
{
	struct uretprobe_pool *pool = ri->pool;

	kfree(ri);
	uretprobe_pool_put(pool);
}

/**
 * uretprobe_instance_free() - the call of an instance is over
 * @cookie: from uretprobe_entry()
 *
 * The task keeps the instance for its next call, in place of the one that it has kept.
 *
 * Context: task.
 */
void uretprobe_instance_free(u64 cookie)
{
	struct uretprobe_instance *ri = (void *)(unsigned long)cookie;
	struct uprobe_task *utask = current->utask;

	atomic_dec(&ri->pool->active);
	if (likely(utask))
		swap(ri, utask->spare);
	if (ri)
		destroy(ri);
}

/**
 * uretprobe_instance_missed() - the return of a call will not be seen
 * @cookie: from uretprobe_entry()
 *
 * Context: a hit.
 */
void uretprobe_instance_missed(u64 cookie)
{
	struct uretprobe_instance *ri = (void *)(unsigned long)cookie;

	atomic_inc(&ri->rp->nmissed);
	uretprobe_instance_free(cookie);
}

/**
 * uretprobe_spare_free() - free the instance that a task keeps
 * @utask: not in use any more
 *
 * Context: task.
 */
void uretprobe_spare_free(struct uprobe_task *utask)
{
	if (utask->spare)
		destroy(utask->spare);
}

/* The instance that current keeps, if it is one of this pool. */
static struct uretprobe_instance *take_spare(struct uretprobe *rp, struct uretprobe_pool *pool)
{
	struct uretprobe_instance *ri = current->utask->spare;

	if (!ri || ri->pool != pool)
		return NULL;
	current->utask->spare = NULL;
	memset(ri->data, 0, rp->data_size);
	return ri;
}

static noinline struct uretprobe_instance *allocate(struct uretprobe *rp,
						    struct uretprobe_pool *pool)
{
	struct uretprobe_instance *ri;

	ri = kzalloc(struct_size(ri, data, rp->data_size), GFP_KERNEL_ACCOUNT);
	if (!ri)
		return NULL;
	/* The probe may be unregistered meanwhile. */
	if (!refcount_inc_not_zero(&pool->refs)) {
		kfree(ri);
		return NULL;
	}
	ri->rp = rp;
	ri->pool = pool;
	return ri;
}

static struct uretprobe_instance *instance_new(struct uretprobe *rp,
					       struct uretprobe_pool *pool)
{
	struct uretprobe_instance *ri = NULL;

	if (atomic_inc_return(&pool->active) <= rp->maxactive || !rp->maxactive)
		ri = take_spare(rp, pool) ?: allocate(rp, pool);
	if (unlikely(!ri)) {
		atomic_dec(&pool->active);
		atomic_inc(&rp->nmissed);
	}
	return ri;
}

/**
 * uretprobe_entry() - handler of a return probe's consumer
 * @uc: the consumer
 * @regs: user registers at the entry of the function
 * @data: set to the instance of the call
 *
 * Context: a hit.
 * Return: 0, or %UPROBE_HANDLER_IGNORE if the return is not waited for.
 */
int uretprobe_entry(struct uprobe_consumer *uc, struct pt_regs *regs, __u64 *data)
{
	struct uprobe_registration *registration;
	struct uretprobe_instance *ri;
	struct uretprobe *rp;

	registration = container_of(uc, struct uprobe_registration, consumer);
	rp = container_of(registration->user, struct uretprobe, up);
	if (uprobe_is_disabled(registration))
		return UPROBE_HANDLER_IGNORE;
	ri = instance_new(rp, registration->pool);
	if (!ri)
		return UPROBE_HANDLER_IGNORE;
	ri->func = instruction_pointer(regs);
	*data = (unsigned long)ri;
	if (!rp->entry_handler || !rp->entry_handler(ri, regs))
		return 0;
	uretprobe_instance_free(*data);
	return UPROBE_HANDLER_IGNORE;
}

/**
 * uretprobe_return() - return handler of a return probe's consumer
 * @uc: the consumer
 * @func: address of the function
 * @regs: user registers after the return
 * @data: the instance of the call
 *
 * Context: a hit of the trampoline.
 * Return: 0.
 */
int uretprobe_return(struct uprobe_consumer *uc, unsigned long func, struct pt_regs *regs,
		     __u64 *data)
{
	struct uretprobe_instance *ri = (void *)(unsigned long)*data;

	ri->ret_addr = instruction_pointer(regs);
	ri->rp->handler(ri, regs);
	return 0;
}

/* --- Interface ------------------------------------------------------------------ */

/* The functions for probes take return probes, too. */
static_assert(!offsetof(struct uretprobe, up));

/**
 * register_uretprobe() - probe the returns of a function of a process
 * @rp: see &struct uretprobe
 *
 * Context: task, may sleep.
 * Return: see register_uprobe(); and -EINVAL if members of @rp contradict each other or its size
 * is too large; -E2BIG if its data_size is above %KRETPROBE_MAX_DATA_SIZE; -ENOEXEC if the exits of
 * the function cannot be found, or one cannot be probed.
 */
int register_uretprobe(struct uretprobe *rp)
{
	return register_uretprobes(&rp, 1);
}
EXPORT_SYMBOL_GPL(register_uretprobe);

/**
 * unregister_uretprobe() - remove a return probe
 * @rp: see unregister_uprobe()
 *
 * Context: task, may sleep.
 * Return: see unregister_uprobe().
 */
int unregister_uretprobe(struct uretprobe *rp)
{
	return unregister_uretprobes(&rp, 1);
}
EXPORT_SYMBOL_GPL(unregister_uretprobe);

/**
 * register_uretprobes() - register an array of return probes
 * @rps: the probes
 * @num: number of probes
 *
 * Context: task, may sleep.
 * Return: see register_uretprobe(), for the first that fails.
 */
int register_uretprobes(struct uretprobe **rps, int num)
{
	return uprobes_register((struct uprobe **)rps, num, true);
}
EXPORT_SYMBOL_GPL(register_uretprobes);

/**
 * unregister_uretprobes() - unregister an array of return probes
 * @rps: the probes
 * @num: number of probes
 *
 * Context: task, may sleep.
 * Return: see unregister_uprobe().
 */
int unregister_uretprobes(struct uretprobe **rps, int num)
{
	return uprobes_unregister((struct uprobe **)rps, num);
}
EXPORT_SYMBOL_GPL(unregister_uretprobes);

/**
 * enable_uretprobe() - enable_uprobe() for a return probe
 * @rp: registered
 *
 * Context: task, may sleep.
 * Return: see enable_uprobe().
 */
int enable_uretprobe(struct uretprobe *rp)
{
	return enable_uprobe(&rp->up);
}
EXPORT_SYMBOL_GPL(enable_uretprobe);

/**
 * disable_uretprobe() - disable_uprobe() for a return probe
 * @rp: registered; returns of calls that it waits for are still reported
 *
 * Context: task, may sleep.
 * Return: see enable_uprobe().
 */
int disable_uretprobe(struct uretprobe *rp)
{
	return disable_uprobe(&rp->up);
}
EXPORT_SYMBOL_GPL(disable_uretprobe);
