/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _X86_KERNEL_KPROBES_TEXT_H
#define _X86_KERNEL_KPROBES_TEXT_H
/*
 * Read the kernel's text as it is without any probes.
 */
#include <linux/kprobes.h>
#include <linux/string.h>

/* Stores the original bytes that a jump of @op covers in @bytes; the first one is @first. */
static inline void probe_original_bytes(const struct optimized_kprobe *op, u8 first, u8 *bytes)
{
	bytes[0] = first;
	memcpy(bytes + 1, op->kp.text + 1, sizeof(op->kp.text) - 1);
}

/* text.c */
bool probe_function_of(unsigned long addr, unsigned long *start, unsigned long *end);
void probe_function_forget(void);
bool probe_is_compiled(unsigned long start, unsigned long end);
size_t probe_read_original(unsigned long addr, u8 *bytes, size_t len);
size_t probe_read_insn(unsigned long addr, unsigned long end, u8 *bytes);
size_t probe_read_text(unsigned long addr, u8 *bytes, size_t len);
bool probe_debugger_in(unsigned long addr, unsigned int len);

#endif /* _X86_KERNEL_KPROBES_TEXT_H */
