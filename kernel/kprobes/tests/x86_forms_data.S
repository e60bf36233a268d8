/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forms that move data: all ways to name memory, all widths, the stack, strings.
 */
#define FORM_TABLE	kprobes_forms_data
#include "x86_form_macros.S"

forms_begin

/* --- Ways to address memory ------------------------------------------------- */

/* Each base: without displacement, with a short and with a long one. */
.irp b, WORD_REGS
	pointers \b
	form	I(mov (%\b), %AX)
	form	I(mov %CX, 0x10(%\b))
	form	I({disp32} movzbl -0x20(%\b), %edx)
.endr
form I(mov (%SP), %AX)
form I(mov %CX, WORD(%SP))
form I({disp32} movzbl 5(%SP), %edx)

/* Each index: with a base, with a displacement, with neither; all factors. */
.irp i, WORD_REGS
	indexes	\i
	pointers BX
	.ifc \i, BX
	pointers SI
	form	I(mov (%SI, %\i, 4), %eax)
	form	I(mov %dl, 0x21(%SI, %\i, 2))
	.else
	form	I(mov (%BX, %\i, 4), %eax)
	form	I(mov %dl, 0x21(%BX, %\i, 2))
	.endif
	form	I(mov ABSOLUTE(0x40)(, %\i, 8), %ecx)
.endr
indexes CX
pointers BP
form I(mov (%BP, %CX), %AX)
form I({disp32} mov %AX, -0x10(%BP, %CX, 8))
form I(mov %AX, (%SP, %CX, 4)), B(and $7, %ecx)
#ifdef CONFIG_X86_64
.irp b, r12, r13
	pointers \b
	form	I(mov (%\b, %rcx), %rax)
	form	I(mov %eax, 0x8(%\b, %rcx, 4))
.endr
#endif
defaults

/* No register at all. */
form I(mov MEM(8), %AX)
form I(mov MEM(8), %BX)
form I(mov %AX, MEM(16))
form I(mov %DX, MEM(16))
form I(movb MEM(3), %cl)
form I(movb %ch, MEM(5))
form I(movw MEM(6), %dx)
form I(movw %bx, MEM(10))
form I(movb $0x5a, MEM(1))
form I(movw $0x1234, MEM(2))
form I(movl $0x12345678, MEM(4))
form I(movb ABSOLUTE(3), %dl)
form I(movw %cx, ABSOLUTE(3))
form I(movl $0x12345678, ABSOLUTE(0x84))
form I(mov ABSOLUTE(9), %CX)
#ifdef CONFIG_X86_64
form I(mov MEM(8), %r8)
form I(mov %r15d, MEM(20))
form I(movq $-0x12345678, MEM(4))
form I(movabs ABSOLUTE(3), %al)
form I(movabs %ax, ABSOLUTE(5))
form I(movabs ABSOLUTE(7), %eax)
form I(movabs %rax, ABSOLUTE(9))
#else
form I(movb ABSOLUTE(3), %al)
form I(movw %ax, ABSOLUTE(5))
form I(movl ABSOLUTE(7), %eax)
form I(movl %eax, ABSOLUTE(9))
#endif

/* Per CPU. */
form I(mov PER_CPU_VAR(this_cpu_off), %AX)
form I(add PER_CPU_VAR(this_cpu_off), %CX)
form I(mov PER_CPU_VAR(kprobes_form_percpu), %DX)
form I(mov %BX, PER_CPU_VAR(kprobes_form_percpu))
form I(incl PER_CPU_VAR(kprobes_form_percpu))
form I(addl $0x1000, PER_CPU_VAR(kprobes_form_percpu))
form I(xchg %CX, PER_CPU_VAR(kprobes_form_percpu))
form I(xadd %DX, PER_CPU_VAR(kprobes_form_percpu))
form I(cmpxchg %DX, PER_CPU_VAR(kprobes_form_percpu))
form I(mov __percpu(%SI), %DX), B(mov $kprobes_form_percpu, %SI)
form I(decl __percpu(%SI)), B(mov $kprobes_form_percpu, %SI)

