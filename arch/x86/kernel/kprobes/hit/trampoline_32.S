/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * i386: the trampoline to which return-probed functions return.  See trampoline_64.S.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include <asm/segment.h>
#include <asm/smap.h>

	.text
SYM_CODE_START(__kretprobe_trampoline)
	call	.Lentered		/* pushes the place of the return address */
	int3
.Lentered:
	pushl	$__KERNEL_DS
	pushl	%esp
	pushfl
	ASM_CLAC
	addl	$8, 4(%esp)		/* stack pointer of the caller after the return */
	pushl	$__KERNEL_CS
	pushl	$__kretprobe_trampoline
	pushl	$-1
	pushl	$0			/* gs is the user's */
	.irp	reg, fs, es, ds, eax, ebp, edi, esi, edx, ecx, ebx
	pushl	%\reg
	.endr
	ENCODE_FRAME_POINTER

	movl	%esp, %eax
	leal	(PT_OLDSS + 4)(%esp), %edx	/* address of the return address */
	call	kretprobe_return

	.irp	reg, ebx, ecx, edx, esi, edi, ebp, eax
	popl	%\reg
	.endr
	leal	(7 * 4)(%esp), %esp	/* ds to cs */
	popfl
	leal	(2 * 4)(%esp), %esp	/* sp, ss */
	RET
SYM_CODE_END(__kretprobe_trampoline)
_ASM_NOKPROBE(__kretprobe_trampoline)
