/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_X86_FORMS_H
#define _KPROBES_TESTS_X86_FORMS_H
/*
 * Instruction forms of x86: definitions shared by the assembly files with the forms, the
 * assembly file with the machine, and the suite.
 */

#define FORM_SUITE		"kprobes_x86_forms"
#define FORMS_WANTED		400

/*
 * In one piece the form is probed itself; in the other it follows a probed filler, so that a
 * jump covers it, too.
 */
#define FORM_PIECES		2

#ifdef CONFIG_X86_64
#define FORM_REGS		16
#else
#define FORM_REGS		8
#endif

#define FORM_SP			4	/* number of the register in encodings */

/* The words of the stack that a piece sees: below and above its initial stack pointer. */
#define FORM_STACK_BELOW	16
#define FORM_STACK_ABOVE	16

#define FORM_MEMORY		256
#define FORM_VECTORS		4

/* CF, PF, AF, ZF, SF, IF, DF and OF are set before a piece; it does not change other flags. */
#define FORM_FLAGS		0xed5

/* Offsets in struct form_state, which begins with the memory. */
#define FORM_AT_REGS		FORM_MEMORY
#define FORM_AT_FLAGS		(FORM_AT_REGS + FORM_REGS * __SIZEOF_LONG__)
#define FORM_AT_STACK		(FORM_AT_FLAGS + __SIZEOF_LONG__)

#ifndef __ASSEMBLY__

#include <linux/cache.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "../../../arch/x86/kernel/kprobes/classify.h"

#define FORM_KINDS		NR_EMUL

/* See forms.h.  The registers are in the order of their numbers. */
struct form_state {
	u8 memory[FORM_MEMORY];
	unsigned long regs[FORM_REGS];
	unsigned long flags;
	unsigned long stack[FORM_STACK_BELOW + FORM_STACK_ABOVE];
	unsigned long special;		/* value of kprobes_form_percpu */
	u8 vectors[FORM_VECTORS][32];
} __aligned(64);

DECLARE_PER_CPU(unsigned long, kprobes_form_percpu);

/* x86_form_run.S: runs a piece on the general registers, flags and stack of the image. */
extern void *kprobes_form_fn;
void kprobes_form_run(void);

#endif /* !__ASSEMBLY__ */

#endif /* _KPROBES_TESTS_X86_FORMS_H */
