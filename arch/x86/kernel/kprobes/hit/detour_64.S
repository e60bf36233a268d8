/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86-64: what detours call, before the copied instructions and behind the first.
 *
 * The registers are those of the probed code, and all of them are given back, the flags by
 * the detour.  The return address tells which detour it is.  Its place is the end of the
 * struct pt_regs that is built here, which to unwinders stands for the probed instruction.
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

#include "../../../entry/calling.h"
#include "../detour.h"

/*
 * The return address goes to %rbx; where it was is the place of ss.  C finds the stack and
 * the flags that it expects, and fills in the instruction pointer, which is @ip until then.
 */
.macro SAVE_REGS ip:req
	pushq	%rsp
	pushfq
	pushq	$__KERNEL_CS
	pushq	\ip
	pushq	$-1
	PUSH_REGS unwind_hint=0
	addq	$8, RSP(%rsp)		/* the stack pointer before the call */
	cld
	ASM_CLAC
	ENCODE_FRAME_POINTER
	movq	SS(%rsp), %rbx
	movq	$__KERNEL_DS, SS(%rsp)
.endm

/*
 * The place of ss gets the flags, for the detour's popf, and that of sp the return address.
 * The popf comes after the return, because a return thunk may change the flags.
 */
.macro RESTORE_REGS_AND_RETURN
	movq	%rbx, RSP(%rsp)
	/*
	 * Interrupts write over registers that have been popped, so a plain call is left.  It
	 * is a signal's because then unwinders look up its return address and not the byte
	 * before, see flags_pushed().
	 */
	UNWIND_HINT type=UNWIND_HINT_TYPE_CALL sp_reg=ORC_REG_SP sp_offset=SS signal=1
	POP_REGS
	leaq	(3 * 8)(%rsp), %rsp	/* orig_ax, ip, cs */
	popq	8(%rsp)			/* flags, from here on relative to sp */
	RET
.endm

	.text
SYM_CODE_START(kprobe_detour_enter)
	ANNOTATE_NOENDBR
	UNWIND_HINT_FUNC
	/* The return address is one that unwinders translate. */
	SAVE_REGS ip="24(%rsp)"
	/* The instruction pointer in the registers is behind the breakpoint's byte. */
	UNWIND_HINT_REGS signal=0
	movq	-DETOUR_RETURN(%rbx), %rdi
	movq	%rsp, %rsi
	call	kprobe_detour_pre
	testl	%eax, %eax
	jnz	.Lchanged
	RESTORE_REGS_AND_RETURN

	/* A handler has chosen where to go, and may have popped a return address. */
.Lchanged:
	UNWIND_HINT_REGS signal=0
	movq	%rsp, %rdi
	call	kprobe_detour_redirect
	UNWIND_HINT_IRET_REGS offset=RIP
	POP_REGS
	leaq	8(%rsp), %rsp		/* orig_ax */
	iretq
SYM_CODE_END(kprobe_detour_enter)
_ASM_NOKPROBE(kprobe_detour_enter)

SYM_CODE_START(kprobe_detour_enter_post)
	ANNOTATE_NOENDBR
	UNWIND_HINT_FUNC
	SAVE_REGS ip="$0"
	UNWIND_HINT_REGS
	movq	%rbx, %rdi
	movq	%rsp, %rsi
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
	.irp	reg, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
	pushq	%\reg
	.endr
	cld
	movq	(9 * 8)(%rsp), %rdi
	movq	-DETOUR_RETURN(%rdi), %rdi
	leaq	(11 * 8)(%rsp), %rsi	/* after the flags, which the detour has pushed */
	call	kprobe_detour_return
	.irp	reg, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
	popq	%\reg
	.endr
	RET
SYM_CODE_END(kprobe_detour_enter_return)
_ASM_NOKPROBE(kprobe_detour_enter_return)
