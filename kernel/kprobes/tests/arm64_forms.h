/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_ARM64_FORMS_H
#define _KPROBES_TESTS_ARM64_FORMS_H
/*
 * Instruction forms of arm64: definitions shared by the assembly files with the forms, the
 * assembly file with the machine, and the suite.
 */

#define FORM_SUITE		"kprobes_arm64_forms"
#define FORMS_WANTED		1000

/* A branch replaces one instruction. */
#define FORM_PIECES		1

#define FORM_REGS		32
#define FORM_SP			31	/* index after those of x0 to x30 */

/* The words of the stack that a piece sees: below and above its initial stack pointer. */
#define FORM_STACK_BELOW	16
#define FORM_STACK_ABOVE	16

#define FORM_MEMORY		256
#define FORM_VECTORS		4

/* N, Z, C and V, and the masks D, A, I and F. */
#define FORM_FLAGS		0xf00003c0

/* Offsets in struct form_state, which begins with the memory. */
#define FORM_AT_REGS		FORM_MEMORY
#define FORM_AT_FLAGS		(FORM_AT_REGS + FORM_REGS * 8)
#define FORM_AT_STACK		(FORM_AT_FLAGS + 8)
#define FORM_AT_SPECIAL		(FORM_AT_STACK + (FORM_STACK_BELOW + FORM_STACK_ABOVE) * 8)
#define FORM_AT_VECTORS		(FORM_AT_SPECIAL + 8)

/* Features that a form can need. */
#define FORM_NEEDS_LSE		1
#define FORM_NEEDS_USCAT	2
#define FORM_NEEDS_LRCPC	3
#define FORM_NEEDS_ILRCPC	4
#define FORM_NEEDS_CRC32	5
#define FORM_NEEDS_FLAGM	6
#define FORM_NEEDS_FLAGM2	7
#define FORM_NEEDS_PACA		8
#define FORM_NEEDS_PACG		9
#define FORM_NEEDS_PAN		10
#define FORM_NEEDS_DIT		11
#define FORM_NEEDS_SSBS		12
#define FORM_NEEDS_MTE		13
#define FORM_NEEDS_SB		14
#define FORM_NEEDS_WFXT		15
#define FORM_NEEDS_DCPOP	16
#define FORM_NEEDS_FP		17
#define FORM_NEEDS_FPHP		18
#define FORM_NEEDS_AES		19
#define FORM_NEEDS_PMULL	20
#define FORM_NEEDS_SHA1		21
#define FORM_NEEDS_SHA2		22
#define FORM_NEEDS_ASIMDDP	23
#define FORM_NEEDS_ASIMDRDM	24
#define FORM_NEEDS_UAO		25
#define FORM_NEEDS_XS		26
#define FORM_NEEDS_SVE		27
#define FORM_NEEDS_SVE2		28
#define FORM_NEEDS_MOPS		29
#define FORM_NEEDS_HBC		30
#define FORM_NEEDS_CSSC		31
#define FORM_NEEDS_FRINT	32
#define FORM_NEEDS_I8MM		33
#define FORM_NEEDS_BF16		34
#define FORM_NEEDS_FCMA		35
#define FORM_NEEDS_JSCVT	36
#define FORM_NEEDS_SHA3		37
#define FORM_NEEDS_SHA512	38
#define FORM_NEEDS_SM3		39
#define FORM_NEEDS_SM4		40
#define FORM_NEEDS_DCPODP	41
#define FORM_NEEDS_RNG		42
#define FORM_NEEDS_NMI		43
#define FORM_NEEDS_EL2		44
#define FORM_NEEDS_SPECRES	45
#define FORM_NEEDS_TLB_RANGE	46

#ifndef __ASSEMBLY__

#include <linux/cache.h>
#include <linux/types.h>

#include "../../../arch/arm64/kernel/probes/classify.h"
#include "../../../arch/arm64/kernel/probes/emulate.h"

/* Kind of the instructions that are emulated because they only compute. */
#define FORM_COMPUTED		NR_KINDS
#define FORM_KINDS		(NR_KINDS + 1)

/* See forms.h. */
struct form_state {
	u8 memory[FORM_MEMORY];
	unsigned long regs[FORM_REGS];
	unsigned long flags;
	unsigned long stack[FORM_STACK_BELOW + FORM_STACK_ABOVE];
	unsigned long special;		/* TPIDR_EL0 */
	u8 vectors[FORM_VECTORS][16];
} __aligned(64);

/* arm64_form_run.S: runs a piece on the image. */
extern void *kprobes_form_fn;
void kprobes_form_run(void);

#endif /* !__ASSEMBLY__ */

#endif /* _KPROBES_TESTS_ARM64_FORMS_H */
