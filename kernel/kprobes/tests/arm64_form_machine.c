// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The machine for instruction forms (arm64): everything that is not a function in assembly.
 */
#include <linux/build_bug.h>
#include <linux/sched.h>
#include <linux/stddef.h>
#include <asm/cpufeature.h>
#include <asm/fpu.h>
#include <asm/hwcap.h>
#include <asm/insn.h>
#include <asm/sysreg.h>
#include <asm/virt.h>

#include "forms.h"

const struct form_table kprobes_form_tables[] = {
	{ kprobes_forms_data, kprobes_forms_data_end },
	{ kprobes_forms_memory, kprobes_forms_memory_end },
	{ kprobes_forms_branch, kprobes_forms_branch_end },
	{ kprobes_forms_system, kprobes_forms_system_end },
	{ kprobes_forms_vector, kprobes_forms_vector_end },
	{ kprobes_forms_scalable, kprobes_forms_scalable_end },
	{}
};

const char * const kprobes_form_reg_names[FORM_REGS] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7",
	"x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
	"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
	"x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",
};

static_assert(offsetof(struct form_state, regs) == FORM_AT_REGS);
static_assert(offsetof(struct form_state, flags) == FORM_AT_FLAGS);
static_assert(offsetof(struct form_state, stack) == FORM_AT_STACK);
static_assert(offsetof(struct form_state, special) == FORM_AT_SPECIAL);
static_assert(offsetof(struct form_state, vectors) == FORM_AT_VECTORS);

static const unsigned int hwcaps[] = {
	[FORM_NEEDS_LSE] = KERNEL_HWCAP_ATOMICS,
	[FORM_NEEDS_USCAT] = KERNEL_HWCAP_USCAT,
	[FORM_NEEDS_LRCPC] = KERNEL_HWCAP_LRCPC,
	[FORM_NEEDS_ILRCPC] = KERNEL_HWCAP_ILRCPC,
	[FORM_NEEDS_CRC32] = KERNEL_HWCAP_CRC32,
	[FORM_NEEDS_FLAGM] = KERNEL_HWCAP_FLAGM,
	[FORM_NEEDS_FLAGM2] = KERNEL_HWCAP_FLAGM2,
	[FORM_NEEDS_PACA] = KERNEL_HWCAP_PACA,
	[FORM_NEEDS_PACG] = KERNEL_HWCAP_PACG,
	[FORM_NEEDS_DIT] = KERNEL_HWCAP_DIT,
	[FORM_NEEDS_SSBS] = KERNEL_HWCAP_SSBS,
	[FORM_NEEDS_MTE] = KERNEL_HWCAP_MTE,
	[FORM_NEEDS_SB] = KERNEL_HWCAP_SB,
	[FORM_NEEDS_WFXT] = KERNEL_HWCAP_WFXT,
	[FORM_NEEDS_DCPOP] = KERNEL_HWCAP_DCPOP,
	[FORM_NEEDS_FP] = KERNEL_HWCAP_FP,
	[FORM_NEEDS_FPHP] = KERNEL_HWCAP_FPHP,
	[FORM_NEEDS_AES] = KERNEL_HWCAP_AES,
	[FORM_NEEDS_PMULL] = KERNEL_HWCAP_PMULL,
	[FORM_NEEDS_SHA1] = KERNEL_HWCAP_SHA1,
	[FORM_NEEDS_SHA2] = KERNEL_HWCAP_SHA2,
	[FORM_NEEDS_ASIMDDP] = KERNEL_HWCAP_ASIMDDP,
	[FORM_NEEDS_ASIMDRDM] = KERNEL_HWCAP_ASIMDRDM,
	[FORM_NEEDS_SVE] = KERNEL_HWCAP_SVE,
	[FORM_NEEDS_SVE2] = KERNEL_HWCAP_SVE2,
	[FORM_NEEDS_MOPS] = KERNEL_HWCAP_MOPS,
	[FORM_NEEDS_HBC] = KERNEL_HWCAP_HBC,
	[FORM_NEEDS_CSSC] = KERNEL_HWCAP_CSSC,
	[FORM_NEEDS_FRINT] = KERNEL_HWCAP_FRINT,
	[FORM_NEEDS_I8MM] = KERNEL_HWCAP_I8MM,
	[FORM_NEEDS_BF16] = KERNEL_HWCAP_BF16,
	[FORM_NEEDS_FCMA] = KERNEL_HWCAP_FCMA,
	[FORM_NEEDS_JSCVT] = KERNEL_HWCAP_JSCVT,
	[FORM_NEEDS_SHA3] = KERNEL_HWCAP_SHA3,
	[FORM_NEEDS_SHA512] = KERNEL_HWCAP_SHA512,
	[FORM_NEEDS_SM3] = KERNEL_HWCAP_SM3,
	[FORM_NEEDS_SM4] = KERNEL_HWCAP_SM4,
	[FORM_NEEDS_DCPODP] = KERNEL_HWCAP_DCPODP,
	[FORM_NEEDS_RNG] = KERNEL_HWCAP_RNG,
};

