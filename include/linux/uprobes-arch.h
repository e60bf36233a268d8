/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_UPROBES_ARCH_H
#define _LINUX_UPROBES_ARCH_H
/*
 * The contract between the uprobes engine (kernel/uprobes/) and the architectures.
 *
 * An architecture that selects HAVE_BOOSTED_UPROBES uses the engine; the others keep
 * kernel/events/uprobes.c. The <asm/uprobes.h> of such an architecture defines:
 *
 *   uprobe_opcode_t		unit in which text is patched (x86: u8; arm64: __le32)
 *   UPROBE_SWBP_INSN		the breakpoint instruction, one uprobe_opcode_t
 *   UPROBE_SWBP_INSN_SIZE	its size; a store of it must be atomic for the processor
 *   MAX_UINSN_BYTES		most bytes of an instruction
 *   UPROBE_MODES		number of instruction sets, 1 or 2; see arch_uprobe_mode()
 *   struct arch_uprobe		decision about one instruction in one mode; the engine
 *				never looks inside
 *
 * Life of a hit. The trap handler of the architecture calls uprobe_hit() with the address
 * of the breakpoint. The engine finds the site, runs the handlers, and lets the
 * instruction take effect in one of two ways, as the backend has decided for it:
 *
 *   copied	the task returns into the site's slot, which holds a copy of the
 *		instruction and a jump to the next one. No second trap.
 *   emulated	arch_uprobe_emulate() changes the registers and the user's memory.
 *
 * A slot has two copies of the instruction, and no other instruction of the program:
 *
 *   offset 0			copy, then jump to the instruction after the original
 *   offset UPROBE_SLOT_HELD	copy, then breakpoint: used while a signal has to wait
 *				for the end of the copy; the breakpoint is the end
 *
 * A branch has the first copy only, which may be longer than the original: no breakpoint is
 * the end of a branch.  Where a signal would have to wait, the branch is emulated; therefore
 * its slot has the original bytes at UPROBE_SLOT_HELD.
 *
 * A task in a slot has therefore executed all of the instruction or nothing of it, or is on its
 * way from the copy of a branch to the target, at UPROBE_SLOT_TAKEN. The
 * engine translates its instruction pointer to that of the original wherever it becomes
 * visible (kernel/uprobes/leave.c); the backend calls uprobe_leave() in its debug trap and
 * uprobe_trace_ip() where it reads the address for perf.
 *
 * Included from <linux/uprobes.h>; do not include it directly.
 */

struct kernel_siginfo;
struct mm_struct;
struct pt_regs;
struct task_struct;

/* Bytes of a slot, and offset of the copy that ends with a breakpoint. */
#define UPROBE_SLOT_SIZE	64
#define UPROBE_SLOT_HELD	32

/* Offset of the jump to the target of a branch; 0 if the copies of branches need none. */
#ifndef UPROBE_SLOT_TAKEN
#define UPROBE_SLOT_TAKEN	0
#endif

/**
 * enum uprobe_way - how a probed instruction takes effect
 * @UPROBE_COPIED: by its copy in the slot
 * @UPROBE_COPIED_BRANCH: likewise; it is a branch, and if no slot is in reach of its target,
 *	it is emulated
 * @UPROBE_EMULATED: by arch_uprobe_emulate(); the site needs no slot
 * @UPROBE_COPIED_CALL: by its copy; that does not write to a shadow stack, so that the call is
 *	emulated for tasks that have one
 * @UPROBE_COPIED_SYSCALL: by its copy, which enters the kernel as a system call, so that the
 *	engine corrects the address when it arrives there
 * @UPROBE_COPIED_NOP: likewise, at its first hit; then a call may replace it, see
 *	<linux/uprobes-call.h>
 */
enum uprobe_way {
	UPROBE_COPIED,
	UPROBE_COPIED_BRANCH,
	UPROBE_EMULATED,
	UPROBE_COPIED_CALL,
	UPROBE_COPIED_SYSCALL,
	UPROBE_COPIED_NOP,
};

