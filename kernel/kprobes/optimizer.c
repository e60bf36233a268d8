// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The optimizer: replaces breakpoints by jumps, some time after they have been written.
 *
 * A point that gets its breakpoint is queued.  The worker handles all queued points:
 *
 *	1. looks for obstacles to a jump, and makes the detour
 *	2. makes hits of the breakpoint continue in the detour's copy of the instructions
 *	   that the jump will cover, so that no task enters the originals any more
 *	3. waits once, until all tasks have left the originals
 *	4. writes the jumps
 *
 * If a jump covers only one instruction, no task can be in the middle of the covered text,
 * and step 3 is skipped.
 *
 * Replacing a jump by its breakpoint needs no wait, because a task in the detour continues
 * after the covered instructions.  It is done at once, in the context that needs it.
 *
 * An obstacle may be temporary.  A point is queued again when its obstacle may have
 * disappeared: after neighbours are disarmed, handlers are unregistered, or the sysctl
 * allows jumps again.
 *
 * kprobe_mutex guards everything here.  The worker holds it for a bounded number of
 * points at a time, and not while it waits.
 */
#include <linux/ftrace.h>
#include <linux/jiffies.h>
#include <linux/list_sort.h>
#include <linux/workqueue.h>

#include "internal.h"
#include "trace.h"

/* Limits of one hold of the lock: numbers of points, and jiffies. */
#define PREPARE_AT_ONCE	32
#define PATCH_AT_ONCE	512
#define MAX_JIFFIES	2

/* Delay of the worker in jiffies, so that probes registered in sequence share the wait. */
#define WORK_DELAY	1

static void worker(struct work_struct *work);
static DECLARE_DELAYED_WORK(work, worker);
static struct workqueue_struct *workqueue;

/*
 * Number of points with KPROBE_OBSTACLE_NEIGHBOUR.  kprobe_disarm_points() resets the obstacle
 * of a point before it disarms the point.
 */
unsigned int kprobe_neighbours_waiting;

/* Points in each enum kprobe_opt, linked through op.list. */
static LIST_HEAD(queued);
static LIST_HEAD(outdated);
static LIST_HEAD(settling);
/* Points have been queued since the list was sorted. */
static bool unsorted;

/* --- States ----------------------------------------------------------------- */

/* Allowed transitions: a bit for each next value. */
static const u8 next_opts[NR_KPROBE_OPTS] = {
	[KPROBE_OPT_NONE]     = BIT(KPROBE_OPT_QUEUED),
	[KPROBE_OPT_QUEUED]   = BIT(KPROBE_OPT_NONE) | BIT(KPROBE_OPT_OUTDATED) |
				BIT(KPROBE_OPT_SETTLING),
	[KPROBE_OPT_OUTDATED] = BIT(KPROBE_OPT_NONE) | BIT(KPROBE_OPT_QUEUED),
	[KPROBE_OPT_SETTLING] = BIT(KPROBE_OPT_NONE),
};

/*
 * Changes the enum kprobe_opt of a point, and the list that the point is on; no other function
 * does.  While the point is SETTLING, and then in KPROBE_JUMP, hits of the breakpoint continue in
 * the detour's copy (kprobe_detour_used()).  So no hit enters the text that the jump covers.
 */
static void set_opt(struct kprobe_point *point, enum kprobe_opt opt)
{
	static struct list_head *const lists[] = {
		[KPROBE_OPT_QUEUED]   = &queued,
		[KPROBE_OPT_OUTDATED] = &outdated,
		[KPROBE_OPT_SETTLING] = &settling,
	};

	lockdep_assert_held(&kprobe_mutex);
	if (WARN_ON_ONCE(!(next_opts[point->opt] & BIT(opt)) ||
			 (opt && point->state != KPROBE_BREAKPOINT)))
		return;

	if (point->opt)
		list_del_init(&point->op.list);
	point->opt = opt;
	if (opt)
		list_add_tail(&point->op.list, lists[opt]);
	/* kprobe_detour_used() may have changed. */
	arch_kprobe_handlers_changed(&point->kp);
}

