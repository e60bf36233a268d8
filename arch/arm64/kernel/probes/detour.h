/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ARM64_PROBES_DETOUR_H
#define _ARM64_PROBES_DETOUR_H
/*
 * A detour, in words of MAX_OPTINSN_SIZE:
 *
 *	0, 1	the representative of its point
 *	2	stp x29, x30, [sp, #-PT_REGS_SIZE]!	where the branch leads
 *	3	bl  a function of hit/detour_entry.S
 *	4	ldp x29, x30, [sp], #PT_REGS_SIZE
 *	5 ..	the instruction, re-encoded for where it is here
 *	..	with a post handler again: stp, bl, ldp
 *	..	b   to the next instruction
 *
 * With a post handler, and an instruction that needs no copy, there is none: the function
 * does it all.
 *
 * The function is told by its return address whose detour it is.
 */
#define DETOUR_CODE		2
#define DETOUR_RETURN		4
#define DETOUR_COPY		5

#define DETOUR_BYTES		64

/* Where kprobe_detour_enter() leaves to the BRK what a handler has chosen. */
#define S_CHOSEN_PC		S_SDEI_TTBR1
#define S_CHOSEN_PSTATE		(S_PSTATE + 8)

#ifndef __ASSEMBLY__
#include <linux/linkage.h>
#include <linux/types.h>

struct kprobe;
struct pt_regs;

/* hit/detour_entry.S: called by detours only. */
asmlinkage void kprobe_detour_enter(void);
asmlinkage void kprobe_detour_enter_post(void);
asmlinkage void kprobe_detour_enter_return(void);
asmlinkage void kprobe_detour_enter_whole(void);
/* The BRK in the first of them. */
extern const char kprobe_detour_elsewhere[];
/* Addresses in these, and in the return trampoline, that hit/unwind.c tells apart. */
extern const char kprobe_detour_enter_linked[], kprobe_detour_enter_whole_linked[];
extern const char kprobe_detour_enter_post_linked[], kprobe_detour_enter_return_linked[];
extern const char kprobe_detour_returning[], kprobe_detour_returned[];
extern const char kprobe_detour_leaving[];
extern const char kretprobe_trampoline_linked[], kretprobe_trampoline_unlinked[];
extern const char kretprobe_trampoline_end[];
/* hit/detour.c: called by those. */
asmlinkage void kprobe_detour_stepped(unsigned long ret, struct pt_regs *regs);
#endif

#endif /* _ARM64_PROBES_DETOUR_H */
