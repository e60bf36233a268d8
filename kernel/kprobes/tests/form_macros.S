/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Macros that write a form, the part that all architectures share.
 *
 *	#define FORM_TABLE kprobes_forms_example
 *	#include "..._form_macros.S"
 *
 *	forms_begin
 *	form	I(an instruction)
 *	form	I(another), B(an instruction; and another), A(a third)
 *	forms_end
 *
 * The architecture's "form" makes pieces and a row of each.  A piece consists of the
 * instructions before (B), the instruction (I), the instructions that it may skip (S), the
 * instructions after (A), and a jump to the end of the run.
 *
 * Pieces start with random registers and a random stack.  Those named by "pointers"
 * point to the middle of 256 bytes of random memory, 16-aligned, with 64 bytes before
 * and 128 after it; those named by "indexes" are 0 to 7.  These and "needs", the
 * feature that a form takes, hold until the next "defaults".
 *
 * The architecture defines FORM_POINTERS, the registers that "defaults" makes pointers,
 * FORM_PTR, which assembles addresses, and names for the numbers of registers.
 */

/* Lines of a form.  Strings, because all macros are to be expanded in them. */
#define I(...)		insn=__stringify(__VA_ARGS__)
#define B(...)		before=__stringify(__VA_ARGS__)
#define S(...)		skip=__stringify(__VA_ARGS__)
#define A(...)		after=__stringify(__VA_ARGS__)

/* The table of the file, which defines FORM_TABLE. */
#define FORM_PASTE_(a, b)	a##b
#define FORM_PASTE(a, b)	FORM_PASTE_(a, b)
#define FORM_TABLE_END	FORM_PASTE(FORM_TABLE, _end)

/* The numbers of registers, for the bits of "pointers" and "indexes". */
.macro form_number nr, names:vararg
	.irp name, \names
	.set form_number_\name, \nr
	.endr
.endm

.macro pointers names:vararg
	.set form_pointers, 0
	.irp name, \names
	.set form_pointers, form_pointers | 1 << form_number_\name
	.endr
.endm

.macro indexes names:vararg
	.set form_indexes, 0
	.irp name, \names
	.set form_indexes, form_indexes | 1 << form_number_\name
	.endr
.endm

.macro needs feature:vararg
	.set form_feature, \feature
.endm

.macro defaults
	pointers FORM_POINTERS
	.set form_indexes, 0
	.set form_undefined, 0
	.set form_dead, 0
	.set form_feature, 0
.endm

.macro forms_begin
	.pushsection .rodata.FORM_TABLE, "a"
	.balign __SIZEOF_POINTER__
	.globl FORM_TABLE
FORM_TABLE:
	.popsection
	.set form_nr, 0
	defaults
.endm

.macro forms_end
	.pushsection .rodata.FORM_TABLE, "a"
	.globl FORM_TABLE_END
FORM_TABLE_END:
	.popsection
.endm

.macro form_row_piece name
	FORM_PTR \name, .L\name\()_probe, .L\name\()_insn
.endm

/* The row of a form, and its pieces, whose probes and instructions have labels. */
.macro form_row insn:req, pieces:vararg
	.pushsection .rodata
.Lform_row_\@_name:
	.asciz "\insn"
	.popsection
	.pushsection .rodata.FORM_TABLE, "a"
	FORM_PTR .Lform_row_\@_name
	.irp piece, \pieces
	form_row_piece \piece
	.endr
	FORM_PTR form_pointers, form_indexes, form_undefined, form_dead, form_feature
	.popsection
.endm
