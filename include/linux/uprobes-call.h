/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_UPROBES_CALL_H
#define _LINUX_UPROBES_CALL_H
/*
 * The contract about calls in place of nops, for architectures with UPROBE_CALLS.
 *
 * After its first hit, a nop that arch_uprobe_decide() has returned %UPROBE_COPIED_NOP for is
 * replaced by two instructions, so that later hits need no exception:
 *
 *   offset 0			moves the stack pointer below the red zone of the program
 *   offset UPROBE_CALL_KEPT	calls the call page, which makes the system call "uprobe"
 *
 * The <asm/uprobes.h> defines UPROBE_CALL_KEPT and UPROBE_CALL_BYTES, the length of the nop and of
 * the two instructions. When the nop is restored, its bytes from UPROBE_CALL_KEPT on stay those of
 * the call: they are an operand without effect, and a thread may be about to execute the call.
 *
 * The <asm/uprobes-call.h> has the inline functions of the system call, arch_uprobe_call_begin()
 * and arch_uprobe_call_finish(), and struct arch_uprobe_call, which they share. It defines
 * UPROBE_CALL_MADE, the offset in the call page of the instruction after the system call.
 *
 * Included from <linux/uprobes-arch.h>; do not include it directly.
 */

/* The nop. */
extern const u8 arch_uprobe_call_nop[UPROBE_CALL_BYTES];

/**
 * arch_uprobe_call_page() - instructions to which nops call
 * @psize: set to their size, at most a page
 *
 * They begin the page "[uprobes-trampoline]", which all processes share.
 *
 * Context: boot.
 */
void *arch_uprobe_call_page(unsigned long *psize);

/**
 * arch_uprobe_can_call() - is the code that current executes such that a call can replace a nop?
 * @regs: its user registers
 *
 * Context: task.
 */
bool arch_uprobe_can_call(struct pt_regs *regs);

/**
 * arch_uprobe_write_call() - write the instructions that replace a nop
 * @buf: UPROBE_CALL_BYTES bytes to fill
 * @vaddr: address of the nop
 * @page: address of the call page, in the window of arch_uprobe_slot_window() for @vaddr
 *
 * Context: any.
 */
void arch_uprobe_write_call(u8 *buf, unsigned long vaddr, unsigned long page);

/**
 * arch_uprobe_call_target() - where does a call lead?
 * @insn: UPROBE_CALL_BYTES - UPROBE_CALL_KEPT bytes of text
 * @vaddr: their address
 *
 * Context: any, NMI too.
 * Return: the target if the bytes are a call as arch_uprobe_write_call() writes it, else 0.
 */
unsigned long arch_uprobe_call_target(const u8 *insn, unsigned long vaddr);

/**
 * arch_uprobe_sync_cores() - wait until no processor executes text as it was before
 *
 * Context: task, interrupts on, may sleep.
 */
void arch_uprobe_sync_cores(void);

/**
 * arch_uprobe_uncall() - take registers back from the call to the beginning of the nop
 * @regs: user registers of current, at offset UPROBE_CALL_KEPT of a nop; changed
 *
 * Context: any, NMI too.
 */
void arch_uprobe_uncall(struct pt_regs *regs);

/**
 * arch_uprobe_call_undo() - take registers out of the call page
 * @regs: user registers of current; the shadow stack is not changed
 * @offset: of the instruction pointer in the page
 *
 * Context: any, NMI too; takes no page fault.
 * Return: 0 if the registers are now those at the nop; 1 if the system call had been made, and
 * they are those after the nop; -ENOENT if the offset is that of no instruction, or -EFAULT if
 * the stack cannot be read: nothing is changed.
 */
int arch_uprobe_call_undo(struct pt_regs *regs, unsigned long offset);

/**
 * arch_uprobe_call_guarded() - has the call pushed its return address to a shadow stack, too?
 *
 * Context: any, NMI too.
 */
bool arch_uprobe_call_guarded(void);

/**
 * arch_uprobe_call_pop() - pop the return address of the call from the shadow stack of current
 *
 * Context: task, may sleep and fault.
 * Return: 0, also without a shadow stack; or -EFAULT.
 */
int arch_uprobe_call_pop(void);

#endif /* _LINUX_UPROBES_CALL_H */
