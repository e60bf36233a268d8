/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_FORMS_H
#define _KPROBES_TESTS_FORMS_H
/*
 * Instruction forms: declarations shared by the suite, which is for all architectures, and the
 * machine of an architecture.
 *
 * The architecture's header defines struct form_state, the state before and after a piece:
 *
 *	memory	 for memory operands
 *	regs	 general registers; for the stack pointer, the distance it has moved
 *	flags	 before: %FORM_FLAGS; after: all flags that are recorded
 *	stack	 words around the initial stack pointer
 *	special	 a word that only special instructions reach
 *	vectors	 the first vector registers; the last member
 *
 * It also defines the minimum number of forms (%FORMS_WANTED), the number of kinds into which
 * the classifier divides them (%FORM_KINDS), the number of functions that contain each form
 * (%FORM_PIECES), and the name of the suite (%FORM_SUITE).
 */
#include <linux/types.h>

#ifdef CONFIG_X86
#include "x86_forms.h"
#else
#include "arm64_forms.h"
#endif
#include "form_rows.h"

/* Beginning and end of a table. */
struct form_table {
	const struct form *begin, *end;
};

/**
 * struct form_class - result of the backend's classifier
 * @len:	length of the instruction
 * @kind:	how the instruction is carried out, below %FORM_KINDS
 * @no_post:	post handlers are refused, because nothing can be called after the instruction
 * @refusal:	reason why the instruction cannot be probed, or NULL
 */
struct form_class {
	unsigned int len;
	unsigned int kind;
	bool no_post;
	const char *refusal;
};

#define FORM_STATES	50

/* form_states.c */
extern struct form_state kprobes_form_image;	/* of the current run */

void kprobes_form_fill_starts(struct form_state *starts, u32 seed);
void kprobes_form_prepare(const struct form *form, const struct form_state *start);
void kprobes_form_run_states(const struct form *form, const struct form_piece *piece,
			     const struct form_state *starts, struct form_state *results);

/* The machine: everything except general registers, flags and stack. */
extern const struct form_table kprobes_form_tables[];	/* in the last, begin is NULL */
extern const char * const kprobes_form_reg_names[FORM_REGS];

bool kprobes_form_there(const struct form *form);
void kprobes_form_classify(const struct form_piece *piece, struct form_class *class);
void kprobes_form_begin(void);
void kprobes_form_end(void);
void kprobes_form_run_image(const struct form_piece *piece);

#endif /* _KPROBES_TESTS_FORMS_H */
