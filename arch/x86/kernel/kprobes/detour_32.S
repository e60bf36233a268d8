/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * i386: what detours call.  See detour_64.S.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include <asm/segment.h>
#include <asm/smap.h>

#include "detour.h"

#define RETURN_ADDRESS	(PT_OLDSS + 4)

.macro SAVE_REGS
	pushl	$__KERNEL_DS
	pushl	%esp
	pushfl
	pushl	$__KERNEL_CS
	pushl	$0			/* ip */
	pushl	$-1
	pushl	$0			/* gs is the user's */
	.irp	reg, fs, es, ds, eax, ebp, edi, esi, edx, ecx, ebx
	pushl	%\reg
	.endr
	addl	$8, PT_OLDESP(%esp)
	cld
	ASM_CLAC
	ENCODE_FRAME_POINTER
.endm

.macro RESTORE_REGS_AND_RETURN
	.irp	reg, ebx, ecx, edx, esi, edi, ebp, eax
	popl	%\reg
	.endr
	leal	(7 * 4)(%esp), %esp	/* ds, es, fs, gs, orig_ax, ip, cs */
	popfl
	leal	(2 * 4)(%esp), %esp	/* sp, ss */
	RET
.endm

	.text
SYM_CODE_START(kprobe_detour_enter)
	SAVE_REGS
	movl	RETURN_ADDRESS(%esp), %eax
	movl	-DETOUR_COPY(%eax), %eax
	movl	%esp, %edx
	call	kprobe_detour_pre
	testl	%eax, %eax
	jnz	.Lchanged
.Lrestore:
	RESTORE_REGS_AND_RETURN

.Lchanged:
	movl	%esp, %eax
	call	kprobe_detour_redirect
	movl	%eax, %esp
	jmp	.Lrestore
SYM_CODE_END(kprobe_detour_enter)
_ASM_NOKPROBE(kprobe_detour_enter)

SYM_CODE_START(kprobe_detour_enter_post)
	SAVE_REGS
	movl	RETURN_ADDRESS(%esp), %eax
	movl	%esp, %edx
	call	kprobe_detour_stepped
	RESTORE_REGS_AND_RETURN
SYM_CODE_END(kprobe_detour_enter_post)
_ASM_NOKPROBE(kprobe_detour_enter_post)

SYM_CODE_START(kprobe_detour_enter_return)
	pushfl
	.irp	reg, eax, ecx, edx
	pushl	%\reg
	.endr
	cld
	movl	(4 * 4)(%esp), %eax
	movl	-DETOUR_COPY(%eax), %eax
	leal	(5 * 4)(%esp), %edx
	call	kprobe_detour_return
	.irp	reg, edx, ecx, eax
	popl	%\reg
	.endr
	popfl
	RET
SYM_CODE_END(kprobe_detour_enter_return)
_ASM_NOKPROBE(kprobe_detour_enter_return)
