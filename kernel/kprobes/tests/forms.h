/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_FORMS_H
#define _KPROBES_TESTS_FORMS_H
/*
 * Instruction forms: what the suite, which is for all architectures, and the machine of
 * an architecture share.
 *
 * The architecture's header has struct form_state, what a piece starts with and leaves:
 *
 *	memory	 for memory operands
 *	regs	 general registers; of the stack pointer, how much the piece has moved it
 *	flags	 %FORM_FLAGS, given; all that are noted, left
 *	stack	 words around the stack pointer that was given
 *	special	 a word that takes special instructions to be reached
 *	vectors	 the first vector registers; the last member
 *
 * It also says how many forms there must be (%FORMS_WANTED), into how many kinds the
 * classifier divides them (%FORM_KINDS), in how many functions each stands
 * (%FORM_PIECES), and what the suite is called (%FORM_SUITE).
 */
#include <linux/types.h>

#ifdef CONFIG_X86
#include "x86_forms.h"
#else
#include "arm64_forms.h"
#endif

/**
 * struct form_piece - a function with the form in it
 * @fn:		where it begins
 * @probe:	the probed instruction
 * @insn:	the form: the probed one itself, or the next
 */
struct form_piece {
	void *fn;
	void *probe;
	void *insn;
};

/**
 * struct form - a row
 * @name:	the instruction as it was written
 * @pieces:	the first probes the form itself
 * @pointers:	registers that point into the memory, a bit each
 * @indexes:	registers with a small number
 * @undefined:	flags that it leaves undefined
 * @feature:	of the processor, that it takes; in the words of the architecture
 *
 * All words, for they are written by an assembler.
 */
struct form {
	const char *name;
	struct form_piece pieces[FORM_PIECES];
	unsigned long pointers;
	unsigned long indexes;
	unsigned long undefined;
	unsigned long feature;
};

/* The tables, one an assembly file. */
#ifdef CONFIG_X86
extern const struct form kprobes_forms_data[], kprobes_forms_data_end[];
extern const struct form kprobes_forms_flags[], kprobes_forms_flags_end[];
extern const struct form kprobes_forms_branch[], kprobes_forms_branch_end[];
extern const struct form kprobes_forms_vector[], kprobes_forms_vector_end[];
#else
extern const struct form kprobes_forms_data[], kprobes_forms_data_end[];
extern const struct form kprobes_forms_memory[], kprobes_forms_memory_end[];
extern const struct form kprobes_forms_branch[], kprobes_forms_branch_end[];
extern const struct form kprobes_forms_system[], kprobes_forms_system_end[];
extern const struct form kprobes_forms_vector[], kprobes_forms_vector_end[];
extern const struct form kprobes_forms_scalable[], kprobes_forms_scalable_end[];
#endif

/* Where a table begins and ends. */
struct form_table {
	const struct form *begin, *end;
};

/**
 * struct form_class - what the backend's classifier says
 * @len:	of the instruction
 * @kind:	how it is carried out, below %FORM_KINDS
 * @no_post:	post handlers are refused, for nothing can be called behind it
 * @refusal:	why it cannot be probed, or NULL
 */
struct form_class {
	unsigned int len;
	unsigned int kind;
	bool no_post;
	const char *refusal;
};

#define FORM_STATES	50

/* form_states.c */
extern struct form_state kprobes_form_image;	/* of a run; memory operands are in it */

void kprobes_form_fill_starts(struct form_state *starts, u32 seed);
void kprobes_form_prepare(const struct form *form, const struct form_state *start);
void kprobes_form_run_states(const struct form *form, const struct form_piece *piece,
			     const struct form_state *starts, struct form_state *results);

/* The machine: what is not general registers, flags or stack. */
extern const struct form_table kprobes_form_tables[];	/* up to one that begins nowhere */
extern const char * const kprobes_form_reg_names[FORM_REGS];

bool kprobes_form_there(const struct form *form);
void kprobes_form_classify(const struct form_piece *piece, struct form_class *class);
void kprobes_form_begin(void);
void kprobes_form_end(void);
void kprobes_form_run_image(const struct form_piece *piece);

#endif /* _KPROBES_TESTS_FORMS_H */
