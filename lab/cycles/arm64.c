// SPDX-License-Identifier: GPL-2.0
/*
 * arm64: our assembly, linked from the kernel's objects.  All their symbols have the prefix
 * bare_.  The base has no assembly to compare with: its hits, and its returns, take exceptions.
 *
 * Alternatives stay as they were compiled: for a processor without PAN and MTE.
 */
#include <err.h>
#include <sys/mman.h>

#include "measure.h"

#define LINK_REGISTER	30

/* mrs and mov to x0; the lowest bits are the number of the register */
#define MRS_DAIF	0xd53b4220U
#define MOV_XZR		0xaa1f03e0U
#define REGISTER_MASK	0x1fU

/* arm64.S */
void unprobed(void), plain_return(void);
void ours_bare(void), ours_entry(void), ours_return(void);
void ours_jump(void), ours_step_call(void);

/* The section of the assembly; the linker defines these symbols. */
extern uint32_t __start_kprobes_text[], __stop_kprobes_text[];

uint64_t real_return;

int bare_kprobe_detour_pre(void *kp, uint64_t *regs);
void bare_kprobe_detour_return(void *kp, uint64_t *place);
void bare_kretprobe_return(uint64_t *regs, void *frame);

int bare_kprobe_detour_pre(void *kp, uint64_t *regs)
{
	count_hit();
	return 0;
}

void bare_kprobe_detour_return(void *kp, uint64_t *place)
{
	count_hit();
}

void bare_kretprobe_return(uint64_t *regs, void *frame)
{
	count_hit();
	regs[LINK_REGISTER] = real_return;
}

/* Replaces reads of DAIF, which user space must not read, by zero. */
void prepare(void)
{
	uintptr_t start = (uintptr_t)__start_kprobes_text & -65536UL;
	uint32_t *insn;

	if (mprotect((void *)start, (uintptr_t)__stop_kprobes_text - start,
		     PROT_READ | PROT_WRITE | PROT_EXEC))
		err(1, "mprotect");
	for (insn = __start_kprobes_text; insn < __stop_kprobes_text; insn++) {
		if ((*insn & ~REGISTER_MASK) == MRS_DAIF)
			*insn = MOV_XZR | (*insn & REGISTER_MASK);
	}
	__builtin___clear_cache((char *)__start_kprobes_text, (char *)__stop_kprobes_text);
}

const struct pair pairs[] = {
	{ "detour, assembly",
	  .ours = { ours_bare, unprobed, 1 } },
	{ "entry of a return probe, assembly",
	  .ours = { ours_entry, unprobed, 1 } },
	{ "return trampoline, assembly, 4 callers",
	  .ours = { ours_return, plain_return, 1 } },
	{ }
};

const struct step steps[] = {
	{ "the branch to the detour, and that back",	{ ours_jump, unprobed, 0 } },
	{ "and stp, the call, the return, and ldp",	{ ours_step_call, unprobed, 0 } },
	{ "the whole detour",				{ ours_bare, unprobed, 1 } },
	{ }
};

const char left_out[] =
	"mrs daif (mov instead), reading ttbr0 (nothing instead), and all for PAN and MTE";
