// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: read kernel text, and take the breakpoints and jumps of probes out of it.
 *
 * Whoever holds text_mutex knows from the state of a point which bytes it has replaced.  A
 * fault's handler does not: the optimizer may be writing.  But as long as there is a detour
 * its point has the bytes that a jump would cover, whether they are covered, half written, or
 * not.  Only a debugger's breakpoint in them would be lost.
 */
#include <linux/kallsyms.h>
#include <linux/kgdb.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/uaccess.h>
#include <asm/insn.h>

#include "classify.h"
#include "text.h"

/* Who reads: under kprobe_mutex and text_mutex, or at any time. */
enum reader {
	LOCKED,
	ANY_TIME,
};

/* How many bytes the point may have replaced. */
static unsigned int covered(struct optimized_kprobe *op, enum reader reader)
{
	bool jump = reader == LOCKED ? kprobe_optimized(&op->kp) :
				       !!READ_ONCE(op->optinsn.insn);

	return jump ? PROBE_JUMP_LEN : 1;
}

/* Puts the point's original bytes in place of those in @bytes, which were read at @addr. */
static void restore(struct optimized_kprobe *op, enum reader reader,
		    unsigned long addr, u8 *bytes, size_t len)
{
	unsigned long start = (unsigned long)op->kp.addr, at;
	u8 original[PROBE_JUMP_LEN];

	probe_original_bytes(op, op->kp.opcode, original);
	for (at = start; at < start + covered(op, reader); at++) {
		if (at >= addr && at - addr < len)
			bytes[at - addr] = original[at - start];
	}
}

/*
 * Reads @len bytes at @addr, and restores those that points at one of the first @probed
 * addresses have replaced, or points before @addr.
 */
static noinline int read_text(unsigned long addr, u8 *bytes, size_t len, size_t probed,
			      enum reader reader)
{
	unsigned long at = addr - (PROBE_JUMP_LEN - 1);
	int ret = copy_from_kernel_nofault(bytes, (void *)addr, len);
	struct kprobe *kp;

	for (; !ret && at < addr + probed; at++) {
		kp = get_kprobe((void *)at);
		if (kp && !kprobe_ftrace(kp))
			restore(container_of(kp, struct optimized_kprobe, kp), reader,
				addr, bytes, len);
	}
	return ret;
}

/**
 * kprobe_copy_text() - read kernel text without the breakpoints and jumps of probes
 * @bytes: where to put it
 * @addr: where it begins
 * @len: how much
 *
 * For code that decodes the instruction that has faulted.
 *
 * Context: any.
 * Return: 0; -EFAULT if there is no memory; -ERANGE if the address is not the kernel's.
 */
int kprobe_copy_text(void *bytes, unsigned long addr, size_t len)
{
	int ret;

	preempt_disable_notrace();
	ret = read_text(addr, bytes, len, len, ANY_TIME);
	preempt_enable_notrace();
	return ret;
}

/**
 * probe_read_original() - text as it is without any probes
 * @addr: where it begins
 * @bytes: where to put it
 * @len: how much of it
 *
 * Context: kprobe_mutex and text_mutex held.
 * Return: @len; 0 if there is no memory.
 */
size_t probe_read_original(unsigned long addr, u8 *bytes, size_t len)
{
	return read_text(addr, bytes, len, len, LOCKED) ? 0 : len;
}

/**
 * probe_read_insn() - the bytes of an instruction as they are without any probes
 * @addr: where it begins
 * @end: where the function ends
 * @bytes: room for %MAX_INSN_SIZE of them; those after the instruction may be other probes'
 *
 * Context: kprobe_mutex and text_mutex held.
 * Return: how many bytes have been read; 0 if there is no memory.
 */
size_t probe_read_insn(unsigned long addr, unsigned long end, u8 *bytes)
{
	size_t len = min_t(size_t, MAX_INSN_SIZE, end - addr);

	return read_text(addr, bytes, len, 1, LOCKED) ? 0 : len;
}

/**
 * probe_read_text() - a function's text as it is without any probes
 * @addr: where it begins
 * @bytes: where to put it
 * @len: how much of it; no more than up to the function's end is read
 *
 * Context: kprobe_mutex and text_mutex held.
 * Return: how many bytes have been read; 0 if there is no function.
 */
size_t probe_read_text(unsigned long addr, u8 *bytes, size_t len)
{
	unsigned long size, offset;

	if (!kallsyms_lookup_size_offset(addr, &size, &offset))
		return 0;
	return probe_read_original(addr, bytes, min(len, size - offset));
}

#ifdef CONFIG_KGDB
/**
 * probe_debugger_in() - has a debugger a breakpoint in a piece of text?
 * @addr: where it begins
 * @len: how long it is
 *
 * Context: any.
 * Return: true if it has.
 */
bool probe_debugger_in(unsigned long addr, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < len; i++) {
		if (kgdb_has_hit_break(addr + i))
			return true;
	}
	return false;
}
#else
/* No debugger can have a breakpoint. */
bool probe_debugger_in(unsigned long addr, unsigned int len)
{
	return false;
}
#endif
