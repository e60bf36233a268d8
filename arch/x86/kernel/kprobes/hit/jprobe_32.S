/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * i386: call the handler of a jprobe, and return from it.  See <linux/kprobes-jprobe.h>, and
 * jprobe_64.S about entering the handler.
 */
#include <linux/kprobes-jprobe.h>
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>

/* The frame, from %ebp downwards: callee-saved registers, then these. */
#define KEPT		(3 * 4)
#define HANDLER		(KEPT + 4)
#define ARGUMENTS	(HANDLER + JPROBE_STACK_WORDS * 4)
#define RETURN		(ARGUMENTS + 4)	/* return address of the handler */

/* The parameters, from %ebp upwards. */
#define P_HANDLER	8
#define P_REGS		12
#define P_WORDS		16
#define P_FRAME		20		/* where the level stores %ebp of this frame */

	.text
/* Jumps to the handler, which returns to the caller of this function. */
SYM_FUNC_START_LOCAL(jprobe_enter_handler)
	pushl	-HANDLER(%ebp)
	RET
SYM_FUNC_END(jprobe_enter_handler)
_ASM_NOKPROBE(jprobe_enter_handler)

SYM_FUNC_START(jprobe_call_handler)
	pushl	%ebp
	movl	%esp, %ebp
	pushl	%ebx
	pushl	%esi
	pushl	%edi
	pushl	P_HANDLER(%ebp)
	movl	P_FRAME(%ebp), %ecx
	movl	%ebp, (%ecx)

	subl	$(ARGUMENTS - HANDLER), %esp
	movl	P_REGS(%ebp), %eax
	movl	P_WORDS(%ebp), %ecx
	movl	PT_OLDESP(%eax), %esi
	addl	$4, %esi
	movl	%esp, %edi
	rep movsl

	movl	PT_EBX(%eax), %ebx
	movl	PT_ESI(%eax), %esi
	movl	PT_EDI(%eax), %edi
	movl	PT_ECX(%eax), %ecx
	movl	PT_EDX(%eax), %edx
	movl	PT_EAX(%eax), %eax
	call	jprobe_enter_handler

	/* jprobe_return() continues here, too: of all registers only %ebp is still valid. */
	movl	P_FRAME(%ebp), %ecx
	movl	$0, (%ecx)
	leal	-KEPT(%ebp), %esp
	popl	%edi
	popl	%esi
	popl	%ebx
	popl	%ebp
	RET
SYM_FUNC_END(jprobe_call_handler)
_ASM_NOKPROBE(jprobe_call_handler)

/* Returns from the handler to jprobe_call_handler(); does nothing outside of a handler. */
SYM_FUNC_START(jprobe_return)
	FRAME_BEGIN
	pushl	%esp
	call	jprobe_this_frame
	addl	$4, %esp
	FRAME_END
	testl	%eax, %eax
	jz	.Lno_handler
	movl	%eax, %ebp
	leal	-RETURN(%ebp), %esp
.Lno_handler:
	RET
SYM_FUNC_END(jprobe_return)
_ASM_NOKPROBE(jprobe_return)
