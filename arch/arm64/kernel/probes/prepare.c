// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: check and prepare the instruction of a new point.
 *
 * There is an instruction at every multiple of four, and other code that changes text replaces
 * whole instructions.  So it is enough to read the one instruction, without any probe.
 */
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/string.h>
#include <asm/cpufeature.h>
#include <asm/debug-monitors.h>
#include <asm/insn.h>
#include <asm/sections.h>
#include <asm/text-patching.h>

#include "common.h"
#include "detour.h"
#include "emulate.h"
#include "relocate.h"

/* Is there a BTI in front of @addr? */
static bool after_landing_pad(unsigned long addr)
{
	u32 insn;

	return !aarch64_insn_read((void *)(addr - AARCH64_INSN_SIZE), &insn) &&
	       aarch64_insn_is_bti(insn);
}

/* May @insn be the breakpoint or the branch of a probe? */
static bool may_be_probe(u32 insn)
{
	return insn == BRK64_OPCODE_KPROBES || aarch64_insn_is_b(insn);
}

/**
 * probe_original() - return the instruction at an address as it is without any probe
 * @addr: the address
 * @insn: the instruction that is in the text now
 *
 * Context: task.
 * Return: the original instruction.
 */
u32 probe_original(unsigned long addr, u32 insn)
{
	struct kprobe *kp;

	/* The caller may not hold kprobe_mutex, which keeps the point: kprobe_on_func_entry(). */
	guard(preempt_notrace)();
	kp = may_be_probe(insn) ? get_kprobe((void *)addr) : NULL;
	return kp && !kprobe_ftrace(kp) ? kp->opcode : insn;
}

static int read_original(unsigned long addr, u32 *insn)
{
	int ret = aarch64_insn_read((void *)addr, insn);

	if (!ret)
		*insn = probe_original(addr, *insn);
	return ret;
}

/* Is there a prefix in front of @addr, in the function that begins at @start? */
static bool follows_prefix(unsigned long start, unsigned long addr)
{
	u32 insn;

	return addr != start && !read_original(addr - AARCH64_INSN_SIZE, &insn) &&
	       probe_is_prefix(insn);
}

/* May a function end with @insn, a call that does not return for example? */
static bool may_end_function(u32 insn)
{
	/* b and bl; br, blr, ret and their relatives */
	return (insn & 0x7c000000) == 0x14000000 || (insn & 0xfe000000) == 0xd6000000 ||
	       aarch64_insn_is_brk(insn) || insn == aarch64_insn_gen_nop();
}

static bool is_traced_entry(unsigned long addr)
{
	unsigned long site = ftrace_location(addr);

	return site && site != addr;
}

/*
 * May the function at @addr be called by pointer?  A function that is neither traced nor begins
 * with a landing pad is a leaf, or assembly.
 */
static bool may_be_called(unsigned long addr)
{
	struct probe_insn desc;
	u32 insn;

	return is_traced_entry(addr) ||
	       (!read_original(addr, &insn) && !probe_classify(insn, &desc) && desc.landing);
}

/*
 * Is the word at @addr the hash of a function's type?  It precedes the function, and calls by
 * pointer compare it (kCFI).  Not all functions have one.  The word is taken for a hash if the
 * instruction before it may end a function, or, because replacements of alternatives may be in
 * between, if the next function may be called by pointer.
 */
static bool is_type_hash(unsigned long addr)
{
	unsigned long next = addr + AARCH64_INSN_SIZE, size, offset;
	u32 before;

	if (!kallsyms_lookup_size_offset(addr, &size, &offset) || addr - offset + size != next)
		return false;
	return read_original(addr - AARCH64_INSN_SIZE, &before) || may_end_function(before) ||
	       may_be_called(next);
}

/*
 * Is the word at @addr part of the address of a struct ftrace_ops?  That address precedes each
 * function that can be traced, is aligned, and is read by ftrace's trampoline: see
 * ftrace_call_adjust().
 */
static bool is_ops_address(unsigned long addr)
{
	const unsigned long size = sizeof(struct ftrace_ops *);

	return is_traced_entry(round_down(addr, size) + size);
}

/* Is the word at @addr data in front of a function?  Such data has no symbol. */
static bool precedes_function(unsigned long addr)
{
	return (IS_ENABLED(CONFIG_CFI) && is_type_hash(addr)) ||
	       (IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS) && is_ops_address(addr));
}

