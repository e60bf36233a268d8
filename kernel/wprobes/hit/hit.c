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
#include <linux/uaccess.h>

#include "../internal.h"

/* A probe with one of these flags needs more checks in is_hit(). */
#define RARE_FLAGS	(WPROBE_FLAG_DISABLED | WPROBE_FLAG_CHANGED | WPROBE_FLAG_MOVABLE)

/**
 * struct hit - an access to a watched range
 * @loaded:	the register that matched
 * @touched:	the bytes that were accessed, a mask; 0 if that is not known
 * @has_before:	@old and @new have been read.  Otherwise take_values() sets them for each probe
 * @old:	the aligned word with the range before the access
 * @new:	the same after the access
 */
struct hit {
	const struct wprobe_loaded *loaded;
	unsigned long touched;
	bool has_before;
	unsigned long old;
	unsigned long new;
};

static __always_inline struct hit new_hit(const struct wprobe_loaded *loaded,
					  unsigned long touched)
{
	return (struct hit) { .loaded = loaded, .touched = touched };
}

/**
 * wprobe_running() - does a handler of a watchpoint probe on data of the kernel run?
 *
 * Context: any, preemption disabled.
 * Return: true if one runs on this CPU, or if the context has interrupted one.
 */
bool wprobe_running(void)
{
	return raw_cpu_read(wprobe_cpu.called);
}
NOKPROBE_SYMBOL(wprobe_running);

/* Another CPU may have freed the memory since the access.  Returns false then. */
static __always_inline bool read_word(const unsigned long *word, unsigned long *value)
{
	__get_kernel_nofault(value, word, unsigned long, freed);
	return true;
freed:
	return false;
}

/*
 * An access of a handler does not replace the value before the access that called the handler.
 * Returns false if the memory is gone.
 */
static __always_inline bool read_values(struct wprobe_loaded *loaded, struct hit *hit, bool nested)
{
	struct wprobe_before *before = &loaded->before[WPROBE_USER_BEFORE && nested];

	hit->has_before = true;
	if (!read_word(loaded->word, &hit->new))
		return false;
	hit->old = WPROBE_USER_BEFORE && !before->writes ? hit->new : before->word;
	before->word = hit->new;
	return true;
}

/* Has the only probe of a watch another address, but not yet the register of this CPU? */
static __always_inline bool has_moved(u32 flags, const struct wprobe_loaded *loaded)
{
	return flags & WPROBE_FLAG_MOVABLE && !loaded->percpu &&
	       wprobe_word(READ_ONCE(loaded->watch->range.addr)) != loaded->word;
}

/*
 * Sets the values of a probe, and replaces its last value.  Two CPUs do not get the same change: if
 * another CPU has replaced the last value meanwhile, the new one may be older than that.  The
 * address is read after the last value, which wprobe_retarget() writes after the address.
 */
static __always_inline bool take_values(struct wprobe *wp, u32 flags, struct hit *hit)
{
	unsigned long last = READ_ONCE(wp->last);

	do {
		if (has_moved(flags, hit->loaded))
			return false;
		if (hit->has_before)
			return true;
		if (!read_word(hit->loaded->word, &hit->new))
			return false;
	} while (!raw_try_cmpxchg(&wp->last, &last, hit->new));
	hit->old = last;
	return true;
}

/* Does the access belong to the probe, whatever the values?  share.c has the rules. */
static __always_inline bool concerns(const struct wprobe *wp, u32 flags, const struct hit *hit)
{
	if (!(wp->mask & hit->loaded->mask) || flags & WPROBE_FLAG_DISABLED)
		return false;
	return !(WPROBE_KNOWS_ACCESS && hit->touched) || hit->touched & wp->mask;
}

/* Is the handler to be called?  Then the values are those of the probe. */
static __always_inline bool is_hit(struct wprobe *wp, struct hit *hit)
{
	u32 flags = READ_ONCE(wp->flags);

	if (likely(!(flags & RARE_FLAGS)))
		return concerns(wp, 0, hit) && take_values(wp, 0, hit);
	if (!concerns(wp, flags, hit) || !take_values(wp, flags, hit))
		return false;
	return !(flags & WPROBE_FLAG_CHANGED) || (hit->old ^ hit->new) & wp->mask;
}

/* Watchpoints raise exceptions in handlers only, not while the core reads the word. */
static __always_inline void call_handlers(struct hit *hit, struct pt_regs *regs)
{
	struct wprobe *wp;

	hlist_for_each_entry_rcu_notrace(wp, &hit->loaded->watch->probes, node) {
		if (!is_hit(wp, hit))
			continue;
		raw_cpu_write(wprobe_cpu.called, wp);
		/* Exceptions between the two barriers, on this CPU, find the probe. */
		barrier();
		arch_wprobe_handler_begin();
		wp->handler(wp, regs, (hit->old & wp->mask) >> wp->shift,
			    (hit->new & wp->mask) >> wp->shift);
		arch_wprobe_handler_end();
		barrier();
		raw_cpu_write(wprobe_cpu.called, NULL);
	}
}

/* The operation is raw, because functions of sanitizers can be probed. */
static __always_inline void count_missed(struct wprobe *wp)
{
	raw_atomic_long_inc((atomic_long_t *)&wp->nmissed);
}

/**
 * wprobe_missed() - count an access whose handlers cannot be called
 * @loaded: the register, of this CPU
 *
 * Context: debug exception, interrupts disabled.
 */
