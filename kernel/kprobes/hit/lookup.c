// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At a hit: find the probepoint at an address, and the owner of the slot at an address.  For
 * debuggers: find out whether probes write to the text at an address.
 *
 * Readers take no lock, but have preemption disabled.  table.h and slots.h describe the data.
 */
#include <linux/preempt.h>

#include "../slots.h"
#include "../table.h"

/**
 * kprobe_table_find() - find the probepoint at an address
 * @addr: address of the first byte of the instruction
 *
 * Context: any, with preemption disabled or kprobe_mutex held.
 * Return: the point, valid for as long as the context lasts; or NULL.
 */
struct kprobe_point *kprobe_table_find(unsigned long addr)
{
	return addr == KPROBE_TABLE_NOWHERE ? NULL : kprobe_table_read(addr);
}
NOKPROBE_SYMBOL(kprobe_table_find);

/**
 * get_kprobe() - find the representative of the point at an address
 * @addr: address of an instruction that a CPU has executed
 *
 * Context: any, preemption disabled.
 * Return: the point's representative, or NULL.
 */
struct kprobe *get_kprobe(void *addr)
{
	struct kprobe_point *point = kprobe_table_read((unsigned long)addr);

	return point ? &point->kp : NULL;
}
NOKPROBE_SYMBOL(get_kprobe);

#ifdef CONFIG_OPTPROBES
/* Is @addr in the tail of a jump, which is in the text, or may be written at any time? */
static bool jump_covers(unsigned long addr)
{
	struct kprobe_point *point;
	unsigned int back;

	for (back = 1; back < MAX_OPTIMIZED_LENGTH; back++) {
		point = kprobe_table_find(addr - back);
		if (point && arch_prepared_optinsn(&point->op.optinsn))
			return true;
	}
	return false;
}
NOKPROBE_SYMBOL(jump_covers);
#else
static bool jump_covers(unsigned long addr)
{
	return false;
}
#endif

/**
 * kprobe_covers_text() - do kprobes write to the text at an address?
 * @addr: address where a debugger's breakpoint shall begin
 *
 * A debugger saves the text that its breakpoint replaces, and writes it back some time later.  It
 * would save part of a probe, or overwrite part of a jump.  The state of a point changes after its
 * text does, and a disarmed point may be armed while the breakpoint is there.  So each point
 * counts, and each detour, whose jump may be written at any time.
 *
 * Context: any, also while the other CPUs are stopped, wherever they are.
 * Return: true if they do, or may begin to.
 */
bool kprobe_covers_text(unsigned long addr)
{
	bool covers;

	preempt_disable_notrace();
	covers = kprobe_table_find(addr) || jump_covers(addr);
	preempt_enable_no_resched_notrace();
	return covers;
}
NOKPROBE_SYMBOL(kprobe_covers_text);

#ifdef __ARCH_WANT_KPROBES_INSN_SLOT
/**
 * __is_insn_slot_addr() - is this address in a page of the cache?
 * @cache: the cache
 * @addr: any address
 *
 * Context: any; RCU is watching.
 * Return: true if it is.
 */
bool __is_insn_slot_addr(struct kprobe_insn_cache *cache, unsigned long addr)
{
	struct slot_page *page;
	bool found;

	preempt_disable_notrace();
	page = find_slot_page(addr);
	found = page && page->cache == cache;
	preempt_enable_notrace();
	return found;
}
NOKPROBE_SYMBOL(__is_insn_slot_addr);

/**
 * kprobe_slot_owner() - find the owner of the slot at an address
 * @addr: any address
 * @start: set to the address of the slot, if @addr is in a slot
 *
 * Context: any, preemption disabled.
 * Return: the representative that owns the slot; NULL if @addr is not in a slot, or the
 * slot has no recorded owner.
 */
struct kprobe *kprobe_slot_owner(unsigned long addr, unsigned long *start)
{
	struct slot_page *page = find_slot_page(addr);
	unsigned int slot;

	if (!page)
		return NULL;
	slot = (addr - (unsigned long)page->insns) / page->cache->insn_size;
	if (slot >= page->nr)
		return NULL;
	*start = (unsigned long)slot_address(page, slot);
	return READ_ONCE(page->owners[slot]);
}
NOKPROBE_SYMBOL(kprobe_slot_owner);
#endif