/* --- The engine calls, the backend implements -------------------------- */

/**
 * arch_uprobe_mode() - instruction set of a process
 * @mm: any user mm; not necessarily current's
 *
 * Context: any.
 * Return: 0 to UPROBE_MODES - 1. x86-64: 0 is 64-bit code (also of x32 tasks), 1 is
 * 32-bit code. i386 has one mode.
 */
unsigned int arch_uprobe_mode(struct mm_struct *mm);

/**
 * arch_uprobe_decide() - decide how an instruction can be probed
 * @arch: result; undefined on failure
 * @insn: MAX_UINSN_BYTES bytes of the text, without breakpoints of this engine
 * @len: number of valid bytes, 1 to MAX_UINSN_BYTES; fewer than MAX_UINSN_BYTES only at the
 *	end of the file
 * @mode: see arch_uprobe_mode()
 * @why: set on failure to a constant string, a few words in plain English
 *
 * A pure function of its arguments.
 *
 * Context: any.
 * Return: &enum uprobe_way, or
 * -EILSEQ if the bytes are no instruction or are cut off,
 * -EEXIST if they are a breakpoint that belongs to the program or a debugger,
 * -EOPNOTSUPP if the instruction cannot be probed.
 */
int arch_uprobe_decide(struct arch_uprobe *arch, const u8 *insn, size_t len,
		       unsigned int mode, const char **why);

/* Bytes around an instruction that arch_uprobe_check_context() needs; 0: it is not called. */
#ifndef UPROBE_CONTEXT_BYTES
#define UPROBE_CONTEXT_BYTES 0
#endif

/**
 * arch_uprobe_check_context() - decide whether an instruction can be probed where it is
 * @text: bytes around the instruction, without breakpoints of this engine
 * @before: number of bytes before it, at most UPROBE_CONTEXT_BYTES; fewer only at the start of
 *	the file, or of the text of a process that can be read
 * @len: number of all bytes; at most UPROBE_CONTEXT_BYTES after MAX_UINSN_BYTES of the
 *	instruction, fewer only at the end of the file or of that text
 *
 * Called after arch_uprobe_decide() has accepted the instruction, if the architecture defines
 * UPROBE_CONTEXT_BYTES.
 *
 * Context: any.
 * Return: NULL, or the reason to refuse the instruction: a constant string.
 */
const char *arch_uprobe_check_context(const u8 *text, size_t before, size_t len);

/**
 * arch_uprobe_insn_len() - length of the original instruction in bytes
 * @arch: from arch_uprobe_decide()
 *
 * Context: any, NMI too. May be a macro.
 */
#ifndef arch_uprobe_insn_len
unsigned int arch_uprobe_insn_len(const struct arch_uprobe *arch);
#endif

/**
 * arch_uprobe_write_slot() - write the slot of a site
 * @arch: from arch_uprobe_decide(), which did not return %UPROBE_EMULATED
 * @vaddr: address of the original
 * @slot: address at which the task will execute the slot; a multiple of UPROBE_SLOT_SIZE
 * @buf: UPROBE_SLOT_SIZE bytes to fill; the backend fills those it does not need with
 *	breakpoints
 *
 * A pure function of its arguments. The copy must be a single instruction, so that no
 * state exists in which it is half done; but the copy of a branch may continue at
 * UPROBE_SLOT_TAKEN, with a jump to its target.
 *
 * Context: any.
 * Return: 0, or -ERANGE if a displacement does not reach; the engine then tries another
 * address or refuses the site.
 */
int arch_uprobe_write_slot(const struct arch_uprobe *arch, unsigned long vaddr,
			   unsigned long slot, u8 *buf);

/**
 * arch_uprobe_target() - the address to which a branch leads if it is taken
 * @arch: from arch_uprobe_decide()
 * @vaddr: address of the original
 *
 * Implemented if UPROBE_SLOT_TAKEN is not 0.
 *
 * Context: any.
 * Return: @vaddr if it is no branch, or one to an address in a register.
 */
