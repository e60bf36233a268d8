/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KPROBE_BENCH_TARGETS_H
#define _KPROBE_BENCH_TARGETS_H
/*
 * DEFINE_PLAIN_FUNCTION(name): int name(void), to be probed at its entry.
 *
 * Its first instruction can be copied and executed elsewhere without a single step,
 * and is long enough for a jump.  ftrace does not trace the function, so a
 * probe on it is a breakpoint, or a jump after the optimizer has finished.
 */
#include <linux/compiler.h>
#include <linux/linkage.h>
#include <linux/stringify.h>

#ifdef CONFIG_X86
#include <linux/annotate.h>
#include <asm/text-patching.h>

/* A landing pad would be the first instruction.  QEMU's processor does not demand one. */
#define PLAIN_BODY							\
	ANNOTATE_NOENDBR "\n"						\
	"	movl $42, %eax\n"					\
	"	" ASM_RET

/* True if the instruction at @addr is a jump of the optimizer. */
static inline bool bench_is_jump(unsigned long addr)
{
	return READ_ONCE(*(u8 *)addr) == JMP32_INSN_OPCODE;
}
#elif defined(CONFIG_ARM64)
#include <asm/insn.h>

#define PLAIN_BODY							\
	"	mov w0, #42\n"						\
	"	ret\n"

static inline bool bench_is_jump(unsigned long addr)
{
	return aarch64_insn_is_b(le32_to_cpu(READ_ONCE(*(__le32 *)addr)));
}
#else
#error "the benchmark needs a target for this architecture"
#endif

#define DEFINE_PLAIN_FUNCTION(name)					\
	asm("	.pushsection .text, \"ax\"\n"				\
	    "	.globl " __stringify(name) "\n"				\
	    "	.type " __stringify(name) ", @function\n"		\
	    "	.balign 16\n"						\
	    __stringify(name) ":\n"					\
	    PLAIN_BODY							\
	    "	.size " __stringify(name) ", . - " __stringify(name) "\n" \
	    "	.popsection\n")

#endif /* _KPROBE_BENCH_TARGETS_H */
