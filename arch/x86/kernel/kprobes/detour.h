/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _X86_KERNEL_KPROBES_DETOUR_H
#define _X86_KERNEL_KPROBES_DETOUR_H
/*
 * What a detour looks like; for C and assembly.
 *
 *	+0	the address of its point's representative
 *	+8 (+4)	call	kprobe_detour_enter		<- the jump leads here
 *		(or, for a return probe alone, kprobe_detour_enter_return)
 *		copy of the region's first instruction
 *		call	kprobe_detour_enter_post	if there are post handlers
 *		copies of the others
 *		jmp	behind the region		if execution gets there
 *
 * A detour is aligned to its size: any address in it tells which one it is.
 */

#define DETOUR_SIZE	64
#define DETOUR_CODE	__SIZEOF_POINTER__
/* Behind a call, to where it returns. */
#define DETOUR_COPY	(DETOUR_CODE + 5)

#ifndef __ASSEMBLY__
struct pt_regs;
struct kprobe;

/* detour_32.S, detour_64.S; called by detours, not by C. */
void kprobe_detour_enter(void);
void kprobe_detour_enter_post(void);
void kprobe_detour_enter_return(void);

/* detour_hit.c; called from there */
struct pt_regs *kprobe_detour_redirect(struct pt_regs *regs);
void kprobe_detour_stepped(unsigned long ret, struct pt_regs *regs);
#endif

#endif /* _X86_KERNEL_KPROBES_DETOUR_H */
