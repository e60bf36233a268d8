// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Batches of probes.
 *
 * The steps of registering a batch, all or none:
 *
 *	1. find	 the place of every probe, and check it
 *	2. prepare  points for the addresses that have none, and publish them
 *	3. publish  the probes, so that a trap calls their handlers
 *	4. arm	 all points that need it, together
 *
 * Each step has a function that undoes it.  After a failure, these are called in the
 * opposite order, and all structs are as before.
 *
 * The steps of unregistering a batch:
 *
 *	1. detach   probes from their points
 *	2. disarm   all points that are not needed any more, together
 *	3. unpublish  points without probes
 *	4. wait once for handlers that are still running
 *	5. release  probes and points
 *
 * Text is restored (2) before a point leaves the table (3).  So a trap that has already
 * been taken finds its point, or finds no breakpoint in the text and returns to the
 * instruction.
 */
#include <linux/bitfield.h>
#include <linux/list_sort.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "internal.h"

/**
 * struct batch_entry - one probe of a batch being registered
 * @kp:		the probe
 * @list:	links the entry into &batch.by_addr
 * @place:	address that the probe resolves to
 * @point:	point of the probe
 * @addr:	original value of @kp->addr, restored on failure
 * @flags:	original value of @kp->flags, restored on failure
 * @new_point:	@point has been created for this probe
 * @err:	errno if @point could not be prepared
 */
struct batch_entry {
	struct kprobe *kp;
	struct list_head list;
	struct kprobe_place place;
	struct kprobe_point *point;
	kprobe_opcode_t *addr;
	u32 flags;
	bool new_point;
	int err;
};

/**
 * struct batch - probes being registered
 * @entries:	one for each probe
 * @by_addr:	the entries in the order of addresses, to be prepared and armed
 * @nr:		number of the entries; after a failure of stage_all(), of the staged ones
 * @why:	set to the reason if a probe is refused, in a batch of one; may be NULL
 * @withdrawn:	the probes have been published and unpublished: hits may still be
 *		walking over them
 */
struct batch {
	struct batch_entry *entries;
	struct list_head by_addr;
	int nr;
	struct kprobe_why *why;
	bool withdrawn;
};

#define for_each_entry(e, batch)					\
	for ((e) = (batch)->entries; (e) < (batch)->entries + (batch)->nr; (e)++)

/* --- Step 1: find and check ---------------------------------------------- */

static enum kprobe_refusal check(struct batch_entry *e, u32 kind)
{
	enum kprobe_refusal refusal;
	struct kprobe *kp = e->kp;

	e->place.addr = (unsigned long)kp->addr;
	if ((kp->flags & KPROBE_FLAG_STAGED) || kprobe_point_of(kp, e->place.addr))
		return KPROBE_REFUSE_REGISTERED;
	refusal = kprobe_place_find(kp, &e->place);
	if (refusal)
		return refusal;
	/* The user may have cleared kp->addr of a registered struct: check again. */
	if (kprobe_point_of(kp, e->place.addr))
		return KPROBE_REFUSE_REGISTERED;
	if (kind && !e->place.on_func_entry)
		return KPROBE_REFUSE_NOT_ENTRY;
	refusal = kprobe_place_check(&e->place);
	if (refusal || !(kind & KPROBE_FLAG_KIND_RETURN))
		return refusal;
	refusal = kretprobe_prepare(kp, &e->place);
	if (refusal)
		kprobe_place_put(&e->place);
	return refusal;
}

/* Fills the probe in, and marks it as STAGED, so that it cannot be in a batch twice. */
static void stage(struct batch_entry *e, u32 kind)
{
	struct kprobe *kp = e->kp;

	e->addr = kp->addr;
	e->flags = kp->flags;
	kp->nmissed = 0;
	INIT_LIST_HEAD(&kp->list);
	kp->addr = (kprobe_opcode_t *)e->place.addr;
	kp->flags = (kp->flags & KPROBE_FLAG_DISABLED) | kind | KPROBE_FLAG_STAGED;
	kp->flags |= FIELD_PREP(KPROBE_FLAG_SKIPPED, e->place.skipped);
	if (kp->symbol_name)
		kp->flags |= KPROBE_FLAG_RESOLVED;
	if (e->place.on_func_entry)
		kp->flags |= KPROBE_FLAG_ON_FUNC_ENTRY;
	if (e->place.ftrace)
		kp->flags |= KPROBE_FLAG_FTRACE;
}

static bool is_return(struct kprobe *kp)
{
	return kp->flags & KPROBE_FLAG_KIND_RETURN;
}

