// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the flat vector files. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "vector.h"

bool vector_open(struct vector_file *vectors, const char *dir, const char *name,
		 unsigned int columns)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	vectors->name = name;
	vectors->line = 0;
	vectors->columns = columns;
	vectors->file = fopen(path, "r");
	if (!vectors->file)
		tap_ok(false, "%s can be read", path);
	return vectors->file;
}

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (isspace((unsigned char)*text))
		text++;
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text;
}

bool vector_next(struct vector_file *vectors)
{
	char *rest, *column;
	unsigned int i;

	while (fgets(vectors->text, sizeof(vectors->text), vectors->file)) {
		vectors->line++;
		rest = trim(vectors->text);
		if (!*rest || *rest == '#')
			continue;
		for (i = 0; (column = strsep(&rest, "|")); i++)
			if (i < VECTOR_COLUMNS)
				vectors->column[i] = trim(column);
		if (i != vectors->columns) {
			printf("Bail out! %s:%u has %u columns\n", vectors->name,
			       vectors->line, i);
			exit(2);
		}
		return true;
	}
	fclose(vectors->file);
	return false;
}

unsigned int vector_hex(const char *text, unsigned char *bytes, unsigned int max)
{
	unsigned int count = 0;
	char *end;

	while (*text) {
		unsigned long byte = strtoul(text, &end, 16);

		if (end != text + 2 || byte > 0xff || count == max)
			return 0;
		bytes[count++] = byte;
		text = end + strspn(end, " ");
	}
	return count;
}

int vector_word(const char * const *words, unsigned int count, const char *word)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (words[i] && !strcmp(words[i], word))
			return i;
	return -1;
}

int vector_bytes(const char *text, unsigned char *bytes, unsigned int max)
{
	if (!strcmp(text, "range"))
		return -ERANGE;
	if (!strcmp(text, "invalid"))
		return -EINVAL;
	return vector_hex(text, bytes, max);
}

bool all_untouched(const unsigned char *out, unsigned int first, unsigned int end)
{
	while (first < end)
		if (out[first++] != UNTOUCHED)
			return false;
	return true;
}

unsigned int vector_unseen(const char *what, const char * const *words,
			   const unsigned int *seen, unsigned int first, unsigned int count)
{
	unsigned int i, missing = 0;

	for (i = first; i < count; i++)
		if (!seen[i]) {
			tap_note("no vector has %s %s", what, words[i]);
			missing++;
		}
	return missing;
}
