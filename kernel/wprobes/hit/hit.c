// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At a hit: call the handlers of the probes on the accessed bytes.
 *
 * Handlers run with interrupts disabled, so wprobe_commit() waits for them.  No function here
 * can be probed, no lock is taken.
 */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/rculist.h>

#include "../internal.h"

/**
 * struct hit - an access to a watched range
 * @loaded:	the register that matched
 * @touched:	the bytes that were accessed, a mask; 0 if that is not known
 * @old:	the aligned word with the range before the access, if has_before()
 * @new:	the same after the access
 */
struct hit {
	const struct wprobe_loaded *loaded;
	unsigned long touched;
	unsigned long old;
	unsigned long new;
};

/* Does this CPU keep the value before an access?  Else each probe has its last value. */
static __always_inline bool has_before(const struct wprobe_loaded *loaded)
{
	return WPROBE_USER_BEFORE || unlikely(loaded->percpu);
}

static __always_inline struct hit read_values(struct wprobe_loaded *loaded, unsigned long touched)
{
	struct hit hit = { .loaded = loaded, .touched = WPROBE_KNOWS_ACCESS ? touched : 0 };

	if (!has_before(loaded))
		return hit;
	hit.new = READ_ONCE_NOCHECK(*loaded->word);
	hit.old = WPROBE_USER_BEFORE && !loaded->writes ? hit.new : loaded->before;
	loaded->before = hit.new;
	return hit;
}

/* Does the access belong to the probe?  share.c has the rules. */
static __always_inline bool concerns(const struct wprobe *wp, u32 flags, const struct hit *hit)
{
	if (!(wp->mask & hit->loaded->mask))
		return false;
	if (unlikely(flags & (WPROBE_FLAG_DISABLED | WPROBE_FLAG_MOVABLE))) {
		/* The probe may have moved, but not yet the register of this CPU. */
		if (flags & WPROBE_FLAG_DISABLED ||
		    wprobe_word(wprobe_addr(wp)) != hit->loaded->word)
			return false;
	}
	return !(WPROBE_KNOWS_ACCESS && hit->touched) || hit->touched & wp->mask;
}

/*
 * Replaces the last value of a probe by that of now.  Two CPUs never get the same change: if
 * another CPU has replaced the last value meanwhile, the value of now may be older than that.
 */
static __always_inline unsigned long take_last(struct wprobe *wp, struct hit *hit)
{
	unsigned long last = READ_ONCE(wp->last);

	do {
		hit->new = READ_ONCE_NOCHECK(*hit->loaded->word);
	} while (!raw_try_cmpxchg(&wp->last, &last, hit->new));
	return last;
}

/* Is the handler to be called?  Then the values are those of the probe. */
static __always_inline bool is_hit(struct wprobe *wp, struct hit *hit)
{
	u32 flags = READ_ONCE(wp->flags);

	if (!concerns(wp, flags, hit))
		return false;
	if (!has_before(hit->loaded))
		hit->old = take_last(wp, hit);
	return !unlikely(flags & WPROBE_FLAG_CHANGED) || (hit->old ^ hit->new) & wp->mask;
}

/* Watchpoints raise exceptions in handlers only, not while the core reads the word. */
static __always_inline void call_handlers(struct hit *hit, struct pt_regs *regs)
{
	struct wprobe *wp;

	hlist_for_each_entry_rcu_notrace(wp, &hit->loaded->watch->probes, node) {
		if (!is_hit(wp, hit))
			continue;
		arch_wprobe_handler_begin();
		wp->handler(wp, regs, (hit->old & wp->mask) >> wp->shift,
			    (hit->new & wp->mask) >> wp->shift);
		arch_wprobe_handler_end();
	}
}

/* The operation is raw, because functions of sanitizers can be probed. */
static __always_inline void count_missed(struct wprobe *wp)
{
	raw_atomic_long_inc((atomic_long_t *)&wp->nmissed);
}

