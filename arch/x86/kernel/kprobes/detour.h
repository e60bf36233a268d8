/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _X86_KERNEL_KPROBES_DETOUR_H
#define _X86_KERNEL_KPROBES_DETOUR_H
/*
 * Layout of a detour; for C and assembly.
 *
 *	+0	the address of its point's representative
 *	+8 (+4)	int3 up to the entry, to which the jump leads
 *		call	a function of hit/detour_64.S or hit/detour_32.S
 *		popf					perhaps
 *	+15 (+11) copy of the region's first instruction
 *		call	kprobe_detour_enter_post	if there are post handlers
 *		popf					likewise
 *		copies of the other instructions
 *		jmp	to the end of the region	if execution gets there
 *
 * There are five entries, of which i386 has the first and the last.  The functions of those with
 * a popf leave the flags on the stack:
 *
 *		call	kprobe_detour_enter		sahf cannot be executed, or functions return
 *		popf					through a thunk that changes the flags
 *							(call_depth_return_thunk)
 *
 *		call	kprobe_detour_enter_sahf	popf takes some twenty cycles
 *
 *		call	kprobe_detour_enter_dead	the first instructions overwrite the
 *							arithmetic flags before they read one
 *
 *		call	kprobe_detour_enter_return_dead	likewise; a return probe without other
 *							probes
 *
 *		pushf					a return probe without other probes
 *		call	kprobe_detour_enter_return
 *		popf
 *
 * A detour is aligned to its size, so any address in it identifies the detour.  The last bytes of
 * a detour are a struct detour_data.
 */

#define DETOUR_SIZE	64
#define DETOUR_CODE	__SIZEOF_POINTER__
#define DETOUR_COPY	(DETOUR_CODE + 7)
/* The call returns to a popf, or to the first copy. */
#define DETOUR_POPF	(DETOUR_COPY - 1)

#ifndef __ASSEMBLY__
#include <linux/kprobes.h>
#include <asm/text-patching.h>

#define PUSHF_INSN_OPCODE	0x9c
#define POPF_INSN_OPCODE	0x9d

/**
 * struct detour_data - positions of the copies in a detour
 * @original:	offset of each instruction but the first from the probed address
 * @copy:	offset of their copies from the copy of the first instruction
 * @end:	offset of the end of the copies, likewise
 * @len:	length of the region in bytes
 * @nr:		number of instructions in the region
 */
struct detour_data {
	u8 original[4];
	u8 copy[4];
	u8 end;
	u8 len : 5;
	u8 nr : 3;
};

#define DETOUR_DATA	(DETOUR_SIZE - sizeof(struct detour_data))

/* Context: the detour exists, or preemption has been disabled since its address was found. */
static __always_inline const struct detour_data *detour_data(const kprobe_opcode_t *detour)
{
	return (const struct detour_data *)(detour + DETOUR_DATA);
}

/* Returns the offset in the detour to which the jump leads. */
static __always_inline unsigned int detour_entry(const kprobe_opcode_t *detour)
{
	unsigned int entry = DETOUR_CODE;

	while (detour[entry] == INT3_INSN_OPCODE)
		entry++;
	return entry;
}

/* hit/detour_32.S, hit/detour_64.S; called by detours, not by C. */
void kprobe_detour_enter(void);
void kprobe_detour_enter_post(void);
void kprobe_detour_enter_return(void);
/* 64-bit only */
void kprobe_detour_enter_sahf(void);
void kprobe_detour_enter_dead(void);
void kprobe_detour_enter_return_dead(void);

/* hit/detour.c; called by the functions above */
struct pt_regs *kprobe_detour_redirect(struct pt_regs *regs, unsigned long ret);
void kprobe_detour_stepped(unsigned long ret, struct pt_regs *regs);
#endif

#endif /* _X86_KERNEL_KPROBES_DETOUR_H */
