/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_FORM_ROWS_H
#define _KPROBES_TESTS_FORM_ROWS_H
/*
 * Rows of the tables of instruction forms, for the suite and for the programs of the selftests
 * of user-space probes. Include the header of the architecture first.
 */

/**
 * struct form_piece - a function that contains the form
 * @fn:		start of the function
 * @probe:	the probed instruction
 * @insn:	the form: the probed instruction itself, or the next one
 */
struct form_piece {
	void *fn;
	void *probe;
	void *insn;
};

/**
 * struct form - a row
 * @name:	the instruction as written in assembly
 * @pieces:	the first piece probes the form itself
 * @pointers:	registers that point into the memory, a bit each
 * @indexes:	registers with a small number, a bit each
 * @undefined:	flags that the form leaves undefined
 * @dead:	flags before the form that nothing uses; a detour need not keep them
 * @feature:	feature of the processor that the form needs; a number of the architecture
 *
 * All members are words, because an assembler writes them.
 */
struct form {
	const char *name;
	struct form_piece pieces[FORM_PIECES];
	unsigned long pointers;
	unsigned long indexes;
	unsigned long undefined;
	unsigned long dead;
	unsigned long feature;
};

/* The tables, one for each assembly file; an architecture has some of them. */
extern const struct form kprobes_forms_data[], kprobes_forms_data_end[];
extern const struct form kprobes_forms_flags[], kprobes_forms_flags_end[];
extern const struct form kprobes_forms_memory[], kprobes_forms_memory_end[];
extern const struct form kprobes_forms_branch[], kprobes_forms_branch_end[];
extern const struct form kprobes_forms_system[], kprobes_forms_system_end[];
extern const struct form kprobes_forms_vector[], kprobes_forms_vector_end[];
extern const struct form kprobes_forms_scalable[], kprobes_forms_scalable_end[];

#endif /* _KPROBES_TESTS_FORM_ROWS_H */
