// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Resolve the symbol, offset or address of a registration, check whether the memory may be
 * watched, and report refusals.
 */
#include <linux/kallsyms.h>
#include <linux/kasan.h>
#include <linux/log2.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/fixmap.h>
#include <asm/sections.h>

#include "internal.h"
#define CREATE_TRACE_POINTS
#include "trace.h"

/* The text of each reason for the log and the tracepoint, and the errno for the caller. */
static const struct {
	const char *text;
	int err;
} refusals[NR_WPROBE_REFUSALS] = {
	[WPROBE_REFUSE_BAD_ARGUMENT]	= { "no probes, or a NULL in the array", -EINVAL },
	[WPROBE_REFUSE_NO_HANDLER]	= { "no handler given", -EINVAL },
	[WPROBE_REFUSE_SYMBOL_AND_ADDR]	= { "both symbol and address given", -EINVAL },
	[WPROBE_REFUSE_NO_PLACE]	= { "neither symbol nor address given", -EINVAL },
	[WPROBE_REFUSE_NO_SYMBOL]	= { "symbol not found", -ENOENT },
	[WPROBE_REFUSE_BAD_LENGTH]	= { "no bytes, or more than a register can watch",
					    -EINVAL },
	[WPROBE_REFUSE_CROSSES_WORD]	= { "not inside one aligned word", -EINVAL },
	[WPROBE_REFUSE_UNALIGNED]	= { "not aligned to its length, and not for changes only",
					    -EINVAL },
	[WPROBE_REFUSE_BAD_TYPE]	= { "neither read nor write", -EINVAL },
	[WPROBE_REFUSE_NO_READS]	= { "the processor cannot watch for reads only",
					    -EOPNOTSUPP },
	[WPROBE_REFUSE_USER]		= { "not an address of the kernel", -EINVAL },
	[WPROBE_REFUSE_DEVICE]		= { "memory of a device", -EINVAL },
	[WPROBE_REFUSE_UNMAPPED]	= { "not mapped", -EFAULT },
	[WPROBE_REFUSE_ENTRY]		= { "used by the entry of exceptions", -EINVAL },
	[WPROBE_REFUSE_MODULE_GOING]	= { "its module frees it now", -ENOENT },
	[WPROBE_REFUSE_REGISTERED]	= { "already registered", -EINVAL },
	[WPROBE_REFUSE_NO_REGISTER]	= { "no register is free", -ENOSPC },
	[WPROBE_REFUSE_NO_MEMORY]	= { "out of memory", -ENOMEM },
	[WPROBE_REFUSE_NOT_OF_PROCESS]	= { "a symbol or a flag that is for data of the kernel",
					    -EINVAL },
	[WPROBE_REFUSE_KERNEL]		= { "not an address of a process", -EINVAL },
	[WPROBE_REFUSE_NO_PROCESS]	= { "no such process, or it has ended", -ESRCH },
	[WPROBE_REFUSE_KTHREAD]		= { "a kernel thread", -EINVAL },
	[WPROBE_REFUSE_PROCESS]		= { "a process of this kind cannot be watched",
					    -EOPNOTSUPP },
	[WPROBE_REFUSE_NOT_READABLE]	= { "not mapped in the process, or not readable",
					    -EFAULT },
	[WPROBE_REFUSE_NOT_WATCHABLE]	= { "perf refuses the watchpoint", -EINVAL },
};

/**
 * wprobe_refuse() - report why a registration is refused
 * @addr: the address; 0 if it is not known
 * @reason: the reason
 *
 * Every refusal fires the tracepoint; the first for each reason is also logged.
 *
 * Context: task.
 * Return: the errno of @reason.
 */
int wprobe_refuse(unsigned long addr, enum wprobe_refusal reason)
{
	static DECLARE_BITMAP(logged, NR_WPROBE_REFUSALS);
	const char *text = refusals[reason].text;
	int err = refusals[reason].err;

	trace_wprobe_refused(addr, text, err);
	if (test_and_set_bit(reason, logged))
		return err;
	/* Without a symbol, the address itself would be in the log, which is less protected. */
	if (kallsyms_lookup_size_offset(addr, NULL, NULL))
		pr_info("a probe was refused at %pS: %s (%d); reported once for each reason\n",
			(void *)addr, text, err);
	else
		pr_info("a probe was refused: %s (%d); reported once for each reason\n",
			text, err);
	return err;
}

/**
 * wprobe_refuse_probe() - report why a probe is refused, and tell its user
 * @wp: the probe, which is not registered
 * @addr: the address; 0 if it is not known
 * @reason: the reason
 *
 * Context: task.
 * Return: the errno of @reason.
 */
int wprobe_refuse_probe(struct wprobe *wp, unsigned long addr, enum wprobe_refusal reason)
{
	wp->refusal = refusals[reason].text;
	return wprobe_refuse(addr, reason);
}

/* The sections with the initial values of per-CPU variables have their addresses. */
static bool is_percpu(unsigned long addr)
{
	return IS_ENABLED(CONFIG_SMP) && addr >= (unsigned long)__per_cpu_start &&
	       addr < (unsigned long)__per_cpu_end;
}

