/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * i386: assembly that detours call.  See detour_64.S.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include <asm/segment.h>
#include <asm/smap.h>

#include "../detour.h"

/* Moves the return address to %ebx; its place on the stack becomes that of ss. */
.macro SAVE_REGS
	pushl	%esp
	pushfl
	pushl	$__KERNEL_CS
	pushl	$0			/* ip */
	pushl	$-1
	pushl	$0			/* gs is the user's */
	.irp	reg, fs, es, ds, eax, ebp, edi, esi, edx, ecx, ebx
	pushl	%\reg
	.endr
	movl	PT_OLDSS(%esp), %ebx
	movl	$__KERNEL_DS, PT_OLDSS(%esp)
	addl	$4, PT_OLDESP(%esp)
	cld
	ASM_CLAC
	ENCODE_FRAME_POINTER
.endm

.macro POP_REGS
	.irp	reg, ebx, ecx, edx, esi, edi, ebp, eax
	popl	%\reg
	.endr
.endm

.macro RESTORE_REGS_AND_RETURN
	movl	%ebx, PT_OLDESP(%esp)
	POP_REGS
	leal	(7 * 4)(%esp), %esp	/* ds, es, fs, gs, orig_ax, ip, cs */
	popl	4(%esp)			/* flags, from here on relative to sp */
	RET
.endm

	.text
SYM_CODE_START(kprobe_detour_enter)
	SAVE_REGS
	movl	-DETOUR_POPF(%ebx), %eax
	movl	%esp, %edx
	call	kprobe_detour_pre
	testl	%eax, %eax
	jnz	.Lchanged
	RESTORE_REGS_AND_RETURN

.Lchanged:
	movl	%esp, %eax
	movl	%ebx, %edx
	call	kprobe_detour_redirect
	movl	%eax, %esp
	POP_REGS
	leal	(5 * 4)(%esp), %esp	/* ds, es, fs, gs, orig_ax */
	iretl
SYM_CODE_END(kprobe_detour_enter)
_ASM_NOKPROBE(kprobe_detour_enter)

SYM_CODE_START(kprobe_detour_enter_post)
	SAVE_REGS
	movl	%ebx, %eax
	movl	%esp, %edx
	call	kprobe_detour_stepped
	RESTORE_REGS_AND_RETURN
SYM_CODE_END(kprobe_detour_enter_post)
_ASM_NOKPROBE(kprobe_detour_enter_post)

SYM_CODE_START(kprobe_detour_enter_return)
	.irp	reg, eax, ecx, edx
	pushl	%\reg
	.endr
	cld
	ASM_CLAC
	movl	(3 * 4)(%esp), %eax
	movl	-DETOUR_POPF(%eax), %eax
	leal	(5 * 4)(%esp), %edx	/* after the flags, which the detour has pushed */
	call	kprobe_detour_return
	.irp	reg, edx, ecx, eax
	popl	%\reg
	.endr
	RET
SYM_CODE_END(kprobe_detour_enter_return)
_ASM_NOKPROBE(kprobe_detour_enter_return)
