// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From what a user wrote (symbol, offset, address) to an address that may be
 * probed, or to the reason why not.
 *
 * kprobe_place_find() resolves, kprobe_place_check() judges; neither changes
 * the caller's struct kprobe.  What depends on the instruction itself is the
 * architecture's, in arch_prepare_kprobe().
 */
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "internal.h"
#define CREATE_TRACE_POINTS
#include "trace.h"

static const char * const refusal_text[NR_KPROBE_REFUSALS] = {
	[KPROBE_REFUSE_BAD_ARGUMENT]	 = "no probes given",
	[KPROBE_REFUSE_SYMBOL_AND_ADDR]	 = "both symbol and address given",
	[KPROBE_REFUSE_NO_PLACE]	 = "neither symbol nor address given",
	[KPROBE_REFUSE_NO_SYMBOL]	 = "symbol not found",
	[KPROBE_REFUSE_NOT_TEXT]	 = "not in kernel or module text",
	[KPROBE_REFUSE_BLACKLISTED]	 = "blacklisted",
	[KPROBE_REFUSE_JUMP_LABEL]	 = "reserved for a jump label",
	[KPROBE_REFUSE_STATIC_CALL]	 = "reserved for a static call",
	[KPROBE_REFUSE_BUG]		 = "reserved for the bug table",
	[KPROBE_REFUSE_CFI]		 = "in the padding in front of a function",
	[KPROBE_REFUSE_FTRACE]		 = "reserved for ftrace",
	[KPROBE_REFUSE_BOUNDARY]	 = "not on an instruction boundary",
	[KPROBE_REFUSE_MODULE_GOING]	 = "the module is coming or going",
	[KPROBE_REFUSE_REGISTERED]	 = "already registered",
	[KPROBE_REFUSE_INSTRUCTION]	 = "the instruction cannot be probed",
	[KPROBE_REFUSE_ARMING]		 = "could not be armed",
	[KPROBE_REFUSE_NOT_ENTRY]	 = "not a function's entry",
	[KPROBE_REFUSE_RETURN_BLACKLISTED] = "return probes cannot work there",
	[KPROBE_REFUSE_DATA_SIZE]	 = "data_size too large",
	[KPROBE_REFUSE_JPROBE_HANDLER]	 = "the jprobe's handler is no function",
	[KPROBE_REFUSE_SECOND_JPROBE]	 = "the function has a jprobe",
	[KPROBE_REFUSE_NO_MEMORY]	 = "out of memory",
};

/**
 * kprobe_refuse() - say why a registration is refused
 * @addr: where, 0 if not known yet
 * @reason: the reason
 * @err: the errno that the caller is going to see
 *
 * Every refusal is a tracepoint; the first of each reason is also a message.
 *
 * Context: task.
 * Return: @err.
 */
int kprobe_refuse(unsigned long addr, enum kprobe_refusal reason, int err)
{
	static DECLARE_BITMAP(said, NR_KPROBE_REFUSALS);

	trace_kprobe_refused(addr, refusal_text[reason], err);
	if (!test_and_set_bit(reason, said))
		pr_info("a probe was refused at %pS: %s (%d); this is said once\n",
			(void *)addr, refusal_text[reason], err);
	return err;
}

/**
 * kprobe_lookup_name() - address of a symbol that is to be probed
 * @name: symbol, for a module's "module:symbol"
 * @offset: from the symbol; architectures with several entries look at it
 *
 * Context: task.
 * Return: the address, or NULL.
 */
kprobe_opcode_t * __weak kprobe_lookup_name(const char *name, unsigned int offset)
{
	return (kprobe_opcode_t *)kallsyms_lookup_name(name);
}

kprobe_opcode_t * __weak arch_adjust_kprobe_addr(unsigned long addr,
						 unsigned long offset,
						 bool *on_func_entry)
{
	*on_func_entry = !offset;
	return (kprobe_opcode_t *)(addr + offset);
}

/*
 * The address that (@addr or @symbol_name) plus @offset means.  A place given by address
 * is put in relation to its symbol too, for a landing pad at a function's entry has to be
 * stepped over however the entry was named.
 */
static int resolve(unsigned long addr, const char *symbol_name,
		   unsigned long offset, struct kprobe_place *place)
{
	unsigned long from_symbol;

	if (symbol_name && addr)
		return kprobe_refuse(addr, KPROBE_REFUSE_SYMBOL_AND_ADDR, -EINVAL);
	if (!symbol_name && !addr)
		return kprobe_refuse(0, KPROBE_REFUSE_NO_PLACE, -EINVAL);

	if (symbol_name) {
		addr = (unsigned long)kprobe_lookup_name(symbol_name, offset);
		if (!addr)
			return kprobe_refuse(0, KPROBE_REFUSE_NO_SYMBOL, -ENOENT);
	}
	addr += offset;
	if (!kprobe_symbol_find(addr, &from_symbol, &place->name))
		return kprobe_refuse(addr, KPROBE_REFUSE_NOT_TEXT,
				     symbol_name ? -ENOENT : -EINVAL);

	place->addr = (unsigned long)arch_adjust_kprobe_addr(addr - from_symbol,
							     from_symbol,
							     &place->on_func_entry);
	if (!place->addr)
		return kprobe_refuse(addr, KPROBE_REFUSE_NOT_TEXT, -EINVAL);
	place->offset = place->addr - (addr - from_symbol);
	place->skipped = place->addr - addr;
	return 0;
}

