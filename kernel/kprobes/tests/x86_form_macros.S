/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Macros that write a form (x86), for assembly files only.  See form_macros.S.
 *
 *	undefined AF
 *	form	I(and %ecx, %eax)
 *	form	I(div %ecx), B(xor %edx, %edx; or $1, %ecx), A(nop)
 *
 * That makes two pieces of each.  After the instructions of (A) there are two that use the
 * registers but leave the flags.  In the second piece the probe is on a filler in front of
 * the instruction, so that a jump in place of the filler also replaces the instruction.
 *
 * "undefined" and "flags_dead" hold until the next "defaults", too.  "needs" has one of
 * X86_FEATURE_*; 0 is the FPU, which is always there.
 */
#include <linux/objtool.h>
#include <linux/stringify.h>
#include <asm/asm.h>
#include <asm/cpufeatures.h>
#include <asm/ibt.h>
#include <asm/nops.h>
#include <asm/nospec-branch.h>
#include <asm/percpu.h>

#include "x86_forms.h"

/* More lines of a form. */
#define INDIRECT	indirect=1	/* not to be replaced by a thunk */
#define LONG_FILLER	filler=__stringify(ASM_NOP3)

/* Names that depend on the size of a word. */
#ifdef CONFIG_X86_64
#define WORD		8
#undef RIP
#define RIP(symbol)	symbol(%rip)
#define LEA(symbol, reg) lea symbol(%rip), reg
#define MOVS_WORD	movsq
#define AX		rax
#define CX		rcx
#define DX		rdx
#define BX		rbx
#define SP		rsp
#define BP		rbp
#define SI		rsi
#define DI		rdi
/* All but the stack pointer. */
#define WORD_REGS	rax, rcx, rdx, rbx, rbp, rsi, rdi, \
			r8, r9, r10, r11, r12, r13, r14, r15
#define LONG_REGS	eax, ecx, edx, ebx, ebp, esi, edi, \
			r8d, r9d, r10d, r11d, r12d, r13d, r14d, r15d
#define BYTE_REGS	al, cl, dl, bl, ah, ch, dh, bh, sil, dil, bpl, \
			r8b, r9b, r10b, r11b, r12b, r13b, r14b, r15b
#define SUFFIXES	b, w, l, q
#else
#define WORD		4
#undef RIP
#define RIP(symbol)	symbol
#define LEA(symbol, reg) mov $symbol, reg
#define MOVS_WORD	movsl
#define AX		eax
#define CX		ecx
#define DX		edx
#define BX		ebx
#define SP		esp
#define BP		ebp
#define SI		esi
#define DI		edi
#define WORD_REGS	eax, ecx, edx, ebx, ebp, esi, edi
#define LONG_REGS	WORD_REGS
#define BYTE_REGS	al, cl, dl, bl, ah, ch, dh, bh
#define SUFFIXES	b, w, l
#endif

/* Registers that are pointers by default. */
#define FORM_POINTERS	SI, DI
#define FORM_PTR	_ASM_PTR

#include "form_macros.S"

/* Memory by its address instead of a register; by a 32-bit address in both sizes. */
#define MEM(offset)	RIP(kprobes_form_image + offset)
#define ABSOLUTE(offset) kprobes_form_image + offset

#define CONDITIONS	o, no, b, ae, e, ne, be, a, s, ns, p, np, l, ge, le, g

form_number 0, rax, eax
form_number 1, rcx, ecx
form_number 2, rdx, edx
form_number 3, rbx, ebx
form_number 4, rsp, esp
form_number 5, rbp, ebp
form_number 6, rsi, esi
form_number 7, rdi, edi
.irp nr, 8, 9, 10, 11, 12, 13, 14, 15
form_number \nr, r\nr, r\nr\()d
.endr

/* The same for flags. */
.set form_flag_CF, 0x001
.set form_flag_PF, 0x004
.set form_flag_AF, 0x010
.set form_flag_ZF, 0x040
.set form_flag_SF, 0x080
.set form_flag_OF, 0x800

.macro undefined names:vararg
	.set form_undefined, 0
	.ifnb \names
	.irp name, \names
	.set form_undefined, form_undefined | form_flag_\name
	.endr
	.endif
.endm

/* All arithmetic flags are dead; only detours of 64-bit kernels make use of it. */
.macro flags_dead
#ifdef CONFIG_X86_64
	.set form_dead, 0x8d5
#endif
.endm

.macro form_piece name:req, filler, before, insn, skip, after, indirect
	.pushsection .text
	.balign 16
	.type \name, @function
\name:
	ENDBR
	\before
.L\name\()_probe:
	ANNOTATE_NOENDBR
	\filler
.L\name\()_insn:
	ANNOTATE_NOENDBR
	.ifnb \indirect
	ANNOTATE_RETPOLINE_SAFE
	.endif
	\insn
	\skip
	\after
	lea	0x11(%DX), %DX
	lea	0x5(%AX, %AX, 2), %AX
	jmp	kprobes_form_done
	.size \name, . - \name
	.popsection
	STACK_FRAME_NON_STANDARD \name
.endm

/* Fillers of one to three bytes; the first changes the carry flag. */
.macro form_second name:req, filler, more:vararg
	.ifnb \filler
	form_piece \name, "\filler", \more
	.elseif form_nr % 3 == 0
	form_piece \name, "cmc", \more
	.elseif form_nr % 3 == 1
	form_piece \name, "mov %dl, %dl", \more
	.else
	form_piece \name, __stringify(ASM_NOP3), \more
	.endif
.endm

.macro form insn:req, before, skip, after, indirect, filler
	form_piece kprobes_form_\@_alone, "", "\before", "\insn", "\skip", "\after", \
		   \indirect
	form_second kprobes_form_\@_second, "\filler", "\before", "\insn", "\skip", \
		    "\after", \indirect
	.set form_nr, form_nr + 1

	form_row "\insn", kprobes_form_\@_alone, kprobes_form_\@_second
.endm
