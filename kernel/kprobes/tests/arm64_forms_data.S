/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forms that compute: data processing with immediates and with registers.
 */
#define FORM_TABLE	kprobes_forms_data
#include "arm64_form_macros.S"

forms_begin

/* --- Each register ------------------------------------------------------------- */

.irp n, NUMBERS
	form	I(add x\n, x\n, #0x123)
	form	I(subs w\n, w\n, #1, lsl #12)
	form	I(mov x1, x\n)
	form	I(eor x\n, x5, x\n, ror #7)
	form	I(mov w\n, #0x7654)
	form	I(csinc x\n, xzr, x\n, cc)
	form	I(madd x\n, x2, x\n, x\n)
	form	I(cmp x\n, w0, uxth #1)
.endr

/* --- Immediates ---------------------------------------------------------------- */

.macro form_add_immediate d, n
	.irp op, add, adds, sub, subs
	form	I(\op \d, \n, #0)
	form	I(\op \d, \n, #0xfff)
	form	I(\op \d, \n, #0xabc, lsl #12)
	.endr
.endm
form_add_immediate x3, x4
form_add_immediate w3, w4

form I(cmp x4, #1)
form I(cmp w5, #0x80)
form I(cmn x4, #1)
form I(cmn w5, #1, lsl #12)

.irp op, and, orr, eor, ands
	form	I(\op x3, x4, #0xff)
	form	I(\op x3, x4, #0x8000000000000001)
	form	I(\op x3, x4, #0x5555555555555555)
	form	I(\op x3, x4, #0xffff0000ffff0000)
	form	I(\op w3, w4, #0x7fffffff)
	form	I(\op w3, w4, #0xf0f0f0f0)
.endr
form I(tst x8, #0xff00)
form I(tst w8, #1)
form I(mov x8, #0x3333333333333333)

.irp op, movz, movn, movk
	form	I(\op x3, #0x1234)
	form	I(\op x3, #0xfedc, lsl #16)
	form	I(\op x3, #0x8001, lsl #32)
	form	I(\op x3, #0xffff, lsl #48)
	form	I(\op w3, #0x1234)
	form	I(\op w3, #0xffff, lsl #16)
.endr

/* With the stack pointer. */
#define FILL_32		stp x0, x1, [sp]; stp x3, x4, [sp, #16]

form I(mov x3, sp)
form I(mov sp, x3), B(add x3, sp, #32)
form I(mov x29, sp)
form I(mov sp, x29), B(add x29, sp, #16)
form I(add x3, sp, #24)
form I(add x3, sp, x1)
form I(add x3, sp, w1, sxtw #2)
form I(sub x3, sp, x1, lsl #3)
form I(cmp sp, x1)
form I(subs x3, sp, #0x100)
form I(and sp, x3, #0xfffffffffffffff0), B(add x3, sp, #24)
form I(add sp, sp, #16)
form I(add sp, sp, #64)
form I(sub sp, sp, #32), A(FILL_32)
form I(sub sp, x29, #32), B(mov x29, sp), A(FILL_32)
form I(add sp, sp, x1), B(mov x1, #48)
form I(sub sp, sp, x1, lsl #4), B(mov x1, #2), A(FILL_32)
form I(add sp, x29, w1, uxtw #3), B(mov x29, sp; mov w1, #4)

/* --- Bit fields ---------------------------------------------------------------- */

.irp op, ubfm, sbfm, bfm
	form	I(\op x3, x4, #5, #40)
	form	I(\op x3, x4, #40, #5)
	form	I(\op x3, x4, #0, #63)
	form	I(\op w3, w4, #3, #17)
	form	I(\op w3, w4, #17, #3)
.endr
.irp op, lsl, lsr, asr, ror
	form	I(\op x3, x4, #1)
	form	I(\op x3, x4, #63)
	form	I(\op w3, w4, #31)
	form	I(\op x3, x4, x5)
	form	I(\op w3, w4, w5)
	form	I(\op x4, x4, x4)
.endr
form I(sxtb x3, w4)
form I(sxth x3, w4)
form I(sxtw x3, w4)
form I(sxtb w3, w4)
form I(sxth w3, w4)
form I(uxtb w3, w4)
form I(uxth w3, w4)
form I(bfxil x3, x4, #7, #9)
form I(bfi x3, x4, #50, #9)
form I(bfi x3, xzr, #8, #8)
form I(ubfx x3, x4, #33, #12)
form I(sbfiz x3, x4, #33, #12)
form I(extr x3, x4, x5, #13)
form I(extr x3, x4, x5, #0)
form I(extr w3, w4, w5, #29)

/* --- Registers ----------------------------------------------------------------- */

.irp op, add, adds, sub, subs
	form	I(\op x3, x4, x5)
	form	I(\op w3, w4, w5)
	form	I(\op x3, x4, x5, lsl #3)
	form	I(\op x3, x4, x5, lsr #33)
	form	I(\op w3, w4, w5, asr #7)
	form	I(\op x3, xzr, x5)
	.irp e, uxtb, uxth, uxtw, sxtb, sxth, sxtw
	form	I(\op x3, x4, w5, \e #2)
	form	I(\op w3, w4, w5, \e)
	.endr
	form	I(\op x3, x4, x5, uxtx #4)
	form	I(\op x3, x4, x5, sxtx #1)
.endr
.irp op, and, bic, orr, orn, eor, eon, ands, bics
	form	I(\op x3, x4, x5)
	form	I(\op w3, w4, w5)
	form	I(\op x3, x4, x5, lsl #17)
	form	I(\op x3, x4, x5, asr #63)
	form	I(\op w3, w4, w5, lsr #5)
	form	I(\op x3, x4, x5, ror #60)
	form	I(\op w3, w4, w5, ror #9)
.endr
.irp op, adc, adcs, sbc, sbcs
	form	I(\op x3, x4, x5)
	form	I(\op w3, w4, w5)
	form	I(\op x3, xzr, x5)
	form	I(\op x5, x5, xzr)
.endr
form I(cmn x4, x5)
form I(cmn w4, w5, lsl #1)
form I(tst x4, x5)
form I(tst w4, w5, ror #1)
form I(mvn x3, x5)
form I(neg w3, w5, asr #3)

/* --- Conditions ---------------------------------------------------------------- */

.irp c, CONDITIONS, al, nv
	form	I(csel x3, x4, x5, \c)
	form	I(ccmp x4, x5, #0, \c)
	form	I(ccmn w4, #7, #15, \c)
.endr
.irp c, eq, hi, lt, le
	form	I(csel w3, w4, w5, \c)
	form	I(csinc x3, x4, x5, \c)
	form	I(csinc w3, w4, w4, \c)
	form	I(csinv x3, x4, x5, \c)
	form	I(csinv w3, wzr, wzr, \c)
	form	I(csneg x3, x4, x5, \c)
	form	I(csneg w3, w4, w5, \c)
	form	I(cset x3, \c)
	form	I(ccmp x4, #31, #4, \c)
	form	I(ccmp w4, w5, #9, \c)
	form	I(ccmn x4, x5, #2, \c)
.endr

/* --- Multiplication and division ----------------------------------------------- */

.irp op, madd, msub
	form	I(\op x3, x4, x5, x8)
	form	I(\op w3, w4, w5, w8)
	form	I(\op x3, x4, x5, xzr)
.endr
.irp op, smaddl, smsubl, umaddl, umsubl
	form	I(\op x3, w4, w5, x8)
	form	I(\op x3, w4, w5, xzr)
.endr
form I(umulh x3, x4, x5)
form I(smulh x3, x4, x5)
.irp op, udiv, sdiv
	form	I(\op x3, x4, x5)
	form	I(\op w3, w4, w5)
	form	I(\op x3, x4, x8), B(and x8, x8, #1)
	form	I(\op x3, x4, x9), B(sxtb x9, w9)
.endr

/* --- One operand --------------------------------------------------------------- */

.irp op, rbit, rev16, rev, clz, cls
	form	I(\op x3, x4)
	form	I(\op w3, w4)
.endr
form I(rev32 x3, x4)
form I(clz x3, x5), B(lsr x5, x5, #40)
form I(cls x3, x5), B(asr x5, x5, #40)

needs FORM_NEEDS_CSSC
form I(.inst 0xdac02083)	/* abs x3, x4 */
form I(.inst 0xdac01c83)	/* cnt x3, x4 */
form I(.inst 0x5ac01883)	/* ctz w3, w4 */
form I(.inst 0x9ac56083)	/* smax x3, x4, x5 */
form I(.inst 0x91c3f483)	/* smax x3, x4, #-3 */
form I(.inst 0x11cf2083)	/* umin w3, w4, #200 */

needs FORM_NEEDS_CRC32
.irp op, crc32, crc32c
	form	I(\op\()b w3, w4, w5)
	form	I(\op\()h w3, w4, w5)
	form	I(\op\()w w3, w4, w5)
	form	I(\op\()x w3, w4, x5)
.endr

/* --- Flags --------------------------------------------------------------------- */

needs FORM_NEEDS_FLAGM
form I(cfinv)
form I(rmif x3, #0, #15)
form I(rmif x4, #61, #6)
form I(setf8 w3)
form I(setf16 w4)

needs FORM_NEEDS_FLAGM2
form I(axflag)
form I(xaflag)

/* --- Signed pointers ----------------------------------------------------------- */

/*
 * A wrong signature may cause a fault, so only correct ones are authenticated.  A signature is
 * correct only if the signed value could be an address.
 */
#define ADDRESS(reg)	sbfx reg, reg, #0, #48

needs FORM_NEEDS_PACA
.irp key, ia, ib, da, db
	form	I(pac\key x3, x4)
	form	I(pac\key x5, sp)
	form	I(aut\key x3, x4), B(ADDRESS(x3); pac\key x3, x4)
	form	I(aut\key x5, sp), B(ADDRESS(x5); pac\key x5, sp)
.endr
.irp key, iza, izb, dza, dzb
	form	I(pac\key x3)
	form	I(aut\key x5), B(ADDRESS(x5); pac\key x5)
.endr
form I(xpaci x3)
form I(xpacd x3)
form I(xpaci x5), B(pacia x5, sp)
form I(xpacd x5), B(pacdb x5, sp)

needs FORM_NEEDS_PACG
form I(pacga x3, x4, x5)
form I(pacga x3, x4, sp)

forms_end
