// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: read kernel text without the breakpoints and jumps of probes.
 *
 * Under text_mutex the state of a point determines which bytes are replaced in the text.  A
 * fault handler does not hold text_mutex, and the optimizer may be writing at the same time.
 * But as long as a point has a detour, kprobe::text has the original bytes that a jump covers.
 * They are restored whether the jump is in the text, partly written, or not there.  Only a
 * debugger's breakpoint in these bytes is not returned.
 */
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kgdb.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/uaccess.h>
#include <asm/insn.h>
#include <asm/nops.h>

#include "classify.h"
#include "text.h"

#ifdef CONFIG_CALL_THUNKS
/* Length of the code that counts a call, immediately in front of the target (callthunks.c). */
#define COUNT_LEN	(IS_ENABLED(CONFIG_CALL_THUNKS_DEBUG) ? 17U : 9U)

static_assert(COUNT_LEN <= CONFIG_FUNCTION_PADDING_BYTES);

/*
 * Returns the length of the padding in front of the next symbol, which is at @end: nops, some of
 * which the kernel may have replaced, or may replace, by code that counts calls.  The padding of
 * a compiled function is a symbol of its own; that of a function in assembly is not.  In front
 * of the padding there may be longer nops, whose last byte is that of a short one.
 */
static unsigned long padding_before(unsigned long end)
{
	static const u8 count[] = { 0x65, 0x48, 0xc1, 0x3d };	/* sarq $5, %gs:disp32(%rip) */
	u8 text[CONFIG_FUNCTION_PADDING_BYTES];
	unsigned int len = 0;

	if (copy_from_kernel_nofault(text, (void *)end - sizeof(text), sizeof(text)))
		return 0;
	if (!memcmp(text + sizeof(text) - COUNT_LEN, count, sizeof(count)))
		len = COUNT_LEN;
	while (len < sizeof(text) && text[sizeof(text) - len - 1] == BYTES_NOP1)
		len++;
	return len < COUNT_LEN ? 0 : len;
}
#else
static unsigned long padding_before(unsigned long end)
{
	return 0;
}
#endif

/* The function that was looked up last; no address if @end is 0.  Protected by kprobe_mutex. */
static struct {
	unsigned long start, end;
} function;

/**
 * probe_function_of() - find the function around an address
 * @addr: the address
 * @start: set to the first address of the function
 * @end: set to the address after the function; @addr is not before it if it is in the padding of
 *	the next function
 *
 * The function is remembered until probe_function_forget(): to make a detour, several callers
 * need it.
 *
 * Context: kprobe_mutex held.
 * Return: false if there is none.
 */
bool probe_function_of(unsigned long addr, unsigned long *start, unsigned long *end)
{
	unsigned long size, offset;

	if (addr < function.start || addr >= function.end) {
		if (!kallsyms_lookup_size_offset(addr, &size, &offset))
			return false;
		function.start = addr - offset;
		function.end = function.start + size;
		function.end -= min(size, padding_before(function.end));
	}
	*start = function.start;
	*end = function.end;
	return true;
}

/**
 * probe_function_forget() - forget the function that was looked at last
 *
 * Another one may be loaded there.
 *
 * Context: kprobe_mutex held.
 */
void probe_function_forget(void)
{
	function.end = 0;
}

/**
 * probe_is_compiled() - is it known that a compiler has made a function?
 * @start: first address of the function
 * @end: address after it
 *
 * Assembly has no place for ftrace.
 *
 * Context: any.
 * Return: false for assembly, and for functions that ftrace leaves out.
 */
bool probe_is_compiled(unsigned long start, unsigned long end)
{
	return ftrace_text_reserved((void *)start, (void *)(end - 1));
}

/* The reader holds kprobe_mutex and text_mutex, or may hold no lock. */
enum reader {
	LOCKED,
	ANY_TIME,
};

/* Returns the number of bytes that the point may have replaced. */
static unsigned int covered(struct optimized_kprobe *op, enum reader reader)
{
	bool jump;

	if (reader == LOCKED) {
		jump = kprobe_optimized(&op->kp);
	} else {
		/*
		 * If there is a detour, so are the original bytes under the jump.  Pairs with the
		 * release in kprobe_publish_slot().
		 */
		jump = smp_load_acquire(&op->optinsn.insn);
	}
	return jump ? PROBE_JUMP_LEN : 1;
}

/* Restores the point's original bytes in @bytes, which were read at @addr. */
static void restore(struct optimized_kprobe *op, enum reader reader,
		    unsigned long addr, u8 *bytes, size_t len)
{
	unsigned long start = (unsigned long)op->kp.addr, at;
	unsigned long end = start + covered(op, reader);
	u8 original[PROBE_JUMP_LEN];

	probe_original_bytes(op, op->kp.opcode, original);
	for (at = start; at < end; at++) {
		if (at >= addr && at - addr < len)
			bytes[at - addr] = original[at - start];
	}
}

