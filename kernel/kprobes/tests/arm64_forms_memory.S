/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forms that load and store: all widths, all ways to name memory, the stack, atomics.
 */
#define FORM_TABLE	kprobes_forms_memory
#include "arm64_form_macros.S"

forms_begin

/* --- Each register as base, as target of a load, and as source of a store --- */

.irp n, NUMBERS
	pointers x\n
	form	I(ldr x9, [x\n, #32])
	form	I(strb w8, [x\n, #-5])
	form	I(ldrsb xzr, [x\n], #17)
	form	I(ldp x10, x11, [x\n, #-32])
	.ifc	\n, 6
	pointers x7
	form	I(ldr x6, [x7, #8])
	form	I(stp x6, xzr, [x7, #24])
	.else
	pointers x6
	form	I(ldr x\n, [x6, #8])
	form	I(stp x\n, xzr, [x6, #24])
	.endif
.endr
defaults

/* Two operands are the same register. */
form I(ldr x6, [x6])
form I(ldp x6, x3, [x6, #16])
form I(ldp x3, x7, [x7, #-16])
form I(str x6, [x6, #16])
form I(ldr xzr, [x6])
form I(str xzr, [x7])
form I(str wzr, [x7, #4])

/* --- Ways to address memory ------------------------------------------------- */

.macro form_modes op, reg, scale
	indexes	x1
	form	I(\op \reg, [x6])
	form	I(\op \reg, [x6, #(5 << \scale)])
	form	I(\op \reg, [x6, #-3])
	form	I(\op \reg, [x7, #(2 << \scale)]!)
	form	I(\op \reg, [x7], #-17)
	form	I(\op \reg, [x6, x1])
	form	I(\op \reg, [x6, x1, lsl #\scale])
	form	I(\op \reg, [x6, w1, uxtw])
	form	I(\op \reg, [x6, w1, sxtw #\scale])
	form	I(\op \reg, [x6, x1, sxtx])
.endm
form_modes ldr, x3, 3
form_modes ldr, w3, 2
form_modes ldrh, w3, 1
form_modes ldrb, w3, 0
form_modes ldrsw, x3, 2
form_modes ldrsh, x3, 1
form_modes ldrsh, w3, 1
form_modes ldrsb, x3, 0
form_modes ldrsb, w3, 0
form_modes str, x3, 3
form_modes str, w3, 2
form_modes strh, w3, 1
form_modes strb, w3, 0
defaults

/* A negative index. */
form I(ldr x8, [x6, x1]), B(mov x1, #-40)
form I(ldr x8, [x6, w1, sxtw #3]), B(mov w1, #-2)
form I(str x8, [x6, x1, sxtx #3]), B(mov x1, #-1)

.macro form_pairs op, a, b, scale
	form	I(\op \a, \b, [x6])
	form	I(\op \a, \b, [x6, #(3 << \scale)])
	form	I(\op \a, \b, [x6, #(-2 << \scale)])
	.ifnc	\op, ldnp
	.ifnc	\op, stnp
	form	I(\op \a, \b, [x7, #(4 << \scale)]!)
	form	I(\op \a, \b, [x7], #(-2 << \scale))
	.endif
	.endif
.endm
form_pairs ldp, x3, x4, 3
form_pairs ldp, w3, w4, 2
form_pairs ldpsw, x3, x4, 2
form_pairs stp, x3, x4, 3
form_pairs stp, w3, w4, 2
form_pairs ldnp, x3, x4, 3
form_pairs ldnp, w3, w4, 2
form_pairs stnp, x3, x4, 3
form_pairs stnp, w3, w4, 2

/* --- The stack ----------------------------------------------------------------- */

#define FILL_8		str x4, [sp, #8]
#define FILL_48		stp x0, x1, [sp, #16]; stp x3, x4, [sp, #32]; stp x5, x8, [sp, #48]

form I(ldr x3, [sp])
form I(ldr x3, [sp, #8])
form I(ldrsw x3, [sp, #20])
form I(ldp x3, x4, [sp, #16])
form I(ldr x3, [sp, x1, lsl #3]), B(and x1, x1, #7)
form I(str x3, [sp, #24])
form I(strb w3, [sp, #3])
form I(stp x29, x30, [sp, #32])
form I(stur x3, [sp, #9])
form I(stp x29, x30, [sp, #-16]!)
form I(stp x29, x30, [sp, #-64]!), A(FILL_48)
form I(stp x19, x20, [sp, #-16]!)
form I(str x30, [sp, #-16]!), A(FILL_8)
form I(str x3, [sp], #16)
form I(ldp x29, x30, [sp], #16)
form I(ldp x29, x30, [sp], #96)
form I(ldp x0, x1, [sp], #32)
form I(ldr x30, [sp], #16)
form I(ldr x3, [sp, #32]!)

/* --- Ordered ------------------------------------------------------------------- */

.irp op, ldar, stlr
	form	I(\op x3, [x6])
	form	I(\op w3, [x6])
	form	I(\op\()b w3, [x6])
	form	I(\op\()h w3, [x6])
	form	I(\op x4, [sp])
.endr

needs FORM_NEEDS_LRCPC
form I(ldapr x3, [x6])
form I(ldapr w3, [x6])
form I(ldaprb w3, [x6])
form I(ldaprh w3, [x6])

needs FORM_NEEDS_ILRCPC
form I(ldapur x3, [x6, #-16])
form I(ldapur w3, [x6, #20])
form I(ldapurb w3, [x6, #7])
form I(ldapurh w3, [x6, #6])
form I(ldapursb x3, [x6, #3])
form I(ldapursb w3, [x6, #-1])
form I(ldapursh x3, [x6, #2])
form I(ldapursh w3, [x6, #-2])
form I(ldapursw x3, [x6, #4])
form I(stlur x3, [x7, #-16])
form I(stlur w3, [x7, #20])
form I(stlurb w3, [x7, #7])
form I(stlurh w3, [x7, #6])

/* --- Atomics ------------------------------------------------------------------- */

needs FORM_NEEDS_LSE
.macro form_atomic op
	form	I(\op x3, x4, [x6])
	form	I(\op w3, w4, [x6])
.endm
.macro form_atomic_narrow op
	form	I(\op w3, w4, [x7])
.endm
.macro form_orders op
	form_atomic \op
	form_atomic \op\()a
	form_atomic \op\()l
	form_atomic \op\()al
	form_atomic_narrow \op\()b
	form_atomic_narrow \op\()h
	form_atomic_narrow \op\()alb
	form_atomic_narrow \op\()alh
.endm
.irp op, ldadd, ldclr, ldeor, ldset, ldsmax, ldsmin, ldumax, ldumin, swp, cas
	form_orders \op
.endr
.irp op, stadd, stclr, steor, stset, stsmax, stsmin, stumax, stumin
	form	I(\op x3, [x6])
	form	I(\op\()l w3, [x7])
.endr
form I(ldadd x6, x6, [x6])
form I(ldadd x3, x4, [sp])
form I(swp xzr, x4, [x6])

/* The comparison of the forms above almost never succeeds. */
form I(cas x3, x5, [x7]), B(ldr x3, [x7])
form I(casal w3, w5, [x7]), B(ldr w3, [x7])
form I(casb w3, w5, [x7]), B(ldrb w3, [x7])
form I(casa x3, x5, [sp]), B(ldr x3, [sp])
.irp op, casp, caspa, caspl, caspal
	form	I(\op x2, x3, x4, x5, [x6])
	form	I(\op w2, w3, w4, w5, [x6])
	form	I(\op x10, x11, x4, x5, [x7]), B(ldp x10, x11, [x7])
	form	I(\op w10, w11, w4, w5, [x7]), B(ldp w10, w11, [x7])
.endr
defaults

/* Not aligned, where that is allowed within 16 bytes. */
needs FORM_NEEDS_USCAT
form I(ldar x8, [x3]), B(add x3, x6, #3)
form I(stlr x8, [x3]), B(add x3, x6, #5)
defaults

/* --- Copies and sets in three instructions ------------------------------------- */

needs FORM_NEEDS_MOPS
form I(.inst 0x19060427), B(and x1, x1, #31), \
	A(.inst 0x19460427; .inst 0x19860427)	/* cpyfp [x7]!, [x6]!, x1!; cpyfm; cpyfe */
form I(.inst 0x1d060427), B(and x1, x1, #31), \
	A(.inst 0x1d460427; .inst 0x1d860427)	/* cpyp [x7]!, [x6]!, x1!; cpym; cpye */
form I(.inst 0x19c30427), B(and x1, x1, #31), \
	A(.inst 0x19c34427; .inst 0x19c38427)	/* setp [x7]!, x1!, x3; setm; sete */

/* --- Tags ---------------------------------------------------------------------- */

needs FORM_NEEDS_MTE
form I(addg x3, x4, #32, #5)
form I(subg x3, x4, #48, #1)
form I(gmi x3, x4, x5)
form I(subp x3, x4, x5)
form I(subps x3, x4, x5)
form I(cmpp x4, x5)
/* The result is a random tag; all but one are excluded. */
form I(irg x3, x4, x5), B(mov x5, #0xff7f)
form I(ldg x3, [x6])
form I(ldg x3, [x6, #16])
form I(stg x6, [x6])
form I(stg x7, [x7, #-16]!)
form I(st2g x6, [x6], #32)
form I(stzg x6, [x6])
form I(stz2g x7, [x7, #16])
form I(stgp x3, x4, [x6])
form I(stgp x3, x4, [x7], #-16)
form I(ldgm x3, [x6])
form I(stgm x3, [x6])
form I(dc gva, x6)

/* --- By signed addresses ------------------------------------------------------- */

needs FORM_NEEDS_PACA
form I(ldraa x3, [x4]), B(mov x4, x6; pacdza x4)
form I(ldrab x3, [x4, #-8]!), B(mov x4, x6; pacdzb x4)
defaults

/* --- Instructions without an effect that is compared ------------------------ */

form I(prfm pldl1keep, [x6])
form I(prfm pstl1strm, [x6, #64])
form I(prfm pldl2keep, [x6, x1, lsl #3]), B(and x1, x1, #7)
form I(prfum plil1keep, [x6, #-7])
form I(prfm pldl1keep, [x9])

forms_end