/**
 * kprobe_detour_used() - do hits of the breakpoint continue in the detour's copy?
 * @kp: representative of the point
 *
 * For arch_kprobe_handlers_changed(), which is called when the result changes.
 *
 * Context: kprobe_mutex held.
 * Return: true if they do.
 */
bool kprobe_detour_used(struct kprobe *kp)
{
	struct kprobe_point *point = kprobe_to_point(kp);

	return point->opt == KPROBE_OPT_SETTLING || point->state == KPROBE_JUMP;
}

/*
 * Changes the enum kprobe_obstacle of a point that may get a jump; no other function does.  For
 * a site, kprobe_carry() does.
 */
static void set_obstacle(struct kprobe_point *point, enum kprobe_obstacle why)
{
	if (point->obstacle == KPROBE_OBSTACLE_NEIGHBOUR)
		kprobe_neighbours_waiting--;
	if (why == KPROBE_OBSTACLE_NEIGHBOUR)
		kprobe_neighbours_waiting++;
	point->obstacle = why;
}

/* QUEUED -> NONE, SETTLING -> NONE: records and reports why there is no jump. */
static void give_no_jump(struct kprobe_point *point, enum kprobe_obstacle why)
{
	set_opt(point, KPROBE_OPT_NONE);
	set_obstacle(point, why);
	trace_kprobe_unoptimized(kprobe_point_addr(point), kprobe_obstacle_text(point->obstacle));
}

/**
 * kprobe_obstacle_shown() - get the text of the reason why a point has no jump
 * @point: a point of the table
 *
 * Context: kprobe_mutex held.
 * Return: a constant string for users; empty if the point has a jump or is not armed.
 */
const char *kprobe_obstacle_shown(struct kprobe_point *point)
{
	if (point->state == KPROBE_FTRACE && point->obstacle)
		return kprobe_obstacle_text(point->obstacle);
	return point->state == KPROBE_BREAKPOINT ? kprobe_obstacle_text(point->obstacle) : "";
}

/**
 * kprobe_optimizer_queue() - queue a point that may get a jump
 * @point: the point.  Nothing is done if it has no breakpoint, is queued already, or has an
 *	obstacle that lasts
 *
 * NONE -> QUEUED.
 *
 * Context: kprobe_mutex held.
 */
void kprobe_optimizer_queue(struct kprobe_point *point)
{
	lockdep_assert_held(&kprobe_mutex);

	if (point->state != KPROBE_BREAKPOINT || point->opt ||
	    kprobe_obstacle_lasts(point->obstacle))
		return;
	if (!kprobe_optimization_allowed) {
		set_obstacle(point, KPROBE_OBSTACLE_OFF);
		return;
	}
	set_obstacle(point, KPROBE_OBSTACLE_NONE);
	set_opt(point, KPROBE_OPT_QUEUED);
	unsorted = true;
	queue_delayed_work(workqueue, &work, WORK_DELAY);
}

/* --- Which functions a detour calls ------------------------------------------- */

/*
 * Returns the least that a detour of a point has to call now.  A point without a post handler
 * needs no call after the instruction, and a return probe alone needs no saved registers.  If
 * handlers are added that need more, the optimizer makes another detour.  If handlers are
 * removed, a detour that calls more than needed stays.
 */
static enum kprobe_detour_calls least_calls(struct kprobe_point *point)
{
	if (point->kp.post_handler)
		return KPROBE_DETOUR_CALLS_POST;
	return IS_ENABLED(CONFIG_HAVE_KPROBE_DETOURS) && kprobe_point_return_only(point) ?
	       KPROBE_DETOUR_CALLS_RETURN : KPROBE_DETOUR_CALLS_PRE;
}

