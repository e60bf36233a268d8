// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: check and prepare the instruction of a new point.
 *
 * The bytes are read under text_mutex, so that no patching of them is in progress,
 * and without the breakpoints of other probes.  An address is an instruction
 * boundary if decoding the function from its start reaches it.
 */
#include <linux/bug.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/alternative.h>
#include <asm/ibt.h>
#include <asm/sections.h>
#include <asm/text-patching.h>

#include "common.h"
#include "detour.h"
#include "targets.h"
#include "text.h"

static_assert(MAX_INSN_SIZE + JMP32_INSN_SIZE <= KPROBE_SLOT_SIZE);

/* See <linux/kprobes-arch.h>: indirect calls need ENDBR, so no breakpoint may replace it. */
unsigned int arch_landing_pad(unsigned long addr)
{
	return is_endbr((u32 *)addr) ? 4 : 0;
}

/*
 * The function that was decoded last, and the position up to which it was decoded.  Probes
 * of a batch are prepared in the order of addresses, so a function is decoded only once
 * for all probes in it.  Other code that changes text does not move the boundaries of
 * instructions.  Protected by kprobe_mutex.
 */
static struct {
	unsigned long function;
	unsigned long pos;
} decoded;

/* See <linux/kprobes-arch.h>. */
void arch_prepare_kprobes_end(void)
{
	probe_write_slots();
	decoded.function = 0;
	probe_function_forget();
	probe_targets_forget();
}

/*
 * Is @addr in padding?  It is if all bytes are int3 from which an instruction could reach
 * @addr: then the int3 at @addr is an instruction itself.  In front of the entry text there
 * can be 2 MiB of padding, which kallsyms counts as part of the last function.
 */
static bool in_padding(unsigned long addr)
{
	u8 bytes[MAX_INSN_SIZE];

	return !get_kernel_nofault(bytes[0], (u8 *)addr) && bytes[0] == INT3_INSN_OPCODE &&
		probe_read_original(addr - (sizeof(bytes) - 1), bytes, sizeof(bytes)) &&
		!memchr_inv(bytes, INT3_INSN_OPCODE, sizeof(bytes));
}

/* Does a debugger's breakpoint replace @byte at @addr?  Only the debugger has the original. */
static bool hidden_by_debugger(unsigned long addr, u8 byte)
{
	return byte == INT3_INSN_OPCODE && probe_debugger_in(addr, 1);
}

/*
 * Decodes the function that contains @addr from its start up to @addr.  Reads the bytes of
 * the instruction at @addr to @bytes and returns their number; or -EILSEQ, or -EINVAL if @addr is
 * in the padding of the next function.
 */
static int read_at_boundary(unsigned long addr, u8 *bytes)
{
	unsigned long pos, end;
	struct insn insn __uninitialized;
	size_t avail;

	lockdep_assert_held(&text_mutex);

	if (!probe_function_of(addr, &pos, &end))
		return -EILSEQ;
	if (addr >= end)
		return -EINVAL;
	if (in_padding(addr)) {
		bytes[0] = INT3_INSN_OPCODE;
		return 1;
	}
	if (decoded.function != pos) {
		decoded.function = pos;
		decoded.pos = pos;
	}
	if (decoded.pos <= addr)
		pos = decoded.pos;

	while (pos <= addr) {
		avail = probe_read_insn(pos, end, bytes);
		if (!avail || hidden_by_debugger(pos, bytes[0]))
			return -EILSEQ;
		if (pos == addr) {
			decoded.pos = pos;
			return avail;
		}
		if (insn_decode(&insn, bytes, avail, INSN_MODE_KERN))
			return -EILSEQ;
		pos += insn.length;
	}
	return -EILSEQ;
}

/*
 * Makes the content of a slot: the copy, re-based to the address of the slot, followed by a
 * breakpoint if @trap, or by a jump to the next instruction.
 */
