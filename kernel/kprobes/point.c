// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probepoints: life cycle and state.
 *
 * A point exists from the first registration at an address to the last
 * unregistration there.  It is never converted or copied: the architecture sees the
 * same representative, however many probes the point has.
 *
 *	create -> (table insert) -> arm <-> disarm -> (table remove) -> release
 *
 * kprobe_mutex guards all points.  hit/ has the code that runs at a hit.
 */
#include <linux/rbtree.h>
#include <linux/slab.h>

#include "internal.h"
#include "trace.h"

static struct kmem_cache *point_cache;

/* Allowed transitions: a bit for each next state. */
static const u8 next_states[NR_KPROBE_STATES] = {
	[KPROBE_DISARMED]   = BIT(KPROBE_BREAKPOINT) | BIT(KPROBE_FTRACE) |
			      BIT(KPROBE_CARRIED) | BIT(KPROBE_GONE),
	[KPROBE_BREAKPOINT] = BIT(KPROBE_DISARMED) | BIT(KPROBE_JUMP),
	[KPROBE_JUMP]	    = BIT(KPROBE_BREAKPOINT),
	[KPROBE_FTRACE]	    = BIT(KPROBE_DISARMED),
	[KPROBE_CARRIED]    = BIT(KPROBE_DISARMED) | BIT(KPROBE_FTRACE),
	[KPROBE_GONE]	    = 0,
};

#define STATE_FLAGS	(KPROBE_FLAG_GONE | KPROBE_FLAG_OPTIMIZED | KPROBE_FLAG_FTRACE)

/* Returns the public flags of the probes of a point that follow from its state. */
static u32 state_flags(struct kprobe_point *point)
{
	u32 flags = point->state == KPROBE_CARRIED ? 0 : point->kp.flags & KPROBE_FLAG_FTRACE;

	if (point->state == KPROBE_GONE)
		flags |= KPROBE_FLAG_GONE;
	else if (kprobe_text_point(point)->state == KPROBE_JUMP)
		flags |= KPROBE_FLAG_OPTIMIZED;
	return flags;
}

static void derive_flags(struct kprobe_point *point)
{
	u32 flags = state_flags(point);
	struct kprobe *kp;

	/* The representative of a point on ftrace's instruction keeps KPROBE_FLAG_FTRACE. */
	point->kp.flags &= ~(KPROBE_FLAG_GONE | KPROBE_FLAG_OPTIMIZED);
	point->kp.flags |= flags;
	for_each_probe(kp, point)
		kp->flags = (kp->flags & ~STATE_FLAGS) | flags;
}

/**
 * kprobe_point_set_state() - change the state of a point; no other function does
 * @point: the point; its text has just been changed, or is about to be freed
 * @state: new state, one step from the present one (see enum kprobe_state)
 *
 * Also derives the public flags of the point's probes from the state, for
 * kprobe_optimized() and kprobe_gone().
 *
 * Context: kprobe_mutex held.
 */
void kprobe_point_set_state(struct kprobe_point *point, enum kprobe_state state)
{
	struct kprobe_point *carried = kprobe_point_carried(point);

	lockdep_assert_held(&kprobe_mutex);

	if (WARN_ON_ONCE(!(next_states[point->state] & BIT(state))))
		return;
	trace_kprobe_state(kprobe_point_addr(point), point->state, state);
	point->state = state;

	derive_flags(point);
	if (carried)
		derive_flags(carried);
}

/**
 * kprobe_point_armed() - can the point have hits?
 * @point: the point
 *
 * Context: kprobe_mutex held.
 */
bool kprobe_point_armed(const struct kprobe_point *point)
{
	return point->state != KPROBE_DISARMED && point->state != KPROBE_GONE;
}

/**
 * kprobe_point_unused() - may the point be released?
 * @point: the point
 *
 * Context: kprobe_mutex held.
 * Return: true if it has no probes, and carries none.
 */
bool kprobe_point_unused(const struct kprobe_point *point)
{
	return hlist_empty(&point->probes) && !point->role;
}

/*
 * The hook has the name that the base kernel's backends use; see <linux/kprobes-return.h>.  x86 and
 * arm64 do not define it, because their trampolines have no probe.  The backends of arc, mips,
 * parisc, powerpc, sh and sparc return 1 for the probe on their trampoline.
 */
int __weak arch_trampoline_kprobe(struct kprobe *p)
{
	return 0;
}

