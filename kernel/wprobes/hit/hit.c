// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At a hit: call the handlers of the probes on the accessed bytes.
 *
 * Handlers run with interrupts disabled, so wprobe_commit() waits for them.  No function here
 * can be probed, no lock is taken.
 */
#include <linux/atomic.h>
#include <linux/kallsyms.h>
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

	if (flags & WPROBE_FLAG_DISABLED || !(wp->mask & hit->installed))
		return false;
	if (flags & WPROBE_FLAG_CHANGED)
		return (hit->old ^ hit->new) & wp->mask;
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
 *
 * For architectures whose exception is raised before the access.
 *
 * Context: debug exception, interrupts disabled.
 */
void wprobe_before(unsigned int slot)
{
	const struct wprobe_loaded *loaded = &this_cpu_ptr(&wprobe_cpu)->loaded[slot];

	raw_xchg(loaded->last, READ_ONCE_NOCHECK(*loaded->word));
}
NOKPROBE_SYMBOL(wprobe_before);

/**
 * wprobe_hit() - call the handlers of the probes on the accessed bytes
 * @slot: number of the register's slot
 * @regs: registers after the access; the instruction pointer may be in a copy of a kprobe
 * @touched: the accessed bytes of the aligned word, a mask; 0 if that is not known
 *
 * Context: debug exception, interrupts disabled.
 */
void wprobe_hit(unsigned int slot, struct pt_regs *regs, unsigned long touched)
{
	struct wprobe_cpu *cpu = this_cpu_ptr(&wprobe_cpu);
	const struct wprobe_loaded *loaded = &cpu->loaded[slot];
	unsigned long ip = instruction_pointer(regs);
	struct hit hit;
	bool copy;

	hit.installed = loaded->mask;
	hit.touched = touched;
	hit.new = READ_ONCE_NOCHECK(*loaded->word);
	/* Two CPUs never get the same change. */
	hit.old = raw_xchg(loaded->last, hit.new);
	if (unlikely(cpu->busy)) {
		count_missed(loaded->watch, &hit);
		return;
	}
	cpu->busy = true;
	barrier();
	/* Copies of instructions are not in the kernel's text. */
	copy = kprobes_in_use() && !__is_kernel_text(ip);
	if (copy)
		instruction_pointer_set(regs, kprobe_text_address(ip));
	arch_wprobe_handlers_begin();
	call_handlers(loaded->watch, &hit, regs);
	arch_wprobe_handlers_end();
	if (copy)
		instruction_pointer_set(regs, ip);
	barrier();
	cpu->busy = false;
}
NOKPROBE_SYMBOL(wprobe_hit);
