/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forms of SVE: vectors as long as the processor has them, and predicates.
 *
 * Given and compared are the first 128 bits of four vectors, as in the other tables; the
 * rest of these vectors is zero at the beginning of a piece.  Predicates are made in front of
 * a form, and stored after it.  The kernel does not save vectors for its own threads, so
 * interrupts are disabled: a switch to another task would lose them.
 */
#define FORM_TABLE	kprobes_forms_scalable
#include "arm64_form_macros.S"

	.arch_extension sve
	.arch_extension sve2

/* A program cannot mask interrupts, and its predicates are saved. */
	.macro mask_interrupts
#ifdef __KERNEL__
	msr	daifset, #2
#else
	nop
#endif
	.endm

/* Interrupts are masked, and p0 has the first four words, or the first sixteen bytes. */
#define P0(...)		B(mask_interrupts; ptrue p0.s, vl4; __VA_ARGS__)
#define SIXTEEN(...)	B(mask_interrupts; ptrue p0.b, vl16; __VA_ARGS__)
#define MASKED		B(mask_interrupts)

/* Counts the elements of a predicate. */
#define P1		A(cntp x3, p0, p1.s)
#define P1_BYTES	A(cntp x3, p1, p1.b)

forms_begin

needs FORM_NEEDS_SVE

/* --- Lengths, and predicates --------------------------------------------------- */