/* Returns true if the detour of a point calls all handlers of the point. */
static bool detour_serves(struct kprobe_point *point)
{
	return kprobe_detour_calls(&point->kp) >= least_calls(point);
}

/* --- Steps 1 and 2: obstacles and the detour ----------------------------------- */

/* Checks for covered instructions that other code patches, or recognises by their address. */
static enum kprobe_obstacle covers_reserved(struct kprobe_point *point)
{
	unsigned long start = kprobe_point_addr(point) + sizeof(kprobe_opcode_t);
	unsigned long end = kprobe_point_addr(point) + MAX_OPTIMIZED_LENGTH;

	if (start >= end)
		return KPROBE_OBSTACLE_NONE;
	if (ftrace_text_reserved((void *)start, (void *)(end - 1)))
		return KPROBE_OBSTACLE_RESERVED;
	return kprobe_reserved_range(start, end);
}

/* Translates the result of a backend: an obstacle, or an errno without HAVE_KPROBE_DETOURS. */
static enum kprobe_obstacle obstacle_of(int answer)
{
	if (answer >= 0)
		return answer;
	return answer == -ENOMEM ? KPROBE_OBSTACLE_MEMORY : KPROBE_OBSTACLE_ARCH;
}

static enum kprobe_obstacle make_detour(struct kprobe_point *point)
{
	point->kp.flags &= ~KPROBE_FLAG_DETOUR_CALLS;
	point->kp.flags |= FIELD_PREP(KPROBE_FLAG_DETOUR_CALLS, least_calls(point));
	if (IS_ENABLED(CONFIG_HAVE_KPROBE_BATCH))
		return obstacle_of(arch_prepare_optimized_kprobe(&point->op, &point->kp));

	guard(kprobe_text)();
	return obstacle_of(arch_prepare_optimized_kprobe(&point->op, &point->kp));
}

/**
 * kprobe_optimizer_prepare() - look for obstacles, and make the detour of a point
 * @point: the point, which may not be armed yet
 *
 * Context: task, may sleep, kprobe_mutex held.
 * Return: %KPROBE_OBSTACLE_NONE, or the reason why there can be no jump.
 */
enum kprobe_obstacle kprobe_optimizer_prepare(struct kprobe_point *point)
{
	if (!kprobe_optimization_allowed)
		return KPROBE_OBSTACLE_OFF;
	if (!IS_ENABLED(CONFIG_HAVE_KPROBE_DETOURS) && point->kp.post_handler)
		return KPROBE_OBSTACLE_POST;
	if (kprobe_neighbour_armed(point))
		return KPROBE_OBSTACLE_NEIGHBOUR;
	if (arch_prepared_optinsn(&point->op.optinsn))
		return KPROBE_OBSTACLE_NONE;
	return covers_reserved(point) ?: make_detour(point);
}

/*
 * QUEUED -> OUTDATED if there is an unfit detour; QUEUED -> NONE.  Otherwise collects the point in
 * @ready.
 */
static void consider(struct kprobe_point *point, struct list_head *ready)
{
	enum kprobe_obstacle obstacle;

	if (arch_prepared_optinsn(&point->op.optinsn) && !detour_serves(point)) {
		set_opt(point, KPROBE_OPT_OUTDATED);
		return;
	}
	obstacle = kprobe_optimizer_prepare(point);		/* 1 */
	if (obstacle) {
		give_no_jump(point, obstacle);
		return;
	}
	kprobe_collect(point, ready);
}

static int compare_addrs(void *unused, const struct list_head *a, const struct list_head *b)
{
	const struct kprobe_point *l = list_entry(a, struct kprobe_point, op.list);
	const struct kprobe_point *r = list_entry(b, struct kprobe_point, op.list);

	return l->kp.addr > r->kp.addr;
}

/*
 * Checks some queued points, in the order of addresses: the architecture analyses a function
 * once for all points in it.  Returns true if points are left.
 */
