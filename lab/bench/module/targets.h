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
#include <linux/string.h>
#include <linux/stringify.h>
#include <linux/unaligned.h>

#ifdef CONFIG_X86
#include <linux/annotate.h>
#include <asm/nops.h>
#include <asm/text-patching.h>

/* A landing pad would be the first instruction.  QEMU's processor does not demand one. */
#define PLAIN_BODY							\
	ANNOTATE_NOENDBR "\n"						\
	"	movl $42, %eax\n"					\
	"	" ASM_RET

/* Where a probe on the entry of a function may have its jump: after the nop of ftrace, or 0. */
static inline unsigned long bench_after_entry(unsigned long addr)
{
	static const u8 landing_pad[] = { 0xf3, 0x0f, 0x1e, 0xfa }, nop[] = { BYTES_NOP5 };

	if (!memcmp((void *)addr, landing_pad, sizeof(landing_pad)))
		addr += sizeof(landing_pad);
	return memcmp((void *)addr, nop, sizeof(nop)) ? 0 : addr + sizeof(nop);
}

/* The distance of the jump at an address, and its opcode; 0 if there is no jump. */
static inline u64 bench_jump(unsigned long addr)
{
	if (READ_ONCE(*(u8 *)addr) != JMP32_INSN_OPCODE)
		return 0;
	return (u64)get_unaligned((u32 *)(addr + 1)) << 8 | JMP32_INSN_OPCODE;
}
#elif defined(CONFIG_ARM64)
#include <asm/insn.h>

#define PLAIN_BODY							\
	"	mov w0, #42\n"						\
	"	ret\n"

/* The branch of a probe on an entry is at the entry. */
static inline unsigned long bench_after_entry(unsigned long addr)
{
	return 0;
}

/* The branch at an address, 0 if there is none. */
static inline u64 bench_jump(unsigned long addr)
{
	u32 insn = le32_to_cpu(READ_ONCE(*(__le32 *)addr));

	return aarch64_insn_is_b(insn) ? insn : 0;
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
