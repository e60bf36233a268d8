// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probepoints: life cycle, state, and the dispatch of a hit to the handles.
 *
 * A point exists from the first registration at an address to the last
 * unregistration there.  It is never converted or copied: one handle or many,
 * the architecture sees the same representative.
 *
 *	create -> (table insert) -> arm <-> disarm -> (table remove) -> release
 *
 * The life cycle runs under kprobe_mutex.  The dispatch runs in traps and reads
 * the list of handles under RCU: preemption is disabled there.  It is not
 * checked, since lockdep is no place to go to from a trap.
 */
#include <linux/llist.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "internal.h"
#include "trace.h"

static struct kmem_cache *point_cache;

/*
 * A released point's slots may still be executed by a task that was preempted
 * in them.  The tasks-RCU callback cannot sleep, and freeing slots may, so it
 * hands the point on to a work item.
 */
static void release_worker(struct work_struct *work);
static LLIST_HEAD(released_points);
static DECLARE_WORK(release_work, release_worker);

/* Allowed transitions: a bit per next state. */
static const u8 next_states[NR_KPROBE_STATES] = {
	[KPROBE_DISARMED]   = BIT(KPROBE_BREAKPOINT) | BIT(KPROBE_FTRACE) |
			      BIT(KPROBE_GONE),
	[KPROBE_BREAKPOINT] = BIT(KPROBE_DISARMED) | BIT(KPROBE_JUMP) |
			      BIT(KPROBE_GONE),
	[KPROBE_JUMP]	    = BIT(KPROBE_BREAKPOINT) | BIT(KPROBE_GONE),
	[KPROBE_FTRACE]	    = BIT(KPROBE_DISARMED) | BIT(KPROBE_GONE),
	[KPROBE_GONE]	    = 0,
};

/**
 * kprobe_point_set_state() - the one place where a point changes its state
 * @point: the point; its text has just been changed, or is about to go
 * @state: new state, one step from the present one (see enum kprobe_state)
 *
 * Also derives the public flags of the point's handles from the state, so that
 * kprobe_optimized() and kprobe_gone() mean what is in the text.
 *
 * Context: kprobe_mutex held.
 */
void kprobe_point_set_state(struct kprobe_point *point, enum kprobe_state state)
{
	u32 flags = 0;
	struct kprobe *kp;

	lockdep_assert_held(&kprobe_mutex);

	if (WARN_ON_ONCE(!(next_states[point->state] & BIT(state))))
		return;
	trace_kprobe_state(point->addr, point->state, state);
	point->state = state;

	if (state == KPROBE_GONE)
		flags = KPROBE_FLAG_GONE;
	else if (state == KPROBE_JUMP)
		flags = KPROBE_FLAG_OPTIMIZED;

	point->kp.flags &= ~(KPROBE_FLAG_GONE | KPROBE_FLAG_OPTIMIZED);
	point->kp.flags |= flags;
	list_for_each_entry(kp, &point->handles, list) {
		kp->flags &= ~(KPROBE_FLAG_GONE | KPROBE_FLAG_OPTIMIZED);
		kp->flags |= flags;
	}
}

/* True while a hit can still happen.  Context: kprobe_mutex held. */
bool kprobe_point_armed(const struct kprobe_point *point)
{
	return point->state != KPROBE_DISARMED && point->state != KPROBE_GONE;
}

/* True if some handle is to be called.  Context: kprobe_mutex held. */
bool kprobe_point_wants_arming(struct kprobe_point *point)
{
	struct kprobe *kp;

	lockdep_assert_held(&kprobe_mutex);

	if (kprobes_all_disarmed || point->state == KPROBE_GONE)
		return false;
	list_for_each_entry(kp, &point->handles, list) {
		if (!kprobe_disabled(kp))
			return true;
	}
	return false;
}

/* @kp if it is one of the point's handles.  Context: kprobe_mutex held. */
struct kprobe *kprobe_point_find_handle(struct kprobe_point *point, struct kprobe *kp)
{
	struct kprobe *handle;

	lockdep_assert_held(&kprobe_mutex);

	list_for_each_entry(handle, &point->handles, list) {
		if (handle == kp)
			return handle;
	}
	return NULL;
}

/**
 * kprobe_point_of() - the point that a handle is registered at
 * @kp: what a caller says is registered; only its address is looked at
 *
 * Context: kprobe_mutex held.
 * Return: the point, which may be gone; NULL if @kp is not registered.
 */
struct kprobe_point *kprobe_point_of(struct kprobe *kp)
{
	struct kprobe_point *point;

	point = kprobe_table_find((unsigned long)kp->addr);
	if (point && kprobe_point_find_handle(point, kp))
		return point;
	return kprobe_gone_find(kp);
}

/* --- Dispatch: runs at a hit ------------------------------------------- */

/*
 * pre_handler of every representative: calls those of the handles in the order
 * of registration.  The first that returns non-zero has changed the path of
 * execution, and the rest is not called.
 */
static int point_pre_handler(struct kprobe *kp, struct pt_regs *regs)
{
	struct kprobe_point *point = kprobe_to_point(kp);
	struct kprobe **running = kprobe_running_handle();
	struct kprobe *handle;
	int ret = 0;

	list_for_each_entry_rcu(handle, &point->handles, list, true) {
		if (!handle->pre_handler || kprobe_disabled(handle))
			continue;
		*running = handle;
		ret = handle->pre_handler(handle, regs);
		if (ret)
			break;
	}
	*running = NULL;
	return ret;
}
NOKPROBE_SYMBOL(point_pre_handler);

