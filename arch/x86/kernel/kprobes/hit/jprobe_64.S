/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86-64: call the handler of a jprobe, and return from it.  See <linux/kprobes-jprobe.h>.
 *
 * The handler is entered by a ret, which checks neither landing pads nor type hashes, because
 * the target of a void * may have neither.
 */
#include <linux/kprobes-jprobe.h>
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include <asm/ptrace-abi.h>
#include <asm/unwind_hints.h>

/* The frame, from %rbp downwards: callee-saved registers, then these. */
#define KEPT		(5 * 8)
#define FRAME		(KEPT + 8)	/* where the level stores %rbp of this frame */
#define HANDLER		(FRAME + 8)
#define ARGUMENTS	(HANDLER + JPROBE_STACK_WORDS * 8)
#define RETURN		(ARGUMENTS + 8)	/* return address of the handler */

	.text
/* Jumps to the handler, which returns to the caller of this function. */
SYM_FUNC_START_LOCAL(jprobe_enter_handler)
	pushq	-HANDLER(%rbp)
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(jprobe_enter_handler)
_ASM_NOKPROBE(jprobe_enter_handler)

/* %rdi: handler, %rsi: struct pt_regs, %rdx: words on the stack, %rcx: frame */
SYM_FUNC_START(jprobe_call_handler)
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	pushq	%rcx
	pushq	%rdi
	movq	%rbp, (%rcx)

	subq	$(ARGUMENTS - HANDLER), %rsp
	movq	%rsi, %rax
	movq	%rdx, %rcx
	movq	RSP(%rax), %rsi
	addq	$8, %rsi
	movq	%rsp, %rdi
	rep movsq

	movq	R15(%rax), %r15
	movq	R14(%rax), %r14
	movq	R13(%rax), %r13
	movq	R12(%rax), %r12
	movq	RBX(%rax), %rbx
	movq	R11(%rax), %r11
	movq	R10(%rax), %r10
	movq	R9(%rax), %r9
	movq	R8(%rax), %r8
	movq	RCX(%rax), %rcx
	movq	RDX(%rax), %rdx
	movq	RSI(%rax), %rsi
	movq	RDI(%rax), %rdi
	movq	RAX(%rax), %rax
	call	jprobe_enter_handler

	/* jprobe_return() continues here, too: of all registers only %rbp is still valid. */
	movq	-FRAME(%rbp), %rcx
	movq	$0, (%rcx)
	leaq	-KEPT(%rbp), %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	RET
SYM_FUNC_END(jprobe_call_handler)
_ASM_NOKPROBE(jprobe_call_handler)

/* Returns from the handler to jprobe_call_handler(); does nothing outside of a handler. */
SYM_FUNC_START(jprobe_return)
	ENDBR				/* exported, so it may be called indirectly */
	FRAME_BEGIN
	movq	%rsp, %rdi
	call	jprobe_this_frame
	FRAME_END
	testq	%rax, %rax
	jz	.Lno_handler
	movq	%rax, %rbp
	leaq	-RETURN(%rbp), %rsp
	UNWIND_HINT_FUNC
.Lno_handler:
	RET
SYM_FUNC_END(jprobe_return)
_ASM_NOKPROBE(jprobe_return)
