/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading the flat vector files: columns between bars, comments after a hash. */
#ifndef _KPROBES_TEST_VECTOR_H
#define _KPROBES_TEST_VECTOR_H

#include <stdbool.h>
#include <stdio.h>

#define VECTOR_COLUMNS	4

struct vector_file {
	FILE *file;
	const char *name;
	unsigned int line;
	char text[512];
	char *column[VECTOR_COLUMNS];
};

/* Opens dir/name; a file that is not there is a failed test. */
bool vector_open(struct vector_file *vectors, const char *dir, const char *name);

/*
 * Next vector, its columns trimmed. False at the end, and the file is closed.
 * A line that does not have all columns ends the program: the file is broken.
 */
bool vector_next(struct vector_file *vectors);

/* Number of bytes in a column of hexadecimal bytes, at most max, or 0. */
unsigned int vector_hex(const char *text, unsigned char *bytes, unsigned int max);

#endif /* _KPROBES_TEST_VECTOR_H */