#if UPROBE_SLOT_TAKEN
unsigned long arch_uprobe_target(const struct arch_uprobe *arch, unsigned long vaddr);
#else
static inline unsigned long arch_uprobe_target(const struct arch_uprobe *arch, unsigned long vaddr)
{
	return vaddr;
}
#endif

/**
 * arch_uprobe_has_shadow_stack() - must calls of current be written to a shadow stack?
 *
 * Context: a hit. A macro of <asm/uprobes.h> if calls are copied (%UPROBE_COPIED_CALL); it may use
 * functions of <linux/mmu_context.h>.
 */
#ifndef arch_uprobe_has_shadow_stack
static inline bool arch_uprobe_has_shadow_stack(void)
{
	return false;
}
#endif

/**
 * arch_uprobe_slot_window() - the addresses at which a slot for text can be
 * @mm: any user mm; not necessarily current's
 * @vaddr: address of the text
 * @low: set to the lowest possible address
 * @high: set to the address after the highest
 *
 * The engine maps an area in this window, as near to @vaddr as it can. x86-64: about 2 GiB to
 * both sides; 32 bit: all the user's address space.
 *
 * Context: task.
 */
void arch_uprobe_slot_window(struct mm_struct *mm, unsigned long vaddr,
			     unsigned long *low, unsigned long *high);

/**
 * arch_uprobe_sync_text() - let all processors execute text that has just been written
 * @kaddr: its kernel address
 * @len: bytes written
 *
 * The text is a slot, which no processor executes before uprobe_hit() sends a task to it, or
 * one opcode of a program that runs. x86 needs nothing: it sees stores to text, and the return
 * from the trap serializes. May be a macro.
 *
 * Context: task.
 */
#ifndef arch_uprobe_sync_text
static inline void arch_uprobe_sync_text(void *kaddr, size_t len)
{
}
#endif

/**
 * arch_uprobe_emulate() - let an instruction take effect without executing it
 * @arch: from arch_uprobe_decide(), which returned %UPROBE_EMULATED, %UPROBE_COPIED_BRANCH or
 *	%UPROBE_COPIED_CALL
 * @regs: current's user registers; the instruction pointer is that of the instruction
 *
 * Changes @regs, user memory and, for calls and returns, the shadow stack as the
 * instruction would, including the instruction pointer. If the task is being single-stepped
 * (x86: TF in @regs), also sends the SIGTRAP that the processor would have caused after it.
 * If it raises another exception than a page fault, sends the signal of that and leaves @regs as
 * they are. Signals report original addresses.
 *
 * Context: task, may sleep and fault, interrupts on, no locks.
 * Return: 0; or -EFAULT if the user's memory cannot be accessed: @regs are as they were,
 * &uprobe_task.fault has the access, and the caller calls uprobe_emulate_faulting().
 */
int arch_uprobe_emulate(const struct arch_uprobe *arch, struct pt_regs *regs);

/**
 * arch_uprobe_set_fault() - tell the task which page fault an emulated instruction causes
 * @fault: the access, for which a signal is about to be sent
 *
 * Context: task. A macro of <asm/uprobes.h> where it does something.
 */
#ifndef arch_uprobe_set_fault
static inline void arch_uprobe_set_fault(const struct uprobe_fault *fault)
{
}
#endif

/**
 * enum uprobe_flow - where execution continues after an instruction
 * @UPROBE_FLOW_NEXT: at the next instruction
 * @UPROBE_FLOW_CALL: likewise, after a call
 * @UPROBE_FLOW_BRANCH: at the next instruction, or at &uprobe_insn.target
 * @UPROBE_FLOW_JUMP: at &uprobe_insn.target
 * @UPROBE_FLOW_INDIRECT: at an address that a register or memory has
 * @UPROBE_FLOW_RETURN: at the return address
 * @UPROBE_FLOW_STOP: nowhere, it always faults
 * @UPROBE_FLOW_BREAKPOINT: nowhere; it may have been written over another instruction
 */
