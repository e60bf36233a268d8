// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Page faults of emulated instructions.
 *
 * The kernel accesses the memory of the program for an emulated instruction.  A program may handle
 * its page faults itself (userfaultfd), but only those of user mode if it has no privilege; then
 * the kernel's access fails, although the instruction would wait, or get another signal.  So the
 * page fault is one of user mode here, and the instruction is emulated again.
 *
 * The program decides how long that takes.  So the hit ends first, and no other task has to wait.
 */
#include <linux/mm.h>
#include <linux/mmu_context.h>
#include <linux/oom.h>
#include <linux/sched/signal.h>

#include "hit.h"
#include "internal.h"

/* Attempts: a page may be taken away again before the access, but not so often. */
#define FAULT_TRIES	16

/* The outcome of a page fault. */
struct outcome {
	unsigned long addr;
	int signal;	/* or 0 */
	int code;	/* of the signal */
	bool again;	/* the access may succeed now */
};

/* Most memory that can be written or executed can be read; the other faults again. */
static bool may_access(struct vm_area_struct *vma, bool write)
{
	return vma->vm_flags & (write ? VM_WRITE : VM_ACCESS_FLAGS) &&
	       arch_vma_access_permitted(vma, write, false, false);
}

/* Takes and releases mmap_lock. */
static vm_fault_t handle_fault(unsigned long addr, unsigned int flags, int *code)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	vm_fault_t ret;

	if (mmap_read_lock_killable(mm))
		return VM_FAULT_RETRY;
	vma = vma_lookup(mm, untagged_addr(addr));
	*code = vma ? SEGV_ACCERR : SEGV_MAPERR;
	if (!vma || !may_access(vma, flags & FAULT_FLAG_WRITE)) {
		mmap_read_unlock(mm);
		return VM_FAULT_SIGSEGV;
	}
	ret = handle_mm_fault(vma, untagged_addr(addr), flags, NULL);
	if (!(ret & (VM_FAULT_RETRY | VM_FAULT_COMPLETED)))
		mmap_read_unlock(mm);
	return ret;
}

static struct outcome fault_in(unsigned long addr, bool write)
{
	unsigned int flags = FAULT_FLAG_DEFAULT | FAULT_FLAG_USER | (write ? FAULT_FLAG_WRITE : 0);
	struct outcome outcome = { .addr = addr };
	vm_fault_t ret;

	do {
		ret = handle_fault(addr, flags, &outcome.code);
		flags |= FAULT_FLAG_TRIED;
	} while (ret & VM_FAULT_RETRY && !signal_pending(current));

	if (ret & (VM_FAULT_SIGBUS | VM_FAULT_HWPOISON | VM_FAULT_HWPOISON_LARGE)) {
		outcome.signal = SIGBUS;
		outcome.code = BUS_ADRERR;
	} else if (ret & VM_FAULT_SIGSEGV) {
		outcome.signal = SIGSEGV;
	} else if (ret & VM_FAULT_OOM) {
		pagefault_out_of_memory();
	} else {
		outcome.again = !(ret & VM_FAULT_RETRY);
	}
	return outcome;
}

/* The access may be in two pages. */
static struct outcome resolve(const struct uprobe_fault *fault)
{
	unsigned long second = (fault->addr + fault->len - 1) & PAGE_MASK;
	struct outcome outcome = fault_in(fault->addr, fault->write);

	if (outcome.again && second > fault->addr)
		outcome = fault_in(second, fault->write);
	return outcome;
}

static void send_signal(struct uprobe_fault *fault, const struct outcome *outcome)
{
	fault->addr = outcome->addr;
	arch_uprobe_set_fault(fault);
	force_sig_fault(outcome->signal, outcome->code, (void __user *)fault->addr);
}

/**
 * uprobe_emulate_faulting() - emulate an instruction whose access to memory has failed
 * @utask: of current; its mark ends, if it is in a hit, whose point may be freed then
 * @decision: from arch_uprobe_decide(); need not stay after the end of the hit
 * @regs: current's user registers; those of the instruction
 *
 * If a signal arrives meanwhile, or memory is short, current executes the instruction again, which
 * is a new hit.
 *
 * Context: task, may sleep; no locks.
 */
void uprobe_emulate_faulting(struct uprobe_task *utask, const struct arch_uprobe *decision,
			     struct pt_regs *regs)
{
	struct outcome outcome = {};
	struct arch_uprobe arch = *decision;
	unsigned int tries;

	utask->auprobe = NULL;
	uprobe_hit_finish(utask);
	for (tries = 0; tries < FAULT_TRIES; tries++) {
		outcome = resolve(&utask->fault);
		if (!outcome.again)
			break;
		if (!arch_uprobe_emulate(&arch, regs))
			return;
	}
	/* The page is there, but the access is not allowed for another reason. */
	if (outcome.again)
		outcome.signal = SIGSEGV;
	if (outcome.signal)
		send_signal(&utask->fault, &outcome);
}