/* Writes a slot: the copy, followed by the instruction @next. */
static void write_slot(struct kprobe *p, kprobe_opcode_t **where, kprobe_opcode_t *slot,
		       u32 next)
{
	const u32 words[] = { p->opcode, next };

	static_assert(sizeof(words) == KPROBE_SLOT_SIZE);
	probe_write(slot, words, ARRAY_SIZE(words));
	kprobe_publish_slot(where, slot, slot, KPROBE_SLOT_SIZE);
}

static int make_step_slot(struct kprobe *p)
{
	kprobe_opcode_t *slot = get_insn_slot_for(p);

	if (!slot)
		return -ENOMEM;
	write_slot(p, &p->ainsn.step, slot, BRK64_OPCODE_KPROBES_SS);
	return 0;
}

/*
 * Makes the slot of hits without a post handler.  If a branch does not reach back and the
 * instruction cannot be emulated, a BRK ends it.  It is not the slot of steps, because a step may
 * be interrupted by a hit of the same point that is missed.
 */
static int make_slot(struct kprobe *p)
{
	unsigned long next = (unsigned long)p->addr + AARCH64_INSN_SIZE;
	kprobe_opcode_t *slot = get_insn_slot_for(p);
	u32 end;

	if (!slot)
		return -ENOMEM;
	if (probe_gen_branch((unsigned long)(slot + 1), next, &end) <= 0) {
		if (p->ainsn.run || probe_desc(p)->no_step) {
			free_insn_slot(slot, 0);
			return p->ainsn.run ? 0 : -ERANGE;
		}
		end = BRK64_OPCODE_KPROBES_SS;
	}
	write_slot(p, &p->ainsn.insn, slot, end);
	return 0;
}

/* Returns why an instruction that can be probed elsewhere cannot be probed at @addr. */
static enum probe_refusal refuse_place(unsigned long start, unsigned long addr)
{
	if (probe_splits_exclusive(start, addr))
		return REFUSE_EXCLUSIVE;
	if (follows_prefix(start, addr))
		return REFUSE_PREFIX;
	return precedes_function(addr) ? REFUSE_UNALLOCATED : REFUSE_NONE;
}

/* Reads and classifies the instruction of @p, in the function that begins at @start. */
static int read_and_check(struct kprobe *p, unsigned long start, const char **why)
{
	struct probe_insn *desc = probe_desc(p);
	int ret = read_original((unsigned long)p->addr, &p->opcode);

	if (ret)
		return ret;
	ret = probe_classify(p->opcode, desc);
	if (!ret) {
		desc->refusal = refuse_place(start, (unsigned long)p->addr);
		ret = desc->refusal ? -EINVAL : 0;
	}
	if (ret)
		*why = probe_refusal_name(desc->refusal);
	return ret;
}

/**
 * arch_prepare_kprobe_why() - check and copy the instruction at @p->addr
 * @p: representative of a new probepoint
 * @offset: bytes from the start of the symbol
 * @why: see <linux/kprobes-arch.h>
 *
 * Arm ARM, B2.17 (exclusives), D2.
 */
int arch_prepare_kprobe_why(struct kprobe *p, unsigned long offset, const char **why)
{
	unsigned long addr = (unsigned long)p->addr, start = addr - offset;
	struct probe_insn *desc = probe_desc(p);
	int ret;

	if (!IS_ALIGNED(addr, AARCH64_INSN_SIZE))
		return -EILSEQ;
	/* They are applied when all CPUs are up, and would overwrite the BRK. */
	if (!system_capabilities_finalized()) {
		*why = "alternatives have not been applied yet";
		return -EAGAIN;
	}
	scoped_guard(mutex, &text_mutex)
		ret = read_and_check(p, start, why);
	if (ret)
		return ret;
	p->ainsn.entry = addr == start ||
			 (addr == start + AARCH64_INSN_SIZE && after_landing_pad(addr));
	p->ainsn.run = probe_emulator(p->opcode, desc);
	if (desc->action == PROBE_COPY)
		ret = make_slot(p);
	if (!ret)
		arch_kprobe_handlers_changed(p);
	return ret;
}

/**
 * arch_prepare_kprobe_post() - make the copy that is followed by a BRK
 * @p: representative
 *
 * See <linux/kprobes-arch.h>.
 */
int arch_prepare_kprobe_post(struct kprobe *p)
{
	if (p->ainsn.step || p->ainsn.run)
		return 0;
	/* A detour could run a no_step copy with a post handler, but may not exist. */
	return probe_desc(p)->no_step ? -EINVAL : make_step_slot(p);
}

