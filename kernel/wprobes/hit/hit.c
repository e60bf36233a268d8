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
 * @installed:	the bytes that the register watches, a mask
 * @touched:	the bytes that were accessed, a mask; 0 if that is not known
 * @old:	the aligned word with the range before the access
 * @new:	the same after the access
 */
struct hit {
	unsigned long installed;
	unsigned long touched;
	unsigned long old;
	unsigned long new;
};

/* Does the access belong to the probe?  share.c has the rules. */
static __always_inline bool concerns(const struct wprobe *wp, const struct hit *hit)
{
	u32 flags = READ_ONCE(wp->flags);

	if (!(wp->mask & hit->installed))
		return false;
	if (unlikely(flags & (WPROBE_FLAG_DISABLED | WPROBE_FLAG_CHANGED)))
		return !(flags & WPROBE_FLAG_DISABLED) && (hit->old ^ hit->new) & wp->mask;
	if (WPROBE_KNOWS_ACCESS && hit->touched)
		return hit->touched & wp->mask;
	return true;
}

static __always_inline void call_handlers(struct wprobe_watch *watch, const struct hit *hit,
					  struct pt_regs *regs)
{
	struct wprobe *wp;

	hlist_for_each_entry_rcu_notrace(wp, &watch->probes, node) {
		if (concerns(wp, hit))
			wp->handler(wp, regs, (hit->old & wp->mask) >> wp->shift,
				    (hit->new & wp->mask) >> wp->shift);
	}
}

static __always_inline void count_missed(struct wprobe_watch *watch, const struct hit *hit)
{
	struct wprobe *wp;

	/* The operation is raw, because functions of sanitizers can be probed. */
	hlist_for_each_entry_rcu_notrace(wp, &watch->probes, node) {
		if (concerns(wp, hit))
			raw_atomic_long_inc((atomic_long_t *)&wp->nmissed);
	}
}

/**
 * wprobe_missed() - count an access whose handlers cannot be called
 * @slot: number of the register's slot
 *
 * Context: debug exception, interrupts disabled.
 */
void wprobe_missed(unsigned int slot)
{
	struct hit hit = { .installed = ~0UL, .touched = ~0UL, .new = ~0UL };

	count_missed(this_cpu_ptr(&wprobe_cpu)->loaded[slot].watch, &hit);
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
static noinline void miss(const struct wprobe_loaded *loaded, unsigned long touched,
			  unsigned long new)
{
	struct hit hit = { .installed = loaded->mask, .touched = touched, .new = new };

	if (raw_cpu_read(wprobe_cpu.busy) == WPROBE_BUSY_READING)
		return;
	hit.old = raw_xchg(loaded->last, new);
	count_missed(loaded->watch, &hit);
}
NOKPROBE_SYMBOL(miss);

/* The handlers see the address of the original. */
static noinline void call_after_copy(struct wprobe_watch *watch, unsigned long installed,
				     unsigned long touched, unsigned long old,
				     unsigned long new, struct pt_regs *regs)
{
	const struct hit hit = { installed, touched, old, new };
	unsigned long ip = instruction_pointer(regs);

	instruction_pointer_set(regs, kprobe_text_address(ip));
	call_handlers(watch, &hit, regs);
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
	const struct wprobe_loaded *loaded = this_cpu_ptr(&wprobe_cpu.loaded[slot]);
	struct wprobe_watch *watch = loaded->watch;
	struct hit hit = {
		.installed = loaded->mask,
		.touched = WPROBE_KNOWS_ACCESS ? touched : 0,
		.new = READ_ONCE_NOCHECK(*loaded->word),
	};

	if (unlikely(raw_cpu_read(wprobe_cpu.busy))) {
		miss(loaded, hit.touched, hit.new);
		return;
	}
	/* Two CPUs never get the same change. A change during a read is one of another CPU. */
	hit.old = raw_xchg(loaded->last, hit.new);
	if (WPROBE_USER_BEFORE && !loaded->writes)
		hit.old = hit.new;
	raw_cpu_write(wprobe_cpu.busy, WPROBE_BUSY_HANDLER);
	barrier();
	arch_wprobe_handlers_begin();
	if (unlikely(is_in_copy(regs)))
		call_after_copy(watch, hit.installed, hit.touched, hit.old, hit.new, regs);
	else
		call_handlers(watch, &hit, regs);
	arch_wprobe_handlers_end();
	barrier();
	raw_cpu_write(wprobe_cpu.busy, WPROBE_BUSY_NOT);
}
NOKPROBE_SYMBOL(wprobe_hit);
