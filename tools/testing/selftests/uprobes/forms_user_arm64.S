/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forms that only programs have: system calls, and faults at the instruction.
 */
#define FORM_TABLE	uprobes_forms_user
#include <arm64_form_macros.S>

#define NR_getpid	172
#define NR_none		9999

forms_begin

/* --- System calls: the number is valid, or not ----------------------------- */

form I(svc #0), B(mov x8, #NR_getpid)
form I(svc #0), B(mov x8, #NR_none)
form I(svc #0x123), B(mov x8, #NR_getpid)

/* --- Faults, which report the address of the instruction ------------------- */

form I(udf #0)
form I(udf #0x1234)
form I(hvc #0)
form I(smc #0)
form I(hlt #0)
form I(eret)
form I(str x3, [x6]), B(mov x6, #0)
form I(ldr x3, [x7, #8]), B(mov x7, #0)
form I(ldp x3, x4, [x7, #16]!), B(mov x7, #0)
form I(stp x3, x4, [x7], #16), B(mov x7, #0)
form I(ldrb w3, [x6, #-1]!), B(mov x6, #1)
form I(ldxr x3, [x6]), B(mov x6, #0)
form I(ldar x3, [x6]), B(add x6, x6, #1)
form I(ldr q1, [x6]), B(mov x6, #0)
form I(br x6), B(mov x6, #0)
form I(blr x6), B(mov x6, #0)
form I(ret x6), B(mov x6, #0)
form I(br x6), B(mov x6, #2)
form I(msr ttbr0_el1, x3)
form I(msr daifset, #2)
form I(dc ivac, x6)
form I(tlbi vmalle1)
form I(at s1e1r, x6)
form I(wfi)

/* --- Instructions that may be refused: breakpoints of others ---------------------- */

.set form_dead, -1
form I(brk #0x77)
defaults

/* --- Registers of the processor that the kernel emulates ------------------- */

form I(mrs x3, midr_el1)
form I(mrs x3, id_aa64mmfr1_el1)
form I(mrs x3, ctr_el0)
form I(mrs x3, dczid_el0)
form I(mrs x3, tpidr_el0)
form I(mrs x3, fpsr)
form I(mrs x3, fpcr)
form I(dc zva, x6)

forms_end
