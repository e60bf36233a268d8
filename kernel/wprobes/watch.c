// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Watches: the ranges of memory for which registers are reserved, and their probes.
 *
 * A watch exists from the first to the last of its probes.  It reserves a register on every
 * possible CPU when it is made, so that no later step can fail.  The register is in use while a
 * probe of the watch is enabled.  share.c decides which probes share a watch.
 */
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "user.h"
#include "trace.h"

/* All watches, in the order in which they were made. */
LIST_HEAD(wprobe_watches);

#define TO(state)	BIT(WPROBE_##state)

static const u8 transitions[NR_WPROBE_STATES] = {
	[WPROBE_NEW]	= TO(OFF) | TO(GONE),
	[WPROBE_OFF]	= TO(ARMED) | TO(PARKED) | TO(GONE),
	[WPROBE_ARMED]	= TO(OFF) | TO(PARKED) | TO(GONE),
	[WPROBE_PARKED]	= TO(OFF) | TO(GONE),
};

static void set_flag(struct wprobe *wp, u32 flag, bool set)
{
	WRITE_ONCE(wp->flags, set ? wp->flags | flag : wp->flags & ~flag);
}

/**
 * wprobe_watch_set_state() - change the state of a watch, and the flags that users see
 * @watch: the watch
 * @state: the new state
 *
 * Context: task, wprobe_mutex held, or wprobe_user_mutex for data of a process.
 */
void wprobe_watch_set_state(struct wprobe_watch *watch, enum wprobe_state state)
{
	struct wprobe *wp;

	lockdep_assert(lockdep_is_held(&wprobe_mutex) || lockdep_is_held(&wprobe_user_mutex));
	if (watch->state == state)
		return;
	WARN_ONCE(!(transitions[watch->state] & BIT(state)), "watch of %pS: state %d to %d\n",
		  (void *)watch->range.addr, watch->state, state);
	trace_wprobe_state(watch->range.addr, watch->state, state);
	/* Pairs with the acquire in wprobe_retarget(). */
	smp_store_release(&watch->state, state);
	hlist_for_each_entry(wp, &watch->probes, node) {
		set_flag(wp, WPROBE_FLAG_PARKED, state == WPROBE_PARKED);
		set_flag(wp, WPROBE_FLAG_GONE, state == WPROBE_GONE);
	}
}

/* Returns the number of a slot that no watch uses, and that no CPU has loaded. */
static int free_slot(void)
{
	unsigned long used = 0;
	struct wprobe_watch *watch;
	unsigned int i;

	list_for_each_entry(watch, &wprobe_watches, list) {
		if (wprobe_has_register(watch))
			used |= BIT(watch->slot);
	}
	for (i = 0; i < WPROBE_SLOTS; i++) {
		if (!(used & BIT(i)) && !wprobe_slots[i].watch)
			return i;
	}
	return -ENOSPC;
}

/**
 * wprobe_watch_reserve() - reserve a register on every CPU
 * @watch: a watch in WPROBE_NEW or WPROBE_PARKED, which becomes WPROBE_OFF
 *
 * Context: task, may sleep, wprobe_mutex held.
 * Return: false if other users have all registers of a CPU.
 */
bool wprobe_watch_reserve(struct wprobe_watch *watch)
{
	int slot;

	if (hw_breakpoint_reserve_wide())
		return false;
	slot = free_slot();
	if (slot < 0) {
		/* A watch that has just been removed still has a slot. */
		wprobe_commit();
		slot = free_slot();
	}
	if (slot < 0) {
		hw_breakpoint_release_wide();
		return false;
	}
	watch->slot = slot;
	wprobe_watch_set_state(watch, WPROBE_OFF);
	return true;
}

static bool wanted(struct wprobe_watch *watch)
{
	struct wprobe *wp;

	hlist_for_each_entry(wp, &watch->probes, node) {
		if (!wprobe_disabled(wp))
			return true;
	}
	return false;
}

/**
 * wprobe_watch_update() - use the register if a probe is enabled, else do not
 * @watch: the watch
 *
 * wprobe_commit() has to follow.
 *
 * Context: task, wprobe_mutex held.
 */
void wprobe_watch_update(struct wprobe_watch *watch)
{
	if (watch->state == WPROBE_OFF && wanted(watch))
		wprobe_watch_set_state(watch, WPROBE_ARMED);
	else if (watch->state == WPROBE_ARMED && !wanted(watch))
		wprobe_watch_set_state(watch, WPROBE_OFF);
}

/**
 * wprobe_address() - where does a probe watch on this CPU?
 * @wp: a registered probe
 *
 * Context: any, on a CPU that cannot change.
 * Return: the address of this CPU's copy of a per-CPU variable, or that of other data.
 */
