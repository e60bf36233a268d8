// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes without return addresses: probes of the instructions that leave a function.
 *
 * A function is decoded from its first byte to its last, when its exits are registered. Exits are
 * returns, jumps and branches to other functions, and indirect jumps, of which a hit decides
 * whether they leave the function.
 *
 * A breakpoint in data, or in the middle of an instruction, would break the program. So the
 * function is refused unless all of these are true:
 *
 *	- all bytes are instructions that the backend knows
 *	- every branch inside of the function leads to one of them
 *	- none of them has an address inside of the function as an operand, except the first one,
 *	  because data, for example the table of a switch, could be there
 *	- it calls no part of itself, whose return would be taken for one of the function
 *	- no breakpoint is in it, except after an instruction that does not continue at the next
 *	  one, where compilers have them for other reasons
 *	- it does not continue after its end
 *
 * An exit is an ordinary point with a handler. Nothing is kept from the entry of the call, so
 * that the program may move its stack, and the return may be in another thread.
 */
#include <linux/bitmap.h>
#include <linux/ptrace.h>
#include <linux/slab.h>

#include "internal.h"
#include "point.h"
#include "process.h"

/**
 * struct scan - a function that is being decoded
 * @start: its address
 * @size: its size
 * @starts: offsets of instructions
 * @targets: offsets to which branches lead
 * @exits: offsets of exits
 * @why: reason to refuse it
 */
struct scan {
	unsigned long	start;
	unsigned long	size;
	unsigned long	*starts;
	unsigned long	*targets;
	unsigned long	*exits;
	const char	*why;
};

static bool is_inside(const struct scan *scan, unsigned long addr)
{
	return addr - scan->start < scan->size;
}

static bool falls_through(enum uprobe_flow flow)
{
	return flow == UPROBE_FLOW_NEXT || flow == UPROBE_FLOW_CALL || flow == UPROBE_FLOW_BRANCH;
}

static bool is_exit(const struct scan *scan, const struct uprobe_insn *insn)
{
	switch (insn->flow) {
	case UPROBE_FLOW_RETURN:
	case UPROBE_FLOW_INDIRECT:
		return true;
	case UPROBE_FLOW_JUMP:
	case UPROBE_FLOW_BRANCH:
		return !is_inside(scan, insn->target);
	default:
		return false;
	}
}

/* Checks the addresses of an instruction, and notes its target. */
static int take_addresses(struct scan *scan, unsigned long vaddr, const struct uprobe_insn *insn)
{
	unsigned int i;

	for (i = 0; i < insn->nr_operands; i++) {
		if (insn->operands[i] != scan->start && is_inside(scan, insn->operands[i])) {
			scan->why = "data may be in the function";
			return -ENOEXEC;
		}
	}
	if (!insn->has_target || !is_inside(scan, insn->target))
		return 0;
	/* A call of the next instruction reads the instruction pointer. */
	if (insn->flow == UPROBE_FLOW_CALL && insn->target != scan->start &&
	    insn->target != vaddr + insn->len) {
		scan->why = "the function calls a part of itself";
		return -ENOEXEC;
	}
	__set_bit(insn->target - scan->start, scan->targets);
	return 0;
}

static int take_insn(struct scan *scan, const u8 *text, unsigned long at, unsigned int mode,
		     bool padding, struct uprobe_insn *insn)
{
	unsigned long vaddr = scan->start + at;
	int err;

	memset(insn, 0, sizeof(*insn));
	if (arch_uprobe_flow(text + at, scan->size - at, vaddr, mode, insn)) {
		scan->why = "an instruction of the function cannot be decoded";
		return -ENOEXEC;
	}
	if (insn->flow == UPROBE_FLOW_BREAKPOINT) {
		scan->why = "a breakpoint is in the function";
		return padding ? 0 : -EEXIST;
	}
	err = take_addresses(scan, vaddr, insn);
	if (err)
		return err;
	__set_bit(at, scan->starts);
	if (is_exit(scan, insn))
		__set_bit(at, scan->exits);
	return 0;
}

static int scan_all(struct scan *scan, const u8 *text, unsigned int mode)
{
	struct uprobe_insn insn = { .flow = UPROBE_FLOW_NEXT };
	unsigned long at;
	int err;

	for (at = 0; at < scan->size; at += insn.len) {
		err = take_insn(scan, text, at, mode, !falls_through(insn.flow), &insn);
		if (err)
			return err;
		cond_resched();
	}
	scan->why = "the function continues after its end";
	/* A call at the end is one that does not return. */
	if (falls_through(insn.flow) && insn.flow != UPROBE_FLOW_CALL)
		return -ENOEXEC;
	scan->why = "a branch leads into an instruction";
	if (!bitmap_subset(scan->targets, scan->starts, scan->size))
		return -ENOEXEC;
	scan->why = "the function has no exit";
	return bitmap_empty(scan->exits, scan->size) ? -ENOEXEC : 0;
}

static unsigned long *new_bitmap(unsigned long size)
{
	return kvcalloc(BITS_TO_LONGS(size), sizeof(long), GFP_KERNEL);
}

