/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_ASM_TEXT_H
#define _KPROBES_TESTS_ASM_TEXT_H
/*
 * Functions in assembly that are the same on all architectures but for a few words.
 */
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

#endif /* _KPROBES_TESTS_ASM_TEXT_H */
