/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_ANSWERS_H
#define _LINUX_KPROBES_ANSWERS_H
/*
 * Answers to the questions that the rest of the kernel asks the new implementation of kprobes,
 * for the old one: nothing changes for its probes.  This header goes with the old implementation.
 */

/* The old implementation is asked by the calls that were there before. */
static __always_inline bool kprobes_in_use(void)
{
	return false;
}

static inline void kprobe_handler_died(void) { }
static inline void kprobe_ftrace_claim(struct ftrace_ops *ops) { }
static inline void kprobe_leave_copy(struct pt_regs *regs) { }

static inline unsigned long kprobe_text_address(unsigned long addr)
{
	return addr;
}

static inline bool kprobe_hit_registers(const struct pt_regs *regs)
{
	return false;
}

static inline unsigned int kprobe_text_pushed(unsigned long addr)
{
	return 0;
}

#define kprobe_copy_text(bytes, addr, len)				\
	copy_from_kernel_nofault(bytes, (void *)(addr), len)

static inline unsigned long kprobe_unwind_hit(unsigned long fp, unsigned long *pc)
{
	return 0;
}

static inline unsigned long kprobe_unwind_start(const struct pt_regs *regs, unsigned long *pc)
{
	return 0;
}

#endif /* _LINUX_KPROBES_ANSWERS_H */
