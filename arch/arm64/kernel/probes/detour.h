/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ARM64_PROBES_DETOUR_H
#define _ARM64_PROBES_DETOUR_H
/*
 * Layout of a detour, which has MAX_OPTINSN_SIZE words:
 *
 *	0, 1	the representative of its point
 *	2	stp x29, x30, [sp, #-PT_REGS_SIZE]!	<- the branch leads here
 *	3	bl  a function of hit/detour_entry.S
 *	4	ldp x29, x30, [sp], #PT_REGS_SIZE
 *	5 ..	the instruction, re-encoded for its address here
 *	..	with a post handler again: stp, bl, ldp
 *	..	b   to the next instruction
 *
 * If there is a post handler, and the instruction can be emulated, the detour has no copy and
 * no second call: kprobe_detour_enter_whole() calls all handlers and emulates the instruction.
 *
 * The return address of the function identifies the detour.
 */
#define DETOUR_CODE		2
#define DETOUR_RETURN		4
#define DETOUR_COPY		5

#define DETOUR_BYTES		64

/* Members in which kprobe_detour_enter() passes the handler's pc and PSTATE to the BRK. */
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
/* Addresses in these functions, and in the return trampoline, for hit/unwind.c. */
extern const char kprobe_detour_enter_linked[], kprobe_detour_enter_whole_linked[];
extern const char kprobe_detour_enter_post_linked[], kprobe_detour_enter_return_linked[];
extern const char kprobe_detour_returning[], kprobe_detour_returned[];
extern const char kprobe_detour_leaving[];
extern const char kretprobe_trampoline_linked[], kretprobe_trampoline_unlinked[];
extern const char kretprobe_trampoline_end[];
/* hit/detour.c: called by the assembly. */
asmlinkage void kprobe_detour_stepped(unsigned long ret, struct pt_regs *regs);
#endif

#endif /* _ARM64_PROBES_DETOUR_H */