/**
 * arch_kprobe_handlers_changed() - set the address at which hits of the breakpoint resume
 * @p: representative
 *
 * See <linux/kprobes-arch.h>.
 */
void arch_kprobe_handlers_changed(struct kprobe *p)
{
	/*
	 * Hits need not resume in the detour, because the branch covers one instruction only,
	 * so no task can be in the middle of the covered text.
	 */
	kprobe_opcode_t *resume = p->post_handler ? NULL : p->ainsn.insn;

	/* Both the old and the new value are correct for a hit that runs at the same time. */
	WRITE_ONCE(p->ainsn.resume, resume);
}

/*
 * See <linux/kprobes-arch.h>.  In kernels with BTI an indirect call must land on a landing pad.
 * A branch to a detour is not a landing pad, and a BRK costs an exception, so probes skip the
 * BTI.  PACIASP is a pad, too, but signs the link register and cannot be skipped.
 */
unsigned int arch_landing_pad(unsigned long addr)
{
	u32 insn;

	return !read_original(addr, &insn) && aarch64_insn_is_bti(insn) ? AARCH64_INSN_SIZE : 0;
}

struct section {
	const char *start, *end;
};

/*
 * Exception entry and exit, root handlers of interrupts (__exception_irq_entry), and code that
 * runs with the MMU off or at EL2.  Some of these sections may be empty.  The hypervisor's text
 * is mapped a second time for EL2: its exception level depends on the processor and on the
 * kernel's command line, and probes are refused in any case.  Text for other mappings
 * (.entry.tramp.text, .hibernate_exit.text, .kexec_relocate.text, the vDSOs) is in .rodata, and
 * is not kernel text.
 */
static const struct section black_sections[] __initconst = {
	{ __entry_text_start, __entry_text_end },
	{ __irqentry_text_start, __irqentry_text_end },
	{ __idmap_text_start, __idmap_text_end },
	{ __hyp_idmap_text_start, __hyp_idmap_text_end },
	{ __hyp_text_start, __hyp_text_end },
};

/*
 * __cpu_suspend_enter() returns again when the CPU resumes.  The others may power the CPU down, or
 * suspend the system, and then do not return.
 */
struct kretprobe_blackpoint kretprobe_blacklist[] = {
	{ .name = "__cpu_suspend_enter" },
	{ .name = "__arm_smccc_smc" },
	{ .name = "__arm_smccc_hvc" },
	{ .name = "psci_0_1_cpu_suspend" },
	{ .name = "psci_0_2_cpu_suspend" },
	{ .name = "psci_system_suspend" },
};

const int kretprobe_blacklist_size = ARRAY_SIZE(kretprobe_blacklist);

/*
 * Text in which a BRK cannot be handled.  Either a CPU that starts or resumes has no exception
 * vectors yet.  Or there is no stack.  Or the function tracer calls it for functions that handle a
 * BRK.  While a guest is entered or left, the vectors are KVM's; that text is in .kprobes.text.
 */
static const char *const black_symbols[] __initconst = {
	/* head.S, hyp-stub.S, sleep.S, proc.S */
	"__secondary_switched",
	"__secondary_too_slow",
	"set_cpu_boot_mode_flag",
	"finalise_el2",
	"_cpu_resume",
	"cpu_do_resume",
	/* entry.S: part of each exception without PAN */
	"__swpan_entry_el1",
	"__swpan_entry_el0",
	"__swpan_exit_el1",
	"__swpan_exit_el0",
	/* entry-ftrace.S */
	"_mcount",
	"ftrace_caller",
	"ftrace_call",
	"ftrace_caller_direct",
	"ftrace_caller_direct_late",
	"ftrace_stub_direct_tramp",
	"ftrace_graph_call",
	"ftrace_graph_caller",
	"return_to_handler",
};

/* Adds a symbol to the blacklist.  A symbol outside of kernel text needs no entry. */
static int __init blacklist_symbol(void *unused, unsigned long addr)
{
	return kprobe_add_ksym_blacklist(addr) == -ENOMEM ? -ENOMEM : 0;
}

/* See <linux/kprobes-arch.h>. */
int __init arch_populate_kprobe_blacklist(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < ARRAY_SIZE(black_sections); i++)
		ret = kprobe_add_area_blacklist((unsigned long)black_sections[i].start,
						(unsigned long)black_sections[i].end);
	for (i = 0; !ret && i < ARRAY_SIZE(black_symbols); i++)
		ret = kallsyms_on_each_match_symbol(blacklist_symbol, black_symbols[i], NULL);
	return ret;
}
