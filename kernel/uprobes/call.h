/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls in place of nops, see call.c and call_regs.c.
 */
#ifndef _KERNEL_UPROBES_CALL_H
#define _KERNEL_UPROBES_CALL_H

#include <linux/ptrace.h>

#include "internal.h"

/* Bytes of the stack that arch_uprobe_call_undo() reads, at most. */
#define UPROBE_CALL_STACK	(4 * sizeof(unsigned long))

/* area.c */
unsigned long uprobe_area_place(struct mm_struct *mm, unsigned long vaddr);

/* trampoline.c */
int uprobe_mapping_mremap(const struct vm_special_mapping *sm, struct vm_area_struct *vma);
int uprobe_map_page(struct mm_struct *mm, unsigned long addr,
		    const struct vm_special_mapping *mapping);

#ifdef CONFIG_UPROBE_CALLS
/**
 * uprobe_mm_has_calls() - has a process a call page?
 * @mm: the process, or NULL
 *
 * Context: any, NMI too.
 */
static __always_inline bool uprobe_mm_has_calls(struct mm_struct *mm)
{
	return mm && READ_ONCE(mm->uprobes_state.call_pages[0]);
}

/**
 * uprobe_is_call_page() - does a call page of a process begin at an address?
 * @mm: the process
 * @addr: the address
 *
 * Context: any, NMI too.
 * Return: true if it does.
 */
static __always_inline bool uprobe_is_call_page(struct mm_struct *mm, unsigned long addr)
{
	const unsigned long *pages = mm->uprobes_state.call_pages;
	unsigned int i;

	/* Most processes have one at most. */
	if (READ_ONCE(pages[0]) == addr)
		return addr;
	for (i = 1; i < UPROBE_CALL_PAGES; i++) {
		if (READ_ONCE(pages[i]) == addr)
			return addr;
	}
	return false;
}

/* call.c */
unsigned long uprobe_call_page(unsigned long addr);
void uprobe_call_replace(unsigned long vaddr, struct pt_regs *regs);
bool uprobe_call_target(struct mm_struct *mm, const u8 *insn, unsigned long vaddr);
bool uprobe_call_at(struct mm_struct *mm, const u8 *at, unsigned long vaddr);
void uprobe_calls_undo(struct mm_struct *mm, u8 *kaddr, unsigned long page_addr,
		       struct uprobe_point **points, u64 which);
void uprobe_calls_hide_some(struct mm_struct *mm, u8 *text, unsigned long vaddr, unsigned int len);
int uprobe_calls_moving(struct vm_area_struct *vma, unsigned long start, unsigned long len);
void uprobe_calls_fork(struct mm_struct *oldmm, struct mm_struct *newmm);

/* call_hit.c */
void uprobe_call_hit(struct pt_regs *regs);
#else
static __always_inline bool uprobe_mm_has_calls(struct mm_struct *mm)
{
	return false;
}

static inline void uprobe_call_replace(unsigned long vaddr, struct pt_regs *regs)
{
}

static inline bool uprobe_call_at(struct mm_struct *mm, const u8 *at, unsigned long vaddr)
{
	return false;
}

static inline void uprobe_calls_undo(struct mm_struct *mm, u8 *kaddr, unsigned long page_addr,
				     struct uprobe_point **points, u64 which)
{
}

static inline void uprobe_calls_hide_some(struct mm_struct *mm, u8 *text, unsigned long vaddr,
					  unsigned int len)
{
}

static inline int uprobe_calls_moving(struct vm_area_struct *vma, unsigned long start,
				      unsigned long len)
{
	return 0;
}

static inline void uprobe_calls_fork(struct mm_struct *oldmm, struct mm_struct *newmm)
{
}

static inline unsigned long uprobe_call_page(unsigned long addr)
{
	return 0;
}
#endif

/* call_regs.c: only for a process with a call page, so that others pay one test. */
unsigned long uprobe_call_ip(const struct pt_regs *regs);
unsigned long uprobe_call_logical_ip(const struct pt_regs *regs);
bool uprobe_call_leave(struct pt_regs *regs);
bool uprobe_call_end(struct pt_regs *regs, bool hit);

/**
 * uprobe_calls_hide() - show text as it would be with breakpoints only
 * @mm: the process
 * @text: a copy of its text, which is changed
 * @vaddr: its address
 * @len: number of bytes
 *
 * Context: any.
 */
static __always_inline void uprobe_calls_hide(struct mm_struct *mm, u8 *text, unsigned long vaddr,
					      unsigned int len)
{
	if (unlikely(uprobe_mm_has_calls(mm)))
		uprobe_calls_hide_some(mm, text, vaddr, len);
}

#endif /* _KERNEL_UPROBES_CALL_H */