form I(rdvl x3, #1)
form I(rdvl x3, #-3)
form I(addvl x3, x4, #2)
form I(addvl sp, sp, #-1), A(addvl sp, sp, #1)
form I(addpl x3, x4, #-5)
.irp op, cntb, cnth, cntw, cntd
	form	I(\op x3)
	form	I(\op x4, vl8, mul #3)
.endr
form I(incb x3)
form I(decd x4, all, mul #2)
form I(sqincw x3, w3)
form I(incd z0.d)
form I(ctermeq x3, x4)
form I(ctermne w3, w4)

form I(ptrue p1.s), MASKED, A(cntp x3, p1, p1.s)
form I(ptrues p1.b, vl7), MASKED, P1_BYTES
form I(pfalse p1.b), P0(nop), P1
form I(whilelo p1.s, x3, x4), P0(mov x4, #3; mov x3, #1), P1
form I(whilelt p1.s, w3, w4), P0(nop), P1
form I(ptest p0, p0.b), P0(nop)
form I(pfirst p1.b, p0, p1.b), P0(pfalse p1.b), P1
form I(pnext p1.s, p0, p1.s), P0(pfalse p1.b), P1
form I(brka p1.b, p0/z, p0.b), P0(nop), P1
form I(and p1.b, p0/z, p0.b, p0.b), P0(nop), P1
form I(not p1.b, p0/z, p0.b), P0(nop), P1
form I(punpklo p1.h, p0.b), P0(nop), P1
form I(cntp x3, p0, p0.b), SIXTEEN(nop)
form I(incp x3, p0.s), P0(nop)
form I(setffr), MASKED, A(rdffr p1.b; cntp x3, p1, p1.b)
form I(wrffr p0.b), SIXTEEN(nop), A(rdffr p1.b; cntp x3, p1, p1.b)
form I(rdffr p1.b), MASKED, P1_BYTES
form I(rdffrs p1.b, p0/z), SIXTEEN(setffr), P1_BYTES

/* --- Loads and stores ---------------------------------------------------------- */

form I(ld1b {z0.b}, p0/z, [x6]), SIXTEEN(nop)
form I(ld1w {z1.s}, p0/z, [x6, #1, mul vl]), P0(rdvl x4, #1; sub x6, x6, x4)
form I(ld1w {z0.s}, p0/z, [x6, x1, lsl #2]), P0(and x1, x1, #7)
form I(ld1sb {z2.s}, p0/z, [x6]), P0(nop)
form I(ld1d {z0.d}, p0/z, [x6]), P0(nop)
form I(ld1rw {z3.s}, p0/z, [x6, #8]), P0(nop)
form I(ld1rqb {z0.b}, p0/z, [x6]), SIXTEEN(nop)
form I(ldnt1w {z0.s}, p0/z, [x6]), P0(nop)
form I(ldnf1w {z0.s}, p0/z, [x6]), P0(setffr), A(rdffr p1.b; cntp x3, p0, p1.s)
form I(ldff1w {z0.s}, p0/z, [x6]), P0(setffr), A(rdffr p1.b; cntp x3, p0, p1.s)
form I(ld2w {z0.s, z1.s}, p0/z, [x6]), P0(nop)
form I(ld1w {z0.s}, p0/z, [x6, z1.s, uxtw]), P0(index z1.s, #3, #7)
form I(ld1w {z0.s}, p0/z, [z1.s, #4]), P0(pfalse p0.b)
form I(st1b {z0.b}, p0, [x7]), SIXTEEN(nop)
form I(st1w {z1.s}, p0, [x7, x1, lsl #2]), P0(and x1, x1, #7)
form I(st1h {z2.s}, p0, [x7]), P0(nop)
form I(stnt1w {z0.s}, p0, [x7]), P0(nop)
form I(st2w {z0.s, z1.s}, p0, [x7]), P0(nop)
form I(st1w {z0.s}, p0, [x7, z1.s, sxtw]), P0(index z1.s, #0, #5)
form I(prfw pldl1keep, p0, [x6]), P0(nop)
form I(ldr p1, [x6]), P0(nop), P1
form I(str p0, [x7]), P0(nop)
form I(ldr z0, [x6]), B(sub x6, x6, #64; and x6, x6, #-64)
form I(str z1, [x7]), B(sub x7, x7, #64; and x7, x7, #-64)

/* --- Integers ------------------------------------------------------------------ */

.irp op, add, sub, sqadd, uqsub, zip1, uzp2, trn1
	form	I(\op z0.s, z1.s, z2.s)
	form	I(\op z3.b, z2.b, z1.b)
.endr
.irp op, add, mul, smax, umin, sabd, udiv, sdivr, and, orr, eor, bic, asr, lslr
	form	I(\op z0.s, p0/m, z0.s, z1.s), P0(nop)
.endr
.irp op, abs, neg, not, cnt, clz, rbit, revb, sxth
	form	I(\op z0.s, p0/m, z1.s), P0(nop)
.endr
.irp op, and, orr, eor, bic
	form	I(\op z0.d, z1.d, z2.d)
.endr
form I(mla z0.s, p0/m, z1.s, z2.s), P0(nop)
form I(mad z0.s, p0/m, z1.s, z2.s), P0(nop)
form I(add z0.s, z0.s, #7)
form I(mul z1.s, z1.s, #-3)
form I(lsr z0.s, z1.s, #5)
form I(and z0.s, z0.s, #0xff00)
form I(sdot z0.s, z1.b, z2.b)
form I(ext z0.b, z0.b, z1.b, #5)
form I(rev z0.s, z0.s)
form I(tbl z0.b, {z1.b}, z2.b)
form I(splice z0.s, p0, z0.s, z1.s), P0(nop)
form I(compact z0.s, p0, z1.s), P0(nop)
form I(sel z0.s, p0, z1.s, z2.s), P0(nop)
form I(sunpklo z0.d, z1.s)

.irp op, cmpeq, cmpgt, cmpge, cmphi, cmpne
	form	I(\op p1.s, p0/z, z0.s, z1.s), P0(nop), P1
	form	I(\op p1.s, p0/z, z2.s, #3), P0(nop), P1
.endr
.irp op, saddv, uaddv
	form	I(\op d0, p0, z1.s), P0(nop)
.endr
.irp op, smaxv, uminv, andv, orv, eorv
	form	I(\op s0, p0, z1.s), P0(nop)
.endr

/* --- Between register files ---------------------------------------------------- */

form I(dup z0.s, w3)
form I(dup z0.d, sp), A(eor z0.d, z0.d, z0.d)
form I(dup z1.s, #-7)
form I(dup z2.s, z1.s[2])
form I(cpy z0.s, p0/m, w3), P0(nop)
form I(index z0.s, #3, #-5)
form I(index z0.d, x3, x4)
form I(insr z0.s, w3)
form I(lasta w3, p0, z1.s), P0(nop)
form I(lastb x3, p0, z1.d), P0(nop)
form I(clasta w3, p0, w3, z1.s), P0(nop)

/* --- Floating point ------------------------------------------------------------ */

.irp op, fadd, fmul, fsub
	form	I(\op z0.s, z1.s, z2.s)
	form	I(\op z0.d, p0/m, z0.d, z1.d), P0(nop)
.endr
form I(fmla z0.s, p0/m, z1.s, z2.s), P0(nop)
form I(fcmgt p1.s, p0/z, z0.s, z1.s), P0(nop), P1
form I(fcvtzs z0.s, p0/m, z1.s), P0(nop)
form I(scvtf z0.s, p0/m, z1.s), P0(nop)
form I(fadda s0, p0, s0, z1.s), P0(nop)
form I(faddv s0, p0, z1.s), P0(nop)

/* --- SVE2 ---------------------------------------------------------------------- */

needs FORM_NEEDS_SVE2
form I(sqdmulh z0.s, z1.s, z2.s)
form I(bsl z0.d, z0.d, z1.d, z2.d)
form I(eor3 z0.d, z0.d, z1.d, z2.d)
form I(xar z0.d, z0.d, z1.d, #3)
form I(tbx z0.b, z1.b, z2.b)
form I(histseg z0.b, z1.b, z2.b)
form I(umullb z0.d, z1.s, z2.s)
form I(adclb z0.s, z1.s, z2.s)
form I(match p1.b, p0/z, z0.b, z1.b), SIXTEEN(nop), P1_BYTES
form I(whilege p1.s, x3, x4), P0(nop), P1
form I(whilewr p1.s, x6, x7), P0(nop), P1
form I(ldnt1w {z0.s}, p0/z, [z1.s, x6]), P0(pfalse p0.b)

forms_end
