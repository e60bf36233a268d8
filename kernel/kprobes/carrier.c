// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Carriers: a point on ftrace's instruction, served by the point after the instruction.
 *
 * Nearly all probes are on the first instruction of a function, which ftrace owns.  A call of
 * ftrace's handler costs more than a jump to a detour.  While the function is not traced, the
 * instruction is a nop: the registers after it are those before it.  So the instruction after it
 * is probed instead, and handlers see the registers that they would see at the entry.
 *
 * The point on ftrace's instruction, the site, has the probes.  The carrier is an ordinary
 * point in all respects but two (enum kprobe_role): a hit also calls the probes of the site, and
 * the carrier exists as long as the site.  A carrier may have probes of its own.  Site and carrier
 * find each other in the table, by their addresses.
 *
 * A site is carried only if the carrier can get a jump (a breakpoint costs more than a call of
 * ftrace's handler), if execution can reach the carrier only from the site, and if no other user
 * of ftrace changes the instruction pointer at the site, as a live patch does.  Otherwise ftrace
 * calls the probes of the site, see arm_ftrace.c.
 */
#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/slab.h>

#include "internal.h"

/**
 * struct kprobe_claim - functions whose calls may not reach the carriers in them
 * @list: links all claims
 * @ops: never registered; its filter has the functions
 */
struct kprobe_claim {
	struct list_head list;
	struct ftrace_ops ops;
};

/* Guarded by kprobe_mutex. */
static LIST_HEAD(claims);

/* Allowed transitions: a bit for each next role. */
static const u8 next_roles[NR_KPROBE_ROLES] = {
	[KPROBE_ROLE_NONE]    = BIT(KPROBE_ROLE_KEPT),
	[KPROBE_ROLE_KEPT]    = BIT(KPROBE_ROLE_CARRIES) | BIT(KPROBE_ROLE_NONE),
	[KPROBE_ROLE_CARRIES] = BIT(KPROBE_ROLE_KEPT),
};

/*
 * Changes the role of a point; no other function does.  After a change to or from CARRIES, the
 * caller updates the handlers of the point and of its site.
 */
static void set_role(struct kprobe_point *carrier, enum kprobe_role role)
{
	lockdep_assert_held(&kprobe_mutex);
	if (WARN_ON_ONCE(!(next_roles[carrier->role] & BIT(role))))
		return;
	/* Pairs with the acquire in kprobe_point_carries(); see detach(). */
	smp_store_release(&carrier->role, role);
}

/* The text of the site has been checked; is an instruction in it free, too? */
static bool is_free(unsigned long addr)
{
	return !kprobe_blacklist_covers(addr) && !ftrace_location_range(addr, addr) &&
	       !kprobe_reserved_range(addr, addr + 1);
}

/*
 * Creates the point after the instruction of a site, or returns NULL if it cannot be probed.  The
 * text stays while kprobe_mutex is held, because the site is in it.
 */
static struct kprobe_point *create_carrier(unsigned long addr)
{
	/* The name of the symbol allows the site, so it allows the carrier. */
	struct kprobe_place place = { .addr = addr, .name = KPROBE_NAME_PLAIN };
	struct kprobe_point *carrier;
	unsigned long size;
	const char *why;

	if (!kallsyms_lookup_size_offset(addr, &size, &place.offset) ||
	    place.offset < KPROBE_CARRIER_OFFSET ||
	    kprobe_table_reserve(1) || !is_free(addr))
		return NULL;
	carrier = kprobe_point_create(&place, &why);
	if (IS_ERR(carrier))
		return NULL;
	kprobe_table_insert(carrier);
	return carrier;
}

/* Finds or creates the carrier of a site, or returns NULL.  kprobe_carrier_release() undoes it. */
static struct kprobe_point *keep_carrier(struct kprobe_point *site)
{
	unsigned long addr = kprobe_point_addr(site) + KPROBE_CARRIER_OFFSET;
	struct kprobe_point *carrier = kprobe_table_find(addr) ?: create_carrier(addr);

	if (!carrier || carrier->role)
		return carrier;
	set_role(carrier, KPROBE_ROLE_KEPT);
	/* Both functions are right for a point without a site, too. */
	WRITE_ONCE(carrier->kp.pre_handler, kprobe_dispatch_carrier);
	WRITE_ONCE(carrier->kp.call, kprobe_dispatch_both);
	return carrier;
}

static void detach(struct kprobe_point *site)
{
	struct kprobe_point *carrier = kprobe_carrier_of(site);

	/*
	 * The carrier's hits ask for the role from now on, as those of ftrace do.  A call for which
	 * ftrace finds the new role, and calls the probes, does not find the old @lone at the
	 * carrier.  Pairs with the reads of @lone in hit/.
	 */
	smp_store_release(&carrier->lone, &carrier->kp);
	set_role(carrier, KPROBE_ROLE_KEPT);
	kprobe_point_update_handlers(carrier);
	kprobe_point_update_handlers(site);
}

static bool is_claimed(unsigned long addr)
{
	struct kprobe_claim *claim;

	list_for_each_entry(claim, &claims, list) {
		if (ftrace_ops_has_ip(&claim->ops, addr))
			return true;
	}
	return false;
}

/* Makes the carrier of a site call its probes.  Returns the reason why that is not possible. */
static enum kprobe_obstacle attach(struct kprobe_point *site)
{
	enum kprobe_obstacle obstacle;
	struct kprobe_point *carrier;

	if (!kprobe_optimization_allowed)
		return KPROBE_OBSTACLE_OFF;
	if (ftrace_ip_is_modified(kprobe_point_addr(site)) || is_claimed(kprobe_point_addr(site)))
		return KPROBE_OBSTACLE_RESERVED;
	carrier = keep_carrier(site);
	if (!carrier)
		return KPROBE_OBSTACLE_INSN;
	obstacle = arch_carrier_obstacle(kprobe_point_addr(carrier));
	if (obstacle)
		return obstacle;
	set_role(carrier, KPROBE_ROLE_CARRIES);
	kprobe_point_update_handlers(carrier);
	kprobe_point_update_handlers(site);
	obstacle = kprobe_optimizer_prepare(carrier);
	if (obstacle)
		detach(site);
	return obstacle;
}

/**
 * kprobe_carry() - serve sites by carriers where possible: DISARMED -> CARRIED
 * @sites: list of disarmed points on ftrace's instructions; the others stay
 * @carried: list to which the carried sites are moved
 * @points: list to which their carriers are added, if these are disarmed.  One that is armed
 *	already is queued for its jump
 *
 * Context: task, may sleep, kprobe_mutex held.
 */
void kprobe_carry(struct list_head *sites, struct list_head *carried, struct list_head *points)
{
	struct kprobe_point *site, *next, *carrier;
	LIST_HEAD(unused);

	for_each_collected_safe(site, next, sites) {
		site->obstacle = attach(site);
		if (site->obstacle) {
			kprobe_carrier_release(site, &unused);
			continue;
		}
		kprobe_point_set_state(site, KPROBE_CARRIED);
		list_move_tail(&site->kp.list, carried);
		carrier = kprobe_carrier_of(site);
		if (carrier->state == KPROBE_DISARMED)
			kprobe_collect(carrier, points);
		else
			kprobe_optimizer_queue(carrier);
	}
	arch_prepare_kprobes_end();
	kprobe_points_unpublish(&unused);
	kprobe_points_release(&unused);
}

/**
 * kprobe_uncarry() - stop calling the probes of sites: CARRIED -> DISARMED or FTRACE
 * @carried: list of carried sites
 * @state: their new state
 * @points: list to which their carriers are added, if these are armed and need not be
 *
 * Hits that have begun may still call the probes.
 *
 * Context: kprobe_mutex held.
 */
void kprobe_uncarry(struct list_head *carried, enum kprobe_state state, struct list_head *points)
{
	struct kprobe_point *site, *carrier;

	for_each_collected(site, carried) {
		carrier = kprobe_carrier_of(site);
		detach(site);
		kprobe_point_set_state(site, state);
		if (kprobe_point_armed(carrier) && !kprobe_point_wants_arming(carrier))
			kprobe_collect(carrier, points);
	}
}

/*
 * Makes ftrace call the probes of carried sites: CARRIED -> FTRACE.  While both the carrier and
 * ftrace are armed, only one of them calls the probes.  A call of the function that is between
 * the site and the carrier at the change is missed.  If ftrace fails, the sites stay carried.
 */
static int move_to_ftrace(struct list_head *sites)
{
	LIST_HEAD(carriers);
	int err;

	err = kprobe_arm_ftrace(sites);
	if (err)
		return err;
	kprobe_uncarry(sites, KPROBE_FTRACE, &carriers);
	if (!list_empty(&carriers))
		kprobe_disarm_points(&carriers);
	kprobe_uncollect_all(&carriers);
	return 0;
}

/* If one of the sites cannot be moved, the others are. */
static void move_each_to_ftrace(struct list_head *sites)
{
	struct kprobe_point *site, *next;
	LIST_HEAD(done);
	int err;

	for_each_collected_safe(site, next, sites) {
		LIST_HEAD(one);

		list_move(&site->kp.list, &one);
		err = move_to_ftrace(&one);
		if (err)
			pr_warn("ftrace cannot call the probes at %pS (%d): hits may be missed\n",
				(void *)kprobe_point_addr(site), err);
		list_splice(&one, &done);
	}
	list_splice(&done, sites);
}

static void collect_if_carried(struct kprobe_point *site, struct ftrace_ops *ops,
			       struct list_head *sites)
{
	if (site && site->state == KPROBE_CARRIED &&
	    ftrace_ops_has_ip(ops, kprobe_point_addr(site)))
		kprobe_collect(site, sites);
}

/* There may be thousands of points, and thousands of users with one function each. */
static void collect_carried(struct ftrace_ops *ops, struct list_head *sites)
{
	unsigned long ip = ftrace_ops_single_ip(ops), pos;
	struct kprobe_point *site;

	if (ip) {
		collect_if_carried(kprobe_table_find(ip), ops, sites);
		return;
	}
	for_each_kprobe_point(site, pos)
		collect_if_carried(site, ops, sites);
}

/* Makes ftrace call the probes of carried sites in the functions that @ops filters. */
static void take_from_carriers(struct ftrace_ops *ops)
{
	LIST_HEAD(sites);

	collect_carried(ops, &sites);
	if (!list_empty(&sites) && move_to_ftrace(&sites))
		move_each_to_ftrace(&sites);
	kprobe_uncollect_all(&sites);
}

/**
 * kprobe_ftrace_claim() - make ftrace serve the sites in the functions of an ftrace_ops
 * @ops: the user, about to be registered, or registered
 *
 * The user may send callers to another function, as a live patch does.  These do not reach
 * the carriers in the functions that @ops filters, so ftrace serves the sites from now on.
 *
 * Context: task, may sleep; called by register_ftrace_function(), before it registers @ops, so that
 * no hit is lost, and afterwards, for probes that have been registered meanwhile. And when the
 * filter of a registered user has changed: hits may have been lost before.
 */
void kprobe_ftrace_claim(struct ftrace_ops *ops)
{
	if (!(ops->flags & FTRACE_OPS_FL_IPMODIFY) || ops->func == kprobe_ftrace_handler)
		return;

	guard(mutex)(&kprobe_mutex);
	take_from_carriers(ops);
}

/**
 * kprobe_claim() - make ftrace serve the sites in some functions until kprobe_unclaim()
 * @ips: addresses of the functions, or of ftrace's instructions in them; their text stays until
 *	kprobe_unclaim()
 * @nr: number of the functions
 *
 * For users of an ftrace_ops that they share with others, and that does not tell ftrace that they
 * change the instruction pointer.  Until kprobe_unclaim(), ftrace serves the sites in the
 * functions, also those of probes that will be registered.
 *
 * Context: task, may sleep; before the first call of the user, so that no hit is lost.
 * Return: the claim; an ERR_PTR(), -EINVAL if ftrace does not know one of the functions, -ENOMEM.
 */
struct kprobe_claim *kprobe_claim(unsigned long *ips, unsigned int nr)
{
	struct kprobe_claim *claim = kzalloc(sizeof(*claim), GFP_KERNEL);
	int err;

	if (!claim)
		return ERR_PTR(-ENOMEM);
	err = ftrace_set_filter_ips(&claim->ops, ips, nr, 0, 0);
	if (err) {
		kfree(claim);
		return ERR_PTR(err);
	}

	guard(mutex)(&kprobe_mutex);
	list_add(&claim->list, &claims);
	take_from_carriers(&claim->ops);
	return claim;
}

/**
 * kprobe_unclaim() - end a claim
 * @claim: from kprobe_claim(); may be NULL
 *
 * Context: task, may sleep; after the last call of the user.
 */
void kprobe_unclaim(struct kprobe_claim *claim)
{
	if (!claim)
		return;
	scoped_guard(mutex, &kprobe_mutex)
		list_del(&claim->list);
	ftrace_free_filter(&claim->ops);
	kfree(claim);
}

/**
 * kprobe_carrier_release() - release the carrier of a site that is removed, or cannot be carried
 * @site: any point that is not carried
 * @points: list to which the carrier is added, if it is not used any more
 *
 * Context: kprobe_mutex held.
 */
void kprobe_carrier_release(struct kprobe_point *site, struct list_head *points)
{
	struct kprobe_point *carrier = kprobe_carrier_of(site);

	if (!carrier)
		return;
	set_role(carrier, KPROBE_ROLE_NONE);
	if (kprobe_point_unused(carrier))
		kprobe_collect(carrier, points);
}
