/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm64: assembly that detours call, before the copied instruction and after it.
 *
 * The registers on entry are those of the probed code, and all of them are restored.  The detour
 * has made room for a struct pt_regs and stored x29 and x30 at its bottom, from where it also
 * restores them.  The return address identifies the detour.
 *
 * Unwinders find the return address in a frame record and translate it to that of the probed
 * instruction, as any address in a detour.
 */
#include <linux/linkage.h>
#include <asm/assembler.h>
#include <asm/brk-imm.h>

#include "../detour.h"
#include "registers.h"

/*
 * Saves the registers.  Then x19 is the return address, and x1 the address of the registers;
 * x30 is undefined.  From the label on there is a frame record: see unwind.c.
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

/* Restores the registers, and returns to the address in x19. */
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

/* Restores the registers and the stack as before the detour.  At the label, x29 is restored. */
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
	 * A handler has changed the path of execution.  If the new address is in the link
	 * register, a plain return leads there.  For any other address take an exception,
	 * because only the return from an exception needs no register for the address.
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
	 * The exception of the BRK will store its registers at the address of these ones.  So
	 * all registers must be restored before, and no exception that uses the stack may be
	 * taken in between.  An exception in the kernel does not write two members of its
	 * registers, S_CHOSEN_PC and S_CHOSEN_PSTATE.
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

/* If a handler changes the path of execution, continue as in kprobe_detour_enter(). */
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
 * For the entry of a function: saves only the registers that C code may change.  x29 and x30
 * stay together, because arch_prepare_kretprobe_at() reads the frame pointer in front of the
 * return address.
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
	/* Make two frame records, because the function has made none for its caller yet. */
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
