/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86-64: the trampoline to which return-probed functions return.
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

/*
 * Entered by a ret, which has taken the address of this symbol off the stack.  A
 * struct pt_regs is stored below the place of that address; the callback writes the
 * real return address to that place.
 *
 * That ret has also taken an entry off the processor's return stack.  The call below puts one
 * there for the RET at the end.  Otherwise that RET would take the entry of the next caller,
 * and the processor would mispredict the returns of all callers.  (It would not put an entry
 * there for a call of the next instruction.)
 *
 * Unwinders find this symbol in pt_regs::ip and replace it by the real return
 * address.  They cannot unwind before the registers are complete.
 */
	.text
SYM_CODE_START(__kretprobe_trampoline)
	ANNOTATE_NOENDBR
	UNWIND_HINT_UNDEFINED
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lentered		/* pushes the place of the return address */
	int3
.Lentered:
	pushq	$__KERNEL_DS
	pushq	%rsp
	pushfq
	ASM_CLAC			/* the function may be one that accesses user memory */
	addq	$16, 8(%rsp)		/* stack pointer of the caller after the return */
	pushq	$__KERNEL_CS
	pushq	$__kretprobe_trampoline
	UNWIND_HINT_IRET_REGS
	pushq	$-1
	PUSH_REGS
	ENCODE_FRAME_POINTER

	movq	%rsp, %rdi
	leaq	(SS + 8)(%rsp), %rsi	/* address of the return address */
	call	kretprobe_return

	/* From here on an interrupt overwrites the registers that have been popped. */
	UNWIND_HINT_UNDEFINED
	POP_REGS
	leaq	(3 * 8)(%rsp), %rsp	/* orig_ax, ip, cs */
	popfq
	leaq	(2 * 8)(%rsp), %rsp	/* sp, ss */
	UNWIND_HINT_FUNC
	RET
SYM_CODE_END(__kretprobe_trampoline)
_ASM_NOKPROBE(__kretprobe_trampoline)