enum uprobe_flow {
	UPROBE_FLOW_NEXT,
	UPROBE_FLOW_CALL,
	UPROBE_FLOW_BRANCH,
	UPROBE_FLOW_JUMP,
	UPROBE_FLOW_INDIRECT,
	UPROBE_FLOW_RETURN,
	UPROBE_FLOW_STOP,
	UPROBE_FLOW_BREAKPOINT,
};

/* Most addresses that an instruction has as operands. */
#define UPROBE_OPERANDS		2

/**
 * struct uprobe_insn - an instruction of a function
 * @flow: see &enum uprobe_flow
 * @len: its length in bytes
 * @has_target: @target is valid: branches, jumps, and calls of a constant address
 * @target: where it branches to
 * @nr_operands: number of @operands
 * @operands: addresses of memory that it may access or compute
 */
struct uprobe_insn {
	enum uprobe_flow	flow;
	unsigned int		len;
	bool			has_target;
	unsigned long		target;
	unsigned int		nr_operands;
	unsigned long		operands[UPROBE_OPERANDS];
};

/**
 * arch_uprobe_flow() - decode an instruction of a function whose exits are to be probed
 * @insn: bytes of the text, without breakpoints of this engine
 * @len: number of valid bytes, at least 1; at most MAX_UINSN_BYTES are used
 * @vaddr: address of the instruction
 * @mode: see arch_uprobe_mode()
 * @out: result
 *
 * A pure function of its arguments.
 *
 * Context: any.
 * Return: 0, or -EILSEQ if the bytes are no instruction, are cut off, or if it is not certain
 * where execution continues.
 */
int arch_uprobe_flow(const u8 *insn, size_t len, unsigned long vaddr, unsigned int mode,
		     struct uprobe_insn *out);

/**
 * arch_uprobe_is_return() - does an instruction always leave its function?
 * @arch: decision about any instruction that can be probed
 *
 * Context: any.
 */
bool arch_uprobe_is_return(const struct arch_uprobe *arch);

/**
 * arch_uprobe_branch_exits() - does a branch leave a function?
 * @arch: decision about a branch, which will take effect next
 * @regs: current's user registers at the instruction
 * @start: address of the function
 * @size: its size
 *
 * Changes neither registers nor memory. If the instruction faults, the signal may be sent here,
 * too.
 *
 * Context: task, may sleep and fault.
 * Return: 1 if the address of the next instruction is not in the function; 0 if it is, or if the
 * branch faults; -EFAULT if the kernel cannot read the address to which the branch leads.
 */
int arch_uprobe_branch_exits(const struct arch_uprobe *arch, const struct pt_regs *regs,
			     unsigned long start, unsigned long size);

/**
 * arch_uprobe_leave_syscall() - correct registers that a system call instruction has set
 * @regs: user registers at the entry to a system call; the instruction pointer is already
 *	that of the instruction after the original
 * @ip: the same in the slot
 *
 * x86-64: SYSCALL has put @ip into rcx.
 *
 * Context: task.
 */
void arch_uprobe_leave_syscall(struct pt_regs *regs, unsigned long ip);

/**
 * arch_uretprobe_trampoline() - instructions to which probed functions return
 * @psize: set to their size, at most a page
 *
 * x86: push rax, rcx, r11; the uretprobe system call, for 64-bit tasks; at the offset that
 * arch_uretprobe_entry() returns, a breakpoint for 32-bit tasks. One page is shared by all
 * processes; it is mapped at an address of each process, "[uprobes]", and inherited by
 * fork at the same address.
 *
 * Context: boot.
 */
void *arch_uretprobe_trampoline(unsigned long *psize);

/**
 * arch_uretprobe_entry() - the address to which a task's probed functions return
 * @trampoline: address of the trampoline's page in current's process
 * @mode: see arch_uprobe_mode()
 *
 * Context: any, NMI too. May be a macro; default: @trampoline.
 */
#ifndef arch_uretprobe_entry
static inline unsigned long arch_uretprobe_entry(unsigned long trampoline, unsigned int mode)
{
	return trampoline;
}
#endif

