/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_ASM_TEXT_H
#define _KPROBES_TESTS_ASM_TEXT_H
/*
 * Functions in assembly that are the same on all architectures except for a few macros.
 */
#include <linux/compiler.h>
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <linux/stringify.h>

#ifdef CONFIG_X86
#define NOP_BYTES	1
#define TEXT_RETURN	ASM_RET
/* Alignment with the padding in which calls are counted. */
#define TEXT_ALIGN	ASM_FUNC_ALIGN "\n"
/* An instruction whose address is used, but that is not the target of indirect branches. */
#define TEXT_PLACE	ANNOTATE_NOENDBR "\n"
#define UNDEFINED_INSN	".byte 0x0f, 0x0b\n"	/* ud2 */
#else
#define NOP_BYTES	4
#define TEXT_RETURN	"ret\n"
#define TEXT_ALIGN	".balign 4\n"
#define TEXT_PLACE
#define UNDEFINED_INSN	"udf #0\n"
#endif

/* Beginning and end of a function, with lines of assembly between them. */
#define __TEXT_FUNCTION(align, name, ...)				\
	asm(".pushsection .text\n"					\
	    align							\
	    ".global " #name "\n"					\
	    ".type " #name ", %function\n"				\
	    #name ":\n" TEXT_PLACE					\
	    __VA_ARGS__							\
	    ".size " #name ", . - " #name "\n"				\
	    ".popsection\n")

/* A function that is called directly, and one that begins where the previous one ends. */
#define TEXT_FUNCTION(name, ...)	__TEXT_FUNCTION(TEXT_ALIGN, name, __VA_ARGS__)
#define TEXT_NEXT_FUNCTION(name, ...)	__TEXT_FUNCTION("", name, __VA_ARGS__)

/**
 * struct asm_case - a function in assembly with one instruction to be probed
 * @name:	for messages
 * @fn:		the function
 * @insn:	the instruction
 * @next:	where the function continues after it
 * @flags:	defined by the suite
 */
struct asm_case {
	const char *name;
	void *fn;
	void *insn;
	void *next;
	unsigned long flags;
};

/* Beginning and end of a table. */
struct asm_table {
	const struct asm_case *begin, *end;
};

#endif /* _KPROBES_TESTS_ASM_TEXT_H */
