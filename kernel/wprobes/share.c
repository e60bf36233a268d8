// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Share registers between probes.
 *
 * Probes with the same range and type always share a register.  Other probes do so only if there
 * is no free register, and if a hit can be attributed to the right probe: the architecture
 * reports the accessed bytes, or the probe is called for changes of its bytes only, which a hit
 * finds by comparing values (WPROBE_FLAG_CHANGED).  Such probes are separable.
 *
 * A watch of separable probes is widened to the smallest range that has the new probe, too, if a
 * register can watch it: ranges inside one aligned word, adjacent ones for instance.  If there is
 * no such watch, two other watches are merged in the same way, which frees a register.  When a
 * probe leaves, its watch is narrowed to the bytes of the others.
 */
#include <linux/minmax.h>
#include <linux/rculist.h>

#include "internal.h"

/**
 * wprobe_separable() - can a register watch more bytes than those of the probe?
 * @flags: wprobe::flags
 *
 * Context: any.
 * Return: true if hits on the other bytes can be distinguished from hits of the probe.
 */
bool wprobe_separable(u32 flags)
{
	return (WPROBE_KNOWS_ACCESS || flags & WPROBE_FLAG_CHANGED) &&
	       !(flags & WPROBE_FLAG_MOVABLE);
}

/* Can the address of the watch change?  Then it has one probe. */
static bool is_movable(const struct wprobe_watch *watch)
{
	struct wprobe *wp = hlist_entry_safe(watch->probes.first, struct wprobe, node);

	return wp && wp->flags & WPROBE_FLAG_MOVABLE;
}

static unsigned long end_of(const struct wprobe_range *range)
{
	return range->addr + range->len;
}

/* Computes the smallest range for a register with both ranges; false if there is none. */
static bool join(const struct wprobe_range *a, const struct wprobe_range *b,
		 struct wprobe_range *both)
{
	unsigned long start = min(a->addr, b->addr), end = max(end_of(a), end_of(b));

	if (a->type != b->type || a->percpu != b->percpu)
		return false;
	if (wprobe_word(start) != wprobe_word(end - 1))
		return false;
	/* A watch ends when its memory is freed, and per-CPU words can be of several modules. */
	if (wprobe_module_of_percpu(a) != wprobe_module_of_percpu(b))
		return false;
	*both = *a;
	both->addr = start;
	both->len = end - start;
	return arch_wprobe_cover(both);
}

static bool equal(const struct wprobe_range *a, const struct wprobe_range *b)
{
	return a->addr == b->addr && a->len == b->len && a->type == b->type &&
	       a->percpu == b->percpu;
}

static bool all_separable(const struct wprobe_watch *watch)
{
	struct wprobe *wp;

	hlist_for_each_entry(wp, &watch->probes, node) {
		if (!wprobe_separable(wp->flags))
			return false;
	}
	return true;
}

/* Does the probe have all bytes of the range? */
static bool exact(const struct wprobe_place *place)
{
	return place->range.len == place->want.len;
}

/**
 * wprobe_share_find() - find a watch that a probe can share
 * @wp: the probe
 * @place: from wprobe_place_find()
 * @widen: no register is free: also watches of other bytes, which are widened
 *
 * Context: task, may sleep, wprobe_mutex held.
 * Return: the watch, or NULL.
 */
struct wprobe_watch *wprobe_share_find(const struct wprobe *wp, const struct wprobe_place *place,
				       bool widen)
{
	struct wprobe_range both;
	struct wprobe_watch *watch;

	if (wp->flags & WPROBE_FLAG_MOVABLE)
		return NULL;
	list_for_each_entry(watch, &wprobe_watches, list) {
		if (wprobe_has_register(watch) && equal(&watch->range, &place->range) &&
		    (exact(place) || all_separable(watch)) && !is_movable(watch))
			return watch;
	}
	if (!widen || !wprobe_separable(wp->flags))
		return NULL;
	list_for_each_entry(watch, &wprobe_watches, list) {
		if (!wprobe_has_register(watch) || !all_separable(watch) ||
		    !join(&watch->range, &place->range, &both))
			continue;
		watch->range = both;
		return watch;
	}
	return NULL;
}

/* Appends the probes of @from to those of @to; a hit can walk over either list meanwhile. */
static void move_probes(struct wprobe_watch *to, struct wprobe_watch *from)
{
	struct wprobe *wp, *last = NULL;

	hlist_for_each_entry(wp, &to->probes, node)
		last = wp;
	hlist_for_each_entry(wp, &from->probes, node)
		wp->watch = to;
	from->probes.first->pprev = &last->node.next;
	rcu_assign_pointer(hlist_next_rcu(&last->node), from->probes.first);
}

/**
 * wprobe_share_make_room() - merge two watches, so that a register becomes free
 *
 * Context: task, may sleep, wprobe_mutex held.
 * Return: true if a register has become free.
 */
bool wprobe_share_make_room(void)
{
	struct wprobe_watch *a, *b;
	struct wprobe_range both;

	list_for_each_entry(a, &wprobe_watches, list) {
		if (!wprobe_has_register(a) || !all_separable(a))
			continue;
		b = a;
		list_for_each_entry_continue(b, &wprobe_watches, list) {
			if (!wprobe_has_register(b) || !all_separable(b) ||
			    !join(&a->range, &b->range, &both))
				continue;
			/* The values of probes that are watched must not be read again. */
			if (a->state == WPROBE_OFF)
				swap(a, b);
			a->range = both;
			move_probes(a, b);
			/* Until the cross call, hits on the register of @b find its probes. */
			wprobe_watch_set_state(b, WPROBE_OFF);
			wprobe_commit();
			INIT_HLIST_HEAD(&b->probes);
			wprobe_watch_put(b);
			return true;
		}
	}
	return false;
}

/**
 * wprobe_share_narrow() - watch no more bytes than the probes of a watch need
 * @watch: a watch with probes
 *
 * Context: task, wprobe_mutex held.
 */
void wprobe_share_narrow(struct wprobe_watch *watch)
{
	struct wprobe_range all = {}, one;
	struct wprobe *wp;

	hlist_for_each_entry(wp, &watch->probes, node) {
		one = watch->range;
		one.addr = wprobe_addr(wp);
		one.len = wp->len;
		if (!all.len)
			all = one;
		if (!join(&all, &one, &all))
			return;
	}
	watch->range = all;
}
