// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86-64 uprobes: a call in place of a nop of ten bytes, as USDT probes have it.
 *
 *	lea	-128(%rsp), %rsp	the red zone below the stack pointer is the program's
 *	call	the call page
 *
 * The page makes the system call "uprobe", which seccomp does not filter, and which is refused
 * elsewhere.  As that overwrites rax, rcx and r11, they are on the stack at the system call:
 *
 *	sp		r11
 *	+ 8		rcx
 *	+ 16		rax
 *	+ 24		the return address of the call, which is that after the nop
 *	+ 32		the red zone, and then the stack as at the nop
 */
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <linux/stringify.h>
#include <linux/syscalls.h>
#include <linux/uaccess.h>
#include <linux/unaligned.h>
#include <linux/uprobes.h>
#include <asm/text-patching.h>

#include "common.h"

extern u8 uprobe_call_code[], uprobe_call_made[], uprobe_call_code_end[];

#define RED_ZONE	128

/* The words that are on the stack at the system call, in the order of addresses. */
enum { WORD_R11, WORD_CX, WORD_AX, WORD_RETURN, NR_WORDS };

const u8 arch_uprobe_call_nop[UPROBE_CALL_BYTES] = { 0x66, 0x2e, 0x0f, 0x1f, 0x84 };

static const u8 move_stack[UPROBE_CALL_KEPT] = { 0x48, 0x8d, 0x64, 0x24, -RED_ZONE & 0xff };

asm(".pushsection .rodata\n"
	"uprobe_call_code:\n"
	"	push	%rax\n"
	"	push	%rcx\n"
	"	push	%r11\n"
	"	mov	$" __stringify(__NR_uprobe) ", %eax\n"
	"	syscall\n"
	"uprobe_call_made:\n"
	"	pop	%r11\n"
	"	pop	%rcx\n"
	"	pop	%rax\n"
	"	ret	$" __stringify(RED_ZONE) "\n"
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
	regs->sp += RED_ZONE;
	regs->ip -= UPROBE_CALL_KEPT;
}

/*
 * Sets registers to those at the nop.  The last @words of NR_WORDS are on the stack, and in the
 * array.
 */
static __always_inline void set_back(struct pt_regs *regs, const unsigned long *stack,
				     unsigned int words)
{
	switch (words) {
	case NR_WORDS - WORD_R11:
		regs->r11 = stack[WORD_R11];
		fallthrough;
	case NR_WORDS - WORD_CX:
		regs->cx = stack[WORD_CX];
		fallthrough;
	case NR_WORDS - WORD_AX:
		regs->ax = stack[WORD_AX];
	}
	regs->sp += words * sizeof(*stack) + RED_ZONE;
	regs->ip = stack[WORD_RETURN] - UPROBE_CALL_BYTES;
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
	unsigned long stack[NR_WORDS], *first;
	unsigned int words;

	words = offset < ARRAY_SIZE(words_at) ? words_at[offset] : 0;
	if (!words)
		return -ENOENT;
	first = stack + NR_WORDS - words;
	if (copy_from_user_nofault(first, (const void __user *)regs->sp, words * sizeof(*first)))
		return -EFAULT;
	set_back(regs, stack, words);
	if (offset < uprobe_call_made - uprobe_call_code)
		return 0;
	regs->ip = stack[WORD_RETURN];
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

/* --- The system call ---------------------------------------------------------- */

/* Pops the return address, which must be the one on the stack.  Returns 0 or -EFAULT. */
static int pop_shadow(unsigned long address)
{
	u64 popped;

	return uprobe_shadow_pop(&popped) || popped != address ? -EFAULT : 0;
}

/* Reads the words that are on the stack at the system call.  Returns 0 or -EFAULT. */
static __always_inline int read_stack(unsigned long *to, const unsigned long __user *stack)
{
	scoped_user_read_access_size(stack, NR_WORDS * sizeof(*stack), fault) {
		unsafe_get_user(to[WORD_R11], &stack[WORD_R11], fault);
		unsafe_get_user(to[WORD_CX], &stack[WORD_CX], fault);
		unsafe_get_user(to[WORD_AX], &stack[WORD_AX], fault);
		unsafe_get_user(to[WORD_RETURN], &stack[WORD_RETURN], fault);
	}
	return 0;
fault:
	return -EFAULT;
}

/*
 * Calls the handlers with the registers as at the nop.  Returns 0 or -EFAULT.
 *
 * If they change none of those that the end of the page restores, the task continues there, by
 * sysret.  A shadow stack has no address any more for the return, and the kernel leaves with iret.
 */
static int handle_call(struct pt_regs *regs)
{
	unsigned long stack[NR_WORDS], made = regs->ip, sp = regs->sp, sp_at_nop;
	bool guarded = uprobe_has_shadow();

	if (read_stack(stack, (const unsigned long __user *)sp))
		return -EFAULT;
	if (guarded && pop_shadow(stack[WORD_RETURN]))
		return -EFAULT;
	set_back(regs, stack, NR_WORDS);
	sp_at_nop = regs->sp;
	/* No system call is to be restarted. */
	regs->orig_ax = -1;

	uprobe_call_hit(regs);

	if (guarded || regs->ip != stack[WORD_RETURN] || regs->sp != sp_at_nop ||
	    regs->ax != stack[WORD_AX] || regs->cx != stack[WORD_CX] ||
	    regs->r11 != stack[WORD_R11])
		return 0;
	regs->sp = sp;
	regs->ip = made;
	/* The exit code compares them with ip and flags. */
	regs->cx = made;
	regs->r11 = regs->flags;
	return 0;
}

/* Not for programs, which only test for it: see the beginning of this file. */
SYSCALL_DEFINE0(uprobe)
{
	struct pt_regs *regs = task_pt_regs(current);
	unsigned long page = uprobe_call_page(regs->ip);

	if (!page || regs->ip - page != uprobe_call_made - uprobe_call_code)
		return -EPROTO;
	if (!handle_call(regs))
		return regs->ax;
	force_sig(SIGILL);
	return -1;
}
