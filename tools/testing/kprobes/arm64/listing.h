/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the output of "objdump -dw". */
#ifndef _KPROBES_TEST_ARM64_LISTING_H
#define _KPROBES_TEST_ARM64_LISTING_H

#include <linux/types.h>

struct line {
	u64 address;
	u32 insn;
	char mnemonic[32];
	const char *operands;
	char text[512];
};

typedef void (*check_line_fn)(const struct line *line);

/* Calls @check for every instruction, and returns the number of them. */
unsigned long read_listing(const char *path, check_line_fn check);

#endif /* _KPROBES_TEST_ARM64_LISTING_H */
