/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forms that are emulated, not copied: instructions that read their own address, and branches.
 */
#define FORM_TABLE	kprobes_forms_branch
#include "arm64_form_macros.S"

	.text
/* The function that forms call.  It leaves its return address in a register. */
.macro form_callee name
	.balign	16
	.type	\name, %function
\name:
	bti	c
	mov	x2, x30
	add	x0, x0, #0x30
	ret
	.size	\name, . - \name
.endm

form_callee kprobes_form_callee_before

/* Filler after an instruction that does not continue there. */
#define PAD	udf #0; udf #0

forms_begin

/* --- Conditional and unconditional branches ------------------------------------ */

/* A branch over an instruction, and one back to it.  The value of x10 depends on the way taken. */
.macro form_forward insn:vararg
	form	insn="\insn 1f", S(add x10, x10, #0x100), A(1:)
.endm

.macro form_back insn:vararg
	form	insn="\insn 1b", B(b 2f; 1: add x10, x10, #0x200; b 3f; 2:), \
		S(add x10, x10, #0x100), A(3:)
.endm

.macro form_branch insn:vararg
	form_forward \insn
	form_back \insn
.endm

.irp c, CONDITIONS, al, nv
	form_branch b.\c
.endr
form I(b 1f), S(PAD), A(1:)
form I(b 1b), B(b 2f; 1: add x10, x10, #0x200; b 3f; 2:), S(PAD), A(3:)

/* Consistent branches (bc.cond) over an instruction. */
needs FORM_NEEDS_HBC
.irp c, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
	form	I(.inst 0x54000050 + \c), S(add x10, x10, #0x100)
.endr
defaults

/* Registers that are often 0. */
.irp n, NUMBERS
	form	I(cbz x\n, 1f), B(and x\n, x\n, #1), S(add x10, x10, #0x100), A(1:)
	form	I(cbnz w\n, 1f), B(and x\n, x\n, #0xffffffff00000001), \
		S(add x10, x10, #0x100), A(1:)
	form	I(tbz w\n, #4, 1f), S(add x10, x10, #0x100), A(1:)
	form	I(tbnz x\n, #63, 1f), S(add x10, x10, #0x100), A(1:)
.endr
form_forward cbz w4,
form_forward cbnz x4,
.irp op, cbz, cbnz
	form_back \op x3,
	form_back \op w3,
	form	I(\op xzr, 1f), S(add x10, x10, #0x100), A(1:)
	form	I(\op wzr, 1f), S(add x10, x10, #0x100), A(1:)
	form	I(\op x4, 1b), B(and x4, x4, #1; b 2f; 1: add x10, x10, #0x200; b 3f; 2:), \
		S(add x10, x10, #0x100), A(3:)
.endr
.irp op, tbz, tbnz
	.irp bit, 0, 1, 30, 31, 32, 33, 62
	form_forward \op x3, #\bit,
	.endr
	form_back \op x3, #0,
	form_back \op x3, #31,
	form_back \op x3, #32,
	form_back \op x3, #63,
	form	I(\op xzr, #5, 1f), S(add x10, x10, #0x100), A(1:)
.endr

/* --- Calls, jumps by register, returns ----------------------------------------- */

/* A landing pad, for kernels that need one. */
#define LANDING		A(1: bti j)

form I(bl kprobes_form_callee_before)
form I(bl kprobes_form_callee_behind)
form I(bl 1f), S(PAD), A(1:)
form I(b kprobes_form_callee_before), B(adr x30, 1f), S(PAD), A(1:)
form I(b kprobes_form_callee_behind), B(adr x30, 1f), S(PAD), A(1:)

.irp n, NUMBERS
	form	I(blr x\n), B(adr x\n, kprobes_form_callee_before)
	form	I(br x\n), B(adr x\n, 1f), S(PAD), LANDING
	form	I(ret x\n), B(adr x\n, 1f), S(PAD), A(1:)
.endr

/* --- Signed targets ------------------------------------------------------------ */

needs FORM_NEEDS_PACA
form I(retaa), B(adr x30, 1f; paciasp), S(PAD), A(1:)
form I(retab), B(adr x30, 1f; pacibsp), S(PAD), A(1:)

/*
 * Of braa and brab only those through x16 and x17: when QEMU 10.0 translates one through
 * another register, an assertion fails (gen_pc_plus_diff: s->pc_save != -1).
 */
.irp n, NUMBERS
	form	I(braaz x\n), B(adr x\n, 1f; paciza x\n), S(PAD), LANDING
	form	I(brabz x\n), B(adr x\n, 1f; pacizb x\n), S(PAD), LANDING
	.ifnc	\n, 16
	form	I(braa x16, x\n), B(adr x16, 1f; pacia x16, x\n), S(PAD), LANDING
	.endif
	.ifnc	\n, 17
	form	I(brab x17, x\n), B(adr x17, 1f; pacib x17, x\n), S(PAD), LANDING
	.endif
.endr
form I(braa x17, sp), B(adr x17, 1f; pacia x17, sp), S(PAD), LANDING
form I(brab x16, sp), B(adr x16, 1f; pacib x16, sp), S(PAD), LANDING
defaults

/* --- Addresses ----------------------------------------------------------------- */

.irp n, NUMBERS
	form	I(adr x\n, 1b), B(1:)
	form	I(adrp x\n, kprobes_form_image)
	form	I(ldr x\n, 1f), A(b 2f; 1: .quad 0x8123456789abcdef; 2:)
.endr
form I(adr x3, . + 0x12345)
form I(adr x3, . - 0x12345)
form I(adr x3, . + 0xfffff)
form I(adr x3, . - 0x100000)
form I(adr xzr, .)
form I(adrp x3, . + 0x12345000)
form I(adrp x3, . - 0x12345000)
form I(adrp x3, . + 0xfffff000)
form I(adrp xzr, .)

/* --- Literals ------------------------------------------------------------------ */

#define LITERALS	.quad 0x8123456789abcdef, 0x7edcba9876543210
#define AFTER		A(b 2f; nop; 1: LITERALS; 2:)
#define BEFORE		B(b 2f; 1: LITERALS; 2:)

form I(ldr w3, 1f), AFTER
form I(ldr w3, 1f + 4), AFTER
form I(ldrsw x3, 1f), AFTER
form I(ldrsw x3, 1f + 12), AFTER
form I(ldr x3, 1f + 4), AFTER
form I(ldr x3, 1b), BEFORE
form I(ldr w30, 1b), BEFORE
form I(ldrsw x30, 1b + 4), BEFORE
form I(ldr xzr, 1b), BEFORE
form I(ldr wzr, 1b), BEFORE
form I(ldrsw xzr, 1b), BEFORE
form I(ldr x3, kprobes_form_callee_before)
form I(prfm pldl1keep, 1f), AFTER
form I(prfm pldl1keep, 1b), BEFORE

forms_end

	.text
form_callee kprobes_form_callee_behind
