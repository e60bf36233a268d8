/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ARM64_PROBES_REGISTERS_H
#define _ARM64_PROBES_REGISTERS_H
/*
 * For assembly: the struct pt_regs that handlers see where there was no exception.  It is
 * at the stack pointer.
 */
#include <asm/alternative.h>
#include <asm/asm-offsets.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>

/* PSR_PAN_BIT and PSR_TCO_BIT, as numbers. */
#define PAN_BIT	22
#define TCO_BIT	25

/* The register that reads PSTATE.TCO, with the bit where PSTATE has it. */
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
 * Closes user space's memory, which an exception does, too: handlers must not get at it by
 * mistake, and at the end of a hit there may be a switch to another task, in which nobody
 * would close it.  Adds to x4 what the exception would add to the saved PSTATE: PSR_PAN_BIT,
 * also where it is emulated, if it has been closed already.
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
 * Gives back what x4 says.  It is open in few places, so that is out of line.
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
 * Lets the processor check tags of memory, and adds PSR_TCO_BIT to x4 if the probed code has
 * switched that off.  Another task may run at the end of a hit, and would keep the switch.
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

/* Switches the checks off again if x4 says so.  Needs x30. */
.macro restore_tag_checks
#ifdef CONFIG_ARM64_MTE
	tbz	x4, #TCO_BIT, .Lon\@
	bl	kprobe_stop_tag_checks
.Lon\@:
#endif
.endm

/*
 * What an exception would have saved: flags, masks, exception level, stack pointer, whether
 * user space's memory was closed, which it is from here on, and whether tags were not
 * checked, which they are from here on.
 * Needs x4 to x7, and x30.
 */
.macro save_pstate
	mrs	x4, nzcv
	mrs	x5, daif
	orr	x4, x4, x5
	/* The level is known by the time that there are probes. */
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

/* Of PSTATE what save_pstate has changed, and the flags.  Needs x4 to x7, and x30. */
.macro restore_pstate
	ldr	x4, [sp, #S_PSTATE]
	reopen_user_memory
	restore_tag_checks
	msr	nzcv, x4
.endm

/*
 * A frame record for unwinders, of the frame that x29 is of: \pc stands for where in it
 * execution is.
 */
.macro link_frame, pc
	stp	x29, \pc, [sp, #S_STACKFRAME]
	add	x29, sp, #S_STACKFRAME
.endm

#endif /* _ARM64_PROBES_REGISTERS_H */