/* Restores the struct to the state in which the user passed it. */
static void unstage(struct batch_entry *e)
{
	if (is_return(e->kp))
		kretprobe_unprepare(e->kp);
	kprobe_place_put(&e->place);
	e->kp->addr = e->addr;
	e->kp->flags = e->flags;
}

static void unstage_all(struct batch *batch)
{
	struct batch_entry *e;

	for_each_entry(e, batch)
		unstage(e);
}

static int stage_all(struct batch *batch, struct kprobe **kps, u32 kind)
{
	enum kprobe_refusal refusal;
	int i, nr = batch->nr;

	for (i = 0; i < nr; i++) {
		if (!kps[i])
			return kprobe_refuse(0, KPROBE_REFUSE_BAD_ARGUMENT, batch->why);
		kps[i]->flags &= ~KPROBE_FLAG_STAGED;
	}
	kprobe_names_expect(nr);
	for (i = 0; i < nr; i++) {
		struct batch_entry *e = &batch->entries[i];

		e->kp = kps[i];
		refusal = check(e, kind);
		if (refusal) {
			batch->nr = i;
			unstage_all(batch);
			return kprobe_refuse(e->place.addr, refusal, batch->why);
		}
		stage(e, kind);
	}
	return 0;
}

/* --- Step 2: prepare ---------------------------------------------------- */

static bool is_jprobe(struct kprobe *kp)
{
	return kp->flags & KPROBE_FLAG_KIND_JPROBE;
}

/*
 * Returns true if @e is a second jprobe for its function.  All entries of batch->by_addr with
 * lower addresses are before @e.
 */
static bool second_jprobe(struct batch *batch, struct batch_entry *e)
{
	struct kprobe_point *point;
	struct kprobe *probe;

	if (!is_jprobe(e->kp))
		return false;
	/* All probes of a batch are of one kind. */
	if (!list_is_first(&e->list, &batch->by_addr) &&
	    list_prev_entry(e, list)->place.addr == e->place.addr)
		return true;
	point = kprobe_table_find(e->place.addr);
	if (!point)
		return false;
	for_each_probe(probe, point) {
		if (is_jprobe(probe))
			return true;
	}
	return false;
}

/*
 * Finds the point for @e, or creates and publishes it.  It is published at once, so
 * that the next entry of the batch with the same address finds it.  It has no effect
 * yet, because its text is not patched and it has no probes.
 */
static int prepare(struct batch_entry *e, const char **why)
{
	struct kprobe_point *point = kprobe_table_find(e->place.addr);
	int err;

	if (!point) {
		point = kprobe_point_create(&e->place, why);
		if (IS_ERR(point))
			return PTR_ERR(point);
		e->new_point = true;
		kprobe_table_insert(point);
	}
	e->point = point;
	if (!e->kp->post_handler || e->place.ftrace)
		return 0;
	err = arch_prepare_kprobe_post(&point->kp);
	if (err == -EINVAL)
		*why = "no copy can trap after it, as a post_handler needs";
	return err;
}

static int prepare_or_refuse(struct batch *batch, struct batch_entry *e)
{
	enum kprobe_refusal refusal = KPROBE_REFUSE_INSTRUCTION;
	const char *detail = NULL;
	int err;

	if (second_jprobe(batch, e))
		return kprobe_refuse(e->place.addr, KPROBE_REFUSE_SECOND_JPROBE, batch->why);
	err = prepare(e, &detail);
	if (!err)
		return 0;
	if (err == -ERANGE) {
		detail = "a copy does not reach its operand or the next instruction";
		err = -EINVAL;
	}
	if (err == -EILSEQ)
		refusal = KPROBE_REFUSE_BOUNDARY;
	else if (err == -ENOMEM)
		refusal = KPROBE_REFUSE_NO_MEMORY;
	return kprobe_refuse_with(e->place.addr, refusal, err, detail, batch->why);
}

static void unprepare_all(struct batch *batch)
{
	struct batch_entry *e;
	LIST_HEAD(points);

	for_each_entry(e, batch) {
		if (e->new_point)
			kprobe_collect(e->point, &points);
	}
	kprobe_points_unpublish(&points);
	kprobe_points_release(&points);
}

static int compare_entries(void *unused, const struct list_head *a, const struct list_head *b)
{
	const struct batch_entry *l = list_entry(a, struct batch_entry, list);
	const struct batch_entry *r = list_entry(b, struct batch_entry, list);

	return l->place.addr > r->place.addr;
}

static void sort_by_addr(struct batch *batch)
{
	struct batch_entry *e;

	INIT_LIST_HEAD(&batch->by_addr);
	for_each_entry(e, batch)
		list_add_tail(&e->list, &batch->by_addr);
	list_sort(NULL, &batch->by_addr, compare_entries);
}

