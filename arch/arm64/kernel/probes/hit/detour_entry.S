/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm64: what detours call, before the copied instruction and behind it.
 *
 * The registers are those of the probed code, and all of them are given back.  The detour
 * has made room for a struct pt_regs and put x29 and x30 at its bottom, where it also
 * takes them from; the return address tells the detour.
 *
 * Unwinders find the return address in a frame record and take it for the probed
 * instruction, as any address in a detour.
 */
#include <linux/linkage.h>
#include <asm/assembler.h>
#include <asm/brk-imm.h>

#include "../detour.h"
#include "registers.h"

/*
 * Leaves the return address in x19, and that of the registers in x1; not x30.  From the
 * label on there is a frame record: see unwind.c.
 */
.macro save_registers, linked
	stp	x2, x3, [sp, #S_X2]
	ldp	x2, x3, [sp]
	stp	x0, x1, [sp, #S_X0]
	save_x4_to_x28
	stp	x2, x3, [sp, #S_FP]
	add	x4, sp, #PT_REGS_SIZE
	str	x4, [sp, #S_SP]
	link_frame x30
SYM_INNER_LABEL(\linked, SYM_L_GLOBAL)
	mov	x19, x30
	save_pstate
	mov	x1, sp
.endm

/* Back to the return address in x19. */
.macro restore_registers
	restore_pstate
	mov	x30, x19
	restore_x4_to_x28
	ldp	x0, x1, [sp, #S_X0]
	ldp	x2, x3, [sp, #S_FP]
	stp	x2, x3, [sp]
	ldp	x2, x3, [sp, #S_X2]
	ret
.endm

/* As if there had been no detour.  At the label the frame record is gone. */
.macro restore_all_and_leave, unlinked
	restore_pstate
	restore_x4_to_x28
	ldp	x0, x1, [sp, #S_X0]
	ldp	x2, x3, [sp, #S_X2]
	ldp	x29, x30, [sp, #S_FP]
SYM_INNER_LABEL(\unlinked, SYM_L_GLOBAL)
	add	sp, sp, #PT_REGS_SIZE
.endm

/* Blacklisted as a whole: NOKPROBE() covers a function up to its first inner label. */
	.section .kprobes.text, "ax"
SYM_CODE_START(kprobe_detour_enter)
	save_registers kprobe_detour_enter_linked
	ldr	x0, [x19, #-(DETOUR_RETURN * 4)]
	bl	kprobe_detour_pre
	cbnz	w0, .Lchanged
	restore_registers

	/*
	 * A handler has chosen where to go.  To where the link register says a return does
	 * it; only the return of an exception can go elsewhere without a register to spare.
	 */
.Lchanged:
	ldr	x4, [sp, #S_PC]
	ldr	x5, [sp, #S_LR]
	cmp	x4, x5
	b.ne	.Lelsewhere
	restore_all_and_leave kprobe_detour_returning
	ret
SYM_INNER_LABEL(kprobe_detour_returned, SYM_L_GLOBAL)

	/*
	 * The registers of the BRK will be where these ones are: they have to be complete
	 * before, and nothing may come in between that uses the stack.  Two of its
	 * members are not written by an exception in the kernel.
	 */
.Lelsewhere:
	msr	daifset, #0xf
	ldr	x5, [sp, #S_PSTATE]
	str	x4, [sp, #S_CHOSEN_PC]
	str	x5, [sp, #S_CHOSEN_PSTATE]
	restore_all_and_leave kprobe_detour_leaving
SYM_INNER_LABEL(kprobe_detour_elsewhere, SYM_L_GLOBAL)
	brk	#KPROBES_BRK_LEAVE_IMM
SYM_CODE_END(kprobe_detour_enter)
NOKPROBE(kprobe_detour_enter)

/* What a handler of this one chooses is treated as that of the other. */
SYM_CODE_START(kprobe_detour_enter_whole)
	save_registers kprobe_detour_enter_whole_linked
	ldr	x0, [x19, #-(DETOUR_RETURN * 4)]
	bl	kprobe_detour_whole
	cbnz	w0, .Lchanged
	restore_registers
SYM_CODE_END(kprobe_detour_enter_whole)
NOKPROBE(kprobe_detour_enter_whole)

SYM_CODE_START(kprobe_detour_enter_post)
	save_registers kprobe_detour_enter_post_linked
	mov	x0, x19
	bl	kprobe_detour_stepped
	restore_registers
SYM_CODE_END(kprobe_detour_enter_post)
NOKPROBE(kprobe_detour_enter_post)

/*
 * At a function's entry, for C that leaves alone what the ABI says.  x29 and x30 stay
 * together: the frame pointer in front of the return address is part of the contract.
 */
SYM_CODE_START(kprobe_detour_enter_return)
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	stp	x8, x9, [sp, #80]
	stp	x10, x11, [sp, #96]
	stp	x12, x13, [sp, #112]
	stp	x14, x15, [sp, #128]
	stp	x16, x17, [sp, #144]
	/* Two frames, for the record of the caller's is not made yet. */
	ldr	x3, [sp, #8]
	stp	x29, x3, [sp, #192]
	add	x2, sp, #192
	stp	x2, x30, [sp, #176]
	add	x29, sp, #176
SYM_INNER_LABEL(kprobe_detour_enter_return_linked, SYM_L_GLOBAL)
	ldr	x0, [x30, #-(DETOUR_RETURN * 4)]
	add	x1, sp, #8
	mrs	x4, nzcv
	close_user_memory
	start_tag_checks
	stp	x18, x4, [sp, #160]
	bl	kprobe_detour_return
	ldp	x18, x4, [sp, #160]
	reopen_user_memory
	restore_tag_checks
	msr	nzcv, x4
	ldr	x30, [sp, #184]
	ldp	x16, x17, [sp, #144]
	ldp	x14, x15, [sp, #128]
	ldp	x12, x13, [sp, #112]
	ldp	x10, x11, [sp, #96]
	ldp	x8, x9, [sp, #80]
	ldp	x6, x7, [sp, #64]
	ldp	x4, x5, [sp, #48]
	ldp	x2, x3, [sp, #32]
	ldp	x0, x1, [sp, #16]
	ret
SYM_CODE_END(kprobe_detour_enter_return)
NOKPROBE(kprobe_detour_enter_return)
