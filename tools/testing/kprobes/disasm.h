/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the output of "objdump -dw". */
#ifndef _KPROBES_TEST_DISASM_H
#define _KPROBES_TEST_DISASM_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

#include "classify.h"

enum disasm_event {
	DISASM_END,
	DISASM_FILE,		/* mode and text have changed */
	DISASM_SECTION,		/* section */
	DISASM_SYMBOL,		/* symbol and address */
	DISASM_INSN,		/* all other members */
};

struct line {
	u64 address;
	unsigned char bytes[MAX_INSN_SIZE];
	unsigned int len;
	char text[256];		/* text of the disassembly, with prefixes */
	char mnemonic[32];
	const char *operands;
	enum insn_mode mode;
	bool known;		/* the file is for this architecture */
	char section[64];
	char symbol[256];
};

/* Returns the next event; lines without one are skipped. */
enum disasm_event disasm_next(FILE *file, struct line *line);

typedef void (*check_event_fn)(enum disasm_event event, struct line *line);

/*
 * Calls @check for every event of a file of this architecture.  Returns the number of its
 * instructions.
 */
unsigned long read_listing(const char *path, check_event_fn check);

/* Data in the text: bytes that objdump cannot decode either, or prefixes alone. */
bool disasm_is_bad(const struct line *line);

#endif /* _KPROBES_TEST_DISASM_H */