/*
 * Prepares all points, in the order of addresses, because the architecture then decodes a
 * function once for all probes in it.  Continues after a failure, to return the error of the
 * first failing probe in the order of the caller's array.
 */
static int prepare_all(struct batch *batch)
{
	struct batch_entry *e;
	int ret;

	ret = kprobe_table_reserve(batch->nr);
	if (ret)
		return kprobe_refuse(0, KPROBE_REFUSE_NO_MEMORY, batch->why);
	sort_by_addr(batch);
	list_for_each_entry(e, &batch->by_addr, list)
		e->err = prepare_or_refuse(batch, e);
	arch_prepare_kprobes_end();
	for_each_entry(e, batch) {
		if (e->err) {
			unprepare_all(batch);
			return e->err;
		}
	}
	return 0;
}

/* --- Steps 3 and 4: publish and arm -------------------------------------- */

/*
 * Makes the optimizer replace detours that do not call the handlers of the new probes.  Before a
 * hit finds a probe, because it would call the pre_handler without the post_handler.
 */
static void renew_detours(struct batch *batch)
{
	enum kprobe_detour_calls calls;
	struct kprobe_point *point;
	struct batch_entry *e;
	LIST_HEAD(stale);

	for_each_entry(e, batch) {
		/* A detour calls the post_handlers of a point even if they are disabled. */
		if (kprobe_disabled(e->kp) && !e->kp->post_handler)
			continue;
		point = kprobe_text_point(e->point);
		/* A post_handler of a carried probe is called with the pre_handlers. */
		calls = e->kp->post_handler && point == e->point ?
			KPROBE_DETOUR_CALLS_POST : KPROBE_DETOUR_CALLS_PRE;
		if (kprobe_detour_lacks(point, calls))
			kprobe_collect(point, &stale);
	}
	kprobe_detour_renew(&stale);
	kprobe_uncollect_all(&stale);
}

static void publish_all(struct batch *batch)
{
	struct batch_entry *e;

	for_each_entry(e, batch) {
		e->kp->flags &= ~KPROBE_FLAG_STAGED;
		/* Users of kprobe_running() read this flag of the representative. */
		e->point->kp.flags |= e->kp->flags & KPROBE_FLAG_ON_FUNC_ENTRY;
		kprobe_point_add_probe(e->point, e->kp);
	}
}

static void unpublish_all(struct batch *batch)
{
	struct batch_entry *e;

	for_each_entry(e, batch) {
		kprobe_point_remove_probe(e->point, e->kp);
		if (is_return(e->kp))
			kretprobe_stop(e->kp);
	}
	batch->withdrawn = true;
}

/* Waits, without locks, until no hit uses the unpublished probes, and restores the structs. */
static void wait_withdrawn(struct batch *batch)
{
	struct batch_entry *e;

	kprobe_wait_for_hits();
	for_each_entry(e, batch)
		INIT_LIST_HEAD(&e->kp->list);
	unstage_all(batch);
}

static int arm_all(struct batch *batch)
{
	struct kprobe_point *first;
	struct batch_entry *e;
	LIST_HEAD(points);
	int ret;

	list_for_each_entry(e, &batch->by_addr, list) {
		if (e->point->state == KPROBE_DISARMED &&
		    kprobe_point_wants_arming(e->point))
			kprobe_collect(e->point, &points);
	}
	if (list_empty(&points))
		return 0;
	ret = kprobe_arm_points(&points);
	first = list_first_entry(&points, struct kprobe_point, kp.list);
	kprobe_uncollect_all(&points);
	return ret ? kprobe_refuse_with(kprobe_point_addr(first), KPROBE_REFUSE_ARMING,
					ret, NULL, batch->why) : 0;
}

static void put_places(struct batch *batch)
{
	struct batch_entry *e;

	for_each_entry(e, batch)
		kprobe_place_put(&e->place);
}

static int register_locked(struct batch *batch, struct kprobe **kps, u32 kind)
{
	int ret;

	ret = stage_all(batch, kps, kind);			/* 1 */
	if (ret)
		return ret;
	ret = prepare_all(batch);				/* 2 */
	if (ret) {
		unstage_all(batch);
		return ret;
	}
	/*
	 * Make the rest of the kernel ask kprobes about faults, copies of instructions and stacks,
	 * before the text is patched.  When static_branch_enable() returns, all CPUs execute the
	 * new branches, so no CPU takes a hit without them.
	 */
	if (!kprobes_in_use())
		static_branch_enable(&kprobes_used);
	renew_detours(batch);
	publish_all(batch);					/* 3 */
	ret = arm_all(batch);					/* 4 */
	if (ret) {
		/* wait_withdrawn() restores the structs when no handler can be using them. */
		unpublish_all(batch);
		unprepare_all(batch);
	}
	/*
	 * From now on the module notifier handles the probes of a module that goes.  The mutex
	 * keeps a module whose init function fails: without it, the module is freed even if it has
	 * references.
	 */
	put_places(batch);
	return ret;
}

