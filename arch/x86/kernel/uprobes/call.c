// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86-64 uprobes: a call in place of a nop of ten bytes, as USDT probes have it.
 *
 *	lea	-128(%rsp), %rsp	the red zone below the stack pointer is the program's
 *	call	the call page
 *
 * The page makes the system call "uprobe" (kernel/uprobes/call_hit.c), which seccomp does not
 * filter, and which is refused elsewhere.  As that overwrites rax, rcx and r11, they are on the
 * stack at the system call:
 *
 *	sp		r11
 *	+ 8		rcx
 *	+ 16		rax
 *	+ 24		the return address of the call, which is that after the nop
 *	+ 32		the red zone, and then the stack as at the nop
 */
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/stringify.h>
#include <linux/uaccess.h>
#include <linux/unaligned.h>
#include <linux/uprobes.h>
#include <asm/text-patching.h>
#include <asm/unistd.h>
#include <asm/uprobes-call.h>

#include "common.h"

extern u8 uprobe_call_code[], uprobe_call_code_end[];

const u8 arch_uprobe_call_nop[UPROBE_CALL_BYTES] = { 0x66, 0x2e, 0x0f, 0x1f, 0x84 };

static const u8 move_stack[UPROBE_CALL_KEPT] = {
	0x48, 0x8d, 0x64, 0x24, -UPROBE_RED_ZONE & 0xff
};

asm(".pushsection .rodata\n"
	"uprobe_call_code:\n"
	"	push	%rax\n"
	"	push	%rcx\n"
	"	push	%r11\n"
	"	mov	$" __stringify(__NR_uprobe) ", %eax\n"
	"	syscall\n"
	/* An error if the code before it is longer. */
	".org	uprobe_call_code + " __stringify(UPROBE_CALL_MADE) "\n"
	"	pop	%r11\n"
	"	pop	%rcx\n"
	"	pop	%rax\n"
	"	ret	$" __stringify(UPROBE_RED_ZONE) "\n"
	"	int3\n"
	"uprobe_call_code_end:\n"
	".popsection\n");

/* See <linux/uprobes-call.h>. */
void *arch_uprobe_call_page(unsigned long *psize)
{
	*psize = uprobe_call_code_end - uprobe_call_code;
	return uprobe_call_code;
}

/* --- Text --------------------------------------------------------------------- */

/* See <linux/uprobes-call.h>.  Programs may execute code of 32 bits in a process of 64 bits. */
bool arch_uprobe_can_call(struct pt_regs *regs)
{
	return user_64bit_mode(regs);
}

/* See <linux/uprobes-call.h>. */
void arch_uprobe_write_call(u8 *buf, unsigned long vaddr, unsigned long page)
{
	memcpy(buf, move_stack, UPROBE_CALL_KEPT);
	buf[UPROBE_CALL_KEPT] = CALL_INSN_OPCODE;
	put_unaligned((s32)(page - vaddr - UPROBE_CALL_BYTES), (s32 *)(buf + UPROBE_CALL_KEPT + 1));
}

/* See <linux/uprobes-call.h>. */
unsigned long arch_uprobe_call_target(const u8 *insn, unsigned long vaddr)
{
	s32 distance;

	if (*insn != CALL_INSN_OPCODE)
		return 0;
	memcpy(&distance, insn + 1, sizeof(distance));
	return vaddr + CALL_INSN_SIZE + distance;
}

/* See <linux/uprobes-call.h>. */
void arch_uprobe_sync_cores(void)
{
	smp_text_poke_sync_each_cpu();
}

/* --- Registers ---------------------------------------------------------------- */

/* See <linux/uprobes-call.h>. */
void arch_uprobe_uncall(struct pt_regs *regs)
{
	regs->sp += UPROBE_RED_ZONE;
	regs->ip -= UPROBE_CALL_KEPT;
}

/*
 * Sets registers to those at the nop.  The last @words of UPROBE_NR_WORDS are on the stack, and in
 * the array.
 */
static void set_back(struct pt_regs *regs, const unsigned long *stack, unsigned int words)
{
	switch (words) {
	case UPROBE_NR_WORDS - UPROBE_WORD_R11:
		regs->r11 = stack[UPROBE_WORD_R11];
		fallthrough;
	case UPROBE_NR_WORDS - UPROBE_WORD_CX:
		regs->cx = stack[UPROBE_WORD_CX];
		fallthrough;
	case UPROBE_NR_WORDS - UPROBE_WORD_AX:
		regs->ax = stack[UPROBE_WORD_AX];
	}
	regs->sp += words * sizeof(*stack) + UPROBE_RED_ZONE;
	regs->ip = stack[UPROBE_WORD_RETURN] - UPROBE_CALL_BYTES;
}

/*
 * By the offset of an instruction in the page: the number of words that are on the stack before it,
 * or 0 between instructions.
 */
static const u8 words_at[] = {
	[0]	= 1,	/* push rax */
	[1]	= 2,	/* push rcx */
	[2]	= 3,	/* push r11 */
	[4]	= 4,	/* mov */
	[9]	= 4,	/* syscall */
	[11]	= 4,	/* pop r11 */
	[13]	= 3,	/* pop rcx */
	[14]	= 2,	/* pop rax */
	[15]	= 1,	/* ret */
};

/* See <linux/uprobes-call.h>. */
int arch_uprobe_call_undo(struct pt_regs *regs, unsigned long offset)
{
	unsigned long stack[UPROBE_NR_WORDS], *first;
	unsigned int words;

	words = offset < ARRAY_SIZE(words_at) ? words_at[offset] : 0;
	if (!words)
		return -ENOENT;
	first = stack + UPROBE_NR_WORDS - words;
	if (copy_from_user_nofault(first, (const void __user *)regs->sp, words * sizeof(*first)))
		return -EFAULT;
	set_back(regs, stack, words);
	if (offset < UPROBE_CALL_MADE)
		return 0;
	regs->ip = stack[UPROBE_WORD_RETURN];
	return 1;
}

/* See <linux/uprobes-call.h>. */
bool arch_uprobe_call_guarded(void)
{
	return uprobe_has_shadow();
}

/* See <linux/uprobes-call.h>. */
int arch_uprobe_call_pop(void)
{
	u64 unused;

	return uprobe_has_shadow() && uprobe_shadow_pop(&unused) ? -EFAULT : 0;
}
