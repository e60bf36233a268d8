// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Leaving slots: no address of a slot is ever visible outside.
 *
 * A task in a slot has executed all of the instruction or nothing of it, so that one address of
 * its own text describes it: that of the instruction, or that of the next one.
 *
 *	offset in the slot			logical address
 *	0 and UPROBE_SLOT_HELD			the instruction's: its copy has not been executed
 *	UPROBE_SLOT_TAKEN, if it is a branch	that of its target
 *	elsewhere after a copy			the next instruction's
 *
 * Who asks:
 *
 *	signals, ptrace, core dumps	uprobe_deny_signal(), before a task takes a signal, stops
 *					or ends for one; it takes the task out of the slot
 *	faults of a copy		uprobe_signal_forced(), or a trap before; and
 *					uprobe_get_trap_addr() for their addresses
 *	steps of a debugger		uprobe_step_end(), in the debug trap
 *	system calls, also clone's child and restarts
 *					uprobe_syscall_enter(), before anything looks at them
 *	rseq, robust futexes		uprobe_logical_ip(), for the comparison with the section
 *	perf, unwinders			uprobe_trace_ip()
 *	/proc/PID/syscall		uprobe_task_logical_ip()
 *
 * A signal that arrives while the copy has not been executed could be delivered at the
 * instruction's address, but the hit would then be counted again when its handler returns. It
 * is held back instead: the task continues in the second copy of the slot, whose breakpoint
 * brings it back as soon as the instruction has taken effect. Signals that the copy itself has
 * caused are not held back, and a restarted instruction is a new hit. A branch would not come to
 * such a breakpoint, so the signal does not wait for it: it is emulated.
 *
 * A signal or a step also takes a task out of the trampoline of return probes: the return is
 * completed here. A call in place of a nop is left as call_regs.c describes.
 */
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/thread_info.h>
#include <linux/uaccess.h>

#include "call.h"

/* Signals that an instruction causes. */
#define SYNCHRONOUS (sigmask(SIGSEGV) | sigmask(SIGBUS) | sigmask(SIGILL) | sigmask(SIGTRAP) | \
		     sigmask(SIGFPE) | sigmask(SIGSYS))

static struct uprobe_mm *mm_own(struct mm_struct *mm)
{
	/* Pairs with the release in uprobe_mm_get(). */
	return mm ? smp_load_acquire(&mm->uprobes_state.own) : NULL;
}

static bool before_copy(unsigned long ip)
{
	unsigned long offset = ip % UPROBE_SLOT_SIZE;

	return offset == 0 || offset == UPROBE_SLOT_HELD;
}

static unsigned long logical(const struct uprobe_slot *slot, unsigned long ip)
{
	if (before_copy(ip))
		return slot->vaddr;
	if (slot->branch && ip % UPROBE_SLOT_SIZE == UPROBE_SLOT_TAKEN)
		return slot->vaddr + slot->taken;
	return slot->vaddr + slot->len;
}

static unsigned long translate(struct mm_struct *mm, unsigned long ip)
{
	struct uprobe_mm *own = mm_own(mm);
	const struct uprobe_slot *slot = own ? uprobe_area_lookup(own, ip) : NULL;

	return slot ? logical(slot, ip) : ip;
}

/* uprobe_logical_ip() in a process that has slots or calls. */
static noinline unsigned long find_logical_ip(const struct pt_regs *regs, unsigned long ip)
{
	unsigned long to = translate(current->mm, ip);

	if (likely(to != ip || !uprobe_mm_has_calls(current->mm)))
		return to;
	return uprobe_call_logical_ip(regs);
}

/* See <linux/uprobes-arch.h>. */
unsigned long uprobe_logical_ip(const struct pt_regs *regs)
{
	/* Architectures differ in whether its argument is constant. */
	unsigned long ip = instruction_pointer((struct pt_regs *)regs);
	struct mm_struct *mm = current->mm;

	if (likely(!mm || (!READ_ONCE(mm->uprobes_state.own) && !uprobe_mm_has_calls(mm))))
		return ip;
	return find_logical_ip(regs, ip);
}

/* The return address of the call whose trampoline @utask's task is in, if @ip is there. */
static unsigned long skip_trampoline(const struct uprobe_task *utask, unsigned long ip)
{
	unsigned long offset = ip - uprobe_get_trampoline_vaddr();
	const struct return_instance *ri;

	if (likely(offset >= PAGE_SIZE))
		return ip;
	/* The first call of the task may not have called its handlers yet. */
	if (arch_uretprobe_called(offset) && utask->returned_to)
		return utask->returned_to;
	ri = READ_ONCE(utask->return_instances);
	return ri ? ri->orig_ret_vaddr : ip;
}

