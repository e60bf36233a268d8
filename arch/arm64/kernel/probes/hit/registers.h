/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ARM64_PROBES_REGISTERS_H
#define _ARM64_PROBES_REGISTERS_H
/*
 * For assembly: save and restore the struct pt_regs that handlers get in detours and the return
 * trampoline, where there was no exception.  It is at the stack pointer.
 */
#include <asm/alternative.h>
#include <asm/asm-offsets.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>

/* PSR_PAN_BIT and PSR_TCO_BIT, as numbers. */
#define PAN_BIT	22
#define TCO_BIT	25

/* The system register of PSTATE.TCO, in which TCO has the same bit position as in PSTATE. */
#define SYS_PSTATE_TCO	sys_reg(3, 3, 4, 2, 7)

.macro save_x4_to_x28
	stp	x4, x5, [sp, #S_X4]
	stp	x6, x7, [sp, #S_X6]
	stp	x8, x9, [sp, #S_X8]
	stp	x10, x11, [sp, #S_X10]
	stp	x12, x13, [sp, #S_X12]
	stp	x14, x15, [sp, #S_X14]
	stp	x16, x17, [sp, #S_X16]
	stp	x18, x19, [sp, #S_X18]
	stp	x20, x21, [sp, #S_X20]
	stp	x22, x23, [sp, #S_X22]
	stp	x24, x25, [sp, #S_X24]
	stp	x26, x27, [sp, #S_X26]
	str	x28, [sp, #S_X28]
.endm

.macro restore_x4_to_x28
	ldp	x4, x5, [sp, #S_X4]
	ldp	x6, x7, [sp, #S_X6]
	ldp	x8, x9, [sp, #S_X8]
	ldp	x10, x11, [sp, #S_X10]
	ldp	x12, x13, [sp, #S_X12]
	ldp	x14, x15, [sp, #S_X14]
	ldp	x16, x17, [sp, #S_X16]
	ldp	x18, x19, [sp, #S_X18]
	ldp	x20, x21, [sp, #S_X20]
	ldp	x22, x23, [sp, #S_X22]
	ldp	x24, x25, [sp, #S_X24]
	ldp	x26, x27, [sp, #S_X26]
	ldr	x28, [sp, #S_X28]
.endm

/*
 * Disables access to user space's memory, as an exception does: handlers must not access it by
 * mistake, and the end of a hit may switch to another task, in which access would stay enabled.
 * Sets PSR_PAN_BIT in x4 if access was disabled already, as an exception does in the saved
 * PSTATE, also if PAN is emulated.
 *
 * Needs x5 to x7, and x30.
 */
.macro close_user_memory
alternative_if_not ARM64_HAS_PAN
.if IS_ENABLED(CONFIG_ARM64_SW_TTBR0_PAN)
	bl	kprobe_close_user_ttbr
.else
	nop
.endif
	nop
	nop
alternative_else
	mrs_s	x5, SYS_PSTATE_PAN
	orr	x4, x4, x5
	SET_PSTATE_PAN(1)
alternative_endif
.endm

/*
 * Enables access to user space's memory if PSR_PAN_BIT is clear in x4.  Out of line, because
 * access is enabled in few places.
 *
 * Needs x5 to x7, and x30.
 */
.macro reopen_user_memory
alternative_if_not ARM64_HAS_PAN
.if IS_ENABLED(CONFIG_ARM64_SW_TTBR0_PAN)
	tbnz	x4, #PAN_BIT, .Lclosed\@
.else
	b	.Lclosed\@
.endif
alternative_else
	tbnz	x4, #PAN_BIT, .Lclosed\@
alternative_endif
	bl	kprobe_open_user_memory
.Lclosed\@:
.endm

/*
 * Enables checks of memory tags, and sets PSR_TCO_BIT in x4 if the probed code has disabled
 * them.  The end of a hit may switch to another task, in which they would stay disabled.
 *
 * Needs x5, and x30.
 */
.macro start_tag_checks
#ifdef CONFIG_ARM64_MTE
alternative_if_not ARM64_MTE
	b	.Lchecked\@
alternative_else
	mrs_s	x5, SYS_PSTATE_TCO
alternative_endif
	cbz	x5, .Lchecked\@
	bl	kprobe_start_tag_checks
.Lchecked\@:
#endif
.endm

/* Disables the checks again if PSR_TCO_BIT is set in x4.  Needs x30. */
.macro restore_tag_checks
#ifdef CONFIG_ARM64_MTE
	tbz	x4, #TCO_BIT, .Lon\@
	bl	kprobe_stop_tag_checks
.Lon\@:
#endif
.endm

/*
 * Saves PSTATE as an exception would: flags, masks, exception level, stack pointer, PAN and
 * TCO.  From here on access to user space's memory is disabled, and tags are checked.
 * Needs x4 to x7, and x30.
 */
.macro save_pstate
	mrs	x4, nzcv
	mrs	x5, daif
	orr	x4, x4, x5
	/* Alternatives have been applied before the first probe, so the level is known. */
alternative_if ARM64_HAS_VIRT_HOST_EXTN
	add	x4, x4, #PSR_MODE_EL2h
alternative_else
	add	x4, x4, #PSR_MODE_EL1h
alternative_endif
	close_user_memory
	start_tag_checks
	str	x4, [sp, #S_PSTATE]
#ifdef CONFIG_ARM64_PSEUDO_NMI
alternative_if_not ARM64_HAS_GIC_PRIO_MASKING
	b	.Lno_pmr\@
alternative_else_nop_endif
	mrs_s	x5, SYS_ICC_PMR_EL1
	str	w5, [sp, #S_PMR]
.Lno_pmr\@:
#endif
.endm

/* Restores the bits of PSTATE that save_pstate changes, and the flags.  Needs x4 to x7, x30. */
.macro restore_pstate
	ldr	x4, [sp, #S_PSTATE]
	reopen_user_memory
	restore_tag_checks
	msr	nzcv, x4
.endm

/*
 * Makes a frame record for unwinders: the frame is that of x29, and \pc the address in its
 * function.
 */
.macro link_frame, pc
	stp	x29, \pc, [sp, #S_STACKFRAME]
	add	x29, sp, #S_STACKFRAME
.endm

#endif /* _ARM64_PROBES_REGISTERS_H */
