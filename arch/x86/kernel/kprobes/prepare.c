// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: from an address to a point that can be armed, or a refusal.
 *
 * The bytes are read under text_mutex, so that nobody is in the middle of
 * patching them, and with other probes' breakpoints taken out.  An address is
 * an instruction boundary if decoding the function from its start arrives
 * there.
 */
#include <linux/bug.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
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

/* See <linux/kprobes-arch.h>: an indirect call must find ENDBR, and nothing else. */
unsigned int arch_landing_pad(unsigned long addr)
{
	return is_endbr((u32 *)addr) ? 4 : 0;
}

/*
 * Up to where which function has been decoded.  Probes of a batch come in the order
 * of addresses, so that a function is decoded once however many are in it.  Whoever
 * else changes text leaves the boundaries of its instructions where they are.
 * Guarded by the core's lock for registrations.
 */
static struct {
	unsigned long function;
	unsigned long pos;
} decoded;

/* See <linux/kprobes-arch.h>. */
void arch_prepare_kprobes_end(void)
{
	decoded.function = 0;
	probe_targets_forget();
}

/*
 * In the padding of text: as many int3 as would begin any instruction that reaches @addr,
 * which is therefore one itself.  In front of the entry text there can be 2 MiB of them,
 * which belong to the last function as kallsyms sees it.
 */
static bool in_padding(unsigned long addr)
{
	u8 bytes[MAX_INSN_SIZE];

	return !get_kernel_nofault(bytes[0], (u8 *)addr) && bytes[0] == INT3_INSN_OPCODE &&
		probe_read_original(addr - (sizeof(bytes) - 1), bytes, sizeof(bytes)) &&
		!memchr_inv(bytes, INT3_INSN_OPCODE, sizeof(bytes));
}

/* A debugger's breakpoint hides a byte that only the debugger knows. */
static bool hidden_by_debugger(unsigned long addr, u8 byte)
{
	return byte == INT3_INSN_OPCODE && probe_debugger_in(addr, 1);
}

/*
 * Decodes the function around @addr up to it.  Leaves the instruction's bytes
 * in @bytes and returns how many there are, or -EILSEQ.
 */
static int read_at_boundary(unsigned long addr, u8 *bytes)
{
	unsigned long size, offset, pos, end;
	struct insn insn;
	size_t avail;

	lockdep_assert_held(&text_mutex);

	if (!kallsyms_lookup_size_offset(addr, &size, &offset))
		return -EILSEQ;
	if (in_padding(addr)) {
		bytes[0] = INT3_INSN_OPCODE;
		return 1;
	}
	pos = addr - offset;
	end = pos + size;
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
 * Writes a slot: the copy, re-based for where it runs, and behind it a jump to
 * the next instruction or, if @trap, a breakpoint.
 */
static int write_slot(struct kprobe *p, const u8 *bytes, kprobe_opcode_t *slot, bool trap)
{
	const struct probe_insn *insn = probe_desc(p);
	unsigned long addr = (unsigned long)p->addr;
	u8 buf[KPROBE_SLOT_SIZE];
	int len, ret;

	memset(buf, INT3_INSN_OPCODE, sizeof(buf));
	len = probe_rebase(insn, bytes, addr, (unsigned long)slot, buf);
	if (len < 0)
		return len;
	if (!trap) {
		ret = probe_put_jump(INSN_MODE_KERN, buf + len, (unsigned long)slot + len,
				     addr + len);
		if (ret < 0)
			return ret;
	}
	text_poke_copy(slot, buf, sizeof(buf));
	return 0;
}

static int make_slot(struct kprobe *p, const u8 *bytes, kprobe_opcode_t **where, bool trap)
{
	kprobe_opcode_t *slot = get_insn_slot_for(p);
	int ret;

	if (!slot)
		return -ENOMEM;
	ret = write_slot(p, bytes, slot, trap);
	if (ret) {
		free_insn_slot(slot, 0);
		return ret;
	}
	kprobe_publish_slot(where, slot, KPROBE_SLOT_SIZE);
	return 0;
}

/* A landing pad elsewhere than at an entry: jump tables, mid-function targets. */
static bool is_landing_pad(const u8 *bytes, size_t avail)
{
	return IS_ENABLED(CONFIG_X86_KERNEL_IBT) && probe_is_endbr(bytes, avail);
}

/*
 * handle_bug() asks for the original of a copy, and finds that in the bug table.  Nobody
 * does so for what else is spelled ud2, a check of kCFI's for example.
 */
static bool is_bug(const struct kprobe *p, const struct probe_insn *insn)
{
	return insn->refusal == REFUSE_BUG && find_bug((unsigned long)p->addr);
}

/* A branch that cannot read its target faults in a copy, where that is seen. */
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
	if (probe_is_kcfi_check(bytes, avail, INSN_MODE_KERN))
		*why = "part of a check of a call's type";
	else if (is_landing_pad(bytes, avail))
		*why = "a landing pad";
	return *why ? -EINVAL : 0;
}

