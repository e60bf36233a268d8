// SPDX-License-Identifier: GPL-2.0-only
/*
 * arm64 uprobes: decide about the instruction of a probe, write its slot, and replace return
 * addresses.
 *
 * <linux/uprobes-arch.h> describes the functions.  The decision is that of uprobe-decode.c; an
 * instruction is one word, and so is its copy, except that of a branch:
 *
 *	word		b, br, ret	conditional branch	bl
 *	0		itself		over the next word,	loads x30 from the literal
 *					if it is not taken
 *	SLOT_TAKEN			b to the target		b to the target
 *	SLOT_BACK			b to the next
 *					instruction
 *	SLOT_LITERAL						the next instruction's address
 *	SLOT_HELD	the original	the original		the original
 *
 * The handler of a copied branch emulates it.  A branch of the slot has the reach of one
 * instruction, 128 MiB, so that areas are near the text.
 */
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <asm/cacheflush.h>
#include <asm/debug-monitors.h>
#include <asm/gcs.h>
#include <asm/mmu.h>
#include <asm/ptrace.h>

#include "classify.h"
#include "decode-insn.h"
#include "fields.h"
#include "relocate.h"
#include "uprobe-context.h"

/* See <linux/uprobes-arch.h>. */
unsigned int arch_uprobe_mode(struct mm_struct *mm)
{
	return !!(mm->context.flags & MMCF_AARCH32);
}

/* Returns the reason why uprobe-decode.c rejects @insn. */
static const char *refusal_of(u32 insn)
{
	struct probe_insn desc;

	if (probe_classify(insn, &desc))
		return probe_refusal_name(desc.refusal);
	return "a branch or a register access after whose copy the task cannot be stopped";
}

/* How an instruction takes effect that is not rejected. */
static const u8 ways[] = {
	[INSN_GOOD_NO_SLOT]	= UPROBE_EMULATED,
	[INSN_GOOD_BRANCH]	= UPROBE_COPIED_BRANCH,
	[INSN_GOOD_CALL]	= UPROBE_COPIED_CALL,
	[INSN_GOOD]		= UPROBE_COPIED,
	[INSN_GOOD_SYSCALL]	= UPROBE_COPIED_SYSCALL,
};

/* See <linux/uprobes-arch.h>. */
int arch_uprobe_decide(struct arch_uprobe *arch, const u8 *insn, size_t len,
		       unsigned int mode, const char **why)
{
	enum arm_probe_verdict verdict;
	struct probe_insn desc;
	__le32 word;

	if (mode) {
		*why = "32-bit code";
		return -EOPNOTSUPP;
	}
	if (len < sizeof(word)) {
		*why = "cut off";
		return -EILSEQ;
	}
	memcpy(&word, insn, sizeof(word));
	arch->insn = le32_to_cpu(word);
	arch->api = (struct arch_probe_insn) {};

	verdict = arm_probe_decode_insn(arch->insn, &arch->api);
	if (verdict != INSN_REJECTED)
		return ways[verdict];
	*why = refusal_of(arch->insn);
	probe_classify(arch->insn, &desc);
	return desc.refusal == REFUSE_BREAKPOINT ? -EEXIST : -EOPNOTSUPP;
}

/* Words of a slot. SLOT_LITERAL is the first of two with an address that a copy loads. */
#define SLOT_TAKEN		(UPROBE_SLOT_TAKEN / AARCH64_INSN_SIZE)
#define SLOT_BACK		2
#define SLOT_LITERAL		4
#define SLOT_HELD		(UPROBE_SLOT_HELD / AARCH64_INSN_SIZE)

static unsigned long word_address(unsigned long slot, unsigned int word)
{
	return slot + word * AARCH64_INSN_SIZE;
}

/* Writes a branch from a word of the slot. */
static int put_branch(unsigned long slot, unsigned int word, unsigned long to, __le32 *words)
{
	u32 branch;

	if (probe_gen_branch(word_address(slot, word), to, &branch) < 0)
		return -ERANGE;
	words[word] = cpu_to_le32(branch);
	return 0;
}

/* Returns a load of the literal of the slot, for a word of it. */
static u32 load_literal(unsigned long slot, unsigned int word, u32 reg)
{
	return aarch64_insn_gen_load_literal(word_address(slot, word),
					     word_address(slot, SLOT_LITERAL), reg, true);
}

/* A literal is data, in the byte order of the program. */
static void put_literal(u64 value, __le32 *words)
{
	memcpy(&words[SLOT_LITERAL], &value, sizeof(value));
}

/* Writes the copy of a branch that is no call. */
static int write_branch(u32 insn, const struct probe_insn *desc, unsigned long vaddr,
			unsigned long slot, __le32 *words)
{
	u32 copy[PROBE_RELOCATED_WORDS];
	int i, nr;

	nr = probe_relocate(insn, desc, vaddr, slot, copy);
	for (i = 0; i < nr; i++)
		words[i] = cpu_to_le32(copy[i]);
	if (nr <= SLOT_TAKEN)
		return nr < 0 ? nr : 0;
	return put_branch(slot, SLOT_BACK, vaddr + AARCH64_INSN_SIZE, words);
}

static int write_call(u32 insn, unsigned long vaddr, unsigned long slot, __le32 *words)
{
	words[0] = cpu_to_le32(load_literal(slot, 0, A64_LINK));
	put_literal(vaddr + AARCH64_INSN_SIZE, words);
	return put_branch(slot, SLOT_TAKEN, a64_target26(insn, vaddr), words);
}

