/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forms that only programs have: system calls, faults at the instruction, other segments.
 */
#define FORM_TABLE	uprobes_forms_user
#include <x86_form_macros.S>

#define NR_getpid_native	39
#define NR_getpid_ia32		20
#define NR_none			9999

forms_begin

/* --- System calls: the number is valid, or not ----------------------------- */

form I(int $0x80), B(mov $NR_getpid_ia32, %eax)
form I(int $0x80), B(mov $NR_none, %eax)
#ifdef CONFIG_X86_64
form I(syscall), B(mov $NR_getpid_native, %eax)
form I(syscall), B(mov $NR_none, %eax)
#endif

/* --- Faults, which report the address of the instruction ------------------- */

form I(ud2)
form I(hlt)
form I(movl $1, 0)
form I(movl 0x10, %ecx)
form I(mov %CX, (%BX)), B(xor %ebx, %ebx)
form I(mov -8(%BX), %CX), B(xor %ebx, %ebx)
form I(push (%BX)), B(xor %ebx, %ebx)
form I(pop 8(%BX)), B(xor %ebx, %ebx)
form I(call *(%BX)), B(xor %ebx, %ebx), INDIRECT
form I(jmp *(%BX)), B(xor %ebx, %ebx), INDIRECT
form I(rep; movsb), B(xor %esi, %esi; or $4, %ecx)
form I(rep; stosl), B(xor %edi, %edi; or $4, %ecx; cld)
form I(lock; incl (%BX)), B(xor %ebx, %ebx)
form I(div %ecx), B(xor %ecx, %ecx)
form I(idivl (%SI)), B(movl $0, (%SI))
form I(div %cl), B(mov $0x7fff, %eax; mov $1, %cl)
form I(movaps 1(%SI), %xmm0)
form I(int $0x21)
form I(cmpxchg8b (%BX)), B(xor %ebx, %ebx)
form I(fldl (%BX)), B(xor %ebx, %ebx)
#ifdef CONFIG_X86_64
form I(mov (%rbx), %rcx), B(movabs $0x8000000000000000, %rbx)
#else
form I(into), B(mov $0x7fffffff, %eax; inc %eax)
form I(into), B(xor %eax, %eax; nop; nop)
form I(bound %ecx, (%SI)), B(movl $0, (%SI); movl $1, 4(%SI); mov $9, %ecx)
#endif

/* --- Instructions that may be refused: breakpoints of others, and no instruction ----- */

.set form_dead, -1
form I(int $3)
#ifdef CONFIG_X86_64
form I(.byte 0x06)
#endif
defaults

/* --- Jumps to addresses without code: the fault is there ------------------- */

form I(jmp *%BX), B(xor %ebx, %ebx), INDIRECT
form I(call *%BX), B(xor %ebx, %ebx), INDIRECT
form I(ret), B(push $0), INDIRECT

/* --- Segments and their registers ------------------------------------------ */

form I(mov %ds:(%SI), %ecx)
form I(mov %ss:4(%SI), %edx)
form I(.byte 0x2e; mov 8(%SI), %ecx)
form I(mov %gs, %ecx)
form I(mov %es, %CX)
form I(mov %ecx, %ds), B(mov %ds, %ecx)
form I(mov %ecx, %es), B(mov %ds, %ecx)
form I(mov %ecx, %fs), B(mov $0x1234, %ecx)
#ifdef CONFIG_X86_64
form I(mov %fs:(%rsi), %ecx)
form I(mov %edx, %gs:8(%rdi))
form I(mov %fs:kprobes_form_image + 8, %ecx)
#endif

/* --- The x87 stack, from which the value comes back ------------------------ */

form I(fldl (%SI)), B(fninit), A(fstpl 8(%DI))
form I(fld1), B(fninit), A(fstpl (%DI))
form I(fstpl 16(%DI)), B(fninit; fldpi)
form I(fildl (%SI)), B(fninit), A(fistpl (%DI))
form I(fnstcw (%DI))
form I(fnstsw %ax), B(fninit)
form I(fninit)
form I(emms)
form I(stmxcsr (%DI))
form I(ldmxcsr (%SI)), B(stmxcsr (%SI))
form I(fxch), B(fninit; fld1; fldpi), A(fstpl (%DI); fstpl 8(%DI))

/* --- Prefixes, lengths ----------------------------------------------------- */

form I(.byte 0x66, 0x66, 0x66, 0x90)
form I(.byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00)
form I(.byte 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00)
form I(.byte 0xf3, 0x0f, 0x1e, 0xc8)		/* a reserved nop */
form I(.byte 0xf3, 0x90)
form I(.byte 0x3e; movl $0x12345678, 0x20(%DI))
#ifdef CONFIG_X86_64
form I(.byte 0x48, 0x90)
form I(.byte 0x41, 0x90)			/* xchg %r8d, %eax */
form I(movl $0x12345678, %fs:0x12(%rsi, %rcx, 8)), B(and $7, %ecx)
form I(lea 0(%rip), %rcx)
form I(addl $0x11223344, kprobes_form_image + 12(%rip))
#endif

forms_end
