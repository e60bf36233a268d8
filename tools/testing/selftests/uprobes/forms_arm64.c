// SPDX-License-Identifier: GPL-2.0
/*
 * The machine for instruction forms (arm64): features of the processor, and the change to the
 * stack of a run.
 */
#include "../kselftest.h"
#include "forms.h"

const struct form_table form_tables[] = {
	{ "data", kprobes_forms_data, kprobes_forms_data_end },
	{ "memory", kprobes_forms_memory, kprobes_forms_memory_end },
	{ "branch", kprobes_forms_branch, kprobes_forms_branch_end },
	{ "system", kprobes_forms_system, kprobes_forms_system_end },
	{ "vector", kprobes_forms_vector, kprobes_forms_vector_end },
	{ "scalable", kprobes_forms_scalable, kprobes_forms_scalable_end },
	{ "user", uprobes_forms_user, uprobes_forms_user_end },
	{ 0 }
};

const char *const form_registers[FORM_REGS] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7",
	"x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
	"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
	"x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",
};

/* Bits of AT_HWCAP, and from 64 on of AT_HWCAP2, as the kernel documents them. */
static const unsigned char bits[] = {
	[FORM_NEEDS_LSE] = 8,
	[FORM_NEEDS_USCAT] = 25,
	[FORM_NEEDS_LRCPC] = 15,
	[FORM_NEEDS_ILRCPC] = 26,
	[FORM_NEEDS_CRC32] = 7,
	[FORM_NEEDS_FLAGM] = 27,
	[FORM_NEEDS_FLAGM2] = 64 + 7,
	[FORM_NEEDS_PACA] = 30,
	[FORM_NEEDS_PACG] = 31,
	[FORM_NEEDS_DIT] = 24,
	[FORM_NEEDS_SSBS] = 28,
	[FORM_NEEDS_MTE] = 64 + 18,
	[FORM_NEEDS_SB] = 29,
	[FORM_NEEDS_WFXT] = 64 + 31,
	[FORM_NEEDS_DCPOP] = 16,
	[FORM_NEEDS_FPHP] = 9,
	[FORM_NEEDS_AES] = 3,
	[FORM_NEEDS_PMULL] = 4,
	[FORM_NEEDS_SHA1] = 5,
	[FORM_NEEDS_SHA2] = 6,
	[FORM_NEEDS_ASIMDDP] = 20,
	[FORM_NEEDS_ASIMDRDM] = 12,
	[FORM_NEEDS_SVE] = 22,
	[FORM_NEEDS_SVE2] = 64 + 1,
	[FORM_NEEDS_MOPS] = 64 + 43,
	[FORM_NEEDS_HBC] = 64 + 44,
	[FORM_NEEDS_CSSC] = 64 + 34,
	[FORM_NEEDS_FRINT] = 64 + 8,
	[FORM_NEEDS_I8MM] = 64 + 13,
	[FORM_NEEDS_BF16] = 64 + 14,
	[FORM_NEEDS_FCMA] = 14,
	[FORM_NEEDS_JSCVT] = 13,
	[FORM_NEEDS_SHA3] = 17,
	[FORM_NEEDS_SHA512] = 21,
	[FORM_NEEDS_SM3] = 18,
	[FORM_NEEDS_SM4] = 19,
	[FORM_NEEDS_DCPODP] = 64 + 0,
	[FORM_NEEDS_RNG] = 64 + 16,
};

/* Features without a bit are those of the kernel's own exception levels: their forms fault. */
bool form_there(const struct form *form)
{
	unsigned int bit;

	if (!form->feature || form->feature == FORM_NEEDS_FP)
		return true;
	/* Random numbers differ between runs. */
	if (form->feature == FORM_NEEDS_RNG)
		return false;
	if (form->feature >= sizeof(bits) || !bits[form->feature])
		return form->feature == FORM_NEEDS_DCPODP && getauxval(AT_HWCAP2) & 1;
	bit = bits[form->feature];
	return (bit < 64 ? getauxval(AT_HWCAP) : getauxval(AT_HWCAP2)) >> bit % 64 & 1;
}

/*
 * Refused: instructions that a kernel cannot execute for a program, or whose copy could not stop
 * at its end.  The keys of authenticated branches are in registers that only the program can use.
 */
static const struct {
	__u32 mask, value;
} refusals[] = {
	{ 0xfe00f800, 0xd6000800 },	/* braa, blraa, retaa and their kind, eretaa */
	{ 0xffffffff, 0xd69f03e0 },	/* eret */
	{ 0xff000000, 0xd4000000 },	/* svc, hvc, smc, brk, hlt */
	{ 0xffff0000, 0x00000000 },	/* udf */
	{ 0x3fa00000, 0x08000000 },	/* ldxr, stxr */
	{ 0xfffff0df, 0xd50340df },	/* msr daifset, msr daifclr */
	{ 0xffdfffe0, 0xd51b4220 },	/* msr daif, mrs daif */
	{ 0xffff0000, 0xd5180000 },	/* msr of registers of the kernel */
};

bool form_refused(const struct form *form)
{
	__u32 insn = *(const __u32 *)form->pieces[0].probe;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(refusals); i++) {
		if ((insn & refusals[i].mask) == refusals[i].value)
			return true;
	}
	return false;
}

/* Runs a piece from the state in the image, on the stack that ends at STACK. */
void form_run(const struct form_piece *piece, void *stack)
{
	kprobes_form_fn = piece->fn;
	asm volatile("mov x19, sp; mov sp, %0; bl kprobes_form_run; mov sp, x19"
		     : : "r" (stack)
		     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
		       "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x30",
		       "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
		       "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22",
		       "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31",
		       "memory", "cc");
}