/**
 * kprobe_point_wants_arming() - should the point be armed?
 * @point: the point
 *
 * Context: kprobe_mutex held.
 * Return: true if a probe of it is enabled, or if it carries another point; always false if all
 * probes are disarmed, or the text has been freed.
 */
bool kprobe_point_wants_arming(struct kprobe_point *point)
{
	struct kprobe *kp;

	lockdep_assert_held(&kprobe_mutex);

	if (point->state == KPROBE_GONE)
		return false;
	if (kprobes_all_disarmed && !arch_trampoline_kprobe(&point->kp))
		return false;
	if (kprobe_point_carried(point))
		return true;
	for_each_probe(kp, point) {
		if (!kprobe_disabled(kp))
			return true;
	}
	return false;
}

/**
 * kprobe_point_find_probe() - is a struct kprobe a probe of the point?
 * @point: the point
 * @kp: any address of a struct, also of one that is not registered
 *
 * Context: kprobe_mutex held.
 * Return: @kp or NULL.
 */
struct kprobe *kprobe_point_find_probe(struct kprobe_point *point, struct kprobe *kp)
{
	struct kprobe *probe;

	lockdep_assert_held(&kprobe_mutex);

	for_each_probe(probe, point) {
		if (probe == kp)
			return probe;
	}
	return NULL;
}

/* --- Gone points: their text has been freed ------------------------------- */

/* Gone points that still have probes; linked through op.list. */
LIST_HEAD(kprobe_gone_points);

/*
 * Tree of the probes of gone points, by the addresses of their structs, because no field of a
 * struct that a caller passes can be trusted.  Linked through kprobe::gone.
 */
static struct rb_root gone_probes = RB_ROOT;

static bool is_before(struct rb_node *a, const struct rb_node *b)
{
	return a < b;
}

static int compare(const void *kp, const struct rb_node *node)
{
	const void *gone = rb_entry(node, struct kprobe, gone);

	return kp < gone ? -1 : kp > gone;
}

static bool is_gone_probe(const struct kprobe *kp)
{
	return rb_find(kp, &gone_probes, compare);
}

/*
 * Returns the gone point that a probe is registered at, or NULL.  No field of @kp is trusted
 * before the tree has the address of @kp.
 */
static struct kprobe_point *find_gone(struct kprobe *kp)
{
	struct hlist_node **link = NULL;

	/* The first node's link that is not in a probe is the head of the list, in the point. */
	while (is_gone_probe(kp)) {
		link = kp->node.pprev;
		kp = container_of(link, struct kprobe, node.next);
	}
	return link ? container_of(link, struct kprobe_point, probes.first) : NULL;
}

/**
 * kprobe_point_add_gone() - record a gone point and its probes
 * @point: the point, which has left the table and is KPROBE_GONE
 *
 * Context: kprobe_mutex held.
 */
void kprobe_point_add_gone(struct kprobe_point *point)
{
	struct kprobe *probe;

	list_add(&point->op.list, &kprobe_gone_points);
	for_each_probe(probe, point)
		rb_add(&probe->gone, &gone_probes, is_before);
}

/**
 * kprobe_gone_forget() - remove a probe of a gone point that is being unregistered
 * @kp: the probe
 *
 * Context: kprobe_mutex held.
 */
void kprobe_gone_forget(struct kprobe *kp)
{
	rb_erase(&kp->gone, &gone_probes);
}

/* --- From a probe to its point ---------------------------------------------- */

/**
 * kprobe_point_of() - find the point that a probe is registered at
 * @kp: a struct that may be registered; no field of it is trusted
 * @addr: address at which it may be registered, usually its addr
 *
 * Context: kprobe_mutex held.
 * Return: the point, which may be gone; NULL if @kp is registered neither at @addr nor at a gone
 * point.
 */
struct kprobe_point *kprobe_point_of(struct kprobe *kp, unsigned long addr)
{
	struct kprobe_point *point = kprobe_table_find(addr);

	return point && kprobe_point_find_probe(point, kp) ? point : find_gone(kp);
}

/* Returns true if hits call the probes of @point through its carrier. */
static bool is_carried(struct kprobe_point *point)
{
	struct kprobe_point *carrier = kprobe_carrier_of(point);

	return carrier && carrier->role == KPROBE_ROLE_CARRIES;
}

/* Returns true if a hit calls the post_handler of each probe right after its pre_handler. */
static bool calls_post_at_once(struct kprobe_point *point)
{
	return IS_ENABLED(CONFIG_HAVE_KPROBE_LEVELS) && IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) &&
	       kprobe_ftrace(&point->kp);
}

