/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forms with vector registers, as the kernel's ciphers, checksums and copies have them.
 */
#define FORM_TABLE	kprobes_forms_vector
#include "arm64_form_macros.S"

forms_begin

needs FORM_NEEDS_FP

/* --- Loads and stores ---------------------------------------------------------- */

.irp r, q, d, s, h, b
	form	I(ldr \r\()0, [x6])
	form	I(ldr \r\()1, [x6, #16])
	form	I(ldr \r\()2, [x6, #-5])
	form	I(ldr \r\()3, [x7], #16)
	form	I(ldr \r\()0, [x6, x1]), B(and x1, x1, #31)
	form	I(str \r\()1, [x6])
	form	I(str \r\()0, [x6, #32])
	form	I(str \r\()3, [x7, #-7]!)
	form	I(str \r\()2, [x6, w1, sxtw]), B(and x1, x1, #31)
.endr
.irp r, q, d, s
	form	I(ldp \r\()0, \r\()1, [x6])
	form	I(ldp \r\()2, \r\()3, [x7, #16]!)
	form	I(stp \r\()0, \r\()3, [x6, #-16])
	form	I(stp \r\()1, \r\()2, [x7], #-32)
	form	I(ldnp \r\()0, \r\()1, [x6, #32])
.endr
form I(ldr q1, [x6, x1, lsl #4]), B(and x1, x1, #3)
form I(ldr q0, [sp, #16])
form I(stp q0, q1, [sp, #-32]!)
form I(stp d2, d3, [sp, #-16]!)
form I(ldp q2, q3, [sp], #32)
.irp t, 16b, 8h, 4s, 2d
	form	I(ld1 {v0.\t}, [x6])
	form	I(ld1 {v0.\t-v3.\t}, [x6])
	form	I(st1 {v1.\t, v2.\t}, [x7], #32)
	form	I(ld2 {v0.\t, v1.\t}, [x6])
	form	I(ld3 {v0.\t-v2.\t}, [x6], #48)
	form	I(st4 {v0.\t-v3.\t}, [x7])
	form	I(ld1r {v2.\t}, [x6])
.endr
form I(ld1 {v1.s}[2], [x6])
form I(ld1 {v1.b}[15], [x6], #1)
form I(st1 {v3.d}[1], [x7], x1), B(and x1, x1, #31)
form I(st2 {v0.h, v1.h}[3], [x7])

/* --- Integers ------------------------------------------------------------------ */

.irp op, add, sub, mul, smax, umin, sabd, mla, cmeq, cmgt, cmhi, sshl, ushl, shadd, addp
	form	I(\op v0.16b, v1.16b, v2.16b)
	form	I(\op v1.8h, v0.8h, v3.8h)
	form	I(\op v3.2s, v2.2s, v1.2s)
.endr
.irp op, add, sub, cmeq, sqadd, uqsub, addp
	form	I(\op v0.2d, v1.2d, v2.2d)
.endr
.irp op, and, orr, eor, bic, orn, bsl, bit, bif
	form	I(\op v0.16b, v1.16b, v2.16b)
	form	I(\op v2.8b, v3.8b, v1.8b)
.endr
.irp op, not, cnt, rev16, rev32, rev64, clz, cls, abs, neg, cmlt
	.ifc	\op, cmlt
	form	I(\op v0.16b, v1.16b, #0)
	.else
	form	I(\op v0.16b, v1.16b)
	.endif
.endr
.irp op, shl, sshr, ushr, sli, sri, usra
	form	I(\op v0.4s, v1.4s, #7)
	form	I(\op v2.2d, v3.2d, #40)
	form	I(\op d1, d0, #3)
.endr
.irp op, zip1, zip2, uzp1, uzp2, trn1, trn2
	form	I(\op v0.16b, v1.16b, v2.16b)
	form	I(\op v3.2d, v1.2d, v2.2d)
.endr
form I(ext v0.16b, v1.16b, v2.16b, #5)
form I(tbl v0.16b, {v1.16b, v2.16b}, v3.16b)
form I(tbx v0.8b, {v1.16b}, v3.8b)
form I(xtn v0.8b, v1.8h)
form I(uxtl v0.8h, v1.8b)
form I(umull v0.2d, v1.2s, v2.2s)
form I(smlal2 v0.4s, v1.8h, v2.8h)
form I(addv b0, v1.16b)
form I(uaddlv d0, v1.4s)
form I(umaxv s0, v1.4s)
form I(movi v0.16b, #0x5a)
form I(movi v1.2d, #0xff00ff00ff00ff00)
form I(mvni v2.4s, #0x12, lsl #8)
form I(mov v0.16b, v1.16b)

/* --- Between register files ---------------------------------------------------- */

form I(dup v0.16b, w3)
form I(dup v0.2d, x3)
form I(dup v1.4s, v2.s[3])
form I(mov v0.s[1], w3)
form I(mov v0.d[1], x3)
form I(mov v1.b[7], v2.b[9])
form I(umov w3, v0.b[5])
form I(umov x30, v1.d[1])
form I(smov x3, v0.h[2])
form I(fmov d0, x3)
form I(fmov x3, d1)
form I(fmov s2, w4)
form I(fmov w4, s3)
form I(fmov v0.d[1], x29)
form I(fmov x0, v0.d[1])

/* --- Floating point ------------------------------------------------------------ */

.irp op, fadd, fsub, fmul, fdiv, fmax, fminnm, fnmul
	form	I(\op d0, d1, d2)
	form	I(\op s3, s1, s0)
.endr
.irp op, fadd, fmul, fmla, fcmgt, fmax
	form	I(\op v0.4s, v1.4s, v2.4s)
	form	I(\op v3.2d, v2.2d, v1.2d)
.endr
.irp op, fmadd, fmsub, fnmadd, fnmsub
	form	I(\op d0, d1, d2, d3)
.endr
.irp op, fabs, fneg, fsqrt, frintn, frintz, fmov
	form	I(\op d0, d1)
	form	I(\op s2, s3)
.endr
form I(fmov d0, #1.5)
form I(fmov v0.4s, #-2.0)
form I(fcvt d0, s1)
form I(fcvt s1, d2)
form I(fcvt h1, s2)
form I(scvtf d0, x3)
form I(ucvtf s0, w3)
form I(scvtf v0.4s, v1.4s)
form I(fcvtzs x3, d0)
form I(fcvtzu w3, s1)
form I(fcvtas x4, d2)
form I(fcmp d0, d1)
form I(fcmp s0, #0.0)
form I(fcmpe d2, d3)
form I(fccmp d0, d1, #5, eq)
form I(fcsel d0, d1, d2, ge)
form I(msr fpsr, xzr)
form I(mrs x3, fpsr), B(msr fpsr, xzr; nop; fadd d0, d1, d2)

needs FORM_NEEDS_FPHP
form I(fadd h0, h1, h2)

needs FORM_NEEDS_ASIMDRDM
form I(sqrdmlah v0.4s, v1.4s, v2.4s)

needs FORM_NEEDS_ASIMDDP
	.arch_extension dotprod
form I(sdot v0.4s, v1.16b, v2.16b)
form I(udot v0.4s, v1.16b, v2.4b[1])

needs FORM_NEEDS_FRINT
form I(frint32z d0, d1)
form I(frint64x v0.4s, v1.4s)

needs FORM_NEEDS_JSCVT
form I(fjcvtzs w3, d0)

needs FORM_NEEDS_FCMA
form I(fcadd v0.4s, v1.4s, v2.4s, #90)
form I(fcmla v0.2d, v1.2d, v2.2d, #180)

needs FORM_NEEDS_BF16
form I(.inst 0x6e42fc20)	/* bfdot v0.4s, v1.8h, v2.8h */

needs FORM_NEEDS_I8MM
form I(.inst 0x4e82a420)	/* smmla v0.4s, v1.16b, v2.16b */
form I(.inst 0x4e829c20)	/* usdot v0.4s, v1.16b, v2.16b */

/* --- Ciphers ------------------------------------------------------------------- */

needs FORM_NEEDS_AES
form I(aese v0.16b, v1.16b)
form I(aesd v0.16b, v1.16b)
form I(aesmc v0.16b, v1.16b)
form I(aesimc v0.16b, v1.16b)

needs FORM_NEEDS_PMULL
form I(pmull v0.1q, v1.1d, v2.1d)
form I(pmull2 v0.1q, v1.2d, v2.2d)
form I(pmull v0.8h, v1.8b, v2.8b)

needs FORM_NEEDS_SHA1
form I(sha1c q0, s1, v2.4s)
form I(sha1h s0, s1)
form I(sha1su0 v0.4s, v1.4s, v2.4s)

needs FORM_NEEDS_SHA2
form I(sha256h q0, q1, v2.4s)
form I(sha256h2 q0, q1, v2.4s)
form I(sha256su1 v0.4s, v1.4s, v2.4s)

needs FORM_NEEDS_SHA512
	.arch_extension sha3
form I(sha512h q0, q1, v2.2d)
form I(sha512su1 v0.2d, v1.2d, v2.2d)

needs FORM_NEEDS_SHA3
form I(eor3 v0.16b, v1.16b, v2.16b, v3.16b)
form I(rax1 v0.2d, v1.2d, v2.2d)
form I(xar v0.2d, v1.2d, v2.2d, #11)

needs FORM_NEEDS_SM3
	.arch_extension sm4
form I(sm3ss1 v0.4s, v1.4s, v2.4s, v3.4s)
form I(sm3partw1 v0.4s, v1.4s, v2.4s)

needs FORM_NEEDS_SM4
form I(sm4e v0.4s, v1.4s)
form I(sm4ekey v0.4s, v1.4s, v2.4s)

forms_end