static bool prepare_some(void)
{
	unsigned long end = jiffies + MAX_JIFFIES;
	struct kprobe_point *point, *next;
	unsigned int i = 0;
	LIST_HEAD(ready);

	guard(mutex)(&kprobe_mutex);

	if (unsorted)
		list_sort(NULL, &queued, compare_addrs);
	unsorted = false;
	list_for_each_entry_safe(point, next, &queued, op.list) {
		consider(point, &ready);
		/* Analysing a long function takes time. */
		if (++i == PREPARE_AT_ONCE || time_after_eq(jiffies, end))
			break;
	}
	/* After this, the detours are complete. */
	arch_prepare_kprobes_end();
	for_each_collected(point, &ready)			/* 2 */
		set_opt(point, KPROBE_OPT_SETTLING);
	kprobe_uncollect_all(&ready);
	return !list_empty(&queued);
}

/* --- Step 4, and outdated detours ------------------------------------------------ */

/*
 * SETTLING -> NONE, with a jump; or without, if the architecture could not write it.  @points
 * is a work list, because the architecture removes the points that get their jump from the
 * list that op.list links.
 */
static void write_jumps(struct list_head *points)
{
	struct kprobe_point *point;
	LIST_HEAD(ops);

	for_each_collected(point, points)
		list_move_tail(&point->op.list, &ops);
	scoped_guard(kprobe_text)
		arch_optimize_kprobes(&ops);
	for_each_collected(point, points) {
		if (list_empty(&point->op.list)) {
			kprobe_point_set_state(point, KPROBE_JUMP);
			set_opt(point, KPROBE_OPT_NONE);
			continue;
		}
		give_no_jump(point, KPROBE_OBSTACLE_ARCH);
	}
}

/*
 * Writes the jumps of settling points.  If tasks have been @waited for, handles all points;
 * otherwise those whose jump covers one instruction.  Returns true if there may be more.
 */
static bool patch_some(bool waited)
{
	struct kprobe_point *point, *next;
	enum kprobe_obstacle obstacle;
	LIST_HEAD(points);
	unsigned int i = 0;

	guard(mutex)(&kprobe_mutex);

	list_for_each_entry_safe(point, next, &settling, op.list) {
		if (!waited && !arch_jump_is_one_insn(&point->op))
			continue;
		obstacle = obstacle_of(arch_check_optimized_kprobe(&point->op));
		if (obstacle) {
			give_no_jump(point, obstacle);
			continue;
		}
		kprobe_collect(point, &points);
		if (++i == PATCH_AT_ONCE)
			break;
	}
	if (!list_empty(&points))
		write_jumps(&points);				/* 4 */
	kprobe_uncollect_all(&points);
	return i == PATCH_AT_ONCE;
}

static void patch_settled(bool waited)
{
	while (patch_some(waited))
		cond_resched();
}

/* OUTDATED -> QUEUED, after all tasks have left the old detours: frees these. */
static void renew_outdated(void)
{
	struct kprobe_point *point, *next;

	guard(mutex)(&kprobe_mutex);

	list_for_each_entry_safe(point, next, &outdated, op.list) {
		arch_remove_optimized_kprobe(&point->op);
		set_opt(point, KPROBE_OPT_QUEUED);
		unsorted = true;
	}
}

/*
 * Only this function adds points to the lists of settling and outdated points, so step 3 has
 * waited for all points on them.  Outdated points always wait, because a detour has several
 * instructions, even if the jump covers only one.
 */
static void worker(struct work_struct *unused)
{
	do {
		while (prepare_some())
			cond_resched();
		patch_settled(false);
		if (list_empty_careful(&settling) && list_empty_careful(&outdated))
			return;
		kprobe_wait_until_left();			/* 3 */
		patch_settled(true);
		renew_outdated();
	} while (!list_empty_careful(&queued));
}