static int fill_slot(struct kprobe *p, const u8 *bytes, kprobe_opcode_t *slot, bool trap, u8 *buf)
{
	const struct probe_insn *insn = probe_desc(p);
	unsigned long addr = (unsigned long)p->addr;
	int len, ret;

	memset(buf, INT3_INSN_OPCODE, KPROBE_SLOT_SIZE);
	len = probe_rebase(insn, bytes, addr, (unsigned long)slot, buf);
	if (len < 0)
		return len;
	if (!trap) {
		ret = probe_put_jump(INSN_MODE_KERN, buf + len, (unsigned long)slot + len,
				     addr + len);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Makes the slot of @insn, or, with a breakpoint at its end, that of @step. */
static int make_slot(struct kprobe *p, const u8 *bytes, bool trap)
{
	kprobe_opcode_t *slot = get_insn_slot_for(p);
	u8 buf[KPROBE_SLOT_SIZE];
	int ret;

	if (!slot)
		return -ENOMEM;
	ret = fill_slot(p, bytes, slot, trap, buf);
	if (ret) {
		free_insn_slot(slot, 0);
		return ret;
	}
	probe_collect_slot(slot, buf, sizeof(buf), trap ? NULL : p);
	/* Hits use it when there is a post handler, and it has been written before. */
	if (trap)
		kprobe_publish_slot(&p->ainsn.step, slot, buf, sizeof(buf));
	return 0;
}

/* Is this a landing pad?  At the entry of a function, probes are moved past it before. */
static bool is_landing_pad(const u8 *bytes, size_t avail)
{
	return IS_ENABLED(CONFIG_X86_KERNEL_IBT) && probe_is_endbr(bytes, avail);
}

/*
 * Is this the ud2 of a BUG() or WARN()?  handle_bug() translates the address of a copy to the
 * original, and looks that up in the bug table.  The handling of other ud2 instructions, for
 * example in checks of kCFI, does not translate addresses.
 */
static bool is_bug(const struct kprobe *p, const struct probe_insn *insn)
{
	return insn->refusal == REFUSE_BUG && find_bug((unsigned long)p->addr);
}

/* Is this a part of a kCFI check?  Other instructions of the check may be probed already. */
static bool in_kcfi_check(const struct kprobe *p, const u8 *bytes, size_t avail)
{
	u8 text[MAX_INSN_SIZE];

	return probe_may_be_kcfi_check(bytes[0]) &&
	       probe_read_original((unsigned long)p->addr, text, avail) &&
	       probe_is_kcfi_check(text, avail, INSN_MODE_KERN);
}

/* Is a copy needed?  Also for an emulated branch that may fault: the copy takes the fault. */
static bool needs_slot(const struct probe_insn *insn)
{
	return insn->action != PROBE_EMULATE || probe_reads_target(insn);
}

/* Classifies the instruction of @p.  Return: 0, or an errno, with the reason in @why. */
static int check_insn(struct kprobe *p, const u8 *bytes, size_t avail, const char **why)
{
	struct probe_insn *insn = probe_desc(p);
	int ret = probe_classify(bytes, avail, INSN_MODE_KERN, insn);

	if (ret && is_bug(p, insn)) {
		insn->action = PROBE_COPY;
		return 0;
	}
	if (ret) {
		*why = probe_refusal_name(insn->refusal);
		return ret;
	}
	if (in_kcfi_check(p, bytes, avail))
		*why = "part of a check of a call's type";
	else if (is_landing_pad(bytes, avail))
		*why = "a landing pad";
	else
		return 0;
	return -EINVAL;
}

/* See <linux/kprobes-arch.h>. */
int __init arch_init_kprobes(void)
{
	probe_classify_init();
	return 0;
}

/**
 * arch_prepare_kprobe_why() - check and copy the instruction at @p->addr
 * @p: representative of a new probepoint
 * @offset: bytes from the start of the symbol; not used
 * @why: see <linux/kprobes-arch.h>
 */
int arch_prepare_kprobe_why(struct kprobe *p, unsigned long offset, const char **why)
{
	u8 bytes[MAX_INSN_SIZE];
	int ret;

	mutex_lock(&text_mutex);
	ret = read_at_boundary((unsigned long)p->addr, bytes);
	if (ret > 0)
		ret = check_insn(p, bytes, ret, why);
	else if (ret == -EINVAL)
		*why = "in the padding in front of a function";
	mutex_unlock(&text_mutex);
	if (ret)
		return ret;

	p->opcode = bytes[0];
	return needs_slot(probe_desc(p)) ? make_slot(p, bytes, false) : 0;
}

#ifdef CONFIG_KPROBES_ON_FTRACE
/* See <linux/kprobes-arch.h>. */
int arch_prepare_kprobe_ftrace(struct kprobe *p)
{
	return 0;
}
#endif

/**
 * arch_prepare_kprobe_post() - make the copy that is followed by a breakpoint
 * @p: representative
 *
 * See <linux/kprobes-arch.h>.  The copy runs with interrupts masked, so it must not wait for one.
 * A detour could run such an instruction with a post handler, but may not exist.
 */
int arch_prepare_kprobe_post(struct kprobe *p)
{
	u8 bytes[MAX_INSN_SIZE];
	int avail;

	if (p->ainsn.step || probe_desc(p)->action == PROBE_EMULATE)
		return 0;

	scoped_guard(mutex, &text_mutex)
		avail = probe_read_insn((unsigned long)p->addr,
					(unsigned long)p->addr + probe_desc(p)->len, bytes);
	if (!avail || probe_waits(bytes, avail, INSN_MODE_KERN))
		return -EINVAL;
	return make_slot(p, bytes, true);
}

/**
 * arch_kprobe_handlers_changed() - set the address at which hits of the breakpoint resume
 * @p: representative
 *
 * See <linux/kprobes-arch.h>.
 */
void arch_kprobe_handlers_changed(struct kprobe *p)
{
	struct optimized_kprobe *op = container_of(p, struct optimized_kprobe, kp);
	kprobe_opcode_t *resume = NULL;

	if (kprobe_detour_used(p))
		resume = op->optinsn.insn + DETOUR_COPY;
	else if (!p->post_handler && probe_desc(p)->action != PROBE_EMULATE)
		resume = p->ainsn.insn;
	/* Both the old and the new value are correct for a hit that runs at the same time. */
	WRITE_ONCE(p->ainsn.resume, resume);
}

/*
 * __switch_to() returns on another stack than the one on which it was entered.  The other is not
 * called: the stack has no return address at its entry.
 */
struct kretprobe_blackpoint kretprobe_blacklist[] = {
	{ .name = "__switch_to" },
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	{ .name = "return_to_handler" },
#endif
};

const int kretprobe_blacklist_size = ARRAY_SIZE(kretprobe_blacklist);

struct black_area {
	const void *start, *end;
};

static const struct black_area black_areas[] __initconst = {
	/* The entry code must not trap, because it runs before a breakpoint can be handled. */
	{ __entry_text_start, __entry_text_end },
	/*
	 * On processors with mitigations, returns and indirect calls run through thunks, also in
	 * code that handles a hit.  The linker puts some thunks before the entry code and some
	 * after it.
	 */
	{ __x86_thunk_text_start, __x86_thunk_text_end },
	{ __x86_rethunk_text_start, __entry_text_start },
	{ __entry_text_end, __x86_rethunk_text_end },
#ifdef CONFIG_DYNAMIC_FTRACE
	/*
	 * ftrace copies its trampolines, including any breakpoint in them, and patches them.
	 * Their parts jump into each other.
	 */
	{ (void *)ftrace_caller, (void *)ftrace_stub_direct_tramp },
#endif
};

/* See <linux/kprobes-arch.h>. */
int __init arch_populate_kprobe_blacklist(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < ARRAY_SIZE(black_areas); i++)
		ret = kprobe_add_area_blacklist((unsigned long)black_areas[i].start,
						(unsigned long)black_areas[i].end);
	return ret;
}
