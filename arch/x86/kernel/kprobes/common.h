/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _X86_KERNEL_KPROBES_COMMON_H
#define _X86_KERNEL_KPROBES_COMMON_H
/*
 * What the files of the x86 backend share.
 *
 * The strategy.  A breakpoint replaces the first byte of the instruction.  An
 * instruction whose effect does not depend on where it runs is copied to a
 * slot, RIP-relative operands re-based, with a jump back behind it: the trap
 * returns into the slot, and nothing else is needed (it is boosted).  What
 * depends on its address (branches, calls, returns) or on the interrupt flag
 * (pushf, popf, cli, sti) is emulated in the trap.  Only for post handlers
 * there is a second slot with a breakpoint behind the copy.  classify.c decides,
 * by one table; what it refuses cannot be probed.
 *
 * Return probes.  At a function's entry the stack pointer points to the return address; that
 * of the trampoline takes its place (arch_prepare_kretprobe()).  The function's return jumps
 * there (hit/trampoline_*.S), and the trampoline builds the registers at the
 * return right below the place of the return address, which tells one call from another.
 */
#include <linux/kprobes.h>
#include <linux/stringify.h>
#include <asm/frame.h>

#include "classify.h"

/* rethook's trampoline, which a kernel without kprobes can have, needs the macros only. */
#ifdef CONFIG_KPROBES
static_assert(sizeof(struct probe_insn) <=
	      sizeof(((struct arch_specific_insn *)0)->desc));

static __always_inline struct probe_insn *probe_desc(struct kprobe *p)
{
	return (struct probe_insn *)p->ainsn.desc;
}

/* Follows ftrace's trampolines; its own header knows it in 64-bit kernels only. */
void ftrace_stub_direct_tramp(void);

/* vmlinux.lds.S: text through which returns and indirect calls run. */
extern char __x86_thunk_text_start[], __x86_thunk_text_end[];
extern char __x86_rethunk_text_start[], __x86_rethunk_text_end[];

/* patch.c */

/* A change of the text: of @len bytes, @offset bytes from where the pages are mapped. */
struct probe_poke {
	u16 offset;
	u8 len;
	u8 bytes[4];
};

static_assert(TEXT_POKE_PAGES * PAGE_SIZE <= U16_MAX + 1);

/* Changes in @pages that have been noted and not been made. */
struct probe_pokes {
	unsigned int nr_pages;
	unsigned int nr;
	void *pages[TEXT_POKE_PAGES];
	struct probe_poke list[32];
};

void probe_poke(struct probe_pokes *pokes, void *addr, const void *bytes, size_t len);
void probe_poke_all(struct probe_pokes *pokes);

/* hit/emulate.c */
int probe_emulate(const struct probe_insn *insn, struct pt_regs *regs,
		  unsigned long addr);
#endif /* CONFIG_KPROBES */

/*
 * Builds the general registers' part of a struct pt_regs on the stack, and takes
 * it down again, in the order of <asm/ptrace.h> from the highest member down.
 */
#define __PUSH(reg)	"	push %" #reg "\n"
#define __POP(reg)	"	pop %" #reg "\n"

#ifdef CONFIG_X86_64
#define SAVE_REGS_STRING						\
	"	sub $(8 * 3), %rsp\n"	/* orig_ax, ip, cs */		\
	__PUSH(rdi) __PUSH(rsi) __PUSH(rdx) __PUSH(rcx) __PUSH(rax)	\
	__PUSH(r8)  __PUSH(r9)  __PUSH(r10) __PUSH(r11) __PUSH(rbx)	\
	__PUSH(rbp) __PUSH(r12) __PUSH(r13) __PUSH(r14) __PUSH(r15)	\
	ENCODE_FRAME_POINTER
#define RESTORE_REGS_STRING						\
	__POP(r15) __POP(r14) __POP(r13) __POP(r12) __POP(rbp)		\
	__POP(rbx) __POP(r11) __POP(r10) __POP(r9)  __POP(r8)		\
	__POP(rax) __POP(rcx) __POP(rdx) __POP(rsi) __POP(rdi)		\
	"	add $(8 * 3), %rsp\n"
#else
#define SAVE_REGS_STRING						\
	"	sub $(4 * 4), %esp\n"	/* gs, orig_ax, ip, cs */	\
	__PUSH(fs)  __PUSH(es)  __PUSH(ds)				\
	__PUSH(eax) __PUSH(ebp) __PUSH(edi) __PUSH(esi) __PUSH(edx)	\
	__PUSH(ecx) __PUSH(ebx)						\
	ENCODE_FRAME_POINTER
#define RESTORE_REGS_STRING						\
	__POP(ebx) __POP(ecx) __POP(edx) __POP(esi) __POP(edi)		\
	__POP(ebp) __POP(eax)						\
	"	add $(4 * 7), %esp\n"	/* ds to cs */
#endif

#endif /* _X86_KERNEL_KPROBES_COMMON_H */
