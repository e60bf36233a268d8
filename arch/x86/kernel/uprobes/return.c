// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86 uprobes: return probes.
 *
 * The return address of a probed function is replaced by that of a trampoline, a page that all
 * processes share.  64-bit code makes a system call there, which costs less than a trap.  The
 * call is not filtered by seccomp, and not dispatched to the program; it is refused unless it
 * comes from the trampoline.  For 32-bit code the trampoline is a breakpoint.
 *
 * The system call itself overwrites rcx and r11, and its number rax, so the trampoline saves
 * them on the stack:
 *
 *	sp at the system call	r11
 *	+ 8			rcx
 *	+ 16			rax
 *	+ 24			the stack as the function has left it
 *
 * It then returns to an address that the system call stores in the place of rax.
 */
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/stringify.h>
#include <linux/syscalls.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <asm/shstk.h>

#include "common.h"

extern u8 uprobe_return_page[], uprobe_return_page_end[];

#ifdef CONFIG_X86_64
extern u8 uprobe_return_called[];

asm(".pushsection .rodata\n"
	"uprobe_return_page:\n"
	"	push	%rax\n"
	"	push	%rcx\n"
	"	push	%r11\n"
	"	mov	$" __stringify(__NR_uretprobe) ", %eax\n"
	"	syscall\n"
	"uprobe_return_called:\n"
	"	pop	%r11\n"
	"	pop	%rcx\n"
	"	ret\n"
	"	.skip	" __stringify(URETPROBE_TRAP_OFFSET) " - (. - uprobe_return_page), 0xcc\n"
	"	int3\n"
	"uprobe_return_page_end:\n"
	".popsection\n");
#else
asm(".pushsection .rodata\n"
	"uprobe_return_page:\n"
	"	int3\n"
	"uprobe_return_page_end:\n"
	".popsection\n");
#endif

/* See <linux/uprobes-arch.h>. */
void *arch_uretprobe_trampoline(unsigned long *psize)
{
	*psize = uprobe_return_page_end - uprobe_return_page;
	return uprobe_return_page;
}

/* See <linux/uprobes-arch.h>. */
int arch_uretprobe_peek(struct pt_regs *regs, unsigned long *ret)
{
	return read_user_word(user_word(regs), regs->sp, ret);
}

/* See <linux/uprobes-arch.h>. */
int arch_uretprobe_replace(struct pt_regs *regs, unsigned long entry, unsigned long *ret)
{
	/* Code of 32 bits in a process of 64 bits does not reach the trampoline. */
	if (user_word(regs) < sizeof(entry) && entry >> 31 >> 1)
		return -EFAULT;
	if (exchange_user_word(user_word(regs), regs->sp, entry, ret))
		return -EFAULT;
	if (shstk_update_last_frame(entry))
		force_sig(SIGSEGV);
	return 0;
}

/*
 * See <linux/uprobes-arch.h>.  The stack grows down.  At another call with the same stack pointer
 * the function has been left; a tail call and a return have that stack pointer, too, but are not
 * its end.
 */
bool arch_uretprobe_is_alive(struct return_instance *ri, enum rp_check ctx,
			     struct pt_regs *regs)
{
	return regs->sp < ri->stack || (ctx != RP_CHECK_CALL && regs->sp == ri->stack);
}

#ifdef CONFIG_X86_64
/* The registers that the trampoline pushes, in the order of addresses. */
enum { PUSHED_R11, PUSHED_CX, PUSHED_AX, NR_PUSHED };

/**
 * struct trampoline_state - state before an instruction of the trampoline
 * @is_insn: there is an instruction at this offset
 * @called: the system call has been made: the last word is the address of the return
 * @words: number of words on the stack
 */
struct trampoline_state {
	bool is_insn;
	bool called;
	u8 words;
};

/* By the offset of the instruction, see uprobe_return_page. */
static const struct trampoline_state trampoline_states[] = {
	[0]	= { true, false, 0 },	/* push rax */
	[1]	= { true, false, 1 },	/* push rcx */
	[2]	= { true, false, 2 },	/* push r11 */
	[4]	= { true, false, 3 },	/* mov */
	[9]	= { true, false, 3 },	/* syscall */
	[11]	= { true, true, 3 },	/* pop r11 */
	[13]	= { true, true, 2 },	/* pop rcx */
	[14]	= { true, true, 1 },	/* ret */
};

/* See <linux/uprobes-arch.h>. */
bool arch_uretprobe_called(unsigned long offset)
{
	return offset < ARRAY_SIZE(trampoline_states) && trampoline_states[offset].called;
}

