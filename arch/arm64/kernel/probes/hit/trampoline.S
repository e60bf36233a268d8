/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm64: the trampoline to which return-probed functions return.
 *
 * At the entry of a function the return address is in the link register.  It is replaced by that
 * of the trampoline (arch_prepare_kretprobe()), before the function signs it or pushes it to
 * any stack.
 */
#include <linux/linkage.h>
#include <asm/assembler.h>

#include "registers.h"

/*
 * Entered by a ret, which needs no landing pad.  The registers and the stack are those that
 * the function returns to its caller; only the link register is the address of this symbol.
 * Unwinders find that address in the frame record, and look up the real return address by the
 * frame pointer.
 *
 * The section is blacklisted as a whole: NOKPROBE() covers a function up to its first inner
 * label.
 */
	.section .kprobes.text, "ax"
SYM_CODE_START(__kretprobe_trampoline)
	sub	sp, sp, #PT_REGS_SIZE
	stp	x0, x1, [sp, #S_X0]
	stp	x2, x3, [sp, #S_X2]
	save_x4_to_x28
	stp	x29, x30, [sp, #S_FP]
	add	x4, sp, #PT_REGS_SIZE
	str	x4, [sp, #S_SP]
	mov	x0, sp
	mov	x1, x29
	link_frame x30
SYM_INNER_LABEL(kretprobe_trampoline_linked, SYM_L_GLOBAL)
	save_pstate
	bl	kretprobe_return

	restore_pstate
	restore_x4_to_x28
	ldp	x0, x1, [sp, #S_X0]
	ldp	x2, x3, [sp, #S_X2]
	ldp	x29, x30, [sp, #S_FP]	/* the real return address */
SYM_INNER_LABEL(kretprobe_trampoline_unlinked, SYM_L_GLOBAL)
	add	sp, sp, #PT_REGS_SIZE
	ret
SYM_INNER_LABEL(kretprobe_trampoline_end, SYM_L_GLOBAL)
SYM_CODE_END(__kretprobe_trampoline)
NOKPROBE(__kretprobe_trampoline)