/* lea, whose operand may be any address. */
.irp r, WORD_REGS
	form	I(lea 0x123456(%BX, %\r, 8), %AX)
	form	I(lea -5(%\r, %CX, 2), %DX)
	form	I(lea (, %\r, 4), %\r)
	form	I(lea -1(%\r), %ecx)
.endr
form I(lea MEM(12), %CX)
form I(lea (%SP, %CX, 8), %DX)
form I(lea 0x28(%SP), %AX)

/* --- Widths ------------------------------------------------------------------- */

.irp r, LONG_REGS
	form	I(mov %eax, %\r)
	form	I(mov $0x89abcdef, %\r)
	form	I(bswap %\r)
.endr
.irp r, BYTE_REGS
	form	I(mov $0x7b, %\r)
	form	I(movzbl %\r, %ecx)
.endr
form I(mov %ah, %bl)
form I(mov 7(%SI), %dh)
form I(mov %dx, %cx)
form I(mov $0x4321, %bx)
form I(mov %cx, 3(%DI))
form I(movsbl %cl, %edx)
form I(movsbl -3(%SI), %eax)
form I(movswl %cx, %edx)
form I(movswl MEM(14), %edx)
form I(movzwl %bx, %eax)
form I(movzwl 6(%DI), %ecx)
form I(movsbw %dl, %cx)
form I(movb $0x77, 2(%DI))
form I(movw $0x7788, 2(%DI))
form I(movl $0x778899aa, 2(%DI))
form I(cbtw)
form I(cwtl)
form I(cwtd)
form I(cltd)
form I(xlat), B(LEA(kprobes_form_image, %BX))
#ifdef CONFIG_X86_64
form I(cltq)
form I(cqto)
form I(movslq %ecx, %rdx)
form I(movslq 4(%SI), %rax)
form I(movslq MEM(20), %r10)
form I(movsbq %r9b, %r8)
form I(movzwl %r9w, %eax)
form I(mov %r9, %rsi)
form I(mov %rsi, %r9)
form I(mov $-7, %rcx)
form I(movabs $0x123456789abcdef0, %r11)
form I(bswap %rax)
form I(bswap %r12)
form I(movq $-7, 2(%rdi))
#endif

.irp r, WORD_REGS
	.ifnc \r, AX
	form	I(xchg %AX, %\r)
	.endif
.endr
form I(xchg %dl, %ch)
form I(xchg %cx, MEM(6))
form I(xchg %edx, 4(%SI))
form I(xchg %bl, (%DI))

needs X86_FEATURE_CMOV
.irp cc, CONDITIONS
	form	I(cmov\cc %ecx, %edx)
	form	I(cmov\cc MEM(32), %BX)
	form	I(set\cc %dl)
	form	I(set\cc MEM(7))
.endr
form I(cmovne 5(%SI), %cx)
form I(sete 1(%DI, %CX)), B(and $7, %ecx)
needs X86_FEATURE_MOVBE
form I(movbe 4(%SI), %ecx)
form I(movbe %DX, 8(%DI))
defaults

/* --- The stack ------------------------------------------------------------------ */

.irp r, WORD_REGS
	form	I(push %\r)
	form	I(pop %\r)
