/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_X86_FORMS_H
#define _KPROBES_TESTS_X86_FORMS_H
/*
 * Instruction forms, and the machine that runs them: what the assembly files with
 * the forms, the one with the machine, and the suite share.
 */

#ifdef CONFIG_X86_64
#define FORM_REGS		16
#else
#define FORM_REGS		8
#endif

#define FORM_SP			4	/* its number, as in encodings */

/* Words of the stack that a piece sees: below the pointer it begins with, and above. */
#define FORM_STACK_BELOW	16
#define FORM_STACK_ABOVE	16

#define FORM_MEMORY		256
#define FORM_VECTORS		4

/* CF, PF, AF, ZF, SF, IF, DF and OF are given; pieces leave the rest as it is. */
#define FORM_FLAGS		0xed5

/* Offsets in struct form_state; memory comes first. */
#define FORM_AT_REGS		FORM_MEMORY
#define FORM_AT_FLAGS		(FORM_AT_REGS + FORM_REGS * __SIZEOF_LONG__)
#define FORM_AT_STACK		(FORM_AT_FLAGS + __SIZEOF_LONG__)

#ifndef __ASSEMBLY__

#include <linux/cache.h>
#include <linux/percpu.h>
#include <linux/types.h>

/**
 * struct form_state - what a piece starts with, and then what it leaves
 * @memory:	for memory operands
 * @regs:	general registers, in the order of their numbers; of the stack pointer, how
 *		much the piece has moved it
 * @flags:	%FORM_FLAGS, given; all of them, left
 * @stack:	words around the stack pointer that was given
 * @percpu:	of kprobes_form_percpu
 * @vectors:	the first vector registers, as much as there is of them
 */
struct form_state {
	u8 memory[FORM_MEMORY];
	unsigned long regs[FORM_REGS];
	unsigned long flags;
	unsigned long stack[FORM_STACK_BELOW + FORM_STACK_ABOVE];
	unsigned long percpu;
	u8 vectors[FORM_VECTORS][32];
} __aligned(64);

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

#define FORM_PIECES	2

/**
 * struct form - a row
 * @name:	the instruction as it was written
 * @pieces:	probed itself, and behind a probed filler
 * @pointers:	registers that point into the memory, a bit each
 * @indexes:	registers with a small number
 * @undefined:	flags that it leaves undefined
 * @feature:	X86_FEATURE_* that it takes
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

/* The tables, one a file. */
extern const struct form kprobes_forms_data[], kprobes_forms_data_end[];
extern const struct form kprobes_forms_flags[], kprobes_forms_flags_end[];
extern const struct form kprobes_forms_branch[], kprobes_forms_branch_end[];
extern const struct form kprobes_forms_vector[], kprobes_forms_vector_end[];

/* Start and result of a run; where memory operands are. */
extern struct form_state kprobes_form_image;
DECLARE_PER_CPU(unsigned long, kprobes_form_percpu);

/* x86_form_machine.c */
#define FORM_STATES	50

void kprobes_form_fill_starts(struct form_state *starts, u32 seed);
void kprobes_form_prepare(const struct form *form, const struct form_state *start);
void kprobes_form_run_states(const struct form *form, const struct form_piece *piece,
			     const struct form_state *starts, struct form_state *results);

/* x86_form_run.S: runs a piece on general registers, flags and stack of the image. */
extern void *kprobes_form_fn;
void kprobes_form_run(void);

#endif /* !__ASSEMBLY__ */

#endif /* _KPROBES_TESTS_X86_FORMS_H */
