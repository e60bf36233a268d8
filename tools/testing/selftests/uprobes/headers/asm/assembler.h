/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_FORMS_ASM_ASSEMBLER_H
#define _UPROBES_FORMS_ASM_ASSEMBLER_H
/* Addresses of symbols, and words at them, within 4 GiB (arm64). */
.macro adr_l reg, symbol
	adrp	\reg, \symbol
	add	\reg, \reg, :lo12:\symbol
.endm

.macro ldr_l reg, symbol
	adrp	\reg, \symbol
	ldr	\reg, [\reg, :lo12:\symbol]
.endm

.macro str_l reg, symbol, scratch
	adrp	\scratch, \symbol
	str	\reg, [\scratch, :lo12:\symbol]
.endm

/*
 * A program has no interrupt masks.  The status of the floating point takes their place in
 * the flags of a state.
 */
#define daif	fpsr
#endif