static int undo_pushes(struct pt_regs *regs, const struct trampoline_state *state)
{
	unsigned long stack[NR_PUSHED], *pushed = stack + NR_PUSHED - state->words;

	if (copy_from_user(pushed, (void __user *)regs->sp, state->words * sizeof(*pushed)))
		return -EFAULT;
	regs->sp += state->words * sizeof(*pushed);
	if (state->words == NR_PUSHED)
		regs->r11 = stack[PUSHED_R11];
	if (state->words > 1)
		regs->cx = stack[PUSHED_CX];
	if (state->called)
		regs->ip = stack[PUSHED_AX];
	else if (state->words)
		regs->ax = stack[PUSHED_AX];
	return state->called;
}

/* See <linux/uprobes-arch.h>. */
int arch_uretprobe_undo(struct pt_regs *regs, unsigned long offset)
{
	if (!user_64bit_mode(regs))
		return offset ? -ENOENT : 0;
	if (offset >= ARRAY_SIZE(trampoline_states) || !trampoline_states[offset].is_insn)
		return -ENOENT;
	return undo_pushes(regs, &trampoline_states[offset]);
}

/* Has the trampoline of this process made the system call? */
static bool from_trampoline(struct pt_regs *regs)
{
	unsigned long entry = READ_ONCE(current->mm->uprobes_state.trampoline);

	return entry && regs->ip == entry + (uprobe_return_called - uprobe_return_page);
}

static __always_inline int read_pushed(unsigned long sp, unsigned long *pushed)
{
	const unsigned long __user *stack = (const unsigned long __user *)sp;

	scoped_user_read_access_size(stack, NR_PUSHED * sizeof(*stack), fault) {
		unsafe_get_user(pushed[PUSHED_R11], &stack[PUSHED_R11], fault);
		unsafe_get_user(pushed[PUSHED_CX], &stack[PUSHED_CX], fault);
		unsafe_get_user(pushed[PUSHED_AX], &stack[PUSHED_AX], fault);
	}
	return 0;
fault:
	return -EFAULT;
}

/*
 * Prepares a return through the trampoline's last instructions, by which the kernel can leave
 * with sysret.  @pushed has the words that the trampoline has pushed.  Returns 0 or -EFAULT.
 */
static __always_inline int return_by_trampoline(struct pt_regs *regs, const unsigned long *pushed,
						unsigned long trampoline)
{
	unsigned long __user *stack = (unsigned long __user *)regs->sp - NR_PUSHED;

	scoped_user_write_access_size(stack, NR_PUSHED * sizeof(*stack), fault) {
		unsafe_put_user(regs->ip, &stack[PUSHED_AX], fault);
		/* Handlers seldom change the others. */
		if (unlikely(regs->cx != pushed[PUSHED_CX]))
			unsafe_put_user(regs->cx, &stack[PUSHED_CX], fault);
		if (unlikely(regs->r11 != pushed[PUSHED_R11]))
			unsafe_put_user(regs->r11, &stack[PUSHED_R11], fault);
	}
	regs->sp -= NR_PUSHED * sizeof(*stack);
	regs->ip = trampoline;
	/* The exit code compares them with ip and flags. */
	regs->cx = trampoline;
	regs->r11 = regs->flags;
	return 0;
fault:
	return -EFAULT;
}

/*
 * Calls the return handlers with the registers as the function has left them, in which they can
 * change everything.  Return: 0 or -EFAULT.
 */
static int handle_return(struct pt_regs *regs)
{
	unsigned long pushed[NR_PUSHED], trampoline = regs->ip, sp = regs->sp;

	if (read_pushed(sp, pushed))
		return -EFAULT;
	sp += sizeof(pushed);
	regs->ax = pushed[PUSHED_AX];
	regs->cx = pushed[PUSHED_CX];
	regs->r11 = pushed[PUSHED_R11];
	regs->sp = sp;
	/* No system call is to be restarted. */
	regs->orig_ax = -1;

	uprobe_handle_trampoline(regs);

	/*
	 * The return at the end of the trampoline needs the stack pointer that the handlers saw,
	 * and a shadow stack has no address for it.  The kernel then leaves with iret.
	 */
	if (regs->sp != sp || shstk_is_enabled())
		return 0;
	return return_by_trampoline(regs, pushed, trampoline);
}

/* Not for programs: see the beginning of this file. */
SYSCALL_DEFINE0(uretprobe)
{
	struct pt_regs *regs = task_pt_regs(current);

	if (from_trampoline(regs) && !handle_return(regs))
		return regs->ax;
	force_sig(SIGILL);
	return -1;
}
#else /* CONFIG_X86_32 */
/* See <linux/uprobes-arch.h>. */
int arch_uretprobe_undo(struct pt_regs *regs, unsigned long offset)
{
	return offset ? -ENOENT : 0;
}
#endif /* CONFIG_X86_32 */
