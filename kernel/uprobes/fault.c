// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Page faults of emulated instructions.
 *
 * The kernel accesses the memory of the program for an emulated instruction.  A program that
 * handles its own page faults (userfaultfd) may do so only for those of user mode, and then the
 * kernel's access fails, although the instruction would wait, or get another signal.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/uprobes.h>

static int fault_in_page(struct mm_struct *mm, unsigned long addr, bool write)
{
	unsigned int flags = FAULT_FLAG_USER | (write ? FAULT_FLAG_WRITE : 0);
	bool unlocked = false;
	int err;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	err = fixup_user_fault(mm, addr, flags, &unlocked);
	mmap_read_unlock(mm);
	return err;
}

/* See <linux/uprobes-arch.h>. */
int uprobe_fault_in(unsigned long addr, unsigned int len, bool write)
{
	unsigned long last = addr + len - 1;
	int err = fault_in_page(current->mm, addr, write);

	if (!err && last >> PAGE_SHIFT != addr >> PAGE_SHIFT)
		err = fault_in_page(current->mm, last, write);
	return err;
}

/* See <linux/uprobes-arch.h>. */
void uprobe_raise_fault(unsigned long addr, bool write)
{
	struct vm_area_struct *vma;
	bool mapped, allowed;

	scoped_guard(mmap_read_lock, current->mm) {
		vma = vma_lookup(current->mm, untagged_addr(addr));
		mapped = vma;
		allowed = vma && vma->vm_flags & (write ? VM_WRITE : VM_READ);
	}
	if (allowed)
		force_sig_fault(SIGBUS, BUS_ADRERR, (void __user *)addr);
	else
		force_sig_fault(SIGSEGV, mapped ? SEGV_ACCERR : SEGV_MAPERR, (void __user *)addr);
}
