/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All instructions of a listing, function by function. */
#ifndef _KPROBES_TEST_PLACES_H
#define _KPROBES_TEST_PLACES_H

#include "disasm.h"
#include "region.h"

/* The effect of an instruction on the path of execution, according to objdump. */
enum place_kind {
	KIND_PLAIN,
	KIND_CALL,
	KIND_END,	/* execution does not continue after it */
	KIND_STI,
	KIND_PAD,	/* a landing pad */
	KIND_KCFI,	/* read if a check of a call's type fails */
	KIND_NOP,
	KIND_INT3,
	KIND_BAD,	/* data, or bytes that objdump cannot decode */
};

/* Jumps whose targets are not part of the instruction. */
#define JUMPS_REGISTER	1	/* jmp *%reg, or a jump to its thunk */
#define JUMPS_TABLE	2	/* jmp *table(,%reg,8) */
#define JUMPS_MEMORY	4	/* jmp *memory, other than a table */

/**
 * struct place - one instruction
 * @address: its address
 * @text: index of its bytes
 * @function: index of its function
 * @len: its length
 * @kind: &enum place_kind
 * @obstacle: the obstacle to a jump there, as far as the bytes show one
 */
struct place {
	u64 address;
	u32 text;
	u32 function;
	u8 len;
	u8 kind;
	u8 obstacle;
};

/**
 * struct function - the instructions from one symbol to the next
 * @name: name of the symbol
 * @first: index of its first place
 * @end: index of the place after its last one
 * @jumps: JUMPS_*
 * @counted: it is in the section that the statistics cover
 * @gone: it belongs to alternatives, and is not executed at its address after they have
 *	been applied
 */
struct function {
	char *name;
	u32 first, end;
	u8 jumps;
	bool counted, gone;
};

/**
 * struct places - a whole listing
 * @mode: mode in which all of it runs
 * @place: all instructions, in the order of the listing
 * @function: all functions, in the same order
 * @text: the bytes of all instructions
 * @nr_places: number of instructions
 * @nr_functions: number of functions
 * @text_len: number of bytes
 */
struct places {
	enum insn_mode mode;
	struct place *place;
	struct function *function;
	u8 *text;
	size_t nr_places, nr_functions, text_len;
};

/* Adds an event of the listing. */
void places_add(enum disasm_event event, const struct line *line);

/* Called at the end of the listing: checks the region and the copy at every place. */
void places_check(void);

/* Prints statistics of branches: the places where a jump is possible. */
void branches_report(const struct places *all);

#endif /* _KPROBES_TEST_PLACES_H */
