/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm64: call the handler of a jprobe, and return from any depth of calls in it.
 *
 * The handler is called on a frame of its own.  A copy of the arguments that the caller has put
 * on the stack is below the frame.  Upwards from the frame pointer, the frame has:
 *
 *	 0	frame record
 *	16	x19 to x28
 *	96	where the context level stores the frame pointer; pointer to the shadow call stack
 */
#include <linux/kprobes-jprobe.h>
#include <linux/linkage.h>
#include <asm/asm-offsets.h>
#include <asm/assembler.h>

#define FRAME		112
#define STACK_ARGUMENTS	(JPROBE_STACK_WORDS * 8)

/* Blacklisted as a whole: NOKPROBE() covers a function up to its first inner label. */
	.section .kprobes.text, "ax"
/* x0: handler, x1: struct pt_regs, x2: words on the stack, x3: frame */
SYM_FUNC_START(jprobe_call_handler)
	stp	x29, x30, [sp, #-FRAME]!
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	stp	x3, x18, [sp, #96]
	str	x29, [x3]

	sub	sp, sp, #STACK_ARGUMENTS
	ldr	x4, [x1, #S_SP]
	mov	x5, sp
	cbz	x2, .Lcopied
.Lcopy:
	ldr	x6, [x4], #8
	str	x6, [x5], #8
	subs	x2, x2, #1
	b.ne	.Lcopy
.Lcopied:
	mov	x16, x0
	mov	x17, x1
	ldp	x0, x1, [x17, #S_X0]
	ldp	x2, x3, [x17, #S_X2]
	ldp	x4, x5, [x17, #S_X4]
	ldp	x6, x7, [x17, #S_X6]
	ldr	x8, [x17, #S_X8]
	blr	x16

	/* jprobe_return() continues here, too: of all registers only x29 is still valid. */
SYM_INNER_LABEL(jprobe_returned, SYM_L_LOCAL)
	mov	sp, x29
	ldp	x3, x18, [sp, #96]
	str	xzr, [x3]
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	x29, x30, [sp], #FRAME
	ret
SYM_FUNC_END(jprobe_call_handler)
NOKPROBE(jprobe_call_handler)

/* Returns from the handler to jprobe_call_handler(); does nothing outside of a handler. */
SYM_FUNC_START(jprobe_return)
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	mov	x0, sp
	bl	jprobe_this_frame
	ldp	x29, x30, [sp], #16
	cbz	x0, .Lno_handler
	mov	x29, x0
	b	jprobe_returned
.Lno_handler:
	ret
SYM_FUNC_END(jprobe_return)
NOKPROBE(jprobe_return)
