/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forms that are emulated, not copied: branches, calls, returns, and instructions that read
 * or write the interrupt flag.
 */
#define FORM_TABLE	kprobes_forms_branch
#include "x86_form_macros.S"

	.data
	.balign WORD
form_pointer:
	_ASM_PTR kprobes_form_callee

/*
 * The function that forms call.  It leaves its return address in a register.  Direct calls skip
 * the nop: with call depth tracking calls of a function's entry are counted, which changes flags.
 */
#define CALLEE	kprobes_form_callee + ENDBR_INSN_SIZE + 1

	.text
	.balign 16
	.type kprobes_form_callee, @function
kprobes_form_callee:
	ENDBR
	nop
	mov	(%SP), %DX
	lea	0x30(%AX), %AX
	ANNOTATE_RETPOLINE_SAFE
	ret
	int3
	.size kprobes_form_callee, . - kprobes_form_callee

STACK_FRAME_NON_STANDARD kprobes_form_callee

/* Filler after an instruction that does not continue there; a region may end in it. */
#define PAD	int3; int3; int3; int3

forms_begin

/* A branch over an instruction, and one back to it.  The value of BX depends on the way taken. */
.macro form_forward insn:vararg
	form	insn="\insn 1f", S(lea 0x100(%BX), %BX), A(1:)
.endm

.macro form_back insn:vararg
	form	insn="\insn 1b", B(jmp 2f; 1: lea 0x200(%BX), %BX; jmp 3f; 2:), \
		S(lea 0x100(%BX), %BX), A(3:)
.endm

.macro form_branch insn:vararg
	form_forward \insn
	form_back \insn
.endm

.irp cc, CONDITIONS
	form_branch j\cc
	form_branch j\cc\().d32
.endr

form I(jmp 1f), S(PAD), A(1:)
form I(jmp 1b), B(jmp 2f; 1: lea 0x200(%BX), %BX; jmp 3f; 2:), S(PAD), A(3:)
form_branch jmp.d32

/* The count register as a word, and as half of a word. */
#ifdef CONFIG_X86_64
#define NARROW		addr32
#define JCXZ_WIDE	jrcxz
#define JCXZ_NARROW	jecxz
#else
#define NARROW		addr16
#define JCXZ_WIDE	jecxz
#define JCXZ_NARROW	jcxz
#endif

.irp op, loop, loope, loopne
	form_branch \op
	form_branch NARROW \op
.endr
form_branch JCXZ_WIDE
form_branch JCXZ_NARROW

/* The count is small, so that all loops end soon. */
.irp op, loop, loope, loopne
	form	I(\op 1f; nop), B(and $3, %ecx), S(lea 0x100(%BX), %BX), A(1:)
.endr

/* --- Calls ----------------------------------------------------------------- */

/* No function takes flags (flags.c). */
flags_dead

form I(call CALLEE)
/* The prefix with which alternatives lengthen calls, and FineIBT marks calls that it checks. */
form I(.byte 0x2e; call CALLEE)

.irp r, WORD_REGS
	form	I(call *%\r), B(LEA(kprobes_form_callee, %\r)), INDIRECT, LONG_FILLER
	form	I(.byte 0x2e; call *%\r), B(LEA(kprobes_form_callee, %\r)), INDIRECT, LONG_FILLER
.endr

#define STORE_CALLEE(where)	LEA(kprobes_form_callee, %AX); mov %AX, where