/* Is there the first byte of a breakpoint or of a jump? */
static bool is_armed(u8 byte)
{
	return byte == INT3_INSN_OPCODE || byte == JMP32_INSN_OPCODE;
}

/* Restores the original bytes of the point at @at, if there is one. */
static void restore_at(unsigned long at, enum reader reader, unsigned long addr, u8 *bytes,
		       size_t len)
{
	struct kprobe *kp = get_kprobe((void *)at);

	if (kp && !kprobe_ftrace(kp))
		restore(container_of(kp, struct optimized_kprobe, kp), reader, addr, bytes, len);
}

/*
 * Reads @len bytes at @addr, and restores the bytes that were replaced by points at the first
 * @probed addresses, or before @addr.  Without a lock, any byte may have been replaced that is
 * being written; with the locks, a point has replaced bytes only if the first one shows it.
 */
static __always_inline int read_text(unsigned long addr, u8 *bytes, size_t len, size_t probed,
				     enum reader reader)
{
	u8 before[PROBE_JUMP_LEN - 1];
	size_t i;
	int ret;

	ret = copy_from_kernel_nofault(bytes, (void *)addr, len);
	/* The first probe is armed after kprobes_in_use() is true, so test it after the copy. */
	if (ret || !kprobes_in_use())
		return ret;
	/* There may be no text before the first function. */
	if (get_kernel_nofault(before, (u8 (*)[sizeof(before)])(addr - sizeof(before))))
		memset(before, INT3_INSN_OPCODE, sizeof(before));
	for (i = 0; i < sizeof(before); i++) {
		if (reader == ANY_TIME || is_armed(before[i]))
			restore_at(addr - sizeof(before) + i, reader, addr, bytes, len);
	}
	for (i = 0; i < probed; i++) {
		if (reader == ANY_TIME || is_armed(bytes[i]))
			restore_at(addr + i, reader, addr, bytes, len);
	}
	return 0;
}

/**
 * kprobe_copy_text() - read kernel text without the breakpoints and jumps of probes
 * @bytes: buffer for the text
 * @addr: address of the text
 * @len: number of bytes
 *
 * For code that decodes a faulting instruction.
 *
 * Context: any.
 * Return: 0; -EFAULT if the text cannot be read; -ERANGE if it is not a kernel address.
 */
int kprobe_copy_text(void *bytes, unsigned long addr, size_t len)
{
	int ret;

	preempt_disable_notrace();
	ret = read_text(addr, bytes, len, len, ANY_TIME);
	preempt_enable_notrace();
	return ret;
}

static noinline int read_locked(unsigned long addr, u8 *bytes, size_t len, size_t probed)
{
	return read_text(addr, bytes, len, probed, LOCKED);
}

/**
 * probe_read_original() - read text as it is without any probes
 * @addr: address of the text
 * @bytes: buffer for the text
 * @len: number of bytes
 *
 * Context: kprobe_mutex and text_mutex held.
 * Return: @len; 0 if the text cannot be read.
 */
size_t probe_read_original(unsigned long addr, u8 *bytes, size_t len)
{
	return read_locked(addr, bytes, len, len) ? 0 : len;
}

/**
 * probe_read_insn() - read an instruction as it is without any probes
 * @addr: address of the instruction
 * @end: address after the function
 * @bytes: room for %MAX_INSN_SIZE bytes; bytes after the instruction may be those of probes
 *
 * Context: kprobe_mutex and text_mutex held.
 * Return: the number of bytes read; 0 if they cannot be read.
 */
size_t probe_read_insn(unsigned long addr, unsigned long end, u8 *bytes)
{
	size_t len = min_t(size_t, MAX_INSN_SIZE, end - addr);

	return read_locked(addr, bytes, len, 1) ? 0 : len;
}

/**
 * probe_read_text() - read text of a function as it is without any probes
 * @addr: address of the text
 * @bytes: buffer for the text
 * @len: number of bytes; bytes after the end of the function are not read
 *
 * Context: kprobe_mutex and text_mutex held.
 * Return: the number of bytes read; 0 if there is no function or it cannot be read.
 */
size_t probe_read_text(unsigned long addr, u8 *bytes, size_t len)
{
	unsigned long start, end;

	if (!probe_function_of(addr, &start, &end))
		return 0;
	return probe_read_original(addr, bytes, min(len, end - addr));
}

#ifdef CONFIG_KGDB
/**
 * probe_debugger_in() - is a debugger's breakpoint in a range of text?
 * @addr: address of the range
 * @len: length of the range
 *
 * Context: any.
 * Return: true if there is one.
 */
bool probe_debugger_in(unsigned long addr, unsigned int len)
{
	unsigned int i;

	/* kgdb walks over a thousand elements. */
	if (likely(!dbg_io_ops))
		return false;
	for (i = 0; i < len; i++) {
		if (kgdb_has_hit_break(addr + i))
			return true;
	}
	return false;
}
#else
/* Without kgdb there are no breakpoints of a debugger. */
bool probe_debugger_in(unsigned long addr, unsigned int len)
{
	return false;
}
#endif