.endr
form I(push %SP)
form I(pop %SP), B(lea 4 * WORD(%SP), %AX; push %AX)
form I(push $-7)
form I(push $0x12345678)
form I(push 8(%SI))
form I(push MEM(40))
form I(push WORD(%SP))
form I(push (%SP, %CX, WORD)), B(and $7, %ecx)
form I(pop 8(%DI))
form I(pop MEM(48))
form I(pop WORD(%SP))
form I(pop (%SP))
form I(pushw %cx), A(pushw %dx)
form I(popw %dx), A(popw %cx)
form I(pushw $0x1234), A(pushw %dx)
form I(pushw 6(%SI)), A(pushw %dx)
/* In 32-bit mode the processor may leave the upper half of the word unchanged. */
form I(push %fs), A(movw $0, 2(%SP))
form I(push %gs), A(movw $0, 2(%SP))
form I(mov %BX, %SP), B(lea 3 * WORD(%SP), %BX)
form I(mov %SP, %BP)
form I(xchg %AX, %SP), B(lea 2 * WORD(%SP), %AX)
form I(xchg %BX, %SP), B(lea 2 * WORD(%SP), %BX)
form I(lea 5 * WORD(%SP), %SP)
form I(add $4 * WORD, %SP)
form I(add $0x40, %SP)
form I(sub $-2 * WORD, %SP)
form I(and $-16, %SP), B(push %CX), A(mov %SP, %BX; lea 0x10(%SP), %SP)
form I(sub $0x18, %SP), A(mov %SP, %BX; lea 0x18(%SP), %SP)
form I(leave), B(lea 2 * WORD(%SP), %BP)
form I(enter $16, $0), A(mov %SP, %BX; mov %BP, %SP)
form I(enter $8, $1), A(mov %SP, %BX; mov %BP, %SP)
form I(inc %SP), A(lea WORD - 1(%SP), %SP)

/* --- Strings, in both directions -------------------------------------------------- */

.irp op, movs, stos, lods
.irp s, SUFFIXES
	form	I(\op\s)
	form	I(rep; \op\s), B(and $7, %ecx)
.endr
.endr
.irp op, scas, cmps
.irp s, SUFFIXES
	form	I(\op\s)
	form	I(repe; \op\s), B(and $7, %ecx)
	form	I(repne; \op\s), B(and $7, %ecx)
.endr
.endr
form I(rep; movsb %ss:(%SI), %es:(%DI)), B(and $3, %ecx)

/* --- Other instructions ----------------------------------------------------- */

form I(nop)
form I(ASM_NOP2)
form I(ASM_NOP3)
form I(ASM_NOP4)
form I(ASM_NOP5)
form I(ASM_NOP6)
form I(ASM_NOP7)
form I(ASM_NOP8)
form I(mov %ds, %ecx)
form I(mov %cs, %AX)
form I(mov %fs, MEM(20))
form I(smsw %ecx)
form I(mov %cr0, %DX)
form I(mov %cr4, %CX)
form I(sldt %ecx)
form I(str %edx)
form I(sgdt 8(%SI))
form I(sidt 8(%SI))
form I(cpuid), B(xor %eax, %eax; xor %ecx, %ecx)
form I(lsl %ecx, %edx), B(mov %cs, %ecx)
form I(lar %ecx, %edx), B(mov %cs, %ecx)
form I(verw MEM(16))
form I(invlpg (%SI))
form I(fwait)
needs X86_FEATURE_OSXSAVE
form I(xgetbv), B(xor %ecx, %ecx)
needs X86_FEATURE_CLFLUSH
form I(clflush (%SI))
form I(clflush MEM(64))
needs X86_FEATURE_CLFLUSHOPT
form I(clflushopt (%DI))
needs X86_FEATURE_3DNOWPREFETCH
form I(prefetchw (%SI))
form I(prefetchw MEM(64))
needs X86_FEATURE_SERIALIZE
form I(serialize)
needs X86_FEATURE_RDPID
form I(rdpid %AX)
defaults
#ifdef CONFIG_X86_64
form I(endbr64)
#else
form I(endbr32)
form I(pusha)
form I(popa)
form I(push %ds), A(movw $0, 2(%SP))
form I(push %es), A(movw $0, 2(%SP))
form I(pop %es), B(push %es)
form I(pop %ds), B(push %ds)
form I(mov %ecx, %es), B(mov %es, %ecx)
#endif

forms_end
