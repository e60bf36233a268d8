/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_CALL_H
#define _UPROBES_CALL_H
/*
 * A system call whose instruction has a name, so that it can be probed.
 *
 *	long named_call(long number, const long arguments[5]);
 *
 * The result is that of the kernel: a negative errno after an error.  The return address is
 * in a register during the call, for vfork(), whose child would overwrite it (64 bit).
 */

extern char named_call_insn[], named_call_after[];

#if defined(__x86_64__)
long named_call(long number, const long *arguments);

asm(".pushsection .text\n"
	".globl named_call\n"
	"named_call:\n"
	"pop %r9\n"
	"mov %rdi, %rax\n"
	"mov %rsi, %rcx\n"
	"mov (%rcx), %rdi\n"
	"mov 8(%rcx), %rsi\n"
	"mov 16(%rcx), %rdx\n"
	"mov 24(%rcx), %r10\n"
	"mov 32(%rcx), %r8\n"
	".globl named_call_insn\n"
	"named_call_insn: syscall\n"
	".globl named_call_after\n"
	"named_call_after: jmp *%r9\n"
	".popsection\n");
#elif defined(__i386__)
long named_call(long number, const long *arguments) __attribute__((regparm(2)));

asm(".pushsection .text\n"
	".globl named_call\n"
	"named_call:\n"
	"push %ebx\n"
	"push %esi\n"
	"push %edi\n"
	"mov (%edx), %ebx\n"
	"mov 4(%edx), %ecx\n"
	"mov 12(%edx), %esi\n"
	"mov 16(%edx), %edi\n"
	"mov 8(%edx), %edx\n"
	".globl named_call_insn\n"
	"named_call_insn: int $0x80\n"
	".globl named_call_after\n"
	"named_call_after: pop %edi\n"
	"pop %esi\n"
	"pop %ebx\n"
	"ret\n"
	".popsection\n");
#elif defined(__aarch64__)
long named_call(long number, const long *arguments);

asm(".pushsection .text\n"
	".balign 4\n"
	".globl named_call\n"
	"named_call:\n"
	"mov x8, x0\n"
	"ldp x2, x3, [x1, #16]\n"
	"ldr x4, [x1, #32]\n"
	"ldp x0, x1, [x1]\n"
	".globl named_call_insn\n"
	"named_call_insn: svc #0\n"
	".globl named_call_after\n"
	"named_call_after: ret\n"
	".popsection\n");
#endif

static inline long call0(long number)
{
	const long arguments[5] = { 0 };

	return named_call(number, arguments);
}

static inline long call3(long number, long a, long b, long c)
{
	const long arguments[5] = { a, b, c };

	return named_call(number, arguments);
}

#endif /* _UPROBES_CALL_H */