/**
 * kprobe_place_find() - where a registration goes
 * @p: the handle; only read
 * @place: filled in; holds no reference yet
 *
 * A struct whose address was found from its symbol when it was registered
 * before is resolved anew.
 *
 * Context: task.
 * Return: 0; -EINVAL if both or neither of symbol and address are given, or
 * the address has no symbol; -ENOENT if there is no such symbol.
 */
int kprobe_place_find(const struct kprobe *p, struct kprobe_place *place)
{
	unsigned long addr = (unsigned long)p->addr;

	if (p->symbol_name && (p->flags & KPROBE_FLAG_RESOLVED))
		addr = 0;
	memset(place, 0, sizeof(*place));
	return resolve(addr, p->symbol_name, p->offset, place);
}

/**
 * kprobe_on_func_entry() - is this the first instruction of a function?
 * @addr: address, or NULL
 * @sym: symbol, or NULL
 * @offset: from either
 *
 * Context: task.
 * Return: 0 if it is; -ENOENT if there is no such symbol; -EINVAL otherwise.
 */
int kprobe_on_func_entry(kprobe_opcode_t *addr, const char *sym, unsigned long offset)
{
	struct kprobe_place place = {};
	int ret = resolve((unsigned long)addr, sym, offset, &place);

	if (ret)
		return ret;
	return place.on_func_entry ? 0 : -EINVAL;
}

#ifdef CONFIG_DYNAMIC_FTRACE
/* ftrace's instruction is probed through ftrace, as a whole or not at all. */
static int check_ftrace(struct kprobe_place *place)
{
	unsigned long site = ftrace_location_range(place->addr, place->addr);

	if (!site)
		return 0;
	if (site != place->addr)
		return kprobe_refuse(place->addr, KPROBE_REFUSE_BOUNDARY, -EILSEQ);
	if (!IS_ENABLED(CONFIG_KPROBES_ON_FTRACE))
		return kprobe_refuse(place->addr, KPROBE_REFUSE_FTRACE, -EINVAL);
	place->ftrace = true;
	return 0;
}
#else
/* No instruction is ftrace's. */
static int check_ftrace(struct kprobe_place *place)
{
	return 0;
}
#endif

/*
 * Pins the module that owns the text.  Its init text is there only while it is
 * coming, and must not be probed later though the addresses still look right.
 */
static int pin_module(struct kprobe_place *place)
{
	struct module *mod;
	int ret = 0;

	rcu_read_lock();
	mod = __module_text_address(place->addr);
	if (!mod)
		goto out;
	if (!try_module_get(mod)) {
		ret = -ENOENT;
	} else if (within_module_init(place->addr, mod) &&
		   !module_is_coming(mod)) {
		module_put(mod);
		ret = -ENOENT;
	} else {
		place->mod = mod;
	}
out:
	rcu_read_unlock();
	return ret ? kprobe_refuse(place->addr, KPROBE_REFUSE_MODULE_GOING, ret) : 0;
}

/* The gate area counts as kernel text, but belongs to user space. */
static bool in_kernel_text(unsigned long addr)
{
	return core_kernel_text(addr) && !in_gate_area_no_mm(addr);
}

/**
 * kprobe_place_check() - may this address be probed?
 * @place: from kprobe_place_find(); gains a reference on its module
 *
 * Context: task, may sleep, kprobe_mutex held (kernel init text is freed under
 * it).  kprobe_place_put() ends what a success has begun.
 * Return: 0; -EINVAL if it is outside the kernel's text, blacklisted, or
 * reserved for somebody else; -EILSEQ if it is inside an instruction of
 * ftrace's; -ENOENT if its module is coming or going; -ENOMEM.
 */
int kprobe_place_check(struct kprobe_place *place)
{
	int ret;

	lockdep_assert_held(&kprobe_mutex);

	ret = pin_module(place);
	if (ret)
		return ret;
	if (!place->mod && !in_kernel_text(place->addr))
		ret = kprobe_refuse(place->addr, KPROBE_REFUSE_NOT_TEXT, -EINVAL);
	else if (place->name == KPROBE_NAME_BLACK ||
		 kprobe_blacklist_covers(place->addr))
		ret = kprobe_refuse(place->addr, KPROBE_REFUSE_BLACKLISTED, -EINVAL);
	if (!ret)
		ret = check_ftrace(place);
	if (!ret && place->name == KPROBE_NAME_CFI)
		ret = kprobe_refuse(place->addr, KPROBE_REFUSE_CFI, -EINVAL);
	if (!ret)
		ret = kprobe_reserved_check(place);
	if (ret)
		kprobe_place_put(place);
	return ret;
}

/* Drops the reference of a successful kprobe_place_check(). */
void kprobe_place_put(struct kprobe_place *place)
{
	module_put(place->mod);
	place->mod = NULL;
}
