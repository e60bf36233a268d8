/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TEST_SITES_H
#define _KPROBES_TEST_SITES_H
/*
 * Functions whose instructions are known to the byte.  The beginning of a function of C
 * depends on the compiler and on ftrace.  These functions have the layout that the
 * scripts rely on, and ftrace does not trace them, so that a probe there is a
 * breakpoint.
 *
 *	DEFINE_PLAIN_FUNCTION(section, name)	int name(void), returns 42
 *		+0	one instruction: 5 bytes on x86, 4 on arm64
 *		+5, +4	the return
 *
 *	DEFINE_LOAD_FUNCTION(section, name)	unsigned long name(const void *)
 *		+0	one instruction of 2 or 4 bytes, no effect
 *		+2, +4	loads from the address in the argument
 *		...	the return
 *
 *	DEFINE_REFUSED_FUNCTION(section, name)	never to be called
 *		+0	an instruction that cannot be probed
 */
#include <linux/linkage.h>
#include <linux/stringify.h>

#define DEFINE_ASM_FUNCTION(section, name, body)			\
	asm("	.pushsection " section ", \"ax\"\n"			\
	    "	.globl " __stringify(name) "\n"				\
	    "	.type " __stringify(name) ", @function\n"		\
	    "	" ALIGN_FUNCTION "\n"					\
	    __stringify(name) ":\n"					\
	    body							\
	    "	.size " __stringify(name) ", . - " __stringify(name) "\n" \
	    "	.popsection\n")

#ifdef CONFIG_X86
#include <asm/asm.h>

/* With the padding before every function, in which call depth tracking counts calls. */
#define ALIGN_FUNCTION	ASM_FUNC_ALIGN

#define PLAIN_BODY							\
	"	movl $42, %eax\n"					\
	"	" ASM_RET

#define LOAD_BODY							\
	"	xorl %ecx, %ecx\n"					\
	"	" _ASM_MOV "(%" _ASM_ARG1 "), %" _ASM_AX "\n"		\
	"	" ASM_RET

/* The instruction delays a trap until after the next instruction. */
#define REFUSED_BODY							\
	"	movl %eax, %ss\n"					\
	"	" ASM_RET
#elif defined(CONFIG_ARM64)
#define ALIGN_FUNCTION	".balign 16"

#define PLAIN_BODY							\
	"	mov w0, #42\n"						\
	"	ret\n"

#define LOAD_BODY							\
	"	mov x1, xzr\n"						\
	"	ldr x0, [x0]\n"						\
	"	ret\n"

/* The instruction restores a processor state that only an exception saves. */
#define REFUSED_BODY							\
	"	eret\n"							\
	"	ret\n"
#else
#error "these tests need the functions of sites.h for this architecture"
#endif

#define DEFINE_PLAIN_FUNCTION(section, name)				\
	int name(void);							\
	DEFINE_ASM_FUNCTION(section, name, PLAIN_BODY)

#define DEFINE_LOAD_FUNCTION(section, name)				\
	unsigned long name(const void *from);				\
	DEFINE_ASM_FUNCTION(section, name, LOAD_BODY)

#define DEFINE_REFUSED_FUNCTION(section, name)				\
	void name(void);						\
	DEFINE_ASM_FUNCTION(section, name, REFUSED_BODY)

#endif /* _KPROBES_TEST_SITES_H */