/* See <linux/uprobes-arch.h>. */
unsigned long uprobe_trace_ip(const struct pt_regs *regs)
{
	const struct uprobe_task *utask = READ_ONCE(current->utask);
	unsigned long ip = uprobe_logical_ip(regs);

	if (unlikely(uprobe_mm_has_calls(current->mm)) &&
	    ip == instruction_pointer((struct pt_regs *)regs))
		ip = uprobe_call_ip(regs);
	return utask ? skip_trampoline(utask, ip) : ip;
}

/* See <linux/uprobes-task.h>. */
bool uprobe_in_trampoline(unsigned long ip)
{
	unsigned long page = uprobe_get_trampoline_vaddr() & PAGE_MASK;

	return (ip & PAGE_MASK) == page || uprobe_call_page(ip);
}

/* See <linux/uprobes-arch.h>. */
unsigned long uprobe_get_trap_addr(struct pt_regs *regs)
{
	return uprobe_logical_ip(regs);
}

/**
 * uprobe_task_logical_ip() - uprobe_logical_ip() of another task
 * @task: does not run
 * @ip: its instruction pointer in user mode
 *
 * Context: task, may sleep.
 */
unsigned long uprobe_task_logical_ip(struct task_struct *task, unsigned long ip)
{
	struct mm_struct *mm = get_task_mm(task);

	if (!mm)
		return ip;
	ip = translate(mm, ip);
	mmput(mm);
	return ip;
}

/* The task is out of its slot: signals that waited for it are pending again. */
static void release_signals(void)
{
	struct uprobe_task *utask = current->utask;

	if (!utask || !utask->signal_held)
		return;
	utask->signal_held = false;
	set_thread_flag(TIF_SIGPENDING);
}

/* See <linux/uprobes-arch.h>. */
void uprobe_leave(struct pt_regs *regs)
{
	unsigned long ip = instruction_pointer(regs);
	unsigned long to = uprobe_logical_ip(regs);

	if (likely(ip == to) ||
	    (uprobe_mm_has_calls(current->mm) && uprobe_call_leave(regs)))
		return;
	instruction_pointer_set(regs, to);
	release_signals();
}

/* Completes the return if current is in the trampoline. */
static void leave_trampoline(struct pt_regs *regs)
{
	unsigned long entry = uprobe_get_trampoline_vaddr();

	if (likely(entry == UPROBE_NO_TRAMPOLINE_VADDR))
		return;
	if (!arch_uretprobe_undo(regs, instruction_pointer(regs) - entry))
		uprobe_handle_trampoline(regs);
}

/* See <linux/uprobes-arch.h>. */
void uprobe_step_end(struct pt_regs *regs)
{
	if (unlikely(uprobe_mm_has_calls(current->mm)))
		uprobe_call_end(regs, true);
	uprobe_leave(regs);
	if (current->utask)
		leave_trampoline(regs);
}

/**
 * uprobe_leave_held() - a breakpoint in a slot was executed
 * @own: current's process
 * @regs: its user registers
 * @vaddr: address of the breakpoint
 *
 * Context: task.
 * Return: true if it is the end of a copy; the task is then after the instruction.
 */
bool uprobe_leave_held(struct uprobe_mm *own, struct pt_regs *regs, unsigned long vaddr)
{
	const struct uprobe_slot *slot = uprobe_area_lookup(own, vaddr);

	if (!slot || before_copy(vaddr))
		return false;
	instruction_pointer_set(regs, logical(slot, vaddr));
	release_signals();
	return true;
}

/**
 * uprobe_syscall_enter() - a copied instruction has entered the kernel as a system call
 * @regs: user registers of current
 *
 * Context: task, interrupts on; before any other work at the entry.
 */
void uprobe_syscall_enter(struct pt_regs *regs)
{
	unsigned long ip = instruction_pointer(regs);
	unsigned long to = translate(current->mm, ip);

	clear_task_syscall_work(current, SYSCALL_UPROBE);
	/* A signal or an abort may have taken the task out of the slot before. */
	if (to == ip)
		return;
	instruction_pointer_set(regs, to);
	release_signals();
	arch_uprobe_leave_syscall(regs, ip);
}

static bool is_dying(void)
{
	return fatal_signal_pending(current) || (current->signal->flags & SIGNAL_GROUP_EXIT) ||
	       current->signal->group_exec_task;
}

