// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Resolve the symbol, offset or address of a registration, check whether the
 * address may be probed, and report refusals.
 *
 * kprobe_place_find() resolves, kprobe_place_check() checks.  Both return a reason;
 * they do not report it and do not change the caller's struct kprobe.
 * kprobe_refuse() reports a reason and returns its errno.  The architecture checks
 * the instruction itself, in arch_prepare_kprobe_why().
 */
#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "internal.h"
#define CREATE_TRACE_POINTS
#include "trace.h"

/* The text of each reason for the log and the tracepoint, and the errno for the caller. */
static const struct {
	const char *text;
	int err;
} refusals[NR_KPROBE_REFUSALS] = {
	[KPROBE_REFUSE_NOT_READY]	= { "kprobes are not initialised yet", -EAGAIN },
	[KPROBE_REFUSE_BAD_ARGUMENT]	= { "no probes, or a NULL in the array", -EINVAL },
	[KPROBE_REFUSE_SYMBOL_AND_ADDR]	= { "both symbol and address given", -EINVAL },
	[KPROBE_REFUSE_NO_PLACE]	= { "neither symbol nor address given", -EINVAL },
	[KPROBE_REFUSE_NO_SYMBOL]	= { "symbol not found", -ENOENT },
	[KPROBE_REFUSE_BAD_OFFSET]	= { "not in kernel or module text", -ENOENT },
	[KPROBE_REFUSE_NOT_TEXT]	= { "not in kernel or module text", -EINVAL },
	[KPROBE_REFUSE_BLACKLISTED]	= { "blacklisted", -EINVAL },
	[KPROBE_REFUSE_JUMP_LABEL]	= { "reserved for a jump label", -EINVAL },
	[KPROBE_REFUSE_STATIC_CALL]	= { "reserved for a static call", -EINVAL },
	[KPROBE_REFUSE_BUG]		= { "reserved for the bug table", -EINVAL },
	[KPROBE_REFUSE_LIVE_PATCH]	= { "relocated when a patched module comes", -EINVAL },
	[KPROBE_REFUSE_CFI]		= { "in the padding in front of a function", -EINVAL },
	[KPROBE_REFUSE_FTRACE]		= { "reserved for ftrace", -EINVAL },
	[KPROBE_REFUSE_BOUNDARY]	= { "not on an instruction boundary", -EILSEQ },
	[KPROBE_REFUSE_MODULE_GOING]	= { "the module is coming or going", -ENOENT },
	[KPROBE_REFUSE_REGISTERED]	= { "already registered", -EINVAL },
	[KPROBE_REFUSE_INSTRUCTION]	= { "the instruction cannot be probed", -EINVAL },
	[KPROBE_REFUSE_ARMING]		= { "could not be armed", -EBUSY },
	[KPROBE_REFUSE_NOT_ENTRY]	= { "not a function's entry", -EINVAL },
	[KPROBE_REFUSE_RETURN_BLACKLISTED] = { "return probes cannot work there", -EINVAL },
	[KPROBE_REFUSE_DATA_SIZE]	= { "data_size too large", -E2BIG },
	[KPROBE_REFUSE_JPROBE_HANDLER]	= { "the jprobe's handler is no function", -EINVAL },
	[KPROBE_REFUSE_SECOND_JPROBE]	= { "the function has a jprobe", -EEXIST },
	[KPROBE_REFUSE_NO_MEMORY]	= { "out of memory", -ENOMEM },
};

/* Without a symbol, %pS would write the address itself to the log, which is less protected. */
static void log_refusal(unsigned long addr, const char *text, int err)
{
	if (kallsyms_lookup_size_offset(addr, NULL, NULL))
		pr_info("a probe was refused at %pS: %s (%d); reported once for each reason\n",
			(void *)addr, text, err);
	else
		pr_info("a probe was refused: %s (%d); reported once for each reason\n", text, err);
}