/**
 * arch_uretprobe_undo() - take a task out of the middle of the trampoline
 * @regs: current's user registers
 * @offset: of the instruction pointer from arch_uretprobe_entry(); any number
 *
 * Context: task, may fault.
 * Return: 0 if the registers are now those with which the function has returned; 1 if the
 * return handlers had been called, and the registers are now those after the trampoline;
 * -ENOENT if the offset is that of no instruction of the trampoline, or -EFAULT if the stack
 * cannot be read: nothing is changed.
 */
int arch_uretprobe_undo(struct pt_regs *regs, unsigned long offset);

/**
 * arch_uretprobe_called() - have the return handlers been called?
 * @offset: of the instruction pointer from arch_uretprobe_entry(), in the trampoline
 *
 * Context: any, NMI too. May be a macro.
 * Return: true if the handlers have been called. Default: false, for trampolines that are one
 * instruction.
 */
#ifndef arch_uretprobe_called
static inline bool arch_uretprobe_called(unsigned long offset)
{
	return false;
}
#endif

/**
 * arch_uretprobe_peek() - read the return address at the entry of a function
 * @regs: current's user registers at its first instruction
 * @ret: set to the return address
 *
 * Context: task, may fault.
 * Return: 0 or -EFAULT.
 */
int arch_uretprobe_peek(struct pt_regs *regs, unsigned long *ret);

/**
 * arch_uretprobe_replace() - change the return address at the entry of a function
 * @regs: current's user registers at its first instruction
 * @entry: address of the trampoline, see arch_uretprobe_entry()
 * @ret: set to the return address, which may already be @entry
 *
 * Changes the shadow stack too, if the task has one. If that fails after the stack has been
 * changed, sends SIGSEGV, as the return would.
 *
 * Context: task, may fault.
 * Return: 0; -EFAULT, nothing is changed.
 */
int arch_uretprobe_replace(struct pt_regs *regs, unsigned long entry, unsigned long *ret);

/**
 * arch_uretprobe_is_alive() - has the function of an instance not returned yet?
 * @ri: instance of a call; @ri->stack is user_stack_pointer() at its entry
 * @ctx: which event asks: a call, a call that chains, or a return to the trampoline
 * @regs: current's user registers
 *
 * Decides by the stack pointer, so that calls that longjmp() has abandoned are dropped.
 *
 * Context: task.
 */
bool arch_uretprobe_is_alive(struct return_instance *ri, enum rp_check ctx,
			     struct pt_regs *regs);

/* --- The backend calls, the engine implements -------------------------- */

/**
 * uprobe_mm_probed() - may this process have probes?
 * @mm: current->mm
 *
 * A cheap test to keep the breakpoints of programs without probes fast. uprobe_hit() makes it for a
 * task that has never hit a probe.
 */
#define uprobe_mm_probed(mm)	((mm) && mm_flags_test(MMF_HAS_UPROBES, (mm)))

/**
 * arch_uprobe_foreign() - uprobe_hit() has met a breakpoint that is not one of this engine
 * @regs: user registers, unchanged
 *
 * For a trap handler that does not look at the result of uprobe_hit().  A macro of <asm/uprobes.h>
 * where it does something.
 *
 * Context: task, interrupts on; not in a hit.
 */
#ifndef arch_uprobe_foreign
static inline void arch_uprobe_foreign(struct pt_regs *regs)
{
}
#endif

/**
 * uprobe_hit() - a breakpoint was executed in user mode
 * @regs: user registers
 * @vaddr: address of the breakpoint (x86: the instruction pointer - 1)
 *
 * Handles breakpoints of probes, those at the end of a copy in a slot, and that of the
 * trampoline. Runs the handlers, which may sleep, and leaves @regs as the task continues
 * with them. Any register may be changed, and a handler may change the instruction pointer;
 * the trap returns through the slow path (x86: iret).
 *
 * Called before any notifier chain, on the task's stack.
 *
 * Context: task, interrupts on, may sleep; RCU watches, no locks.
 * Return: true if @regs are final. False if the breakpoint is not one of this engine:
 * @regs are unchanged, and the caller handles the trap, or arch_uprobe_foreign() has done so.
 */
