/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine that runs instruction forms: it sets registers, flags and stack, and enters the
 * piece, which branches back to the code that records all of them.
 *
 * All registers but the stack pointer belong to the piece, and have random values.  The branch
 * to a piece needs the link register, so its value is on the stack, and the first instruction of
 * the piece loads it.  The branch is a "ret", which BTI does not count as an indirect branch.
 *
 * The way back needs nothing that a piece may change, except a usable stack pointer, without
 * which no exception could be taken either; the value of the stack pointer is recorded.  If x18
 * is the pointer to the shadow stack, interrupts use it, too, and pieces do not change it.
 *
 * There is one image, so there is one run at a time.  Interrupts may be taken, and use the stack
 * below the stack pointer.
 */
#include <linux/linkage.h>
#include <asm/assembler.h>

#include "arm64_forms.h"

#define REG(nr)		(FORM_AT_REGS + (nr) * 8)
#define BELOW		(FORM_STACK_BELOW * 8)
#define ABOVE		(FORM_STACK_ABOVE * 8)
#define FRAME		(6 * 16)

#define PSR_NZCV	0xf0000000
#define PSR_DAIF	0x3c0

/* Two registers of the image, whose address is \image. */
.macro pair op, image, a, b
	\op	x\a, x\b, [\image, #REG(\a)]
.endm

	.bss
	.balign	16
saved_sp_daif:	.skip 16
given_sp:	.skip 8
SYM_DATA(kprobes_form_fn, .skip 8)

	.text
SYM_FUNC_START(kprobes_form_run)
	stp	x29, x30, [sp, #-FRAME]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	mov	x0, sp
	mrs	x1, daif
	adr_l	x2, saved_sp_daif
	stp	x0, x1, [x2]

	/* The same stack for all: aligned, and with the words above it filled. */
	adr_l	x30, kprobes_form_image
	and	x0, x0, #-64
	sub	x0, x0, #ABOVE
	str_l	x0, given_sp, x1
	add	x2, x30, #(FORM_AT_STACK + BELOW)
	add	x3, x0, #ABOVE
	mov	sp, x0
1:	ldp	x4, x5, [x2], #16
	stp	x4, x5, [x0], #16
	cmp	x0, x3
	b.ne	1b
	ldr	x4, [x30, #REG(30)]
	str	x4, [sp, #-16]!

	ldp	q0, q1, [x30, #FORM_AT_VECTORS]
	ldp	q2, q3, [x30, #FORM_AT_VECTORS + 32]
	ldr	x4, [x30, #FORM_AT_SPECIAL]
	msr	tpidr_el0, x4
	ldr	x4, [x30, #FORM_AT_FLAGS]
	and	x5, x4, #PSR_NZCV
	msr	nzcv, x5
	and	x5, x4, #PSR_DAIF
	msr	daif, x5
	pair	ldp, x30, 0, 1
	pair	ldp, x30, 2, 3
	pair	ldp, x30, 4, 5
	pair	ldp, x30, 6, 7
	pair	ldp, x30, 8, 9
	pair	ldp, x30, 10, 11
	pair	ldp, x30, 12, 13
	pair	ldp, x30, 14, 15
	pair	ldp, x30, 16, 17
#ifndef CONFIG_SHADOW_CALL_STACK
	ldr	x18, [x30, #REG(18)]
#endif
	ldr	x19, [x30, #REG(19)]
	pair	ldp, x30, 20, 21
	pair	ldp, x30, 22, 23
	pair	ldp, x30, 24, 25
	pair	ldp, x30, 26, 27
	pair	ldp, x30, 28, 29
	ldr_l	x30, kprobes_form_fn
	ret
SYM_FUNC_END(kprobes_form_run)

SYM_CODE_START(kprobes_form_done)
	/* Below the piece's stack pointer. */
	stp	x0, x1, [sp, #-16]!
	adr_l	x0, kprobes_form_image
	pair	stp, x0, 2, 3
	pair	stp, x0, 4, 5
	pair	stp, x0, 6, 7
	pair	stp, x0, 8, 9
	pair	stp, x0, 10, 11
	pair	stp, x0, 12, 13
	pair	stp, x0, 14, 15
	pair	stp, x0, 16, 17
#ifndef CONFIG_SHADOW_CALL_STACK
	str	x18, [x0, #REG(18)]
#endif
	str	x19, [x0, #REG(19)]
	pair	stp, x0, 20, 21
	pair	stp, x0, 22, 23
	pair	stp, x0, 24, 25
	pair	stp, x0, 26, 27
	pair	stp, x0, 28, 29
	str	x30, [x0, #REG(30)]
	mrs	x2, nzcv
	mrs	x3, daif
	orr	x2, x2, x3
	str	x2, [x0, #FORM_AT_FLAGS]
	mrs	x2, tpidr_el0
	str	x2, [x0, #FORM_AT_SPECIAL]
	stp	q0, q1, [x0, #FORM_AT_VECTORS]
	stp	q2, q3, [x0, #FORM_AT_VECTORS + 32]
	ldp	x2, x3, [sp], #16
	stp	x2, x3, [x0, #REG(0)]
	ldr_l	x1, given_sp
	mov	x2, sp
	sub	x2, x2, x1
	str	x2, [x0, #REG(FORM_SP)]
	sub	x1, x1, #BELOW
	add	x2, x0, #FORM_AT_STACK
	add	x3, x1, #(BELOW + ABOVE)
1:	ldp	x4, x5, [x1], #16
	stp	x4, x5, [x2], #16
	cmp	x1, x3
	b.ne	1b

	adr_l	x2, saved_sp_daif
	ldp	x0, x1, [x2]
	mov	sp, x0
	msr	daif, x1
	ldp	x27, x28, [sp, #80]
	ldp	x25, x26, [sp, #64]
	ldp	x23, x24, [sp, #48]
	ldp	x21, x22, [sp, #32]
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #FRAME
	ret
SYM_CODE_END(kprobes_form_done)