/**
 * kprobe_register_batch() - register probes, all or none
 * @kps: the probes
 * @num: number of the probes
 * @kind: KPROBE_FLAG_KIND_* of the API that registers them, 0 for kprobes
 * @why: set to the reason if the only probe is refused; may be NULL
 *
 * Context, errnos: see register_kprobes().
 */
int kprobe_register_batch(struct kprobe **kps, int num, u32 kind, struct kprobe_why *why)
{
	struct batch_entry one = {};
	struct batch batch = { .entries = &one, .nr = num, .why = why };
	int ret;

	if (num <= 0 || !kps)
		return kprobe_refuse(0, KPROBE_REFUSE_BAD_ARGUMENT, why);
	if (!kprobes_ready)
		return kprobe_refuse(0, KPROBE_REFUSE_NOT_READY, why);
	if (num > 1) {
		batch.entries = kvcalloc(num, sizeof(one), GFP_KERNEL);
		if (!batch.entries)
			return kprobe_refuse(0, KPROBE_REFUSE_NO_MEMORY, why);
	}

	scoped_guard(mutex, &kprobe_mutex)
		ret = register_locked(&batch, kps, kind);

	if (batch.withdrawn)
		wait_withdrawn(&batch);
	if (num > 1)
		kvfree(batch.entries);
	return ret;
}

/* --- Unregister ---------------------------------------------------------- */

/*
 * Removes the probe from its point; readers may still be walking over the probe.
 * Adds the point to @disarm if it is armed but need not be any more; otherwise to
 * @empty if it has no probes left.  Returns false if @kp is not registered.
 */
static bool detach(struct kprobe *kp, struct list_head *disarm, struct list_head *empty)
{
	struct kprobe_point *point = kprobe_point_of(kp, (unsigned long)kp->addr);

	if (!point)
		return false;
	kprobe_point_remove_probe(point, kp);
	if (point->state == KPROBE_GONE)
		kprobe_gone_forget(kp);
	if (kprobe_point_armed(point) && !kprobe_point_wants_arming(point))
		kprobe_collect(point, disarm);
	else if (kprobe_point_unused(point))
		kprobe_collect(point, empty);
	else
		kprobe_optimizer_queue(kprobe_text_point(point));
	return true;
}

/*
 * Resets the probe, so that its user may register it again.  An address that the user gave is
 * restored; an address that was derived from a symbol stays, for messages.
 */
static void give_back(struct kprobe *kp)
{
	unsigned long skipped = FIELD_GET(KPROBE_FLAG_SKIPPED, kp->flags);

	INIT_LIST_HEAD(&kp->list);
	kp->flags &= KPROBE_FLAG_DISABLED | KPROBE_FLAG_RESOLVED;
	if (!kp->symbol_name)
		kp->addr = (kprobe_opcode_t *)((unsigned long)kp->addr - kp->offset - skipped);
}

/* Steps 1 to 3.  Returns false if none of the probes was registered. */
static bool unregister_locked(struct kprobe **kps, int num, struct list_head *empty)
{
	LIST_HEAD(disarm);
	bool any = false;
	int i;

	for (i = 0; i < num; i++) {
		if (!kps[i])
			continue;
		if (detach(kps[i], &disarm, empty)) {		/* 1 */
			kps[i]->flags |= KPROBE_FLAG_DETACHED;
			any = true;
		} else if (!(kps[i]->flags & KPROBE_FLAG_DETACHED)) {
			kps[i]->addr = NULL;
		}
	}
	if (!list_empty(&disarm))
		kprobe_disarm_points(&disarm);			/* 2 */
	list_splice_tail(&disarm, empty);
	kprobe_points_unpublish(empty);				/* 3 */
	return any;
}

/**
 * kprobe_unregister_batch() - unregister probes
 * @kps: the probes; NULL entries are skipped
 * @num: number of the probes
 *
 * Context: see unregister_kprobes().
 */
void kprobe_unregister_batch(struct kprobe **kps, int num)
{
	LIST_HEAD(empty);
	bool any;
	int i;

	scoped_guard(mutex, &kprobe_mutex)
		any = unregister_locked(kps, num, &empty);
	if (!any)
		return;
	kprobe_wait_for_hits();					/* 4 */
	for (i = 0; i < num; i++) {				/* 5 */
		if (kps[i] && kps[i]->flags & KPROBE_FLAG_DETACHED)
			give_back(kps[i]);
	}
	kprobe_points_release(&empty);
}
