/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_CHANGE_H
#define _UPROBES_CHANGE_H
/*
 * A function whose result shows which registers a handler has changed. It adds to its argument:
 *
 *	1
 *	0x100		at changed_copied, an instruction that is copied
 *	0x200		in a function that changed_call calls; the call is emulated
 *	0x2000		the last word on the stack; but 0x1000, the one before, if the stack pointer
 *			is CHANGED_SLOT higher after changed_sp
 *	0x10000		if carry is set after changed_flags
 */

#ifdef __i386__
unsigned long changed(unsigned long value) __attribute__((regparm(1)));
#else
unsigned long changed(unsigned long value);
#endif
extern const char changed_copied[], changed_copied_end[], changed_call[], changed_call_end[];
extern const char changed_sp[], changed_flags[];

#define CHANGED_SLOT	(2 * (long)sizeof(long))

#if defined(__x86_64__)
asm(".pushsection .text; .balign 16\n"
	"changed: lea 1(%rdi), %rax\n"
	"changed_copied: lea 0x100(%rax), %rax\n"
	"changed_copied_end:\n"
	"changed_call: call 2f\n"
	"changed_call_end: mov %rsp, %rdx\n"
	"push $0x1000; push $0; push $0x2000\n"
	"changed_sp: nop\n"
	"pop %rcx; mov %rdx, %rsp; add %rcx, %rax\n"
	"clc\n"
	"changed_flags: nop\n"
	"jnc 1f; lea 0x10000(%rax), %rax\n"
	"1: ret\n"
	"2: lea 0x200(%rax), %rax; ret\n"
	".popsection");
#elif defined(__i386__)
asm(".pushsection .text; .balign 16\n"
	"changed: inc %eax\n"
	"changed_copied: lea 0x100(%eax), %eax\n"
	"changed_copied_end:\n"
	"changed_call: call 2f\n"
	"changed_call_end: mov %esp, %edx\n"
	"push $0x1000; push $0; push $0x2000\n"
	"changed_sp: nop\n"
	"pop %ecx; mov %edx, %esp; add %ecx, %eax\n"
	"clc\n"
	"changed_flags: nop\n"
	"jnc 1f; lea 0x10000(%eax), %eax\n"
	"1: ret\n"
	"2: lea 0x200(%eax), %eax; ret\n"
	".popsection");
#elif defined(__aarch64__)
asm(".pushsection .text; .balign 16\n"
	"changed: str x30, [sp, #-16]!\n"
	"add x0, x0, #1\n"
	"changed_copied: add x0, x0, #0x100\n"
	"changed_copied_end: adr x16, 2f\n"
	"changed_call: blr x16\n"
	"changed_call_end: mov x1, sp\n"
	"mov x2, #0x1000; str x2, [sp, #-16]!\n"
	"mov x2, #0x2000; str x2, [sp, #-16]!\n"
	"changed_sp: nop\n"
	"ldr x2, [sp]; mov sp, x1; add x0, x0, x2\n"
	/* Without carry. */
	"cmn x0, xzr\n"
	"changed_flags: nop\n"
	"b.cc 1f; add x0, x0, #0x10, lsl #12\n"
	"1: ldr x30, [sp], #16; ret\n"
	"2: add x0, x0, #0x200; ret\n"
	".popsection");
#endif

#endif /* _UPROBES_CHANGE_H */
