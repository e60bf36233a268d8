/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86-64: what detours call, before the copied instructions and behind the first.
 *
 * The registers are those of the probed code, and all of them are given back.  Below
 * the return address, which tells the detour, a struct pt_regs is built; to unwinders it
 * stands for the probed instruction, through whose detour the return address leads, too.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include <asm/ptrace-abi.h>
#include <asm/segment.h>
#include <asm/smap.h>
#include <asm/unwind_hints.h>

#include "../../entry/calling.h"
#include "detour.h"

#define RETURN_ADDRESS	(SS + 8)
#define WHOLE_FRAME	(SS + 16)

/* C finds the stack and the flags that it expects; ip is its to fill in. */
.macro SAVE_REGS
	pushq	$__KERNEL_DS
	pushq	%rsp
	pushfq
	pushq	$__KERNEL_CS
	pushq	$0
	pushq	$-1
	PUSH_REGS unwind_hint=0
	addq	$16, RSP(%rsp)
	cld
	ASM_CLAC
	ENCODE_FRAME_POINTER
.endm

/* Returns to where RETURN_ADDRESS is by now. */
.macro RESTORE_REGS_AND_RETURN
	/* Interrupts write over registers that have been popped: a plain call is left. */
	UNWIND_HINT type=UNWIND_HINT_TYPE_CALL sp_reg=ORC_REG_SP sp_offset=WHOLE_FRAME
	POP_REGS
	leaq	(3 * 8)(%rsp), %rsp	/* orig_ax, ip, cs */
	popfq
	leaq	(2 * 8)(%rsp), %rsp	/* sp, ss */
	RET
.endm

	.text
SYM_CODE_START(kprobe_detour_enter)
	ANNOTATE_NOENDBR
	UNWIND_HINT_FUNC
	SAVE_REGS
	movq	RETURN_ADDRESS(%rsp), %rdi
	movq	-DETOUR_COPY(%rdi), %rdi
	movq	%rsp, %rsi
	/* The instruction pointer in the registers is behind the breakpoint's byte. */
	UNWIND_HINT_REGS signal=0
	call	kprobe_detour_pre
	testl	%eax, %eax
	jnz	.Lchanged
.Lrestore:
	RESTORE_REGS_AND_RETURN

	/* A handler has chosen where to go, and may have popped a return address. */
.Lchanged:
	UNWIND_HINT_REGS signal=0
	movq	%rsp, %rdi
	call	kprobe_detour_redirect
	movq	%rax, %rsp
	jmp	.Lrestore
SYM_CODE_END(kprobe_detour_enter)
_ASM_NOKPROBE(kprobe_detour_enter)

SYM_CODE_START(kprobe_detour_enter_post)
	ANNOTATE_NOENDBR
	UNWIND_HINT_FUNC
	SAVE_REGS
	movq	RETURN_ADDRESS(%rsp), %rdi
	movq	%rsp, %rsi
	UNWIND_HINT_REGS
	call	kprobe_detour_stepped
	RESTORE_REGS_AND_RETURN
SYM_CODE_END(kprobe_detour_enter_post)
_ASM_NOKPROBE(kprobe_detour_enter_post)

/*
 * At a function's entry, for C that leaves alone what the ABI says.  Unwinders find a
 * function that the detour has called.
 */
SYM_CODE_START(kprobe_detour_enter_return)
	ANNOTATE_NOENDBR
	UNWIND_HINT_FUNC
	pushfq
	.irp	reg, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
	pushq	%\reg
	.endr
	cld
	movq	(10 * 8)(%rsp), %rdi
	movq	-DETOUR_COPY(%rdi), %rdi
	leaq	(11 * 8)(%rsp), %rsi
	call	kprobe_detour_return
	.irp	reg, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
	popq	%\reg
	.endr
	popfq
	RET
SYM_CODE_END(kprobe_detour_enter_return)
_ASM_NOKPROBE(kprobe_detour_enter_return)