static enum wprobe_refusal resolve(const struct wprobe *wp, struct wprobe_range *want)
{
	want->addr = wprobe_addr(wp);
	if (wp->symbol_name) {
		/* An address that an earlier registration has derived is derived again. */
		if (want->addr && !(wp->flags & WPROBE_FLAG_RESOLVED))
			return WPROBE_REFUSE_SYMBOL_AND_ADDR;
		want->addr = kallsyms_lookup_name(wp->symbol_name);
		if (!want->addr)
			return WPROBE_REFUSE_NO_SYMBOL;
		want->addr += wp->offset;
	}
	if (!want->addr)
		return WPROBE_REFUSE_NO_PLACE;
	want->percpu = wp->flags & WPROBE_FLAG_PERCPU || is_percpu(want->addr);
	/* Accesses are reported without tags. */
	if (!want->percpu)
		want->addr = (unsigned long)kasan_reset_tag((void *)want->addr);
	return WPROBE_REFUSE_NONE;
}

static enum wprobe_refusal check_shape(const struct wprobe *wp, struct wprobe_place *place)
{
	struct wprobe_range *want = &place->want;

	if (!wp->len || wp->len > sizeof(long))
		return WPROBE_REFUSE_BAD_LENGTH;
	if (wp->type & ~WPROBE_RW)
		return WPROBE_REFUSE_BAD_TYPE;
	want->len = wp->len;
	want->type = wp->type ?: WPROBE_WRITE;
	if (!(WPROBE_TYPES & BIT(want->type)))
		return WPROBE_REFUSE_NO_READS;
	if (wprobe_word(want->addr) != wprobe_word(want->addr + want->len - 1))
		return WPROBE_REFUSE_CROSSES_WORD;
	place->range = *want;
	if (!arch_wprobe_cover(&place->range))
		return WPROBE_REFUSE_CROSSES_WORD;
	if (place->range.len != want->len && !wprobe_separable(wp->flags))
		return WPROBE_REFUSE_UNALIGNED;
	return WPROBE_REFUSE_NONE;
}

/*
 * Watched words are read, at each hit and before.  To read the register of a device may have
 * effects, and an access that no device answers is an error of the machine.
 */
static bool is_device(unsigned long addr)
{
	const struct vm_struct *area = find_vm_area((void *)addr);

	return (area && area->flags & VM_IOREMAP) || (addr >= FIXADDR_START && addr < FIXADDR_TOP);
}

static enum wprobe_refusal check_memory(const struct wprobe_range *range)
{
	unsigned long word;

	if (range->addr < TASK_SIZE_MAX)
		return WPROBE_REFUSE_USER;
	if (is_device(range->addr))
		return WPROBE_REFUSE_DEVICE;
	if (!arch_wprobe_allowed(range))
		return WPROBE_REFUSE_ENTRY;
	if (!wprobe_read(&word, wprobe_word(range->addr)))
		return WPROBE_REFUSE_UNMAPPED;
	return WPROBE_REFUSE_NONE;
}

/* Checks the copy of each CPU. */
static enum wprobe_refusal check_all_memory(const struct wprobe_range *range)
{
	enum wprobe_refusal refusal = WPROBE_REFUSE_NONE;
	struct wprobe_range copy = { .len = range->len, .type = range->type };
	int cpu;

	if (!range->percpu)
		return check_memory(range);
	for_each_possible_cpu(cpu) {
		copy.addr = (unsigned long)per_cpu_ptr((void __percpu *)range->addr, cpu);
		refusal = refusal ?: check_memory(&copy);
		cond_resched();
	}
	return refusal;
}

/**
 * wprobe_place_find() - resolve and check the memory that a registration wants to watch
 * @wp: the probe; only read
 * @place: filled in; its want.addr also on failure, 0 if it is not known
 *
 * Context: task, may sleep, wprobe_mutex held (it delays the going of modules).
 * Return: %WPROBE_REFUSE_NONE, or the reason of the failure.
 */
enum wprobe_refusal wprobe_place_find(const struct wprobe *wp, struct wprobe_place *place)
{
	enum wprobe_refusal refusal;

	lockdep_assert_held(&wprobe_mutex);

	memset(place, 0, sizeof(*place));
	refusal = wp->handler ? WPROBE_REFUSE_NONE : WPROBE_REFUSE_NO_HANDLER;
	refusal = refusal ?: resolve(wp, &place->want);
	refusal = refusal ?: check_shape(wp, place);
	if (!refusal && wprobe_module_frees(&place->range))
		refusal = WPROBE_REFUSE_MODULE_GOING;
	return refusal ?: check_all_memory(&place->range);
}

/**
 * wprobe_place_find_user() - check the address and length of a probe on data of a process
 * @wp: the probe, with a pid; only read
 * @addr: its address, without a tag
 * @place: filled in; its want.addr also on failure
 *
 * Context: any.
 * Return: %WPROBE_REFUSE_NONE, or the reason of the failure.
 */
enum wprobe_refusal wprobe_place_find_user(const struct wprobe *wp, unsigned long addr,
					   struct wprobe_place *place)
{
	enum wprobe_refusal refusal;

	memset(place, 0, sizeof(*place));
	place->want.addr = addr;
	if (!wp->handler)
		return WPROBE_REFUSE_NO_HANDLER;
	if (wp->symbol_name || wp->flags & (WPROBE_FLAG_PERCPU | WPROBE_FLAG_MOVABLE))
		return WPROBE_REFUSE_NOT_OF_PROCESS;
	if (!addr)
		return WPROBE_REFUSE_NO_PLACE;
	if (addr >= TASK_SIZE_MAX)
		return WPROBE_REFUSE_KERNEL;
	refusal = check_shape(wp, place);
	if (!refusal && place->range.addr + place->range.len > TASK_SIZE_MAX)
		return WPROBE_REFUSE_KERNEL;
	return refusal;
}