/**
 * wprobe_missed() - count an access whose handlers cannot be called
 * @slot: number of the register's slot
 *
 * Context: debug exception, interrupts disabled.
 */
void wprobe_missed(unsigned int slot)
{
	const struct wprobe_loaded *loaded = &this_cpu_ptr(&wprobe_cpu)->loaded[slot];
	struct wprobe *wp;

	hlist_for_each_entry_rcu_notrace(wp, &loaded->watch->probes, node) {
		if (!(READ_ONCE(wp->flags) & WPROBE_FLAG_DISABLED))
			count_missed(wp);
	}
}
NOKPROBE_SYMBOL(wprobe_missed);

/**
 * wprobe_before() - keep the value before an access
 * @slot: number of the register's slot
 * @writes: the access writes
 *
 * For architectures whose exception is raised before the access.
 *
 * Context: debug exception, interrupts disabled.
 */
void wprobe_before(unsigned int slot, bool writes)
{
	struct wprobe_loaded *loaded = &this_cpu_ptr(&wprobe_cpu)->loaded[slot];

	loaded->before = READ_ONCE_NOCHECK(*loaded->word);
	loaded->writes = writes;
}
NOKPROBE_SYMBOL(wprobe_before);

/* Has the access been made by the copy of an instruction that has a kprobe? */
static __always_inline bool is_in_copy(struct pt_regs *regs)
{
	unsigned long ip = instruction_pointer(regs);

	return kprobe_may_be_copy(ip) && kprobe_text_address(ip) != ip;
}

/*
 * Rare cases are in functions of their own, so that wprobe_hit() saves few registers. A read of the
 * core must not take a change that another CPU has made, and has not reported yet.
 */
static noinline void miss(struct wprobe_loaded *loaded, unsigned long touched)
{
	struct hit hit;
	struct wprobe *wp;

	if (raw_cpu_read(wprobe_cpu.busy) == WPROBE_BUSY_READING)
		return;
	hit = read_values(loaded, touched);
	hlist_for_each_entry_rcu_notrace(wp, &loaded->watch->probes, node) {
		if (is_hit(wp, &hit))
			count_missed(wp);
	}
}
NOKPROBE_SYMBOL(miss);

/* The handlers see the address of the original. */
static noinline void call_after_copy(struct wprobe_loaded *loaded, unsigned long touched,
				     struct pt_regs *regs)
{
	struct hit hit = read_values(loaded, touched);
	unsigned long ip = instruction_pointer(regs);

	instruction_pointer_set(regs, kprobe_text_address(ip));
	call_handlers(&hit, regs);
	instruction_pointer_set(regs, ip);
}
NOKPROBE_SYMBOL(call_after_copy);

/**
 * wprobe_hit() - call the handlers of the probes on the accessed bytes
 * @regs: registers after the access; the instruction pointer may be in a copy of a kprobe
 * @slot: number of the register's slot
 * @touched: the accessed bytes of the aligned word, a mask; 0 if that is not known
 *
 * Context: debug exception, interrupts disabled.
 */
void wprobe_hit(struct pt_regs *regs, unsigned int slot, unsigned long touched)
{
	struct wprobe_loaded *loaded = this_cpu_ptr(&wprobe_cpu.loaded[slot]);
	struct hit hit;

	if (unlikely(raw_cpu_read(wprobe_cpu.busy))) {
		miss(loaded, touched);
		return;
	}
	raw_cpu_write(wprobe_cpu.busy, WPROBE_BUSY_HANDLER);
	barrier();
	if (unlikely(is_in_copy(regs))) {
		call_after_copy(loaded, touched, regs);
	} else {
		hit = read_values(loaded, touched);
		call_handlers(&hit, regs);
	}
	barrier();
	raw_cpu_write(wprobe_cpu.busy, WPROBE_BUSY_NOT);
}
NOKPROBE_SYMBOL(wprobe_hit);