bool uprobe_hit(struct pt_regs *regs, unsigned long vaddr);

/**
 * uprobe_handle_trampoline() - a probed function has returned to the trampoline
 * @regs: user registers as the function left them; the instruction pointer may be any
 *	address in the trampoline
 *
 * Calls the return handlers, and sets the instruction pointer to the address to which the
 * function would have returned. If the task is not known to have called a probed function,
 * sends SIGILL.
 *
 * The uretprobe system call calls it after it has restored the registers that the trampoline
 * saved on the stack.
 *
 * Context: task, interrupts on, may sleep.
 */
void uprobe_handle_trampoline(struct pt_regs *regs);

/**
 * uprobe_get_trampoline_vaddr() - entry of the trampoline in current's process
 *
 * Context: any, NMI too.
 * Return: the address that is on the stack instead of the return address;
 * UPROBE_NO_TRAMPOLINE_VADDR if the process has none.
 */
unsigned long uprobe_get_trampoline_vaddr(void);

/**
 * uprobe_logical_ip() - address of a task's next instruction in its own text
 * @regs: user registers of current
 *
 * The instruction pointer, unless that is in a slot; see kernel/uprobes/leave.c.
 *
 * Context: any, NMI too.
 */
unsigned long uprobe_logical_ip(const struct pt_regs *regs);

/**
 * uprobe_trace_ip() - address of current for samples and stack traces
 * @regs: its user registers
 *
 * Like uprobe_logical_ip(); and for a task in the trampoline, the address to which the probed
 * function returns.  The task must not be made to continue there: the trampoline may have words
 * of its own on the stack.
 *
 * Context: any, NMI too.
 */
unsigned long uprobe_trace_ip(const struct pt_regs *regs);

/**
 * uprobe_leave() - take a task out of a slot
 * @regs: user registers of current
 *
 * Sets the instruction pointer to uprobe_logical_ip(). The backend calls it in the debug
 * trap of user mode before anything reads @regs, so that a step over a copy ends after the
 * original. The engine calls it for signals, system calls and critical sections (rseq).
 *
 * Must not be called where the task could go on without a visible event: it would then
 * execute the breakpoint once more, and its hit would be counted twice.
 *
 * Context: task; interrupts on or off.
 */
void uprobe_leave(struct pt_regs *regs);

/**
 * uprobe_signal_forced() - current gets a signal that it cannot ignore
 * @info: the signal
 *
 * If a copied instruction has caused it, current leaves the slot: the signal must not wait for the
 * end of a copy that fails, also if the same signal is already pending and this one is discarded.
 *
 * Context: any; interrupts on or off.
 */
void uprobe_signal_forced(const struct kernel_siginfo *info);

/**
 * uprobe_step_end() - a single step of current has ended
 * @regs: its user registers
 *
 * Like uprobe_leave(); and if the step has led into the trampoline, also completes the return:
 * calls the return handlers, and sets the instruction pointer to the address to which the
 * function returns. The backend calls it in the debug trap of user mode.
 *
 * Context: task, interrupts on, may sleep.
 */
void uprobe_step_end(struct pt_regs *regs);

/**
 * uprobe_get_trap_addr() - address to report for a trap of current
 * @regs: user registers
 *
 * The same as uprobe_logical_ip(), under the name that trap handlers of the base use.
 *
 * Context: any.
 */
unsigned long uprobe_get_trap_addr(struct pt_regs *regs);

/*
 * utask->auprobe is the decision about the instruction of the hit whose handlers run, NULL
 * otherwise. x86's is_uprobe_at_func_entry() reads it.
 *
 * No TIF flag and no single step takes part in a hit; the backend has no
 * arch_uprobe_pre_xol(), _post_xol(), _abort_xol(), _skip_sstep() or
 * arch_uprobe_exception_notify().
 */

#ifdef CONFIG_UPROBE_CALLS
#include <linux/uprobes-call.h>
#endif

#endif /* _LINUX_UPROBES_ARCH_H */
