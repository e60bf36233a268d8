// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86 uprobes: the shadow stack of a task, for calls and returns that are emulated.
 *
 * shstk_push() and shstk_pop() access the user's memory while they hold the registers of the
 * FPU, so that they cannot handle a page fault. A real call handles it: the stack grows into a
 * new page, or the page is shared with another process since a fork. So if they fail, fault the
 * page in, and try once more.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <asm/fpu/api.h>
#include <asm/msr.h>
#include <asm/shstk.h>

#include "common.h"

/* Makes the page present that holds the top of the stack, or the word that is pushed. */
static noinline int fault_in(bool push)
{
	unsigned long ssp;

	fpregs_lock_and_load();
	rdmsrq(MSR_IA32_PL3_SSP, ssp);
	fpregs_unlock();
	guard(mmap_read_lock)(current->mm);
	return fixup_user_fault(current->mm, push ? ssp - sizeof(u64) : ssp,
				push ? FAULT_FLAG_WRITE : 0, NULL);
}

/**
 * uprobe_shadow_push() - push a word to the shadow stack of current, if it has one
 * @value: the word
 *
 * Context: task, may sleep.
 * Return: 0, -ENOTSUPP without a shadow stack, or -EFAULT.
 */
int uprobe_shadow_push(u64 value)
{
	int ret = shstk_push(value);

	if (unlikely(ret == -EFAULT) && !fault_in(true))
		ret = shstk_push(value);
	return ret;
}

/**
 * uprobe_shadow_pop() - pop a word from the shadow stack of current, if it has one
 * @value: set to the word
 *
 * Context: task, may sleep.
 * Return: 0, -ENOTSUPP without a shadow stack, or -EFAULT.
 */
int uprobe_shadow_pop(u64 *value)
{
	int ret = shstk_pop(value);

	if (unlikely(ret == -EFAULT) && !fault_in(false))
		ret = shstk_pop(value);
	return ret;
}
