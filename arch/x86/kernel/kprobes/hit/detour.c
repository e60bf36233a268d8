// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: what happens in detours beside the handlers.
 */
#include <linux/kprobes.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <asm/segment.h>
#include <asm/text-patching.h>

#include "../common.h"
#include "../detour.h"
#include "../region.h"

/*
 * An iret in 32-bit mode leaves the stack pointer after the flags: so these have to be
 * right below where it is to be, and the other registers below them.
 */
static __always_inline struct pt_regs *move_up(struct pt_regs *regs)
{
	unsigned long *from = &regs->sp, *to = (unsigned long *)regs->sp;
	int i, nr = from - (unsigned long *)regs;

	/* From the highest down, because the two overlap. */
	for (i = 1; i <= nr; i++)
		WRITE_ONCE(to[-i], from[-i]);
	return (struct pt_regs *)(to - nr);
}

/**
 * kprobe_detour_redirect() - prepare an iret to the path that a handler has chosen
 * @regs: registers, built by kprobe_detour_enter()
 *
 * An iret needs no thunk that could change the flags.  The stack pointer may have been
 * raised, by taking a return address off the stack for example.  It cannot be lowered: the
 * words that a handler writes there are these registers.
 *
 * Context: the detour.
 * Return: the registers; only those from ip on are where they were if the mode is 64-bit.
 */
__visible struct pt_regs *kprobe_detour_redirect(struct pt_regs *regs)
{
	if (unlikely(regs->sp < (unsigned long)(regs + 1))) {
		pr_err_once("kprobes: a handler has lowered the stack pointer, which is ignored\n");
		regs->sp = (unsigned long)(regs + 1);
	}
	savesegment(cs, regs->cs);
	savesegment(ss, regs->ss);
	return IS_ENABLED(CONFIG_X86_32) ? move_up(regs) : regs;
}
NOKPROBE_SYMBOL(kprobe_detour_redirect);

/**
 * kprobe_detour_stepped() - the copy of the probed instruction has been executed
 * @ret: address behind it in the detour
 * @regs: registers, built by kprobe_detour_enter_post()
 *
 * Context: the detour.
 */
__visible void kprobe_detour_stepped(unsigned long ret, struct pt_regs *regs)
{
	struct kprobe *kp = *(struct kprobe **)(ret & -DETOUR_SIZE);

	regs->ip = (unsigned long)kp->addr + probe_desc(kp)->len;
	kprobe_detour_post(kp, regs);
}
NOKPROBE_SYMBOL(kprobe_detour_stepped);

/* Where what comes before instruction @i, but the first, begins: a call, or its copy. */
static __always_inline unsigned int mark(const struct optimized_kprobe *op, int i)
{
	const struct arch_optimized_insn *optinsn = &op->optinsn;
	unsigned int begin = i < optinsn->nr ? optinsn->copy[i - 1] : optinsn->end;

	if (i == 1 && kprobe_detour_calls(&op->kp) == KPROBE_DETOUR_CALLS_POST)
		begin -= PROBE_POST_LEN;
	return begin;
}

static __always_inline unsigned long detour_original(const struct optimized_kprobe *op,
						     unsigned int offset)
{
	const struct arch_optimized_insn *optinsn = &op->optinsn;
	unsigned long addr = (unsigned long)op->kp.addr;
	int i;

	for (i = optinsn->nr; i > 0; i--) {
		if (offset >= DETOUR_COPY + mark(op, i))
			break;
	}
	if (i == optinsn->nr)
		return addr + optinsn->len;
	return addr + (i ? optinsn->original[i - 1] : 0);
}

/**
 * arch_slot_original() - what an address in a slot or a detour stands for
 * @kp: representative of the point whose slot it is
 * @start: of the slot
 * @addr: the address
 *
 * See <linux/kprobes-arch.h>.  Of instructions that are several in a detour only the
 * first has the stack of the original; the others are a push away from it.
 */
unsigned long arch_slot_original(struct kprobe *kp, unsigned long start, unsigned long addr)
{
	struct optimized_kprobe *op = container_of(kp, struct optimized_kprobe, kp);

	if (start == (unsigned long)op->optinsn.insn)
		return detour_original(op, addr - start);
	return (unsigned long)kp->addr + (addr == start ? 0 : probe_desc(kp)->len);
}
NOKPROBE_SYMBOL(arch_slot_original);

/*
 * Are the flags on the stack when execution is, or is to return, to @offset?  Unwinders
 * look up the byte before a return address: in the SAVE_REGS of kprobe_detour_enter() that
 * is a byte of the call, and there are no flags on the stack.  When they are,
 * kprobe_detour_enter() lets unwinders look up the return address itself.
 */
static __always_inline bool flags_pushed(const struct optimized_kprobe *op, unsigned int offset)
{
	if (detour_entry(&op->kp) == DETOUR_CODE)
		return offset > DETOUR_CODE && offset <= DETOUR_RETURN;
	if (offset == DETOUR_RETURN)
		return true;
	return kprobe_detour_calls(&op->kp) == KPROBE_DETOUR_CALLS_POST &&
	       offset == DETOUR_COPY + mark(op, 1) + CALL_INSN_SIZE;
}

/**
 * kprobe_text_pushed() - how much more is on the stack than at the original instruction?
 * @addr: an address that may be in a detour
 *
 * The ORC data of the instruction that kprobe_text_address() tells do not know of it.
 *
 * Context: any.
 * Return: bytes.
 */
unsigned int kprobe_text_pushed(unsigned long addr)
{
	struct optimized_kprobe *op;
	unsigned int pushed = 0;
	unsigned long start = 0;
	struct kprobe *owner;

	preempt_disable_notrace();
	owner = kprobe_slot_owner(addr, &start);
	op = container_of(owner, struct optimized_kprobe, kp);
	if (owner && start == (unsigned long)op->optinsn.insn && flags_pushed(op, addr - start))
		pushed = sizeof(long);
	preempt_enable_notrace();
	return pushed;
}
NOKPROBE_SYMBOL(kprobe_text_pushed);

/* See <linux/kprobes-arch.h>.  In a detour only the first of the copies is meant. */
bool arch_slot_at_copy(struct kprobe *kp, unsigned long start, unsigned long addr)
{
	struct optimized_kprobe *op = container_of(kp, struct optimized_kprobe, kp);

	return addr - start == (start == (unsigned long)op->optinsn.insn ? DETOUR_COPY : 0);
}
NOKPROBE_SYMBOL(arch_slot_at_copy);