form I(call *RIP(form_pointer)), INDIRECT
form I(call *form_pointer(, %CX, WORD)), B(xor %ecx, %ecx), INDIRECT
form I(call *(%SI)), B(STORE_CALLEE((%SI))), INDIRECT, LONG_FILLER
form I(call *8(%DI)), B(STORE_CALLEE(8(%DI))), INDIRECT
form I({disp32} call *-8(%DI)), B(STORE_CALLEE(-8(%DI))), INDIRECT
form I(call *(%SI, %CX, WORD)), B(and $3, %ecx; STORE_CALLEE((%SI, %CX, WORD))), INDIRECT
form I(call *16(%DI, %CX, WORD)), B(and $3, %ecx; STORE_CALLEE(16(%DI, %CX, WORD))), INDIRECT
form I({disp32} call *16(%SI, %DX, 2)), B(and $3, %edx; STORE_CALLEE(16(%SI, %DX, 2))), INDIRECT
form I(call *(%BP)), B(mov %SI, %BP; STORE_CALLEE((%BP))), INDIRECT
form I(call *(%SP)), B(LEA(kprobes_form_callee, %AX); push %AX), INDIRECT
form I(call *WORD(%SP)), B(LEA(kprobes_form_callee, %AX); push %AX; push %CX), INDIRECT
form I(call *(%SP, %CX, WORD)), INDIRECT, \
	B(LEA(kprobes_form_callee, %AX); push %AX; and $3, %ecx; mov %AX, (%SP, %CX, WORD))
#ifdef CONFIG_X86_64
form I(call *form_pointer), INDIRECT
form I(call *(%r12)), B(mov %rsi, %r12; STORE_CALLEE((%r12))), INDIRECT
form I(call *(%r13)), B(mov %rsi, %r13; STORE_CALLEE((%r13))), INDIRECT
form I(call *-16(%r14, %r12, 8)), B(mov %rsi, %r14; and $3, %r12d; \
	STORE_CALLEE(-16(%r14, %r12, 8))), INDIRECT
#endif

defaults

/* --- Indirect jumps and returns ----------------------------------------------- */

.irp r, WORD_REGS
	form	I(jmp *%\r), B(LEA(1f, %\r)), S(PAD), A(1: ENDBR), INDIRECT
.endr

#define STORE_LABEL(where)	LEA(1f, %AX); mov %AX, where

form I(jmp *MEM(32)), B(STORE_LABEL(MEM(32))), S(PAD), A(1: ENDBR), INDIRECT
form I(jmp *ABSOLUTE(0)(, %CX, WORD)), S(PAD), A(1: ENDBR), INDIRECT, \
	B(and $7, %ecx; STORE_LABEL(ABSOLUTE(0)(, %CX, WORD)))
form I(jmp *(%DI)), B(STORE_LABEL((%DI))), S(PAD), A(1: ENDBR), INDIRECT
form I(jmp *24(%SI)), B(STORE_LABEL(24(%SI))), S(PAD), A(1: ENDBR), INDIRECT
form I({disp32} jmp *24(%SI)), B(STORE_LABEL(24(%SI))), S(PAD), A(1: ENDBR), INDIRECT
form I(jmp *8(%SI, %DX, WORD)), S(PAD), A(1: ENDBR), INDIRECT, \
	B(and $7, %edx; STORE_LABEL(8(%SI, %DX, WORD)))
form I(jmp *(%SP)), B(LEA(1f, %AX); push %AX), S(PAD), A(1: ENDBR), INDIRECT
#ifdef CONFIG_X86_64
form I(jmp *ABSOLUTE(32)), B(STORE_LABEL(MEM(32))), S(PAD), A(1: ENDBR), INDIRECT
#endif

#define PUSH_LABEL	LEA(1f, %DX); push %DX
#define RETURNED	1: ANNOTATE_NOENDBR

form I(ret), B(PUSH_LABEL), S(PAD), A(RETURNED), INDIRECT
form I(rep; ret), B(PUSH_LABEL), S(PAD), A(RETURNED), INDIRECT
form I(ret $WORD), B(push %AX; PUSH_LABEL), S(PAD), A(RETURNED), INDIRECT
form I(ret $4 * WORD), B(push %CX; push $1; PUSH_LABEL), S(PAD), A(RETURNED), INDIRECT

/* --- The flags register ------------------------------------------------------- */

/* Random arithmetic flags; the other flags, also that of interrupts, keep their values. */
#define PUSH_FLAGS	pushf; pop %DX; and $~0xcd5, %DX; and $0xcd5, %ecx; or %CX, %DX; push %DX

form I(pushf)
form I(popf), B(PUSH_FLAGS)
form I(cli)
form I(sti), A(nop; nop; nop; nop)

forms_end