void wprobe_missed(const struct wprobe_loaded *loaded)
{
	struct wprobe *wp;

	hlist_for_each_entry_rcu_notrace(wp, &loaded->watch->probes, node) {
		if (!(READ_ONCE(wp->flags) & WPROBE_FLAG_DISABLED))
			count_missed(wp);
	}
}
NOKPROBE_SYMBOL(wprobe_missed);

/**
 * wprobe_before() - keep the value before an access
 * @loaded: the register, of this CPU
 * @writes: the access writes
 *
 * For architectures whose exception is raised before the access.
 *
 * Context: debug exception, interrupts disabled.
 */
void wprobe_before(struct wprobe_loaded *loaded, bool writes)
{
	struct wprobe_before *before = &loaded->before[WPROBE_USER_BEFORE && wprobe_running()];

	before->writes = writes;
	/* If the memory is gone, the access will fault. */
	read_word(loaded->word, &before->word);
}
NOKPROBE_SYMBOL(wprobe_before);

/* Has the access been made by the copy of an instruction that has a kprobe? */
static __always_inline bool is_in_copy(struct pt_regs *regs)
{
	unsigned long ip;

	if (!kprobes_in_use())
		return false;
	ip = instruction_pointer(regs);
	return kprobe_may_be_copy(ip) && kprobe_text_address(ip) != ip;
}

/* Is a nested access missed by a probe that is called later, and takes the change then? */
static __always_inline bool misses_later(const struct wprobe *wp, const struct hit *hit)
{
	u32 flags = READ_ONCE(wp->flags);

	return !(flags & WPROBE_FLAG_CHANGED) && concerns(wp, flags, hit);
}

/*
 * An access of a handler.  The probes that are called after that handler take the change with the
 * access that called it.
 */
static noinline void miss(struct wprobe_loaded *loaded, unsigned long touched)
{
	struct wprobe_cpu *cpu = this_cpu_ptr(&wprobe_cpu);
	struct hit hit = new_hit(loaded, touched);
	bool later = cpu->following & BIT(loaded - cpu->loaded);
	struct wprobe *wp;

	if ((WPROBE_USER_BEFORE || (loaded->percpu && !later)) &&
	    !read_values(loaded, &hit, true))
		return;
	hlist_for_each_entry_rcu_notrace(wp, &loaded->watch->probes, node) {
		if (later && !hit.has_before ? misses_later(wp, &hit) : is_hit(wp, &hit))
			count_missed(wp);
		later |= wp == cpu->called;
	}
}
NOKPROBE_SYMBOL(miss);

/* The handlers see the address of the original. */
static __always_inline void call_as_original(struct hit *hit, struct pt_regs *regs)
{
	unsigned long ip = instruction_pointer(regs);

	instruction_pointer_set(regs, kprobe_text_address(ip));
	call_handlers(hit, regs);
	instruction_pointer_set(regs, ip);
}

/* Rare cases are in a function of their own, so that wprobe_hit() saves few registers. */
static noinline void hit_rarely(struct wprobe_loaded *loaded, unsigned long touched,
				struct pt_regs *regs)
{
	struct hit hit = new_hit(loaded, touched);

	if ((WPROBE_USER_BEFORE || loaded->percpu) && !read_values(loaded, &hit, false))
		return;
	if (is_in_copy(regs))
		call_as_original(&hit, regs);
	else
		call_handlers(&hit, regs);
}
NOKPROBE_SYMBOL(hit_rarely);

static __always_inline void hit_often(struct wprobe_loaded *loaded, unsigned long touched,
				      struct pt_regs *regs)
{
	struct hit hit = new_hit(loaded, touched);

	if (WPROBE_USER_BEFORE && !read_values(loaded, &hit, false))
		return;
	call_handlers(&hit, regs);
}

/**
 * wprobe_hit() - call the handlers of the probes on the accessed bytes
 * @regs: registers after the access; the instruction pointer may be in a copy of a kprobe
 * @loaded: the register that matches, of this CPU
 * @touched: the accessed bytes of the aligned word, a mask; 0 if that is not known
 *
 * Context: debug exception, interrupts disabled; no access of the core can be reported.
 */
void wprobe_hit(struct pt_regs *regs, struct wprobe_loaded *loaded, unsigned long touched)
{
	if (!WPROBE_KNOWS_ACCESS)
		touched = 0;
	if (unlikely(wprobe_running()))
		miss(loaded, touched);
	else if (unlikely(loaded->percpu || is_in_copy(regs)))
		hit_rarely(loaded, touched, regs);
	else
		hit_often(loaded, touched, regs);
}
NOKPROBE_SYMBOL(wprobe_hit);

/**
 * wprobe_hits() - call the handlers of an access that matches several registers
 * @regs: as for wprobe_hit()
 * @slots: numbers of the registers' slots, a bit each
 *
 * For architectures whose exception is raised after the access.
 *
 * Context: debug exception, interrupts disabled.
 */
void wprobe_hits(struct pt_regs *regs, unsigned long slots)
{
	struct wprobe_cpu *cpu = this_cpu_ptr(&wprobe_cpu);
	bool nested = cpu->called;

	for (; slots; slots &= slots - 1) {
		/* During a handler, these are the registers that follow the one of its access. */
		if (!nested)
			cpu->following = slots & (slots - 1);
		wprobe_hit(regs, &cpu->loaded[__ffs(slots)], 0);
	}
}
NOKPROBE_SYMBOL(wprobe_hits);
