/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_EXITS_H
#define _UPROBES_EXITS_H
/*
 * Functions with unusual exits, between NAME and NAME_end.  They have one argument and a result.
 *
 *	exits_two	two returns: the first if the argument is odd
 *	exits_tail	a jump to exits_two
 *	exits_branch	a conditional jump to exits_two, if the argument is even; a return
 *	exits_indirect	a jump through a table, to exits_two or to a place in the function, if
 *			the argument is odd; on arm64, the addresses have tags
 *	exits_deep	calls itself that many times
 *	exits_moving	moves the stack that it is on, see exits_move_stack(), and adds 7
 *	exits_address	returns its return address
 *
 * call_on() calls a function on another stack.
 */

#ifdef __i386__
#define EXITS_CALL __attribute__((regparm(2)))
#else
#define EXITS_CALL
#endif

#define EXITS_FUNCTION(name) \
	EXITS_CALL unsigned long name(unsigned long value); \
	extern const char name##_end[]

EXITS_FUNCTION(exits_two);
EXITS_FUNCTION(exits_tail);
EXITS_FUNCTION(exits_branch);
EXITS_FUNCTION(exits_indirect);
EXITS_FUNCTION(exits_deep);
EXITS_FUNCTION(exits_moving);
EXITS_FUNCTION(exits_address);

EXITS_CALL unsigned long exits_call_on(unsigned long value, void *top);

/* Copies the stack that the caller is on to another place; returns how far that is away. */
EXITS_CALL long exits_move_stack(void);
/* Overwrites the stack before. */
EXITS_CALL void exits_poison_stack(void);

#if defined(__x86_64__)
asm(".pushsection .text; .balign 16\n"
	"exits_two: mov %rdi, %rax; test $1, %al; jz 1f\n"
	"inc %rax; ret; 1: add $2, %rax; ret\n"
	"exits_two_end: .balign 16\n"
	"exits_tail: nop; jmp exits_two\n"
	"exits_tail_end: .balign 16\n"
	"exits_branch: test $1, %dil; jz exits_two; mov $100, %eax; ret\n"
	"exits_branch_end: .balign 16\n"
	"exits_indirect: mov %rdi, %rax; and $1, %eax; jmp *exits_table(, %rax, 8)\n"
	"exits_inside: mov $200, %eax; ret\n"
	"exits_indirect_end: .balign 16\n"
	"exits_deep: xor %eax, %eax; test %rdi, %rdi; jz 1f; dec %rdi; call exits_deep\n"
	"inc %rax; 1: ret\n"
	"exits_deep_end: .balign 16\n"
	"exits_moving: push %rbx; mov %rdi, %rbx; call exits_move_stack; add %rax, %rsp\n"
	"call exits_poison_stack; lea 7(%rbx), %rax; pop %rbx; ret\n"
	"exits_moving_end: .balign 16\n"
	"exits_address: mov (%rsp), %rax; ret\n"
	"exits_address_end: .balign 16\n"
	"exits_call_on: push %rbp; mov %rsp, %rbp; mov %rsi, %rsp; call exits_moving\n"
	"mov %rbp, %rsp; pop %rbp; ret\n"
	".popsection; .pushsection .data\n"
	"exits_table: .quad exits_two, exits_inside\n"
	".popsection");
#elif defined(__i386__)
asm(".pushsection .text; .balign 16\n"
	"exits_two: test $1, %al; jz 1f\n"
	"inc %eax; ret; 1: add $2, %eax; ret\n"
	"exits_two_end: .balign 16\n"
	"exits_tail: nop; jmp exits_two\n"
	"exits_tail_end: .balign 16\n"
	"exits_branch: test $1, %al; jz exits_two; mov $100, %eax; ret\n"
	"exits_branch_end: .balign 16\n"
	"exits_indirect: mov %eax, %edx; and $1, %edx; jmp *exits_table(, %edx, 4)\n"
	"exits_inside: mov $200, %eax; ret\n"
	"exits_indirect_end: .balign 16\n"
	"exits_deep: test %eax, %eax; jz 1f; dec %eax; call exits_deep\n"
	"inc %eax; 1: ret\n"
	"exits_deep_end: .balign 16\n"
	"exits_moving: push %ebx; mov %eax, %ebx; call exits_move_stack; add %eax, %esp\n"
	"call exits_poison_stack; lea 7(%ebx), %eax; pop %ebx; ret\n"
	"exits_moving_end: .balign 16\n"
	"exits_address: mov (%esp), %eax; ret\n"
	"exits_address_end: .balign 16\n"
	"exits_call_on: push %ebp; mov %esp, %ebp; mov %edx, %esp; call exits_moving\n"
	"mov %ebp, %esp; pop %ebp; ret\n"
	".popsection; .pushsection .data\n"
	"exits_table: .long exits_two, exits_inside\n"
	".popsection");
#elif defined(__aarch64__)
asm(".pushsection .text; .balign 16\n"
	"exits_two: tbz x0, #0, 1f; add x0, x0, #1; ret; 1: add x0, x0, #2; ret\n"
	"exits_two_end: .balign 16\n"
	"exits_tail: nop; b exits_two\n"
	"exits_tail_end: .balign 16\n"
	"exits_branch: tbz x0, #0, exits_two; mov x0, #100; ret\n"
	"exits_branch_end: .balign 16\n"
	"exits_indirect: adrp x1, exits_table; add x1, x1, :lo12:exits_table; and x2, x0, #1\n"
	"ldr x1, [x1, x2, lsl #3]; br x1\n"
	"exits_inside: mov x0, #200; ret\n"
	"exits_indirect_end: .balign 16\n"
	"exits_deep: cbz x0, 1f; stp x29, x30, [sp, #-16]!; sub x0, x0, #1; bl exits_deep\n"
	"add x0, x0, #1; ldp x29, x30, [sp], #16; 1: ret\n"
	"exits_deep_end: .balign 16\n"
	"exits_moving: stp x29, x30, [sp, #-32]!; str x19, [sp, #16]; mov x19, x0\n"
	"bl exits_move_stack; mov x1, sp; add x1, x1, x0; mov sp, x1; bl exits_poison_stack\n"
	"add x0, x19, #7; ldr x19, [sp, #16]; ldp x29, x30, [sp], #32; ret\n"
	"exits_moving_end: .balign 16\n"
	"exits_address: mov x0, x30; ret\n"
	"exits_address_end: .balign 16\n"
	"exits_call_on: stp x29, x30, [sp, #-16]!; mov x29, sp; mov sp, x1; bl exits_moving\n"
	"mov sp, x29; ldp x29, x30, [sp], #16; ret\n"
	".popsection; .pushsection .data; .balign 8\n"
	"exits_table: .quad exits_two + (0x5a << 56), exits_inside + (0xa5 << 56)\n"
	".popsection");
#endif

#endif /* _UPROBES_EXITS_H */