/**
 * wait_for_kprobe_optimizer() - wait until each jump that can be made is in the text
 *
 * For tests and tools that read the text, or %KPROBE_FLAG_OPTIMIZED.  May also wait for
 * probes that are registered in the meantime.
 *
 * Context: task, may sleep, no lock held.
 */
void wait_for_kprobe_optimizer(void)
{
	flush_delayed_work(&work);
}

/**
 * kprobe_disarmed() - is the point of a probe not armed?
 * @p: the representative of a point, or a probe
 *
 * Context: backends, kprobe_mutex held.
 * Return: true if its point is not armed, or if it has no point.
 */
bool kprobe_disarmed(struct kprobe *p)
{
	struct kprobe_point *point = kprobe_table_find((unsigned long)p->addr);

	if (!point || (p != &point->kp && !kprobe_point_find_probe(point, p)))
		return true;
	return !kprobe_point_armed(point);
}

/**
 * kprobe_detour_lacks() - does the detour of a point not call some handlers?
 * @point: the point
 * @calls: the handlers
 *
 * Context: kprobe_mutex held.
 * Return: true if the point has, or is about to get, a jump to a detour that does not.
 */
bool kprobe_detour_lacks(struct kprobe_point *point, enum kprobe_detour_calls calls)
{
	return (point->state == KPROBE_JUMP || point->opt == KPROBE_OPT_SETTLING) &&
	       kprobe_detour_calls(&point->kp) < calls;
}

/* --- Back to the breakpoint ------------------------------------------------------- */

static void unpatch(struct list_head *ops)
{
	struct kprobe_point *point, *next;
	LIST_HEAD(done);

	scoped_guard(kprobe_text)
		arch_unoptimize_kprobes(ops, &done);
	list_for_each_entry_safe(point, next, &done, op.list) {
		list_del_init(&point->op.list);
		kprobe_point_set_state(point, KPROBE_BREAKPOINT);
		arch_kprobe_handlers_changed(&point->kp);
	}
}

/**
 * kprobe_unoptimize_points() - remove jumps, and cancel planned ones: any -> NONE
 * @points: work list of points, in any state; jumps become breakpoints
 * @why: obstacle to record, unless a point has one that lasts
 *
 * Context: task, may sleep, kprobe_mutex held.
 */
void kprobe_unoptimize_points(struct list_head *points, enum kprobe_obstacle why)
{
	struct kprobe_point *point;
	LIST_HEAD(ops);

	lockdep_assert_held(&kprobe_mutex);

	for_each_collected(point, points) {
		if (point->opt)
			set_opt(point, KPROBE_OPT_NONE);
		if (!kprobe_obstacle_lasts(point->obstacle))
			set_obstacle(point, why);
		if (point->state == KPROBE_JUMP)
			list_add_tail(&point->op.list, &ops);
	}
	if (!list_empty(&ops))
		unpatch(&ops);
}

/**
 * kprobe_detour_renew() - make the optimizer replace detours
 * @points: work list of points whose detours do not call all handlers that they are about to
 *	have, see kprobe_detour_lacks()
 *
 * The points have breakpoints until the new detours are ready.
 *
 * Context: task, may sleep, kprobe_mutex held.
 */
void kprobe_detour_renew(struct list_head *points)
{
	struct kprobe_point *point;

	kprobe_unoptimize_points(points, KPROBE_OBSTACLE_NONE);
	for_each_collected(point, points)
		kprobe_optimizer_queue(point);
}

/**
 * kprobe_optimizer_init() - create the workqueue
 *
 * Context: boot, before probes can be registered.
 * Return: 0 or -ENOMEM.
 */
int __init kprobe_optimizer_init(void)
{
	kprobe_optinsn_slots_init();
	workqueue = alloc_workqueue("kprobe-optimizer", WQ_UNBOUND, 1);
	return workqueue ? 0 : -ENOMEM;
}
