/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forms that read or write arithmetic flags.
 */
#define FORM_TABLE	kprobes_forms_flags
#include "x86_form_macros.S"

forms_begin

/* Calls a macro with the registers and an immediate of each width. */
.macro widths macro:req, op:req
	\macro	\op, b, al, cl, 0x5a
	\macro	\op, w, ax, cx, 0x1234
	\macro	\op, l, eax, ecx, 0x12345678
#ifdef CONFIG_X86_64
	\macro	\op, q, rax, rcx, -0x12345678
#endif
.endm

/* --- Two operands ----------------------------------------------------------------- */

.macro binary op, s, a, c, imm
	form	I(\op\s %\c, %\a)
	form	I(\op\s 4(%SI), %\c)
	form	I(\op\s %\c, 8(%DI))
	form	I(\op\s $0x5, %\c)
	form	I(\op\s $0x6, -8(%DI))
	form	I(\op\s $\imm, MEM(24))
	form	I(\op\s $\imm, %\a)
.endm

.irp op, add, adc, sbb, sub, cmp
	widths	binary, \op
.endr
undefined AF
.irp op, or, and, xor
	widths	binary, \op
.endr

.macro tests op, s, a, c, imm
	form	I(\op\s %\c, %\a)
	form	I(\op\s %\c, 4(%SI))
	form	I(\op\s $\imm, %\a)
	form	I(\op\s $\imm, MEM(24))
.endm
widths tests, test
defaults

/* Registers with high numbers, and the pseudo index riz. */
#ifdef CONFIG_X86_64
pointers r13, r14
form I(add %r8, %r15)
form I(adc 8(%r13), %r9d)
form I(sub %r10w, 6(%r14))
form I(cmp $0x7f, %r12)
form I(cmpb $0, (%r13))
form I(sbb %r11b, MEM(11))
form I(cmpq $0x1234567, MEM(8))
defaults
#endif
form I(xor %eax, %eax), B(nop)
form I(sbb %edx, %edx)
form I(cmp %DX, %DX)

/* --- One operand --------------------------------------------------------------------- */

.macro unary op, s, a, c, imm
	form	I(\op\s %\c)
	form	I(\op\s 4(%SI))
	form	I(\op\s MEM(40))
.endm
.irp op, inc, dec, neg, not
	widths	unary, \op
.endr
.irp r, WORD_REGS
	.ifnc \r, CX
	form	I(inc %\r)
	form	I(dec %\r)
	.endif
.endr

undefined SF, ZF, AF, PF
.irp op, mul, imul
	widths	unary, \op
.endr
form I(imul %ecx, %edx)
form I(imul 4(%SI), %DX)
form I(imul MEM(16), %DX)
form I(imul $9, %ecx, %eax)
form I(imul $0x12345, 8(%SI), %DX)
form I(imul $-3, MEM(8), %cx)

/* Quotients that fit: the dividend is small, and the divisor is not 0. */
undefined CF, PF, AF, ZF, SF, OF
.irp op, div, idiv
	form	I(\op %cl), B(and $0x7f, %eax; or $1, %cl)
	form	I(\op %cx), B(and $0x7fff, %eax; xor %edx, %edx; or $1, %ecx)
	form	I(\op %ecx), B(and $0x7fffffff, %eax; xor %edx, %edx; or $1, %ecx)
	form	I(\op\()l MEM(8)), B(and $0xffff, %eax; xor %edx, %edx; orl $1, MEM(8))
	form	I(\op\()l 8(%SI)), B(and $0xffff, %eax; xor %edx, %edx; orl $1, 8(%SI))
.endr
#ifdef CONFIG_X86_64
.irp op, div, idiv
	form	I(\op %rcx), B(shr $1, %rax; xor %edx, %edx; or $1, %rcx)
	form	I(\op %r9), B(shr $1, %rax; xor %edx, %edx; or $1, %r9)
.endr
#endif

/* --- Shifts ---------------------------------------------------------------------------- */

.macro shift op, s, a, c, imm
	.ifc \s, l
	undefined AF, OF
	.endif
	form	I(\op\s $1, %\a)
	form	I(\op\s $3, %\a)
	form	I(\op\s %cl, %\a)
	form	I(\op\s $5, 8(%DI))
	form	I(\op\s %cl, MEM(16))
.endm
/* The carry of a narrow operand that is shifted out altogether is undefined, too. */
.irp op, shl, shr, sar
	undefined AF, OF, CF
	widths	shift, \op
.endr

.macro rotate op, s, a, c, imm
	form	I(\op\s $1, %\a)
	form	I(\op\s $3, %\a)
	form	I(\op\s %cl, %\a)
	form	I(\op\s $5, 8(%DI))
	form	I(\op\s $1, MEM(16))
.endm
undefined OF
.irp op, rol, ror, rcl, rcr
	widths	rotate, \op
.endr

undefined AF, OF
.irp op, shld, shrd
	form	I(\op $7, %ecx, %edx)
	form	I(\op %cl, %eax, %edx)
	form	I(\op $3, %DX, 8(%SI))
	form	I(\op %cl, %DX, MEM(8))
