/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LAB_BENCH_UCLIENT_FUNCTIONS_H
#define _LAB_BENCH_UCLIENT_FUNCTIONS_H
/*
 * Functions, each with one kind of instruction at its entry, and CALL(), which calls one.
 */
#define ENTRY_ASM(name, code)					\
	".balign 64\n"						\
	".globl bench_" #name "\n"				\
	"bench_" #name ": " code "\n"				\
	"ret\n"						\
	"bench_" #name "_end:\n"
#define ENTRY_DECLARE(name, code)	extern char bench_##name[];

#ifdef __x86_64__
#define ENTRIES(entry)				\
	entry(nop, "nop")			\
	entry(push, "push %rbp; pop %rbp")	\
	entry(jmp, "jmp 1f; 1:")		\
	entry(jcc, "jz 1f; 1:")			\
	entry(call, "call bench_callee")	\
	entry(mov, "mov %rsp, %rax")		\
	entry(sub, "sub $8, %rsp; add $8, %rsp") \
	entry(endbr, "endbr64")			\
	entry(lea, "lea 8(%rdi), %rax")		\
	entry(load, "mov bench_word(%rip), %rax") \
	entry(callm, "call *bench_pointer(%rip)") \
	entry(jmpr, "jmp *%rdx")		\
	entry(nop5, ".byte 0x0f, 0x1f, 0x44, 0, 0") \
	entry(nop10, ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0") \
	entry(ret, "ret")

asm(".pushsection .text\n"
	ENTRIES(ENTRY_ASM)
	".balign 64\n"
	"bench_callee: ret\n"
	".popsection\n"
	".pushsection .data\n"
	"bench_word: .quad 1\n"
	"bench_pointer: .quad bench_callee\n"
	".popsection\n");

ENTRIES(ENTRY_DECLARE)

/* The jump through a register ends at the return. */
#define CALL(function) \
	asm volatile("call *%0" : : "r" (function), "d" (bench_ret) \
		     : "rax", "rcx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc")
#elif defined(__aarch64__)
#define ENTRIES(entry)				\
	entry(nop, "nop")			\
	entry(push, "stp x29, x30, [sp, #-16]!; ldp x29, x30, [sp], #16") \
	entry(jmp, "b 1f; 1:")			\
	entry(jcc, "b.eq 1f; 1:")		\
	entry(call, "bl bench_callee; mov x30, x9") \
	entry(mov, "mov x0, sp")		\
	entry(sub, "sub sp, sp, #16; add sp, sp, #16") \
	entry(endbr, "bti c")			\
	entry(lea, "adrp x0, bench_word")	\
	entry(load, "ldr x0, bench_literal")	\
	entry(callm, "blr x10; mov x30, x9")	\
	entry(jmpr, "br x11")			\
	entry(nop5, "paciasp; autiasp")		\
	entry(ret, "ret")

asm(".pushsection .text\n"
	ENTRIES(ENTRY_ASM)
	".balign 64\n"
	"bench_callee: ret\n"
	".balign 8\n"
	"bench_literal: .quad 1\n"
	".popsection\n"
	".pushsection .data\n"
	"bench_word: .quad 1\n"
	".popsection\n");

ENTRIES(ENTRY_DECLARE)
extern char bench_callee[];

/* Where a function returns to is in x9, too: calls in the functions overwrite x30. */
#define CALL(function) do {							\
	register const void *x10 asm("x10") = bench_callee;			\
	register const void *x11 asm("x11") = bench_ret;			\
	register const void *x12 asm("x12") = function;				\
	asm volatile("adr x9, 1f; mov x30, x9; br x12; 1:"			\
		     : "+r" (x10), "+r" (x11), "+r" (x12) :			\
		     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", \
		       "x13", "x14", "x15", "x16", "x17", "x30", "memory", "cc"); \
} while (0)
#endif

#define ENTRY_ROW(name, code)		{ #name, bench_##name },
static const struct {
	const char *name;
	char *function;
} entries[] = {
	ENTRIES(ENTRY_ROW)
};

#define NR_ENTRIES	ARRAY_SIZE(entries)

#endif /* _LAB_BENCH_UCLIENT_FUNCTIONS_H */
