/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arm64: probed functions, and our detours as write_detour() of the kernel writes them.
 */
#include "asm-offsets.h"
#include "detour.h"
#include "measure.h"

	.text
.macro CALLER name, barrier
	.globl	\name
\name:	stp	x29, x30, [sp, #-16]!
	bl	1f
	ldp	x29, x30, [sp], #16
	ret
1:	stp	x29, x30, [sp, #-16]!
	bl	2f
	ldp	x29, x30, [sp], #16
	ret
2:	stp	x29, x30, [sp, #-16]!
	bl	3f
	ldp	x29, x30, [sp], #16
	ret
3:	stp	x29, x30, [sp, #-16]!
	\barrier
	blr	x0
	\barrier
	ldp	x29, x30, [sp], #16
	ret
.endm

	CALLER	call_deep
	CALLER	call_alone, isb

	.globl	add_chain
add_chain:
	mov	x0, #0
	mov	x1, #1
	.rept	CHAIN
	add	x0, x0, x1
	.endr
	ret

	.balign	64
	.globl	unprobed
unprobed:
	nop
	ret

/* A function whose first instruction is a branch to its detour, which calls @entry. */
.macro DETOUR name, entry
	.balign	64
	.globl	\name
\name:	b	\name\()_detour + DETOUR_CODE * 4
\name\()_back:
	ret
	.balign	DETOUR_BYTES
\name\()_detour:
	.quad	0
	stp	x29, x30, [sp, #-PT_REGS_SIZE]!
	bl	\entry
	.org	\name\()_detour + DETOUR_RETURN * 4	/* nothing is skipped, or lies in between */
	ldp	x29, x30, [sp], #PT_REGS_SIZE
	nop
	b	\name\()_back
.endm

	DETOUR	ours_bare, bare_kprobe_detour_enter
	DETOUR	ours_entry, bare_kprobe_detour_enter_return
	DETOUR	ours_step_call, step_call

step_call:
	ret

	.balign	64
	.globl	ours_jump
ours_jump:
	b	1f
2:	ret
	.balign	64
1:	nop
	b	2b

/* A function that returns to @to; the C function stores the real return address. */
.macro RETURNS name, to
	.balign	64
	.globl	\name
\name:	adrp	x9, real_return
	str	x30, [x9, #:lo12:real_return]
	adrp	x30, \to
	add	x30, x30, #:lo12:\to
	ret
.endm

	RETURNS	ours_return, bare___kretprobe_trampoline

/* Finds access to user space's memory disabled: sets PSR_PAN_BIT, as the kernel's does. */
	.globl	bare_kprobe_close_user_ttbr
bare_kprobe_close_user_ttbr:
	orr	x4, x4, #(1 << 22)
	ret

	.balign	64
	.globl	plain_return
plain_return:
	adrp	x9, real_return
	str	x30, [x9, #:lo12:real_return]
	ret

	.section .note.GNU-stack, "", @progbits