.endr

/* --- Bits ----------------------------------------------------------------------------- */

undefined OF, SF, AF, PF
.irp op, bt, bts, btr, btc
	form	I(\op %ecx, %edx)
	form	I(\op $11, %ecx)
	form	I(\op\()l $3, 4(%SI))
	form	I(\op\()l $30, MEM(12))
	form	I(\op %ecx, (%DI)), B(and $0xff, %ecx)
	form	I(\op %DX, MEM(64)), B(and $0xff, %edx)
.endr

undefined CF, OF, SF, AF, PF
.irp op, bsf, bsr
	form	I(\op %ecx, %edx), B(or $0x100, %ecx)
	form	I(\op MEM(16), %CX), B(orl $0x1000, MEM(16))
.endr

needs X86_FEATURE_POPCNT
undefined
form I(popcnt %ecx, %edx)
form I(popcnt 8(%SI), %DX)
needs X86_FEATURE_BMI1
undefined OF, SF, AF, PF
form I(tzcnt %ecx, %edx)
form I(tzcnt MEM(8), %DX)
undefined AF, PF
form I(andn %ecx, %edx, %eax)
form I(blsr %ecx, %edx)
form I(blsi MEM(8), %CX)
form I(blsmsk %ecx, %edx)
undefined AF, SF, PF
form I(bextr %ecx, %edx, %eax)
needs X86_FEATURE_ABM
undefined OF, SF, AF, PF
form I(lzcnt %ecx, %edx)
needs X86_FEATURE_BMI2
undefined AF, PF
form I(bzhi %ecx, %edx, %eax)
undefined
form I(rorx $13, %ecx, %edx)
form I(rorx $7, MEM(32), %CX)
form I(sarx %ecx, %edx, %eax)
form I(shlx %ecx, 8(%SI), %eax)
form I(shrx %CX, %DX, %AX)
form I(mulx %ecx, %ebx, %eax)
form I(pdep %ecx, %edx, %eax)
form I(pext %ecx, %edx, %eax)
needs X86_FEATURE_ADX
form I(adcx %ecx, %edx)
form I(adox MEM(4), %ecx)
needs X86_FEATURE_XMM4_2
form I(crc32b %cl, %edx)
form I(crc32l 4(%SI), %eax)
defaults

/* --- Atomic or not ----------------------------------------------------------------------- */

.macro atomic op:req
	form	I(lock \op 4(%SI))
	form	I(lock \op MEM(20))
.endm
.macro atomic_by op:req, r:req
	form	I(lock \op %\r, 4(%SI))
	form	I(lock \op %\r, MEM(20))
.endm

.irp op, incl, decl, negl, notl
	atomic	\op
.endr
.irp op, add, adc, sub, sbb, xadd, cmpxchg
	atomic_by \op, edx
	atomic_by \op, CX
.endr
form I(lock addl $-0x80, 8(%DI))
/* A barrier that writes below the stack pointer, where any data may be. */
undefined CF, PF, AF, ZF, SF, OF
form I(lock; addl $0, -4(%SP))
undefined
form I(xadd %ecx, %edx)
form I(xadd %ecx, 4(%SI))
form I(cmpxchg %ecx, %edx)
form I(cmpxchg %cl, 4(%SI))
form I(cmpxchg %DX, 8(%DI)), B(mov 8(%DI), %AX)
form I(lock cmpxchg %edx, (%DI)), B(mov (%DI), %eax)
undefined AF
.irp op, or, and, xor
	atomic_by \op, edx
.endr
form I(lock orb $0x40, 3(%SI))
undefined OF, SF, AF, PF
.irp op, bts, btr, btc
	form	I(lock \op\()l $5, 4(%SI))
	form	I(lock \op %ecx, MEM(32)), B(and $0x7f, %ecx)
.endr
needs X86_FEATURE_CX8
undefined
form I(cmpxchg8b (%SI))
form I(lock cmpxchg8b MEM(48))
form I(lock cmpxchg8b (%DI)), B(mov (%DI), %eax; mov 4(%DI), %edx)
#ifdef CONFIG_X86_64
form I(lock xadd %r9, (%rdi))

needs X86_FEATURE_CX16
form I(cmpxchg16b (%SI))
form I(lock cmpxchg16b (%DI)), B(mov (%DI), %rax; mov 8(%DI), %rdx)
needs X86_FEATURE_POPCNT
form I(popcnt %r8, %r9)
#endif
defaults

/* --- The flags themselves ------------------------------------------------------------------- */

.irp op, clc, stc, cmc, cld, std
	form	I(\op)
.endr
#ifdef CONFIG_X86_64
needs X86_FEATURE_LAHF_LM
#endif
form I(lahf)
form I(sahf)
defaults
#ifdef CONFIG_X86_32
undefined OF
form I(daa)
form I(das)
undefined OF, SF, ZF, PF
form I(aaa)
form I(aas)
undefined OF, AF, CF
form I(aam)
form I(aad)
#endif

forms_end