/* Writes the copies of an instruction that computes an address. */
static void write_adr(u32 insn, unsigned long vaddr, unsigned long slot, __le32 *words)
{
	u32 reg = a64_reg0(insn), nop = aarch64_insn_gen_nop();

	put_literal(a64_computes_page(insn) ? a64_adrp(insn, vaddr) : a64_adr(insn, vaddr), words);
	words[0] = cpu_to_le32(reg == A64_ZR ? nop : load_literal(slot, 0, reg));
	words[SLOT_HELD] = cpu_to_le32(reg == A64_ZR ? nop : load_literal(slot, SLOT_HELD, reg));
}

/* See <linux/uprobes-arch.h>. */
int arch_uprobe_write_slot(const struct arch_uprobe *arch, unsigned long vaddr,
			   unsigned long slot, u8 *buf)
{
	__le32 *words = (__le32 *)buf;
	u32 insn = arch->insn;
	struct probe_insn desc;
	unsigned int i;

	for (i = 0; i < UPROBE_SLOT_SIZE / AARCH64_INSN_SIZE; i++)
		words[i] = UPROBE_SWBP_INSN;
	words[0] = cpu_to_le32(insn);
	words[SLOT_HELD] = cpu_to_le32(insn);
	probe_classify(insn, &desc);
	if (desc.kind == KIND_BL)
		return write_call(insn, vaddr, slot, words);
	if (arch->api.handler)
		return write_branch(insn, &desc, vaddr, slot, words);
	if (a64_computes_address(insn))
		write_adr(insn, vaddr, slot, words);
	return put_branch(slot, 1, vaddr + AARCH64_INSN_SIZE, words);
}

/* See <linux/uprobes-arch.h>, arch_uprobe_sync_text(). */
void arm64_uprobe_sync_text(void *kaddr, size_t len)
{
	sync_icache_aliases((unsigned long)kaddr, (unsigned long)kaddr + len);
}

/* See <linux/uprobes-arch.h>. */
const char *arch_uprobe_check_context(const u8 *text, size_t before, size_t len)
{
	return uprobe_context_refusal(text, before, len);
}

/* See <asm/uprobes.h>. */
bool arch_uprobe_ties(const u8 *text, size_t len)
{
	return uprobe_context_ties(text, len);
}

/* See <linux/uprobes-arch.h>. */
void arch_uprobe_slot_window(struct mm_struct *mm, unsigned long vaddr,
			     unsigned long *low, unsigned long *high)
{
	/* Any page whose first and last slot are within the reach of a branch. */
	const unsigned long reach = SZ_128M - PAGE_SIZE;

	*low = vaddr > reach ? vaddr - reach : 0;
	*high = vaddr + reach;
}

/* See <linux/uprobes-arch.h>. */
int arch_uprobe_emulate(const struct arch_uprobe *arch, struct pt_regs *regs)
{
	if (likely(arch->api.emulate && !task_gcs_el0_enabled(current))) {
		arch->api.emulate(arch->insn, regs);
		regs->pstate = (regs->pstate & ~(u64)PSR_BTYPE_MASK) | arch->api.btype;
	} else {
		current->utask->fault.len = 0;
		arch->api.handler(arch->insn, instruction_pointer(regs), regs);
		if (unlikely(current->utask->fault.len))
			return -EFAULT;
	}
	/* The processor ignores the tag of a branch's target. */
	regs->pc = untagged_addr(regs->pc);
	/* A step that a debugger has requested ends here. */
	if (unlikely(read_thread_flags() & _TIF_SINGLESTEP))
		user_fastforward_single_step(current);
	return 0;
}

/* See <linux/uprobes-arch.h>.  svc sets no register. */
void arch_uprobe_leave_syscall(struct pt_regs *regs, unsigned long ip)
{
}

/* See <linux/uprobes-arch.h>. */
void *arch_uretprobe_trampoline(unsigned long *psize)
{
	static uprobe_opcode_t trampoline = UPROBE_SWBP_INSN;

	*psize = sizeof(trampoline);
	return &trampoline;
}

/* See <linux/uprobes-arch.h>. */
int arch_uretprobe_undo(struct pt_regs *regs, unsigned long offset)
{
	return offset ? -ENOENT : 0;
}

static unsigned long __user *top_of_guarded_stack(void)
{
	return (unsigned long __user *)read_sysreg_s(SYS_GCSPR_EL0);
}

/*
 * See <linux/uprobes-arch.h>.  The link register has the return address.  If the task has a
 * guarded control stack, its top must be the same address: otherwise this is not the entry of a
 * function, or the address has been signed, and the return would fault.
 */
int arch_uretprobe_peek(struct pt_regs *regs, unsigned long *ret)
{
	unsigned long guarded;
	int err = 0;

	*ret = procedure_link_pointer(regs);
	if (!task_gcs_el0_enabled(current))
		return 0;
	guarded = get_user_gcs(top_of_guarded_stack(), &err);
	return err || guarded != *ret ? -EFAULT : 0;
}

/* See <linux/uprobes-arch.h>. */
int arch_uretprobe_replace(struct pt_regs *regs, unsigned long entry, unsigned long *ret)
{
	int err = arch_uretprobe_peek(regs, ret);

	if (!err && task_gcs_el0_enabled(current))
		put_user_gcs(entry, top_of_guarded_stack(), &err);
	if (err)
		return -EFAULT;
	procedure_link_pointer_set(regs, entry);
	return 0;
}

/*
 * See <linux/uprobes-arch.h>.  A function that is entered by a branch, not by a call, has the
 * stack pointer of the function before it.
 */
bool arch_uretprobe_is_alive(struct return_instance *ri, enum rp_check ctx,
			     struct pt_regs *regs)
{
	return regs->sp < ri->stack || (ctx == RP_CHECK_CHAIN_CALL && regs->sp == ri->stack);
}
