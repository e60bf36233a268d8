// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the output of "objdump -dw", line by line. */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "disasm.h"
#include "vector.h"

/* Words that objdump prints before a mnemonic. */
static const char * const prefix_words[] = {
	"bnd", "notrack", "rep", "repz", "repnz", "cs", "ds", "es", "fs", "gs", "ss", "data16",
	"data32", "addr16", "addr32", "lock", "xacquire", "xrelease",
};

static bool is_prefix_word(const char *word)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(prefix_words); i++)
		if (!strcmp(word, prefix_words[i]))
			return true;
	return !strncmp(word, "rex", 3);
}

static void split_text(struct line *line)
{
	const char *text = line->text;
	unsigned int len;

	do {
		text += strspn(text, " ");
		len = strcspn(text, " ,");
		snprintf(line->mnemonic, sizeof(line->mnemonic), "%.*s", (int)len, text);
		text += len;
		if (*text == ',')	/* a branch hint: "jne,pn" */
			text += strcspn(text, " ");
	} while (is_prefix_word(line->mnemonic));
	line->operands = text + strspn(text, " ");
	/* Remove the operand-size suffix: callq, retl, pushfq, sysretq. */
	len = strlen(line->mnemonic);
	if (len > 3 && strchr("lqw", line->mnemonic[len - 1]) &&
	    strcmp(line->mnemonic, "syscall") && strcmp(line->mnemonic, "call") &&
	    strcmp(line->mnemonic, "lcall") && line->mnemonic[0] != 'j')
		line->mnemonic[len - 1] = '\0';
}

/* "  address:\tbytes\ttext"; false for other kinds of lines. */
static bool parse_line(char *text, struct line *line)
{
	char *bytes, *rest;

	line->address = strtoull(text, &bytes, 16);
	if (bytes == text || bytes[0] != ':' || bytes[1] != '\t')
		return false;
	bytes += 2;
	rest = strchr(bytes, '\t');
	if (!rest)
		return false;
	*rest++ = '\0';
	bytes[strcspn(bytes, "\n")] = '\0';
	line->len = vector_hex(bytes + strspn(bytes, " "), line->bytes, sizeof(line->bytes));
	snprintf(line->text, sizeof(line->text), "%.*s", (int)strcspn(rest, "\n"), rest);
	split_text(line);
	return true;
}

/* "Disassembly of section .text:" */
static bool parse_section(const char *text, struct line *line)
{
	return sscanf(text, "Disassembly of section %63[^:]:", line->section) == 1;
}

/* "address <symbol>:" */
static bool parse_symbol(const char *text, struct line *line)
{
	unsigned long long address;

	if (sscanf(text, "%llx <%255[^>]>:", &address, line->symbol) != 2)
		return false;
	line->address = address;
	return true;
}

static bool parse_file(const char *text, struct line *line)
{
	if (!strstr(text, "file format "))
		return false;
	line->mode = strstr(text, "elf64-x86-64") ? INSN_MODE_64 : INSN_MODE_32;
	line->known = line->mode == INSN_MODE_64 || strstr(text, "elf32-i386");
	snprintf(line->text, sizeof(line->text), "%.*s", (int)strcspn(text, "\n"), text);
	return true;
}

enum disasm_event disasm_next(FILE *file, struct line *line)
{
	char text[1024];

	while (fgets(text, sizeof(text), file)) {
		if (parse_line(text, line))
			return DISASM_INSN;
		if (parse_symbol(text, line))
			return DISASM_SYMBOL;
		if (parse_section(text, line))
			return DISASM_SECTION;
		if (parse_file(text, line))
			return DISASM_FILE;
	}
	return DISASM_END;
}

bool disasm_is_bad(const struct line *line)
{
	return strstr(line->text, "(bad)") || line->mnemonic[0] == '.' || !line->mnemonic[0];
}
