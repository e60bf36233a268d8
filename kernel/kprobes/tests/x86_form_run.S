/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine that runs instruction forms: it sets general registers, flags and stack, and
 * jumps to the piece, which jumps back to the code that records all of them.
 *
 * The way back needs nothing that a piece may change, so a wrong register or stack pointer is
 * recorded and does no harm.  There is one image, so there is one run at a time.  Interrupts may
 * be taken, and use the stack below the stack pointer.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/ibt.h>
#include <asm/nospec-branch.h>

#include "x86_form_macros.S"

#define REG(nr)		RIP(kprobes_form_image + FORM_AT_REGS + (nr) * WORD)
#define FLAGS		RIP(kprobes_form_image + FORM_AT_FLAGS)

#define BELOW		(FORM_STACK_BELOW * WORD)
#define ABOVE		(FORM_STACK_ABOVE * WORD)
#define STACK		(kprobes_form_image + FORM_AT_STACK)

	.bss
	.balign WORD
saved_sp:	.skip WORD
saved_flags:	.skip WORD
	.globl kprobes_form_fn
kprobes_form_fn: .skip WORD

	.text
	__FUNC_ALIGN
	.globl kprobes_form_run
	.type kprobes_form_run, @function
kprobes_form_run:
	ENDBR
	push	%BP
	push	%BX
	push	%SI
	push	%DI
#ifdef CONFIG_X86_64
	push	%r12
	push	%r13
	push	%r14
	push	%r15
#endif
	pushf
	pop	RIP(saved_flags)
	mov	%SP, RIP(saved_sp)

	/* The same stack for all: aligned, and with the words above it filled. */
	and	$-64, %SP
	sub	$ABOVE, %SP
	mov	%SP, REG(FORM_SP)
	LEA(STACK + BELOW, %SI)
	mov	%SP, %DI
	mov	$FORM_STACK_ABOVE, %ecx
	rep MOVS_WORD

	mov	RIP(saved_flags), %AX
	and	$~FORM_FLAGS, %AX
	or	FLAGS, %AX
	push	%AX
	mov	REG(0), %AX
	mov	REG(1), %CX
	mov	REG(2), %DX
	mov	REG(3), %BX
	mov	REG(5), %BP
	mov	REG(6), %SI
	mov	REG(7), %DI
#ifdef CONFIG_X86_64
	.irp r, 8, 9, 10, 11, 12, 13, 14, 15
	mov	REG(\r), %r\r
	.endr
#endif
	popf
	ANNOTATE_RETPOLINE_SAFE
	jmp	*RIP(kprobes_form_fn)
	int3
	.size kprobes_form_run, . - kprobes_form_run

	.globl kprobes_form_done
	.type kprobes_form_done, @function
kprobes_form_done:
	mov	%AX, REG(0)
	mov	%CX, REG(1)
	mov	%DX, REG(2)
	mov	%BX, REG(3)
	mov	%BP, REG(5)
	mov	%SI, REG(6)
	mov	%DI, REG(7)
#ifdef CONFIG_X86_64
	.irp r, 8, 9, 10, 11, 12, 13, 14, 15
	mov	%r\r, REG(\r)
	.endr
#endif
	pushf
	pop	FLAGS
	/* The word that this push has used is below the stack pointer of the piece. */
	cld
	mov	REG(FORM_SP), %SI
	mov	%SP, %AX
	sub	%SI, %AX
	mov	%AX, REG(FORM_SP)
	sub	$BELOW, %SI
	LEA(STACK, %DI)
	mov	$(FORM_STACK_BELOW + FORM_STACK_ABOVE), %ecx
	rep MOVS_WORD

	mov	RIP(saved_sp), %SP
	push	RIP(saved_flags)
	popf
#ifdef CONFIG_X86_64
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
#endif
	pop	%DI
	pop	%SI
	pop	%BX
	pop	%BP
	RET
	.size kprobes_form_done, . - kprobes_form_done

STACK_FRAME_NON_STANDARD kprobes_form_run
STACK_FRAME_NON_STANDARD kprobes_form_done
