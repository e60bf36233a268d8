// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Load the registers of all CPUs, also of those that come online later.
 *
 * wprobe_slots[] has the wanted content.  A CPU compares it with the content that it has
 * loaded, and loads the registers that differ.  It does so in a cross call after each change,
 * and when it has come online.  A CPU that goes offline removes its watchpoints, because its
 * registers are lost; accesses in the remaining part of that path are not seen.  At a suspend
 * all CPUs but one go offline; the architecture restores the registers of the last one.
 *
 * The callbacks of CPU hotplug take wprobe_mutex, so nothing may wait for CPU hotplug under it.
 */
#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kasan.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include <linux/wprobes-task.h>

#include "internal.h"

DEFINE_PER_CPU(struct wprobe_cpu, wprobe_cpu);
struct wprobe_slot wprobe_slots[WPROBE_SLOTS];

/**
 * wprobe_handler_died() - a task dies, which may be in a handler
 *
 * Handlers run with preemption disabled: if a handler has begun on this CPU, it is current's.
 *
 * Context: task that dies in an exception, on the CPU where it was raised.
 */
void wprobe_handler_died(void)
{
	if (raw_cpu_read(wprobe_cpu.called))
		arch_wprobe_handler_died();
	raw_cpu_write(wprobe_cpu.called, NULL);
	raw_cpu_write(wprobe_cpu.following, 0);
}

/**
 * wprobe_read() - read a word that may be watched, without a hit
 * @value: set to the value of the word
 * @word: the word
 *
 * Context: any.
 * Return: false if the word cannot be read.
 */
bool wprobe_read(unsigned long *value, const unsigned long *word)
{
	unsigned long state;
	bool done;

	guard(irqsave)();
	state = arch_wprobe_read_begin();
	done = !copy_from_kernel_nofault(value, word, sizeof(*value));
	arch_wprobe_read_end(state);
	return done;
}

/**
 * wprobe_read_last() - read the value that the next hit of a probe reports as the old one
 * @wp: a probe that was not watched until now; of a per-CPU variable, each CPU reads its copy when
 *	it loads its register
 *
 * If a hit replaces the last value meanwhile, the value of the hit is newer, and stays.
 *
 * Context: task, wprobe_mutex held.
 */
void wprobe_read_last(struct wprobe *wp)
{
	unsigned long last = READ_ONCE(wp->last), now;

	if (wp->watch->range.percpu)
		return;
	do {
		if (!wprobe_read(&now, wprobe_word(wprobe_addr(wp))))
			return;
	} while (!try_cmpxchg(&wp->last, &last, now));
}

/* Returns the content for a register of this CPU, with the address of its copy of a variable. */
static struct wprobe_range range_here(const struct wprobe_range *range)
{
	struct wprobe_range here = *range;

	if (here.percpu) {
		here.addr = (unsigned long)
			kasan_reset_tag(this_cpu_ptr((void __percpu *)here.addr));
		here.percpu = false;
	}
	return here;
}

static bool same(const struct wprobe_range *a, const struct wprobe_range *b)
{
	return a->addr == b->addr && a->len == b->len && a->type == b->type;
}

/* Records the content of a register, before it is loaded. */
static void set_loaded(struct wprobe_loaded *loaded, const struct wprobe_range *range,
		       struct wprobe_watch *watch)
{
	loaded->range = *range;
	loaded->word = wprobe_word(range->addr);
	loaded->mask = wprobe_mask(range->addr, range->len);
	loaded->watch = watch;
	loaded->percpu = watch->range.percpu;
	if (loaded->percpu)
		wprobe_read(&loaded->before[0].word, loaded->word);
}

/*
 * Loads the registers that differ.  First those that are not needed any more are removed,
 * because a range may have moved to another slot.
 */
