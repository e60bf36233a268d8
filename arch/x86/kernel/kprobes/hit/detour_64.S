/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86-64: assembly that detours call, before the copied instructions and after the first one.
 *
 * The registers on entry are those of the probed code.  All of them are restored: the flags by a
 * popf of the detour, or here, or not at all where the arithmetic flags are dead.  The return
 * address identifies the detour.  The place of the return address is the last word of the struct
 * pt_regs that is stored here; unwinders take these registers for those of the probed instruction.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include <asm/processor-flags.h>
#include <asm/ptrace-abi.h>
#include <asm/segment.h>
#include <asm/smap.h>
#include <asm/unwind_hints.h>

#include "../../../entry/calling.h"
#include "../detour.h"

#define RARE_FLAGS	(X86_EFLAGS_DF | X86_EFLAGS_AC | X86_EFLAGS_IOPL | X86_EFLAGS_NT)

/*
 * Saves the registers, and moves the return address to %rbx; its place on the stack becomes that
 * of ss.  Sets up the stack and the flags for C code.  The saved instruction pointer is @ip until
 * the C code changes it.
 *
 * DF and AC are clear nearly always, and clearing them takes longer than testing them.  If one is
 * set, CLEAR_FLAGS @set clears both.
 *
 * @flags is a register that receives a copy of the flags; CLEAR_FLAGS inverts the copy.  If it is
 * not inverted, and the handlers have changed no flag, all bits from 12 to 15 are 0.
 */
.macro SAVE_REGS ip:req, set:req, flags
	pushq	%rsp
	pushfq
	pushq	$__KERNEL_CS
	pushq	\ip
	pushq	$-1
	PUSH_REGS unwind_hint=0
	addq	$8, RSP(%rsp)		/* the stack pointer before the call */
	.ifnb	\flags
	movl	EFLAGS(%rsp), \flags
	.endif
	testl	$RARE_FLAGS, EFLAGS(%rsp)
	jnz	\set
\set\()_cleared:
	ENCODE_FRAME_POINTER
	movq	SS(%rsp), %rbx
	movq	$__KERNEL_DS, SS(%rsp)
.endm

.macro CLEAR_FLAGS set:req, flags
\set:
	cld
	ASM_CLAC
	.ifnb	\flags
	notl	\flags
	.endif
	jmp	\set\()_cleared
.endm

/*
 * Stores the flags in the place of ss, for the detour's popf, and the return address in that
 * of sp.  The detour has the popf, because a return thunk may change the flags.
 */
.macro RESTORE_REGS_AND_RETURN
	movq	%rbx, RSP(%rsp)
	/*
	 * An interrupt overwrites registers that have been popped, so from here on unwinders
	 * find a plain call.  It is marked as a signal frame, so that they look up the return
	 * address itself and not the byte before: see word_pushed().
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
	/* Unwinders translate the return address, because it is in a detour. */
	SAVE_REGS ip="24(%rsp)" set=.Lset
	/* The saved instruction pointer becomes that after the breakpoint's byte: signal=0. */
	UNWIND_HINT_REGS signal=0
	movq	-DETOUR_POPF(%rbx), %rdi
	movq	%rsp, %rsi
	call	kprobe_detour_pre
	testl	%eax, %eax
	jnz	.Lchanged
	RESTORE_REGS_AND_RETURN

	/* A handler has changed the path of execution, and may have popped a return address. */
.Lchanged:
	UNWIND_HINT_REGS signal=0
	movq	%rsp, %rdi
	movq	%rbx, %rsi
	call	kprobe_detour_redirect
	UNWIND_HINT_IRET_REGS offset=RIP
	POP_REGS
	leaq	8(%rsp), %rsp		/* orig_ax */
	iretq

	CLEAR_FLAGS .Lset
SYM_CODE_END(kprobe_detour_enter)
_ASM_NOKPROBE(kprobe_detour_enter)

/*
 * Restores the registers, but no flag, and returns.  Nothing is left on the stack.
 */
.macro RESTORE_ALL_AND_RETURN
	movq	%rbx, SS(%rsp)
	/* As in RESTORE_REGS_AND_RETURN, but the stack has no flags after the return. */
	UNWIND_HINT type=UNWIND_HINT_TYPE_CALL sp_reg=ORC_REG_SP sp_offset=SS+8
	POP_REGS
	leaq	(5 * 8)(%rsp), %rsp	/* orig_ax, ip, cs, flags, sp */
	RET
.endm

