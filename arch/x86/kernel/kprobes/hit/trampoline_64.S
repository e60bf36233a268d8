/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86-64: where return-probed functions return to.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include <asm/ptrace-abi.h>
#include <asm/segment.h>
#include <asm/unwind_hints.h>

#include "../../../entry/calling.h"

/*
 * Entered by a ret, which has taken this symbol's address off the stack.  A struct
 * pt_regs is built below the place where that stood; the callback writes the real
 * return address into that place.
 *
 * Unwinders find this symbol in pt_regs::ip and look up what it stands for, from
 * the registers on: before they are complete there is nothing to be found.
 */
	.text
SYM_CODE_START(__kretprobe_trampoline)
	ANNOTATE_NOENDBR
	UNWIND_HINT_UNDEFINED
	pushq	%rsp			/* in place of the return address */
	pushq	$__KERNEL_DS
	pushq	8(%rsp)			/* what the function's caller will have */
	pushfq
	pushq	$__KERNEL_CS
	pushq	$__kretprobe_trampoline
	UNWIND_HINT_IRET_REGS
	pushq	$-1
	PUSH_REGS
	ENCODE_FRAME_POINTER

	movq	%rsp, %rdi
	leaq	(SS + 8)(%rsp), %rsi	/* the place of the return address */
	call	kretprobe_return

	/* From here on an interrupt writes over what has been popped. */
	UNWIND_HINT_UNDEFINED
	POP_REGS
	leaq	(3 * 8)(%rsp), %rsp	/* orig_ax, ip, cs */
	popfq
	leaq	(2 * 8)(%rsp), %rsp	/* sp, ss */
	UNWIND_HINT_FUNC
	RET
SYM_CODE_END(__kretprobe_trampoline)
_ASM_NOKPROBE(__kretprobe_trampoline)