static void load_registers(bool all)
{
	struct wprobe_cpu *cpu = this_cpu_ptr(&wprobe_cpu);
	struct wprobe_range want[WPROBE_SLOTS] = {};
	struct wprobe_range *loaded;
	unsigned int i;

	cpu->loading = true;
	/* Pairs with the test in wprobe_move_here(), called by an NMI of this CPU. */
	barrier();
	for (i = 0; i < WPROBE_SLOTS; i++) {
		if (all)
			want[i] = range_here(&wprobe_slots[i].range);
		loaded = &cpu->loaded[i].range;
		if (loaded->len && !same(loaded, &want[i])) {
			arch_wprobe_remove(i, loaded);
			loaded->len = 0;
		}
	}
	for (i = 0; i < WPROBE_SLOTS; i++) {
		if (!want[i].len || cpu->loaded[i].range.len)
			continue;
		set_loaded(&cpu->loaded[i], &want[i], wprobe_slots[i].watch);
		arch_wprobe_install(i, &want[i], &cpu->loaded[i]);
	}
	/* As above: until now wprobe_move_here() changes nothing. */
	barrier();
	cpu->loading = false;
}

/**
 * wprobe_move_here() - let this CPU watch another address
 * @slot: number of the slot
 * @addr: first byte
 *
 * If an NMI calls this while the CPU loads its registers, the next wprobe_commit() does it.
 *
 * Context: any, interrupts disabled.
 */
void wprobe_move_here(unsigned int slot, unsigned long addr)
{
	struct wprobe_cpu *cpu = this_cpu_ptr(&wprobe_cpu);
	struct wprobe_loaded *loaded = &cpu->loaded[slot];

	if (cpu->loading || !loaded->range.len)
		return;
	loaded->range.addr = addr;
	loaded->word = wprobe_word(addr);
	arch_wprobe_move(slot, addr);
}

static void sync_cpu(void *unused)
{
	if (this_cpu_read(wprobe_cpu.online))
		load_registers(true);
}

/* Returns the slot of @watch if its register is in use. */
static struct wprobe_slot *slot_of(struct wprobe_watch *watch)
{
	return watch->state == WPROBE_ARMED ? &wprobe_slots[watch->slot] : NULL;
}

/* Copies the range of a watch; wprobe_retarget() may change the address at any time. */
static void copy_range(struct wprobe_slot *slot, const struct wprobe_watch *watch)
{
	do {
		slot->range = watch->range;
		/*
		 * Pairs with the barrier in wprobe_retarget(): it writes the watch first.  If
		 * its write of the slot was before ours, the new address of the watch is seen
		 * here.
		 */
		smp_mb();
	} while (READ_ONCE(slot->range.addr) != READ_ONCE(watch->range.addr));
}

/**
 * wprobe_commit() - let all CPUs load the registers, and wait for handlers
 *
 * Afterwards no hit uses a probe or a watch that has been removed before the call.
 *
 * Context: task, interrupts enabled, wprobe_mutex held.
 */
void wprobe_commit(void)
{
	struct wprobe_watch *owners[WPROBE_SLOTS] = {};
	struct wprobe_watch *watch;
	struct wprobe_slot *slot;
	unsigned int i;

	lockdep_assert_held(&wprobe_mutex);

	list_for_each_entry(watch, &wprobe_watches, list) {
		slot = slot_of(watch);
		if (!slot)
			continue;
		copy_range(slot, watch);
		slot->watch = watch;
		owners[slot - wprobe_slots] = watch;
	}
	for (i = 0; i < WPROBE_SLOTS; i++) {
		if (!owners[i])
			wprobe_slots[i].range.len = 0;
	}
	on_each_cpu(sync_cpu, NULL, true);
	/* Until now the slot must not be used for another watch: see free_slot(). */
	for (i = 0; i < WPROBE_SLOTS; i++) {
		if (!owners[i])
			wprobe_slots[i].watch = NULL;
	}
}

static int set_online(bool online)
{
	guard(mutex)(&wprobe_mutex);
	guard(irqsave)();
	this_cpu_write(wprobe_cpu.online, online);
	load_registers(online);
	return 0;
}

static int watch_cpu(unsigned int cpu)
{
	return set_online(true);
}

static int leave_cpu(unsigned int cpu)
{
	return set_online(false);
}

static int __init wprobe_cpu_init(void)
{
	int ret;

	hw_breakpoint_prepare_wide();
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "wprobes:online", watch_cpu, leave_cpu);
	return ret < 0 ? ret : 0;
}
subsys_initcall(wprobe_cpu_init);