/* The value of a field of an ID register. */
static unsigned int id_field(u32 reg, unsigned int shift)
{
	return cpuid_feature_extract_unsigned_field(read_sanitised_ftr_reg(reg), shift);
}

/**
 * kprobes_form_there() - does the processor have the feature that a form needs?
 * @form: the form; its feature is one of FORM_NEEDS_*, or 0
 */
bool kprobes_form_there(const struct form *form)
{
	switch (form->feature) {
	case 0:
		return true;
	/* These features are not reported to user space, so they have no hwcap. */
	case FORM_NEEDS_PAN:
		return id_field(SYS_ID_AA64MMFR1_EL1, ID_AA64MMFR1_EL1_PAN_SHIFT);
	case FORM_NEEDS_UAO:
		return id_field(SYS_ID_AA64MMFR2_EL1, ID_AA64MMFR2_EL1_UAO_SHIFT);
	case FORM_NEEDS_XS:
		return id_field(SYS_ID_AA64ISAR1_EL1, ID_AA64ISAR1_EL1_XS_SHIFT);
	case FORM_NEEDS_NMI:
		return id_field(SYS_ID_AA64PFR1_EL1, ID_AA64PFR1_EL1_NMI_SHIFT);
	case FORM_NEEDS_SPECRES:
		return id_field(SYS_ID_AA64ISAR1_EL1, ID_AA64ISAR1_EL1_SPECRES_SHIFT);
	case FORM_NEEDS_TLB_RANGE:
		return id_field(SYS_ID_AA64ISAR0_EL1, ID_AA64ISAR0_EL1_TLB_SHIFT) >=
		       ID_AA64ISAR0_EL1_TLB_RANGE;
	case FORM_NEEDS_EL2:
		return is_kernel_in_hyp_mode();
	default:
		return cpu_have_feature(hwcaps[form->feature]);
	}
}

/**
 * kprobes_form_classify() - ask the backend about a form
 * @piece: one of its pieces
 * @class: result
 */
void kprobes_form_classify(const struct form_piece *piece, struct form_class *class)
{
	u32 word = le32_to_cpup(piece->insn);
	struct probe_insn insn;
	int ret = probe_classify(word, &insn);
	bool computed = !ret && insn.action == PROBE_COPY && probe_emulator(word, &insn);

	*class = (struct form_class) {
		.len = AARCH64_INSN_SIZE,
		.kind = computed ? FORM_COMPUTED : insn.kind,
		.no_post = insn.no_step,
		.refusal = ret ? probe_refusal_name(insn.refusal) : NULL,
	};
}

/* The value of the task that runs pieces.  The kernel itself does not use the register. */
static unsigned long tpidr_el0;

/**
 * kprobes_form_begin() - reserve the vector registers for the following runs
 *
 * States may have FIQs masked and IRQs unmasked.  Kernel code never does, so a detour that ends
 * in a reschedule, in a preemptible kernel, would unmask both.  Preemption is disabled.
 */
void kprobes_form_begin(void)
{
	kernel_fpu_begin();
	preempt_disable();
	tpidr_el0 = read_sysreg(tpidr_el0);
}

/**
 * kprobes_form_end() - release the vector registers
 */
void kprobes_form_end(void)
{
	write_sysreg(tpidr_el0, tpidr_el0);
	preempt_enable();
	kernel_fpu_end();
}

/**
 * kprobes_form_run_image() - run a piece from the state in the image, and store its result there
 * @piece: the piece
 *
 * Context: task, between kprobes_form_begin() and kprobes_form_end().
 */
void kprobes_form_run_image(const struct form_piece *piece)
{
	kprobes_form_fn = piece->fn;
	kprobes_form_run();
}
