/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a form is written down (arm64): for assembly files only.  See form_macros.S.
 *
 *	indexes	x1
 *	form	I(ldr x9, [x6, x1, lsl #3])
 *	needs	FORM_NEEDS_LSE
 *	form	I(cas x3, x4, [x7]), B(ldr x3, [x7])
 *
 * The instructions of A() are followed by two that use the registers, and do not change the
 * flags.  A form has to write all memory between its own stack pointer and the given one, because
 * bytes that it leaves there are random.
 */
#include <linux/stringify.h>

#include "arm64_forms.h"

#define FORM_POINTERS	x6, x7
#define FORM_PTR	.quad

#include "form_macros.S"

	.arch	armv8.5-a+memtag+fp16+aes+sha2

/* The numbers of registers that forms may change. */
#ifdef CONFIG_SHADOW_CALL_STACK
#define NUMBERS		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, \
			19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
#else
#define NUMBERS		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, \
			19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
#endif

#define CONDITIONS	eq, ne, cs, cc, mi, pl, vs, vc, hi, ls, ge, lt, gt, le

.irp nr, NUMBERS
form_number \nr, x\nr, w\nr
.endr

.macro form_piece name:req, before, insn, skip, after
	.pushsection .text
	.balign	16
	.type	\name, %function
\name:
	ldr	x30, [sp], #16		/* see arm64_form_run.S */
	\before
.L\name\()_probe:
.L\name\()_insn:
	\insn
	\skip
	\after
	add	x2, x2, #0x11
	add	x0, x0, x0, lsl #1
	b	kprobes_form_done
	.size	\name, . - \name
	.popsection
.endm

.macro form insn:req, before, skip, after
	form_piece kprobes_form_\@, "\before", "\insn", "\skip", "\after"
	.set	form_nr, form_nr + 1
	form_row "\insn", kprobes_form_\@
.endm