/**
 * uprobe_exits_scan() - find the exits of a function
 * @text: its bytes, without breakpoints of this engine
 * @size: number of bytes, at least 1
 * @vaddr: its address
 * @mode: see arch_uprobe_mode()
 * @exits: empty bitmap of @size bits; those at which an exit begins are set
 * @why: set on failure
 *
 * Context: task, may sleep.
 * Return: 0; -ENOEXEC if it is not certain which bytes are exits, or if there are none; -EEXIST
 * if a breakpoint is in the function; -ENOMEM.
 */
int uprobe_exits_scan(const u8 *text, unsigned long size, unsigned long vaddr, unsigned int mode,
		      unsigned long *exits, const char **why)
{
	struct scan scan = {
		.start = vaddr, .size = size, .exits = exits, .why = "no memory",
		.starts = new_bitmap(size), .targets = new_bitmap(size),
	};
	int err = -ENOMEM;

	if (scan.starts && scan.targets)
		err = scan_all(&scan, text, mode);
	kvfree(scan.starts);
	kvfree(scan.targets);
	*why = scan.why;
	return err;
}

/**
 * uprobe_exits_find() - find the exits of a function of a process
 * @own: the process
 * @vaddr: address of the function
 * @size: its size, 1 to %UPROBE_EXITS_SIZE
 * @exits: set to a bitmap of @size bits, to be freed with kvfree()
 * @why: set on failure
 *
 * Context: task, may sleep; mmap_lock of the process held.
 * Return: 0, or an error of uprobe_exits_scan() or uprobe_process_text().
 */
int uprobe_exits_find(struct uprobe_mm *own, unsigned long vaddr, unsigned long size,
		      unsigned long **exits, const char **why)
{
	u8 *text = kvmalloc(size, GFP_KERNEL);
	int err = -ENOMEM;

	*why = "no memory";
	*exits = new_bitmap(size);
	if (text && *exits)
		err = uprobe_process_text(own, vaddr, text, size, why);
	if (!err)
		err = uprobe_exits_scan(text, size, vaddr, arch_uprobe_mode(own->mm), *exits, why);
	kvfree(text);
	if (err)
		kvfree(*exits);
	return err;
}

/* Calls the return handler. At an exit, the stack pointer is that of the entry. */
static __always_inline void call_handler(struct uretprobe *rp, struct pt_regs *regs)
{
	struct uretprobe_instance ri = { .rp = rp, .func = rp->up.vaddr };

	if (arch_uretprobe_peek(regs, &ri.ret_addr))
		ri.ret_addr = 0;
	rp->handler(&ri, regs);
}

static __always_inline struct uprobe_registration *registration_of(struct uprobe_consumer *uc)
{
	return container_of(uc, struct uprobe_registration, consumer);
}

static __always_inline struct uretprobe *uretprobe_of(struct uprobe_registration *registration)
{
	return container_of(registration->user, struct uretprobe, up);
}

static int handle_return(struct uprobe_consumer *uc, struct pt_regs *regs, __u64 *data)
{
	struct uprobe_registration *registration = registration_of(uc);

	if (likely(!uprobe_is_disabled(registration)))
		call_handler(uretprobe_of(registration), regs);
	return 0;
}

static int handle_branch(struct uprobe_consumer *uc, struct pt_regs *regs, __u64 *data)
{
	struct uprobe_registration *registration = registration_of(uc);
	struct uretprobe *rp = uretprobe_of(registration);
	int exits;

	if (unlikely(uprobe_is_disabled(registration)))
		return 0;
	exits = arch_uprobe_branch_exits(current->utask->auprobe, regs, rp->up.vaddr, rp->size);
	if (exits > 0)
		call_handler(rp, regs);
	else if (exits < 0)
		atomic_inc(&rp->nmissed);
	return 0;
}

/* Is the instruction one that arch_uprobe_branch_exits() knows? */
static bool can_branch(struct uprobe_point *point, unsigned int mode)
{
	struct uprobe_insn insn = { };

	if (arch_uprobe_flow(point->insn, point->len, point->offset, mode, &insn))
		return false;
	switch (insn.flow) {
	case UPROBE_FLOW_JUMP:
	case UPROBE_FLOW_BRANCH:
	case UPROBE_FLOW_INDIRECT:
		return true;
	default:
		return false;
	}
}

/**
 * uretprobe_exit_handler() - get the handler for the consumer of an exit
 * @point: that of the exit, which has been accepted
 * @mode: see arch_uprobe_mode()
 *
 * The handler calls the return handler if the instruction leaves the function.
 *
 * Context: task.
 * Return: NULL if the instruction is none that can leave a function: the program has changed the
 * text since it was searched for exits.
 */
uprobe_consumer_handler *uretprobe_exit_handler(struct uprobe_point *point, unsigned int mode)
{
	const struct uprobe_decision *decision = uprobe_point_decision(point, mode);

	if (arch_uprobe_is_return(&decision->arch))
		return handle_return;
	return can_branch(point, mode) ? handle_branch : NULL;
}
