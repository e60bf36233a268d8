/* SPDX-License-Identifier: GPL-2.0-only */
/* All instructions of a listing, function by function. */
#ifndef _KPROBES_TEST_PLACES_H
#define _KPROBES_TEST_PLACES_H

#include "disasm.h"
#include "region.h"

/* What objdump's words say about how execution comes to an instruction and leaves it. */
enum place_kind {
	KIND_PLAIN,
	KIND_CALL,
	KIND_END,	/* nothing goes on behind it */
	KIND_STI,
	KIND_PAD,	/* a landing pad */
	KIND_KCFI,	/* read when a check of a call's type fails */
	KIND_NOP,
	KIND_INT3,
	KIND_BAD,	/* data, or nothing that objdump can read */
};

/* Jumps whose targets are not in the instruction. */
#define JUMPS_REGISTER	1	/* jmp *%reg, or a jump to the thunk that does it */
#define JUMPS_TABLE	2	/* jmp *table(,%reg,8) */
#define JUMPS_MEMORY	4	/* jmp *somewhere else */

/**
 * struct place - one instruction
 * @address: where it stands
 * @text: index of its bytes
 * @function: index of its function
 * @len: how many bytes
 * @kind: &enum place_kind
 * @obstacle: what is in the way of a jump there, for as much as the bytes tell
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
 * @name: of the symbol
 * @first: index of its first place
 * @end: index behind its last one
 * @jumps: JUMPS_*
 * @counted: it is in the section that the statistics are about
 * @gone: it belongs to alternatives, and is not executed where it stands once they have
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

/* Takes what the listing says next. */
void places_add(enum disasm_event event, const struct line *line);

/* At the end of the listing: regions and copies at every place. */
void places_check(void);

/* The statistics of branches: where could there be a jump? */
void branches_report(const struct places *all);

#endif /* _KPROBES_TEST_PLACES_H */
