/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading the flat vector files: columns between bars, comments after a hash. */
#ifndef _KPROBES_TEST_VECTOR_H
#define _KPROBES_TEST_VECTOR_H

#include <stdbool.h>
#include <stdio.h>

#define VECTOR_COLUMNS	6	/* at most */

struct vector_file {
	FILE *file;
	const char *name;
	unsigned int line, columns;
	char text[512];
	char *column[VECTOR_COLUMNS];
};

/* Opens dir/name; a file that is not there is a failed test. */
bool vector_open(struct vector_file *vectors, const char *dir, const char *name,
		 unsigned int columns);

/*
 * Next vector, its columns trimmed. False at the end, and the file is closed.
 * A line that does not have all columns ends the program: the file is broken.
 */
bool vector_next(struct vector_file *vectors);

/* Number of bytes in a column of hexadecimal bytes, at most max, or 0. */
unsigned int vector_hex(const char *text, unsigned char *bytes, unsigned int max);

/* The same of what a function must return: -ERANGE for "range", -EINVAL for "invalid". */
int vector_bytes(const char *text, unsigned char *bytes, unsigned int max);

/* Which of the words it is, or -1; there may be gaps among them. */
int vector_word(const char * const *words, unsigned int count, const char *word);

/* Output buffers are filled with this before, to see what is written. */
#define UNTOUCHED	0x5a

bool all_untouched(const unsigned char *out, unsigned int first, unsigned int end);

#endif /* _KPROBES_TEST_VECTOR_H */