/**
 * arch_prepare_kprobe_why() - check and copy the instruction at @p->addr
 * @p: representative of a new probepoint
 * @why: see <linux/kprobes-arch.h>
 */
int arch_prepare_kprobe_why(struct kprobe *p, const char **why)
{
	u8 bytes[MAX_INSN_SIZE];
	int ret;

	mutex_lock(&text_mutex);
	ret = read_at_boundary((unsigned long)p->addr, bytes);
	if (ret > 0)
		ret = check_insn(p, bytes, ret, why);
	mutex_unlock(&text_mutex);
	if (ret)
		return ret;

	p->opcode = bytes[0];
	if (needs_slot(probe_desc(p)))
		ret = make_slot(p, bytes, &p->ainsn.insn, false);
	if (!ret)
		arch_kprobe_handlers_changed(p);
	return ret;
}

/**
 * arch_prepare_kprobe_post() - make the copy that traps behind the instruction
 * @p: representative
 *
 * See <linux/kprobes-arch.h>.
 */
int arch_prepare_kprobe_post(struct kprobe *p)
{
	u8 bytes[MAX_INSN_SIZE];
	int avail;

	if (p->ainsn.step || probe_desc(p)->action == PROBE_EMULATE)
		return 0;

	mutex_lock(&text_mutex);
	avail = probe_read_insn((unsigned long)p->addr,
				(unsigned long)p->addr + probe_desc(p)->len, bytes);
	mutex_unlock(&text_mutex);
	if (!avail)
		return -EINVAL;
	return make_slot(p, bytes, &p->ainsn.step, true);
}

/**
 * arch_kprobe_handlers_changed() - decide how hits of the breakpoint go on
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
	/* Each of them is right at any time: a hit takes the old one or the new one. */
	WRITE_ONCE(p->ainsn.resume, resume);
}

static bool between(unsigned long addr, const char *start, const char *end)
{
	return addr >= (unsigned long)start && addr < (unsigned long)end;
}

/* The entry code runs before a breakpoint can be handled: it must not trap. */
bool arch_within_kprobe_blacklist(unsigned long addr)
{
	return between(addr, __entry_text_start, __entry_text_end) ||
	       between(addr, __kprobes_text_start, __kprobes_text_end);
}

/* __switch_to() leaves on another stack than the one it was entered on. */
struct kretprobe_blackpoint kretprobe_blacklist[] = {
	{ .name = "__switch_to" },
	{ }
};

const int kretprobe_blacklist_size = ARRAY_SIZE(kretprobe_blacklist);

#ifdef CONFIG_DYNAMIC_FTRACE
/*
 * ftrace copies its trampolines with whatever is in them, and writes into them; their
 * parts jump into each other.
 */
static int __init forbid_ftrace_trampolines(void)
{
	return kprobe_add_area_blacklist((unsigned long)ftrace_caller,
					 (unsigned long)ftrace_stub_direct_tramp);
}
#else
static int __init forbid_ftrace_trampolines(void)
{
	return 0;
}
#endif

/*
 * Thunks through which returns and indirect calls run on processors with mitigations, those of
 * a hit too.  The linker puts some of them before the entry code and some after it.
 */
static int __init forbid_thunks(void)
{
	int ret;

	ret = kprobe_add_area_blacklist((unsigned long)__x86_thunk_text_start,
					(unsigned long)__x86_thunk_text_end);
	ret = ret ?: kprobe_add_area_blacklist((unsigned long)__x86_rethunk_text_start,
					       (unsigned long)__entry_text_start);
	return ret ?: kprobe_add_area_blacklist((unsigned long)__entry_text_end,
						(unsigned long)__x86_rethunk_text_end);
}

/* For debugfs, the entry code; arch_within_kprobe_blacklist() is what decides there. */
int __init arch_populate_kprobe_blacklist(void)
{
	unsigned long start = (unsigned long)__entry_text_start;
	int ret;

	ret = kprobe_add_area_blacklist(start, (unsigned long)__entry_text_end);
	ret = ret ?: forbid_thunks();
	return ret ?: forbid_ftrace_trampolines();
}

int __init arch_init_kprobes(void)
{
	return 0;
}