/* post_handler of a representative some handle of which has one. */
static void point_post_handler(struct kprobe *kp, struct pt_regs *regs,
			       unsigned long flags)
{
	struct kprobe_point *point = kprobe_to_point(kp);
	struct kprobe **running = kprobe_running_handle();
	struct kprobe *handle;

	list_for_each_entry_rcu(handle, &point->handles, list, true) {
		if (!handle->post_handler || kprobe_disabled(handle))
			continue;
		*running = handle;
		handle->post_handler(handle, regs, flags);
	}
	*running = NULL;
}
NOKPROBE_SYMBOL(point_post_handler);

/**
 * kprobes_inc_nmissed_count() - a hit's handlers could not be run
 * @p: representative of the point that was hit
 *
 * Counts are exact, hence atomic: misses of one probe happen on several CPUs
 * and in several contexts at once.
 *
 * Context: any, preemption disabled.
 */
void kprobes_inc_nmissed_count(struct kprobe *p)
{
	struct kprobe *handle;

	list_for_each_entry_rcu(handle, &kprobe_to_point(p)->handles, list, true) {
		if (!kprobe_disabled(handle))
			atomic_long_inc((atomic_long_t *)&handle->nmissed);
	}
}
NOKPROBE_SYMBOL(kprobes_inc_nmissed_count);

/**
 * get_kprobe() - what is probed at an address
 * @addr: address of the instruction
 *
 * Context: any, preemption disabled.
 * Return: the point's representative, or NULL.
 */
struct kprobe *get_kprobe(void *addr)
{
	struct kprobe_point *point = kprobe_table_find((unsigned long)addr);

	return point ? &point->kp : NULL;
}
NOKPROBE_SYMBOL(get_kprobe);

/**
 * dump_kprobe() - say what a probe is before the kernel gives up
 * @kp: representative of a point in an impossible situation
 *
 * Context: any.
 */
void dump_kprobe(struct kprobe *kp)
{
	struct kprobe *handle;

	pr_err("probe at %pS\n", kp->addr);
	list_for_each_entry_rcu(handle, &kprobe_to_point(kp)->handles, list, true)
		pr_err("  pre %pS, post %pS, flags %#x\n", handle->pre_handler,
		       handle->post_handler, handle->flags);
}
NOKPROBE_SYMBOL(dump_kprobe);

/* --- Life cycle --------------------------------------------------------- */

/**
 * kprobe_point_update_handlers() - after a handle has come or gone
 * @point: the point
 *
 * The representative has a post_handler only while a handle has one: that
 * decides whether the architecture has to come back after the instruction.
 *
 * Context: kprobe_mutex held.
 */
void kprobe_point_update_handlers(struct kprobe_point *point)
{
	kprobe_post_handler_t post = NULL;
	struct kprobe *handle;

	list_for_each_entry(handle, &point->handles, list) {
		if (handle->post_handler)
			post = point_post_handler;
	}
	/* Read once at each hit; a hit that is under way may still miss it. */
	WRITE_ONCE(point->kp.post_handler, post);
}

/**
 * kprobe_point_create() - make a point for an address that has none
 * @addr: checked by kprobe_place_check()
 * @ftrace: ftrace owns the instruction
 *
 * Context: task, may sleep, kprobe_mutex held.
 * Return: a disarmed point that nobody can find yet, or an ERR_PTR with what
 * arch_prepare_kprobe() said, or -ENOMEM.
 */
struct kprobe_point *kprobe_point_create(unsigned long addr, bool ftrace)
{
	struct kprobe_point *point;
	int ret;

	point = kmem_cache_zalloc(point_cache, GFP_KERNEL);
	if (!point)
		return ERR_PTR(-ENOMEM);

	point->addr = addr;
	point->kp.addr = (kprobe_opcode_t *)addr;
	point->kp.pre_handler = point_pre_handler;
	point->kp.flags = ftrace ? KPROBE_FLAG_FTRACE : 0;
	point->state = KPROBE_DISARMED;
	INIT_LIST_HEAD(&point->handles);
	INIT_LIST_HEAD(&point->kp.list);

	ret = ftrace ? arch_prepare_kprobe_ftrace(&point->kp) :
		       arch_prepare_kprobe(&point->kp);
	if (ret) {
		kmem_cache_free(point_cache, point);
		return ERR_PTR(ret);
	}
	return point;
}

static void release_worker(struct work_struct *work)
{
	struct kprobe_point *point, *next;

	llist_for_each_entry_safe(point, next, llist_del_all(&released_points),
				  released) {
		arch_remove_kprobe(&point->kp);
		kmem_cache_free(point_cache, point);
	}
}

static void release_after_tasks_rcu(struct rcu_head *rcu)
{
	struct kprobe_point *point = container_of(rcu, struct kprobe_point, rcu);

	/* Only the first of a run has to wake the worker, which takes all. */
	if (llist_add(&point->released, &released_points))
		schedule_work(&release_work);
}

/**
 * kprobe_point_release() - free a point when nobody can be using it any more
 * @point: out of the table, and no handler of it is running
 *
 * Its slots are given back after a tasks-RCU grace period, for which nobody
 * waits: only then has every task left them, preempted ones too.
 *
 * Context: task.
 */
void kprobe_point_release(struct kprobe_point *point)
{
	call_rcu_tasks(&point->rcu, release_after_tasks_rcu);
}

/* Boot.  Return: 0 or -ENOMEM. */
int __init kprobe_points_init(void)
{
	point_cache = KMEM_CACHE(kprobe_point, 0);
	return point_cache ? 0 : -ENOMEM;
}
