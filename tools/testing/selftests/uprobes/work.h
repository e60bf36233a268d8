/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_WORK_H
#define _UPROBES_WORK_H
/*
 * A function with one instruction of each kind that probes treat differently: it moves,
 * computes, branches, calls, returns, uses the stack and memory by its own address.  The
 * addresses of all of its instructions are in a table.
 *
 *	unsigned long work(unsigned long rounds, unsigned long *memory);
 *
 * The result depends on every instruction.
 */

#define WORD_BITS	(8 * __SIZEOF_POINTER__)

/* The instructions from work_probes to work_probes_end. */
extern char *const work_probes[], *const work_probes_end[];
#define WORK_PROBES	((unsigned int)(work_probes_end - work_probes))

/* Instructions of one round, and of a call besides the rounds. */
extern const unsigned int work_per_round, work_per_call;

extern char work_end[];

#if __SIZEOF_POINTER__ == 8
#define WORK_POINTER	".quad"
#else
#define WORK_POINTER	".long"
#endif

/* P: an instruction with a row in the table. */
#define WORK_BEGIN					\
	".macro P insn:vararg\n"			\
	".pushsection .rodata.work, \"a\"\n"		\
	WORK_POINTER " 77f\n"				\
	".popsection\n"					\
	"77: \\insn\n"					\
	".endm\n"					\
	".pushsection .rodata.work, \"a\"\n"		\
	".balign 8\n"					\
	".globl work_probes\n"				\
	"work_probes:\n"				\
	".popsection\n"					\
	".pushsection .text.work, \"ax\"\n"		\
	".balign 64\n"					\
	".globl work\n"					\
	"work:\n"

#define WORK_END					\
	".globl work_end\n"				\
	"work_end:\n"					\
	".popsection\n"					\
	".purgem P\n"					\
	".pushsection .rodata.work, \"a\"\n"		\
	".globl work_probes_end\n"			\
	"work_probes_end:\n"				\
	".popsection\n"					\
	".pushsection .data.work, \"aw\"\n"		\
	".balign 8\n"					\
	"work_limit: " WORK_POINTER " 0x40000000, 0\n"	\
	"work_key: " WORK_POINTER " 0x1234567, 0\n"	\
	".popsection\n"

#ifdef __x86_64__
unsigned long work(unsigned long rounds, unsigned long *memory);

const unsigned int work_per_round = 26, work_per_call = 4;

asm(WORK_BEGIN
	"P push %rbx\n"
	"P xor %eax, %eax\n"
	"1: P mov (%rsi), %rdx\n"
	"P add %rdx, %rax\n"
	"P lea 3(%rax, %rax, 2), %rax\n"
	"P call 2f\n"
	"P ror $7, %rax\n"
	"P movq %rax, %xmm1\n"
	"P mov %rax, 8(%rsi)\n"
	"P push %rax\n"
	"P pop %rcx\n"
	"P xor %rcx, %rbx\n"
	"P cmp work_limit(%rip), %ecx\n"
	"P .byte 0x72, 0x04\n"			/* jb over the next instruction */
	"lea 0x55(%rax), %rax\n"			/* not probed, and not always run */
	"P nop\n"
	"P .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"	/* nop of 5 bytes */
	/* A call may replace it. */
	"P .byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
	"P pushq 8(%rsi)\n"
	"P popq 16(%rsi)\n"
	"P addl $0x11, work_key(%rip)\n"
	"P add 16(%rsi), %rax\n"
	"P subl $0x11, work_key(%rip)\n"
	"P leaq 3f(%rip), %rcx\n"
	"P jmp *%rcx\n"
	"ud2\n"
	"3: P sub $1, %edi\n"
	"P jnz 1b\n"
	"P pop %rbx\n"
	"P ret\n"
	"2: P xor work_key(%rip), %rax\n"
	"P ret\n"
	WORK_END);

#elif defined(__i386__)
unsigned long work(unsigned long rounds, unsigned long *memory) __attribute__((regparm(2)));

const unsigned int work_per_round = 25, work_per_call = 10;

asm(WORK_BEGIN
	"P push %ebx\n"
	"P push %esi\n"
	"P push %edi\n"
	"P mov %eax, %edi\n"
	"P mov %edx, %esi\n"
	"P xor %eax, %eax\n"
	"1: P mov (%esi), %edx\n"
	"P add %edx, %eax\n"
	"P lea 3(%eax, %eax, 2), %eax\n"
	"P call 2f\n"
	"P ror $7, %eax\n"
	"P bswap %eax\n"
	"P mov %eax, 8(%esi)\n"
	"P push %eax\n"
	"P pop %ecx\n"
	"P xor %ecx, %ebx\n"
	"P cmp work_limit, %ecx\n"
	"P .byte 0x72, 0x03\n"			/* jb over the next instruction */
	"lea 0x55(%eax), %eax\n"			/* not probed, and not always run */
	"P nop\n"
	"P .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"	/* nop of 5 bytes */
	"P pushl 8(%esi)\n"
	"P popl 16(%esi)\n"
	"P addl $0x11, work_key\n"
	"P add 16(%esi), %eax\n"
	"P subl $0x11, work_key\n"
	"P lea 3f, %ecx\n"
	"P jmp *%ecx\n"
	"ud2\n"
	"3: P sub $1, %edi\n"
	"P jnz 1b\n"
	"P pop %edi\n"
	"P pop %esi\n"
	"P pop %ebx\n"
	"P ret\n"
	"2: P xor work_key, %eax\n"
	"P ret\n"
	WORK_END);

#elif defined(__aarch64__)
unsigned long work(unsigned long rounds, unsigned long *memory);

const unsigned int work_per_round = 25, work_per_call = 7;

asm(WORK_BEGIN
	"P stp x29, x30, [sp, #-32]!\n"
	"P mov x29, sp\n"
	"P mov x9, xzr\n"
	"1: P ldr x2, [x1]\n"
	"P add x9, x9, x2\n"
	"P add x9, x9, x9, lsl #1\n"
	"P bl 2f\n"
	"P ror x9, x9, #7\n"
	"P fmov d1, x9\n"
	"P str x9, [x1, #8]\n"
	"P stp x9, x2, [sp, #16]\n"
	"P ldp x3, x4, [sp, #16]\n"
	"P eor x4, x4, x3\n"
	"P adrp x5, work_limit\n"
	"P ldr x5, [x5, :lo12:work_limit]\n"
	"P cmp w3, w5\n"
	"P b.lo 4f\n"
	"add x9, x9, #0x55\n"			/* not probed, and not always run */
	"4: P nop\n"
	"P ldr x6, 5f\n"
	"P eor x9, x9, x6\n"
	"P tbz x9, #63, 6f\n"
	"eor x9, x9, #1\n"
	"6: P cbz xzr, 7f\n"
	"udf #0\n"
	"7: P adr x3, 3f\n"
	"P br x3\n"
	"udf #0\n"
	"3: P sub x0, x0, #1\n"
	"P cbnz x0, 1b\n"
	"P mov x0, x9\n"
	"P ldp x29, x30, [sp], #32\n"
	"P nop\n"
	"P ret\n"
	"2: P eor x9, x9, x1, lsr #60\n"
	"P ret\n"
	".balign 8\n"
	"5: .quad 0x123456789abcdef\n"
	WORK_END);
#endif

/* Calls the function with memory of this call; returns its result. */
UNUSED static unsigned long work_once(unsigned long rounds)
{
	unsigned long own[8] = { 0x12345679UL };

	return work(rounds, own);
}

#endif /* _UPROBES_WORK_H */
