/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the flat vector files: columns between bars, comments after a hash. */
#ifndef _KPROBES_TEST_VECTOR_H
#define _KPROBES_TEST_VECTOR_H

#include <stdbool.h>
#include <stdio.h>

#define VECTOR_COLUMNS	6	/* maximum */

struct vector_file {
	FILE *file;
	const char *name;
	unsigned int line, columns;
	char text[512];
	char *column[VECTOR_COLUMNS];
};

/* Opens dir/name; a missing file is a failed test. */
bool vector_open(struct vector_file *vectors, const char *dir, const char *name,
		 unsigned int columns);

/*
 * Reads the next vector and trims its columns. Returns false at the end, after closing the
 * file. A line without all columns ends the program, because the file is broken.
 */
bool vector_next(struct vector_file *vectors);

/* Returns the number of bytes in a column of hexadecimal bytes, at most @max; else 0. */
unsigned int vector_hex(const char *text, unsigned char *bytes, unsigned int max);

/* The same for an expected return value: -ERANGE for "range", -EINVAL for "invalid". */
int vector_bytes(const char *text, unsigned char *bytes, unsigned int max);

/* Returns the index of @word in @words, which may have gaps, or -1. */
int vector_word(const char * const *words, unsigned int count, const char *word);

/* Counts the words from @first on that no vector has used, and prints them. */
unsigned int vector_unseen(const char *what, const char * const *words,
			   const unsigned int *seen, unsigned int first, unsigned int count);

/* Output buffers are filled with this value, so that writes are detected. */
#define UNTOUCHED	0x5a

bool all_untouched(const unsigned char *out, unsigned int first, unsigned int end);

#endif /* _KPROBES_TEST_VECTOR_H */
