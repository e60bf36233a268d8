/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_ASM_TEXT_H
#define _KPROBES_TESTS_ASM_TEXT_H
/*
 * Functions in assembly that are the same on all architectures but for a few words.
 */
#include <linux/compiler.h>
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <linux/stringify.h>

#ifdef CONFIG_X86
#define NOP_BYTES	1
#define TEXT_RETURN	ASM_RET
#define UNDEFINED_INSN	".byte 0x0f, 0x0b\n"	/* ud2 */
#else
#define NOP_BYTES	4
#define TEXT_RETURN	"ret\n"
#define UNDEFINED_INSN	"udf #0\n"
#endif

/* The beginning and the end of a function; what is between are lines of assembly. */
#define TEXT_FUNCTION(name, ...)					\
	asm(".pushsection .text\n"					\
	    ".balign " __stringify(NOP_BYTES) "\n"			\
	    ".global " #name "\n"					\
	    ".type " #name ", %function\n"				\
	    #name ":\n"							\
	    __VA_ARGS__							\
	    ".size " #name ", . - " #name "\n"				\
	    ".popsection\n")

/**
 * struct asm_case - a function in assembly with one instruction to be probed
 * @name:	for messages
 * @fn:		the function
 * @insn:	the instruction
 * @next:	where the function goes on behind it
 * @flags:	the suite's
 */
struct asm_case {
	const char *name;
	void *fn;
	void *insn;
	void *next;
	unsigned long flags;
};

/* Where a table of them begins and ends. */
struct asm_table {
	const struct asm_case *begin, *end;
};

typedef unsigned long (*asm_function_t)(unsigned long arg);

/* Assembly has no type hash: the call is not checked for one. */
static inline __nocfi unsigned long asm_case_call(const struct asm_case *c,
						  unsigned long arg)
{
	return ((asm_function_t)c->fn)(arg);
}

#endif /* _KPROBES_TESTS_ASM_TEXT_H */
