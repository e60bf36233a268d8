/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading what "objdump -dw" prints. */
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
	DISASM_INSN,		/* the rest */
};

struct line {
	u64 address;
	unsigned char bytes[MAX_INSN_SIZE];
	unsigned int len;
	char text[256];		/* of the disassembly, prefixes included */
	char mnemonic[32];
	const char *operands;
	enum insn_mode mode;
	bool known;		/* the file is one of this architecture */
	char section[64];
	char symbol[256];
};

/* The next line that says something; other lines are skipped. */
enum disasm_event disasm_next(FILE *file, struct line *line);

/* What objdump cannot read either, or prefixes alone: data among the code. */
bool disasm_is_bad(const struct line *line);

#endif /* _KPROBES_TEST_DISASM_H */