/* Signals wait, but not one that ends the task: it could not be killed while the copy faults. */
static bool hold_signals(void)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	bool held;

	sighand = lock_task_sighand(current, &flags);
	held = !is_dying();
	if (likely(held)) {
		clear_thread_flag(TIF_SIGPENDING);
		current->utask->signal_held = true;
	}
	spin_unlock_irqrestore(&sighand->siglock, flags);
	return held;
}

/* Is it a signal of the kernel that no instruction of the task has caused? */
static bool is_asynchronous(const kernel_siginfo_t *info)
{
	return (info->si_signo == SIGTRAP && info->si_code == TRAP_PERF) ||
	       (info->si_signo == SIGBUS && info->si_code == BUS_MCEERR_AO);
}

/* See <linux/uprobes-arch.h>. */
void uprobe_signal_forced(const struct kernel_siginfo *info)
{
	if (current->utask && !is_asynchronous(info))
		uprobe_leave(task_pt_regs(current));
}

/*
 * Is the task about to take a signal that its copy has caused? A signal without a description may
 * be one, because memory was short.
 */
static bool has_fault(void)
{
	unsigned long mask = READ_ONCE(current->pending.signal.sig[0]) & ~current->blocked.sig[0] &
			     SYNCHRONOUS;
	struct sighand_struct *sighand;
	struct sigqueue *q;
	unsigned long flags;
	bool found = false;

	if (likely(!mask))
		return false;
	sighand = lock_task_sighand(current, &flags);
	list_for_each_entry(q, &current->pending.list, list) {
		/* sigmask() has no bits for real-time signals on 32-bit kernels. */
		if (q->info.si_signo >= SIGRTMIN || !(sigmask(q->info.si_signo) & mask))
			continue;
		/* Other tasks send SI_USER and less, files (F_SETSIG) SI_SIGIO. */
		found |= q->info.si_code > SI_USER && !is_asynchronous(&q->info);
		mask &= ~sigmask(q->info.si_signo);
	}
	spin_unlock_irqrestore(&sighand->siglock, flags);
	return found || mask;
}

/*
 * Emulates the branch that current is about to execute in a slot, which has the original bytes:
 * the text may have changed. If they cannot be read, or the branch faults, current is at the
 * original, whose execution is a new hit. A return may have led to the trampoline.
 */
static void complete_branch(struct pt_regs *regs)
{
	unsigned long slot = round_down(instruction_pointer(regs), UPROBE_SLOT_SIZE);
	const void __user *original = (const void __user *)(slot + UPROBE_SLOT_HELD);
	unsigned int mode = arch_uprobe_mode(current->mm);
	u8 insn[MAX_UINSN_BYTES];
	struct arch_uprobe arch;
	const char *why;

	uprobe_leave(regs);
	if (!copy_from_user(insn, original, sizeof(insn)) &&
	    uprobe_is_branch(arch_uprobe_decide(&arch, insn, sizeof(insn), mode, &why)) &&
	    arch_uprobe_emulate(&arch, regs))
		uprobe_emulate_faulting(current->utask, &arch, regs);
	leave_trampoline(regs);
}

/* uprobe_deny_signal() for a task that may be in a slot, in the trampoline, or in a call. */
static noinline bool leave_or_hold(struct pt_regs *regs)
{
	unsigned long ip = instruction_pointer(regs);
	const struct uprobe_slot *slot;
	struct uprobe_mm *own;

	if ((uprobe_mm_has_calls(current->mm) && uprobe_call_end(regs, false)) || !current->utask)
		return false;
	own = mm_own(current->mm);
	slot = own ? uprobe_area_lookup(own, ip) : NULL;
	if (!slot) {
		if (!is_dying())
			leave_trampoline(regs);
		return false;
	}
	if (!before_copy(ip) || is_dying() || has_fault()) {
		uprobe_leave(regs);
		return false;
	}
	if (slot->branch) {
		complete_branch(regs);
		return false;
	}
	if (!hold_signals()) {
		uprobe_leave(regs);
		return false;
	}
	instruction_pointer_set(regs, round_down(ip, UPROBE_SLOT_SIZE) + UPROBE_SLOT_HELD);
	return true;
}

/**
 * uprobe_deny_signal() - take current out of a slot before it takes a signal
 *
 * Context: task, about to return to user mode.
 * Return: true if signals have to wait for the end of the copy.
 */
bool uprobe_deny_signal(void)
{
	if (likely(!current->utask && !uprobe_mm_has_calls(current->mm)))
		return false;
	return leave_or_hold(task_pt_regs(current));
}