/*
 * The common code of two entries, whose detours have no popf, because it takes some twenty cycles.
 * If a handler has changed the flags, or if one of RARE_FLAGS was set, this executes one; otherwise
 * only arithmetic flags differ, which @restore_flags restores.
 */
.macro ENTER_WITHOUT_POPF name:req, restore_flags:req
SYM_CODE_START(\name)
	ANNOTATE_NOENDBR
	UNWIND_HINT_FUNC
	SAVE_REGS ip="24(%rsp)" set=.Lset_\name flags=%r12d
	UNWIND_HINT_REGS signal=0
	movq	-DETOUR_COPY(%rbx), %rdi
	movq	%rsp, %rsi
	call	kprobe_detour_pre
	xorl	EFLAGS(%rsp), %r12d
	orl	%eax, %r12d
	jnz	.Lrare_\name
	\restore_flags
.Lrestored_\name:
	RESTORE_ALL_AND_RETURN

.Lrare_\name:
	UNWIND_HINT_REGS signal=0
	testl	%eax, %eax
	jnz	.Lchanged
	pushq	EFLAGS(%rsp)
	popfq
	jmp	.Lrestored_\name

	CLEAR_FLAGS .Lset_\name %r12d
SYM_CODE_END(\name)
_ASM_NOKPROBE(\name)
.endm

/* Restores the arithmetic flags.  The bits of EFLAGS from 12 to 15 are 0. */
.macro RESTORE_ARITHMETIC_FLAGS
	movzbl	(EFLAGS + 1)(%rsp), %eax
	movb	EFLAGS(%rsp), %ah
	addb	$0x78, %al		/* OF was bit 3 */
	sahf
.endm

.macro RESTORE_NO_FLAGS
.endm

/* Only if a return does not change the flags. */
	ENTER_WITHOUT_POPF kprobe_detour_enter_sahf RESTORE_ARITHMETIC_FLAGS

/* For places where the arithmetic flags are dead.  A return may change them. */
	ENTER_WITHOUT_POPF kprobe_detour_enter_dead RESTORE_NO_FLAGS

SYM_CODE_START(kprobe_detour_enter_post)
	ANNOTATE_NOENDBR
	UNWIND_HINT_FUNC
	SAVE_REGS ip="$0" set=.Lpost_set
	UNWIND_HINT_REGS
	movq	%rbx, %rdi
	movq	%rsp, %rsi
	call	kprobe_detour_stepped
	RESTORE_REGS_AND_RETURN

	CLEAR_FLAGS .Lpost_set
SYM_CODE_END(kprobe_detour_enter_post)
_ASM_NOKPROBE(kprobe_detour_enter_post)

/* The registers that C code may change, but the flags. */
#define CHANGED_REGS	rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11

/*
 * Saves these registers, and calls kprobe_detour_return() with the address of the probed
 * function's return address, which is after the flags and the return address to the detour.
 * The latter is @ret words after the registers, and @offset bytes after the start of the detour.
 */
.macro CALL_RETURN ret:req, offset:req
	.irp	reg, CHANGED_REGS
	pushq	%\reg
	.endr
	movq	((9 + \ret) * 8)(%rsp), %rdi
	movq	-\offset(%rdi), %rdi
	leaq	(11 * 8)(%rsp), %rsi
	call	kprobe_detour_return
	.irp	reg, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
	popq	%\reg
	.endr
.endm

/*
 * For the entry of a function: saves only the registers that C code may change.  To unwinders
 * this is a function that the detour has called.  The detour has pushed the flags.
 */
SYM_CODE_START(kprobe_detour_enter_return)
	ANNOTATE_NOENDBR
	UNWIND_HINT_FUNC
	cld
	ASM_CLAC
	CALL_RETURN ret=0, offset=DETOUR_POPF
	RET
SYM_CODE_END(kprobe_detour_enter_return)
_ASM_NOKPROBE(kprobe_detour_enter_return)

/* Likewise, if the arithmetic flags are dead. */
SYM_CODE_START(kprobe_detour_enter_return_dead)
	ANNOTATE_NOENDBR
	UNWIND_HINT_FUNC
	pushfq
	testl	$(X86_EFLAGS_DF | X86_EFLAGS_AC), (%rsp)
	jnz	.Lreturn_rare
	CALL_RETURN ret=1, offset=DETOUR_COPY
	leaq	8(%rsp), %rsp
	RET

.Lreturn_rare:
	cld
	ASM_CLAC
	CALL_RETURN ret=1, offset=DETOUR_COPY
	popfq
	RET
SYM_CODE_END(kprobe_detour_enter_return_dead)
_ASM_NOKPROBE(kprobe_detour_enter_return_dead)