/**
 * kprobe_refuse_with() - report why a registration is refused, with an explanation
 * @addr: the address; 0 if it is not known yet
 * @reason: the reason
 * @err: the errno that will be returned to the user
 * @detail: explanation from the architecture or another part of the kernel, a constant string;
 *	may be NULL
 * @why: set to the text of @reason, and @detail; may be NULL
 *
 * Every refusal fires the tracepoint; the first for each reason is also logged.
 *
 * Context: task.
 * Return: @err.
 */
int kprobe_refuse_with(unsigned long addr, enum kprobe_refusal reason, int err,
		       const char *detail, struct kprobe_why *why)
{
	static DECLARE_BITMAP(logged, NR_KPROBE_REFUSALS);
	const char *text = refusals[reason].text;
	char both[100];

	if (why)
		*why = (struct kprobe_why) { .text = text, .detail = detail };
	if (detail) {
		scnprintf(both, sizeof(both), "%s: %s", text, detail);
		text = both;
	}
	trace_kprobe_refused(addr, text, err);
	if (!test_and_set_bit(reason, logged))
		log_refusal(addr, text, err);
	return err;
}

/**
 * kprobe_refuse() - report why a registration is refused
 * @addr: the address; 0 if it is not known yet
 * @reason: the reason
 * @why: set to the text of @reason; may be NULL
 *
 * Context: task.
 * Return: the errno of @reason.
 */
int kprobe_refuse(unsigned long addr, enum kprobe_refusal reason, struct kprobe_why *why)
{
	return kprobe_refuse_with(addr, reason, refusals[reason].err, NULL, why);
}

unsigned int __weak arch_landing_pad(unsigned long addr)
{
	return 0;
}

/* Steps over the landing pad at a function's entry. */
kprobe_opcode_t * __weak arch_adjust_kprobe_addr(unsigned long addr,
						 unsigned long offset,
						 bool *on_func_entry)
{
	unsigned int pad = arch_landing_pad(addr);

	*on_func_entry = !offset || offset == pad;
	return (kprobe_opcode_t *)(addr + (offset ?: pad));
}

/*
 * Resolves (@addr or @symbol_name) plus @offset.  The symbol is also looked up for a plain
 * address, because a landing pad at a function's entry is skipped in both cases.  On failure
 * @place->addr is the last address that was computed.
 */
static enum kprobe_refusal resolve(unsigned long addr, const char *symbol_name,
				   unsigned long offset, struct kprobe_place *place)
{
	unsigned long from_symbol, adjusted;

	place->addr = addr;
	if (symbol_name && addr)
		return KPROBE_REFUSE_SYMBOL_AND_ADDR;
	if (!symbol_name && !addr)
		return KPROBE_REFUSE_NO_PLACE;

	if (symbol_name) {
		addr = (unsigned long)kprobe_lookup_name(symbol_name, offset);
		if (!addr)
			return KPROBE_REFUSE_NO_SYMBOL;
	}
	addr += offset;
	place->addr = addr;
	if (!kprobe_symbol_find(addr, &from_symbol, &place->name))
		return symbol_name ? KPROBE_REFUSE_BAD_OFFSET : KPROBE_REFUSE_NOT_TEXT;

	adjusted = (unsigned long)arch_adjust_kprobe_addr(addr - from_symbol, from_symbol,
							  &place->on_func_entry);
	if (!adjusted)
		return KPROBE_REFUSE_NOT_TEXT;
	place->addr = adjusted;
	place->offset = adjusted - (addr - from_symbol);
	place->skipped = adjusted - addr;
	return KPROBE_REFUSE_NONE;
}

/**
 * kprobe_place_find() - resolve the address of a registration
 * @p: the probe; only read
 * @place: filled in, its addr also on failure; holds no reference yet
 *
 * If the address was derived from the symbol in an earlier registration, it is
 * derived again.
 *
 * Context: task.
 * Return: %KPROBE_REFUSE_NONE, or the reason of the failure.
 */
enum kprobe_refusal kprobe_place_find(const struct kprobe *p, struct kprobe_place *place)
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
 * @offset: offset from @addr or @sym
 *
 * Context: task.
 * Return: 0 if it is; -ENOENT if there is no such symbol, or the offset leads out of the text;
 * -EINVAL otherwise.
 */