/* Returns the function that a hit calls for a probe of @point. */
static kprobe_pre_handler_t call_of(struct kprobe_point *point, struct kprobe *probe)
{
	if (kprobe_disabled(probe))
		return kprobe_call_nothing;
	if (probe->post_handler && calls_post_at_once(point))
		return kprobe_call_nop;
	if (!probe->pre_handler)
		return kprobe_call_nothing;
	return probe->fault_handler ? kprobe_call_noted : probe->pre_handler;
}

/*
 * Looks for the only enabled probe of @point.  Stores it in @lone, which may have one already.
 * Returns false if there is another one.
 */
static bool find_lone(struct kprobe_point *point, struct kprobe **lone)
{
	struct kprobe *probe;

	for_each_probe(probe, point) {
		if (kprobe_disabled(probe))
			continue;
		if (*lone)
			return false;
		*lone = probe;
	}
	return true;
}

/*
 * Returns the only enabled probe of a point and of the point that it carries; but the
 * representative if there is none, if there are several, or if kprobe_dispatch_post() must not
 * simply call the post_handler of the only one: kprobe_call_nop() calls that of a carried probe,
 * and a fault_handler needs to know which probe is running.
 */
static struct kprobe *lone_probe(struct kprobe_point *point)
{
	struct kprobe_point *carried = kprobe_point_carried(point);
	struct kprobe *lone = NULL;

	if (carried && (!find_lone(carried, &lone) || (lone && lone->post_handler)))
		return &point->kp;
	if (!find_lone(point, &lone) || !lone || (lone->post_handler && lone->fault_handler))
		return &point->kp;
	return lone;
}

/**
 * kprobe_point_return_only() - do hits have to call one return probe only?
 * @point: the point
 *
 * Context: kprobe_mutex held.
 * Return: true if they do, and no handler needs the registers at the entry.
 */
bool kprobe_point_return_only(struct kprobe_point *point)
{
	struct kprobe *lone = point->lone;

	return !point->kp.post_handler && (lone->flags & KPROBE_FLAG_KIND_RETURN) &&
	       lone->call == lone->pre_handler &&
	       !container_of(lone, struct kretprobe, kp)->entry_handler;
}

static void set_post(struct kprobe_point *point, kprobe_post_handler_t post)
{
	/* Each hit reads it once; a hit that has begun may still read the old value. */
	WRITE_ONCE(point->kp.post_handler, post);
	arch_kprobe_handlers_changed(&point->kp);
}

/**
 * kprobe_point_update_handlers() - update a point after its probes have changed
 * @point: the point, to which a probe has been added, or whose probe has been removed,
 *	enabled or disabled
 *
 * Derives the fields that spare a hit the walk over all probes.  The representative has a
 * post_handler only while a probe has one, because the architecture then has to regain
 * control after the instruction.
 *
 * Context: kprobe_mutex held.
 */
void kprobe_point_update_handlers(struct kprobe_point *point)
{
	kprobe_post_handler_t post = NULL;
	bool carried = is_carried(point);
	struct kprobe *probe;

	for_each_probe(probe, point) {
		/* A hit reads it once, with a plain load. */
		WRITE_ONCE(probe->call, call_of(point, probe));
		if (probe->post_handler)
			post = kprobe_dispatch_post;
	}
	if (calls_post_at_once(point))
		post = NULL;
	/* ftrace may call the point while it is carried, and again afterwards. */
	if (kprobe_ftrace(&point->kp))
		WRITE_ONCE(point->kp.call,
			   carried ? kprobe_dispatch_site : kprobe_dispatch_many);
	set_post(point, post);

	/* Complete the probe before a hit uses it.  Pairs with the reads of @lone in hit/. */
	smp_store_release(&point->lone, carried ? &point->kp : lone_probe(point));
	if (carried)
		kprobe_point_update_handlers(kprobe_carrier_of(point));
}

/**
 * kprobe_point_add_probe() - add a probe to a point, so that hits find it
 * @point: the point
 * @kp: the probe, completely filled in, and at no point
 *
 * Context: kprobe_mutex held.
 */
void kprobe_point_add_probe(struct kprobe_point *point, struct kprobe *kp)
{
	kp->call = call_of(point, kp);
	kp->flags = (kp->flags & ~STATE_FLAGS) | state_flags(point);
	/* Before a hit finds the probe, and calls its pre_handler. */
	if (kp->post_handler && !calls_post_at_once(point))
		set_post(point, kprobe_dispatch_post);
	hlist_add_tail_rcu(&kp->node, &point->probes);
	kprobe_point_update_handlers(point);
}