void *wprobe_address(const struct wprobe *wp)
{
	const struct wprobe_watch *watch = READ_ONCE(wp->watch);

	return watch && watch->range.percpu ? this_cpu_ptr((void __percpu *)wp->addr) : wp->addr;
}

static struct wprobe_watch *create(const struct wprobe_place *place)
{
	struct wprobe_watch *watch = kzalloc(sizeof(*watch), GFP_KERNEL);

	if (!watch)
		return NULL;
	watch->range = place->range;
	INIT_HLIST_HEAD(&watch->probes);
	list_add_tail(&watch->list, &wprobe_watches);
	return watch;
}

/**
 * wprobe_watch_put() - free a watch without probes, and its register
 * @watch: the watch; one that has probes is left alone
 *
 * Context: task, may sleep, wprobe_mutex held.  After wprobe_commit(), unless the watch has
 * never been armed.
 */
void wprobe_watch_put(struct wprobe_watch *watch)
{
	if (!hlist_empty(&watch->probes))
		return;
	if (wprobe_has_register(watch))
		hw_breakpoint_release_wide();
	wprobe_watch_set_state(watch, WPROBE_GONE);
	list_del(&watch->list);
	kfree(watch);
}

/**
 * wprobe_watch_add() - add a probe to a watch
 * @watch: the watch, whose range has the bytes of the probe
 * @wp: the probe
 * @place: its bytes
 *
 * Context: task, wprobe_mutex held, or wprobe_user_mutex for data of a process.
 */
void wprobe_watch_add(struct wprobe_watch *watch, struct wprobe *wp,
		      const struct wprobe_place *place)
{
	wp->nmissed = 0;
	wp->addr = (void *)place->want.addr;
	wp->mask = wprobe_mask(place->want.addr, place->want.len);
	wp->shift = wprobe_shift(place->want.addr, place->want.len);
	set_flag(wp, WPROBE_FLAG_RESOLVED, wp->symbol_name);
	set_flag(wp, WPROBE_FLAG_GONE | WPROBE_FLAG_PARKED, false);
	/* Probes are called in the order of registration. */
	hlist_add_tail_rcu(&wp->node, &watch->probes);
	wp->watch = watch;
}

/**
 * wprobe_watch_remove() - remove a probe from its watch
 * @wp: the probe
 *
 * Context: task, wprobe_mutex held, or wprobe_user_mutex for data of a process.
 */
void wprobe_watch_remove(struct wprobe *wp)
{
	hlist_del_rcu(&wp->node);
	wp->watch = NULL;
}

/* Reserves a register for @fresh; if none is free, returns another watch, or NULL. */
static struct wprobe_watch *find_register(struct wprobe_watch *fresh, const struct wprobe *wp,
					  const struct wprobe_place *place)
{
	struct wprobe_watch *other;

	if (wprobe_watch_reserve(fresh))
		return fresh;
	other = wprobe_share_find(wp, place, true);
	if (other)
		return other;
	return wprobe_share_make_room() && wprobe_watch_reserve(fresh) ? fresh : NULL;
}

/**
 * wprobe_attach() - attach a probe to a watch, a new one if necessary
 * @wp: the probe
 * @place: from wprobe_place_find()
 *
 * wprobe_commit() has to follow.
 *
 * Context: task, may sleep, wprobe_mutex held.
 * Return: %WPROBE_REFUSE_NONE, or the reason of the failure.
 */
enum wprobe_refusal wprobe_attach(struct wprobe *wp, const struct wprobe_place *place)
{
	struct wprobe_watch *watch, *fresh;

	lockdep_assert_held(&wprobe_mutex);

	watch = wprobe_share_find(wp, place, false);
	if (!watch) {
		fresh = create(place);
		if (!fresh)
			return WPROBE_REFUSE_NO_MEMORY;
		watch = find_register(fresh, wp, place);
		if (watch != fresh)
			wprobe_watch_put(fresh);
	}
	if (!watch)
		return WPROBE_REFUSE_NO_REGISTER;

	/* Hits find the probe as soon as it has been added. */
	if (!place->range.percpu)
		wprobe_read(&wp->last, wprobe_word(place->want.addr));
	wprobe_watch_add(watch, wp, place);
	wprobe_watch_update(watch);
	return WPROBE_REFUSE_NONE;
}

/**
 * wprobe_detach() - detach a probe from its watch
 * @wp: a registered probe
 *
 * wprobe_commit() has to follow, and then wprobe_watch_put().
 *
 * Context: task, wprobe_mutex held.
 */
void wprobe_detach(struct wprobe *wp)
{
	struct wprobe_watch *watch = wp->watch;

	lockdep_assert_held(&wprobe_mutex);
	wprobe_watch_remove(wp);
	if (!hlist_empty(&watch->probes))
		wprobe_share_narrow(watch);
	wprobe_watch_update(watch);
}
