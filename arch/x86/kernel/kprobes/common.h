/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _X86_KERNEL_KPROBES_COMMON_H
#define _X86_KERNEL_KPROBES_COMMON_H
/*
 * Declarations that the files of the x86 backend share.
 *
 * Kprobes.  A breakpoint replaces the first byte of the instruction.  An
 * instruction whose effect does not depend on its address is copied to a slot,
 * with RIP-relative operands re-based, and a jump back follows the copy.  The trap
 * returns into the slot, and no second trap is needed (the instruction is boosted).
 * Instructions that depend on their address (branches, calls, returns) or on the
 * interrupt flag (pushf, popf, cli, sti) are emulated in the trap.  For post handlers
 * there is a second slot, in which a breakpoint follows the copy.  classify.c decides
 * by one table; an instruction that it refuses cannot be probed.
 *
 * Return probes.  At the entry of a function the stack pointer points to the return address,
 * which is replaced by the address of the trampoline (arch_prepare_kretprobe()).  The function
 * returns to the trampoline (hit/trampoline_*.S).  The trampoline stores the registers directly
 * below the place of the return address on the stack; that place identifies the call.
 */
#include <linux/kprobes.h>
#include <linux/stringify.h>
#include <asm/frame.h>

#include "classify.h"

/* rethook's trampoline needs only the macros, and can be in a kernel without kprobes. */
#ifdef CONFIG_KPROBES
static_assert(sizeof(struct probe_insn) <=
	      sizeof(((struct arch_specific_insn *)0)->desc));

static __always_inline struct probe_insn *probe_desc(struct kprobe *p)
{
	return (struct probe_insn *)p->ainsn.desc;
}

/* The symbol after ftrace's trampolines; its header declares it in 64-bit kernels only. */
void ftrace_stub_direct_tramp(void);

/* vmlinux.lds.S: thunks of returns and indirect calls. */
extern char __x86_thunk_text_start[], __x86_thunk_text_end[];
extern char __x86_rethunk_text_start[], __x86_rethunk_text_end[];

/* patch.c */

/* A change of @len bytes of text, @offset bytes from the start of the mapped pages. */
struct probe_poke {
	u16 offset;
	u8 len;
	u8 bytes[4];
};

static_assert(TEXT_POKE_PAGES * PAGE_SIZE <= U16_MAX + 1);

/* Changes of text in @pages that are collected and not yet made. */
struct probe_pokes {
	unsigned int nr_pages;
	unsigned int nr;
	void *pages[TEXT_POKE_PAGES];
	struct probe_poke list[32];
};

void probe_poke(struct probe_pokes *pokes, void *addr, const void *bytes, size_t len);
void probe_poke_all(struct probe_pokes *pokes);

/* slots.c */
void probe_collect_slot(kprobe_opcode_t *slot, const void *bytes, unsigned int len,
			struct kprobe *kp);
void probe_write_slots(void);

/* hit/emulate.c */
int probe_emulate(const struct probe_insn *insn, struct pt_regs *regs,
		  unsigned long addr);
#endif /* CONFIG_KPROBES */

/*
 * Push the general registers' part of a struct pt_regs to the stack, and pop it, in the
 * order of <asm/ptrace.h> from the highest member down.
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