/**
 * kprobe_point_remove_probe() - remove a probe from a point
 * @point: the point
 * @kp: a probe of @point; hits that have begun may call it until a grace period ends
 *
 * Context: kprobe_mutex held.
 */
void kprobe_point_remove_probe(struct kprobe_point *point, struct kprobe *kp)
{
	hlist_del_rcu(&kp->node);
	kprobe_point_update_handlers(point);
}

/*
 * Backends with HAVE_KPROBE_BATCH take text_mutex themselves when they write to a slot.
 * The others write to it in arch_prepare_kprobe(), and expect the caller to hold text_mutex.
 */
static int prepare_breakpoint(struct kprobe *kp, unsigned long offset, const char **why)
{
	if (IS_ENABLED(CONFIG_HAVE_KPROBE_BATCH))
		return arch_prepare_kprobe_why(kp, offset, why);

	guard(kprobe_text)();
	return arch_prepare_kprobe(kp);
}

/**
 * kprobe_point_create() - create a point for an address that has none
 * @place: the address; kprobe_place_check() has accepted it
 * @why: may be set on failure to a string of the architecture that explains the errno
 *
 * Context: task, may sleep, kprobe_mutex held.
 * Return: a disarmed point that is not in the table yet, or an ERR_PTR with the errno
 * of arch_prepare_kprobe(), or -ENOMEM.
 */
struct kprobe_point *kprobe_point_create(const struct kprobe_place *place, const char **why)
{
	struct kprobe_point *point;
	int ret;

	point = kmem_cache_zalloc(point_cache, GFP_KERNEL);
	if (!point)
		return ERR_PTR(-ENOMEM);

	point->kp.addr = (kprobe_opcode_t *)place->addr;
	point->kp.pre_handler = kprobe_dispatch_pre;
	point->kp.call = kprobe_dispatch_many;
	point->lone = &point->kp;
	point->kp.flags = place->ftrace ? KPROBE_FLAG_FTRACE : 0;
	point->state = KPROBE_DISARMED;
	INIT_LIST_HEAD(&point->kp.list);
	INIT_LIST_HEAD(&point->op.list);

	ret = place->ftrace ? arch_prepare_kprobe_ftrace(&point->kp) :
			      prepare_breakpoint(&point->kp, place->offset, why);
	if (ret) {
		/* Wait for unwinders that have found it as the owner of a slot. */
		kfree_rcu_mightsleep(point);
		return ERR_PTR(ret);
	}
	return point;
}

/* --- Work lists ------------------------------------------------------------- */

/**
 * kprobe_collect() - add a point to a work list
 * @point: the point; if it is on a work list already, it stays there
 * @points: the list; for_each_collected() walks over it
 *
 * Context: kprobe_mutex held.
 */
void kprobe_collect(struct kprobe_point *point, struct list_head *points)
{
	if (list_empty(&point->kp.list))
		list_add_tail(&point->kp.list, points);
}

/**
 * kprobe_uncollect_all() - empty a list that kprobe_collect() has filled
 * @points: the list
 *
 * Context: kprobe_mutex held.
 */
void kprobe_uncollect_all(struct list_head *points)
{
	struct kprobe_point *point, *next;

	for_each_collected_safe(point, next, points)
		list_del_init(&point->kp.list);
}

/**
 * kprobe_points_unpublish() - make unused points unreachable for hits
 * @points: list of disarmed points; those that are still used are removed from it, and carriers
 *	that are not used any more are added
 *
 * Context: kprobe_mutex held.
 */
void kprobe_points_unpublish(struct list_head *points)
{
	struct kprobe_point *point;
	LIST_HEAD(unused);

	while (!list_empty(points)) {
		point = list_first_entry(points, struct kprobe_point, kp.list);
		list_del_init(&point->kp.list);
		if (!kprobe_point_unused(point))
			continue;
		if (point->state == KPROBE_GONE)
			list_del_init(&point->op.list);
		else
			kprobe_table_remove(point);
		kprobe_carrier_release(point, points);
		list_add_tail(&point->kp.list, &unused);
	}
	list_splice(&unused, points);
}

/**
 * kprobe_points_init() - create the cache of points
 *
 * Context: boot, before probes can be registered.
 * Return: 0 or -ENOMEM.
 */
int __init kprobe_points_init(void)
{
	point_cache = KMEM_CACHE(kprobe_point, 0);
	return point_cache ? 0 : -ENOMEM;
}
