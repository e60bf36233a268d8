// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: C functions that detours call, and translation of addresses in slots and detours.
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
 * Moves the registers up so that the flags are directly below the new top of the stack, because
 * an iret in 32-bit mode sets the stack pointer to the address after the flags.
 */
static __always_inline struct pt_regs *move_up(struct pt_regs *regs)
{
	unsigned long *from = &regs->sp, *to = (unsigned long *)regs->sp;
	int i, nr = from - (unsigned long *)regs;

	/* Copy from the highest word down, because source and destination overlap. */
	for (i = 1; i <= nr; i++)
		WRITE_ONCE(to[-i], from[-i]);
	return (struct pt_regs *)(to - nr);
}

/*
 * Where a detour executes the instruction at @addr, if that is in the text that the jump covers;
 * otherwise @addr.
 */
static __always_inline unsigned long covered_target(const struct kprobe *kp,
						    const kprobe_opcode_t *detour,
						    unsigned long addr)
{
	const struct detour_data *data = detour_data(detour);
	int i;

	for (i = 1; i < data->nr; i++) {
		if (addr == (unsigned long)kp->addr + data->original[i - 1])
			return (unsigned long)detour + DETOUR_COPY + data->copy[i - 1];
	}
	return addr;
}

/* A handler of a carried probe may continue after ftrace's instruction. */
static __always_inline unsigned long chosen_target(struct kprobe *kp,
						   const kprobe_opcode_t *detour,
						   unsigned long addr)
{
	if (kprobe_carrier_is_next(kp, addr))
		return (unsigned long)detour + DETOUR_COPY;
	return covered_target(kp, detour, addr);
}

/**
 * kprobe_detour_redirect() - prepare an iret to the path that a handler has chosen
 * @regs: registers, built by kprobe_detour_enter()
 * @ret: return address in the detour
 *
 * An iret needs no thunk that could change the flags.  A handler may have raised the stack
 * pointer, for example to take a return address off the stack.  A handler cannot lower the
 * stack pointer, because these registers are directly below it: words that the handler
 * writes there would overwrite the registers.
 *
 * Context: the detour.
 * Return: address of the registers: @regs in 64-bit mode; in 32-bit mode they have been moved,
 * and the members after the flags are not valid.
 */
__visible struct pt_regs *kprobe_detour_redirect(struct pt_regs *regs, unsigned long ret)
{
	const kprobe_opcode_t *detour = (kprobe_opcode_t *)(ret & -DETOUR_SIZE);

	regs->ip = chosen_target(*(struct kprobe **)detour, detour, regs->ip);
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
 * kprobe_detour_stepped() - call the post handlers after the copy of the probed instruction
 * @ret: return address in the detour
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

static __always_inline bool calls_post(const struct kprobe *kp)
{
	return kprobe_detour_calls(kp) == KPROBE_DETOUR_CALLS_POST;
}

/*
 * Returns the offset from the copies' start at which instruction @i > 0 begins, including a
 * post-handler call inserted before it; the end of the copies if there is no such instruction.
 */
static __always_inline unsigned int mark(const struct kprobe *kp, const struct detour_data *data,
					 int i)
{
	unsigned int begin = i < data->nr ? data->copy[i - 1] : data->end;

	return i == 1 && calls_post(kp) ? begin - PROBE_POST_LEN : begin;
}

static __always_inline unsigned long detour_original(const struct kprobe *kp,
						     const struct detour_data *data,
						     unsigned int offset)
{
	unsigned long addr = (unsigned long)kp->addr;
	int i;

	for (i = data->nr; i > 0; i--) {
		if (offset >= DETOUR_COPY + mark(kp, data, i))
			break;
	}
	if (i == data->nr)
		return addr + data->len;
	return addr + (i ? data->original[i - 1] : 0);
}

/* Returns the detour of @kp if it is at @start; NULL otherwise, for instance if that is a slot. */
static __always_inline const kprobe_opcode_t *detour_at(struct kprobe *kp, unsigned long start)
{
	struct optimized_kprobe *op = container_of(kp, struct optimized_kprobe, kp);

	return start == (unsigned long)op->optinsn.insn ? (kprobe_opcode_t *)start : NULL;
}

/**
 * arch_chosen_target() - where to continue at an address that a handler has chosen
 * @kp: representative of the point whose breakpoint was hit
 * @addr: the address
 *
 * See <linux/kprobes-arch.h>.
 */
unsigned long arch_chosen_target(struct kprobe *kp, unsigned long addr)
{
	kprobe_opcode_t *resume = READ_ONCE(kp->ainsn.resume);
	const kprobe_opcode_t *detour = NULL;

	if (resume)
		detour = detour_at(kp, (unsigned long)resume - DETOUR_COPY);
	return detour ? covered_target(kp, detour, addr) : addr;
}
NOKPROBE_SYMBOL(arch_chosen_target);

/**
 * arch_slot_original() - translate an address in a slot or a detour to the original
 * @kp: representative of the point that owns the slot
 * @start: address of the slot
 * @addr: address in the slot
 *
 * See <linux/kprobes-arch.h>.  If an instruction becomes several in a detour, only the first
 * has the stack of the original: the others follow a push.
 */
unsigned long arch_slot_original(struct kprobe *kp, unsigned long start, unsigned long addr)
{
	const kprobe_opcode_t *detour = detour_at(kp, start);

	if (detour)
		return detour_original(kp, detour_data(detour), addr - start);
	return (unsigned long)kp->addr + (addr == start ? 0 : probe_desc(kp)->len);
}
NOKPROBE_SYMBOL(arch_slot_original);

/*
 * Is a word more on the stack while execution is at @offset, or will return there: the flags or
 * %rax?  Unwinders look up the byte before a return address.  During SAVE_REGS in
 * kprobe_detour_enter() that byte belongs to the call, and the word is not on the stack.  When it
 * is, an unwind hint in kprobe_detour_enter() makes unwinders look up the return address itself.
 */
static __always_inline bool word_pushed(const struct kprobe *kp, const kprobe_opcode_t *detour,
					unsigned int offset)
{
	unsigned int from = detour_entry(detour);

	from += detour[from] == PUSHF_INSN_OPCODE ? 1 : CALL_INSN_SIZE;
	if (offset < DETOUR_COPY)
		return offset >= from;
	return calls_post(kp) &&
	       offset == DETOUR_COPY + mark(kp, detour_data(detour), 1) + CALL_INSN_SIZE;
}

/**
 * kprobe_text_pushed() - size of additional data that a detour has pushed to the stack
 * @addr: an address that may be in a detour
 *
 * The ORC data of the original instruction (kprobe_text_address()) do not describe these data.
 *
 * Context: any.
 * Return: number of bytes.
 */
unsigned int kprobe_text_pushed(unsigned long addr)
{
	const kprobe_opcode_t *detour = NULL;
	unsigned int pushed = 0;
	unsigned long start = 0;
	struct kprobe *owner;

	preempt_disable_notrace();
	owner = kprobe_slot_owner(addr, &start);
	if (owner)
		detour = detour_at(owner, start);
	if (detour && word_pushed(owner, detour, addr - start))
		pushed = sizeof(long);
	preempt_enable_notrace();
	return pushed;
}
NOKPROBE_SYMBOL(kprobe_text_pushed);

/* See <linux/kprobes-arch.h>.  In a detour, true only for the copy of the first instruction. */
bool arch_slot_at_copy(struct kprobe *kp, unsigned long start, unsigned long addr)
{
	return addr - start == (detour_at(kp, start) ? DETOUR_COPY : 0);
}
NOKPROBE_SYMBOL(arch_slot_at_copy);