int kprobe_on_func_entry(kprobe_opcode_t *addr, const char *sym, unsigned long offset)
{
	struct kprobe_place place = {};
	enum kprobe_refusal refusal = resolve((unsigned long)addr, sym, offset, &place);

	if (!refusal && !place.on_func_entry)
		refusal = KPROBE_REFUSE_NOT_ENTRY;
	return refusals[refusal].err;
}

#ifdef CONFIG_DYNAMIC_FTRACE
/* An instruction that ftrace owns is probed through ftrace, and at its first byte only. */
static enum kprobe_refusal check_ftrace(struct kprobe_place *place)
{
	unsigned long site = ftrace_location_range(place->addr, place->addr);

	if (!site)
		return KPROBE_REFUSE_NONE;
	if (site != place->addr)
		return KPROBE_REFUSE_BOUNDARY;
	if (!IS_ENABLED(CONFIG_KPROBES_ON_FTRACE))
		return KPROBE_REFUSE_FTRACE;
	place->ftrace = true;
	return KPROBE_REFUSE_NONE;
}
#else
/* ftrace owns no instruction. */
static enum kprobe_refusal check_ftrace(struct kprobe_place *place)
{
	return KPROBE_REFUSE_NONE;
}
#endif

/*
 * A module may be probed from our notification that it is coming to the one that it goes.  Its
 * init text exists only until it is live, although look-ups may still find it.
 */
static bool module_allows(struct module *mod, unsigned long addr)
{
	return kprobe_module_coming(mod) ||
	       (!module_is_coming(mod) && !within_module_init(addr, mod));
}

/* Pins the module that owns the text. */
static enum kprobe_refusal pin_module(struct kprobe_place *place)
{
	struct module *mod;

	guard(rcu)();
	mod = __module_text_address(place->addr);
	if (!mod)
		return KPROBE_REFUSE_NONE;
	/* In this order: a module that is neither coming nor live here will not be pinned. */
	if (!module_allows(mod, place->addr) || !try_module_get(mod))
		return KPROBE_REFUSE_MODULE_GOING;
	place->mod = mod;
	return KPROBE_REFUSE_NONE;
}

/* The gate area counts as kernel text, but belongs to user space. */
static bool in_kernel_text(unsigned long addr)
{
	return core_kernel_text(addr) && !in_gate_area_no_mm(addr);
}

/* Checks the address; its text stays meanwhile. */
static enum kprobe_refusal check_text(struct kprobe_place *place)
{
	enum kprobe_refusal refusal;

	if (place->name == KPROBE_NAME_BLACK || kprobe_blacklist_covers(place->addr))
		return KPROBE_REFUSE_BLACKLISTED;
	refusal = check_ftrace(place);
	if (refusal)
		return refusal;
	return place->name == KPROBE_NAME_CFI ? KPROBE_REFUSE_CFI : kprobe_reserved_check(place);
}

/**
 * kprobe_place_check() - may this address be probed?
 * @place: from kprobe_place_find(); gains a reference on its module
 *
 * After a success, kprobe_place_put() drops the reference.
 *
 * Context: task, may sleep, kprobe_mutex held (kernel init text is freed under
 * it).
 * Return: %KPROBE_REFUSE_NONE, or the reason why not.
 */
enum kprobe_refusal kprobe_place_check(struct kprobe_place *place)
{
	enum kprobe_refusal refusal;

	lockdep_assert_held(&kprobe_mutex);

	refusal = pin_module(place);
	if (refusal)
		return refusal;
	if (!place->mod && !in_kernel_text(place->addr))
		return KPROBE_REFUSE_NOT_TEXT;
	refusal = check_text(place);
	if (refusal)
		kprobe_place_put(place);
	return refusal;
}

/**
 * kprobe_place_put() - drop the reference of a successful kprobe_place_check()
 * @place: the place; nothing happens if it has no reference
 *
 * Context: task.
 */
void kprobe_place_put(struct kprobe_place *place)
{
	module_put(place->mod);
	place->mod = NULL;
}
