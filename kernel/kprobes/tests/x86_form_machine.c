// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The machine for instruction forms (x86): everything except general registers, flags and
 * stack.
 */
#include <linux/build_bug.h>
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>

#include "forms.h"

const struct form_table kprobes_form_tables[] = {
	{ kprobes_forms_data, kprobes_forms_data_end },
	{ kprobes_forms_flags, kprobes_forms_flags_end },
	{ kprobes_forms_branch, kprobes_forms_branch_end },
	{ kprobes_forms_vector, kprobes_forms_vector_end },
	{}
};

const char * const kprobes_form_reg_names[FORM_REGS] = {
	"ax", "cx", "dx", "bx", "sp", "bp", "si", "di",
#ifdef CONFIG_X86_64
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
#endif
};

DEFINE_PER_CPU(unsigned long, kprobes_form_percpu);

static_assert(offsetof(struct form_state, regs) == FORM_AT_REGS);
static_assert(offsetof(struct form_state, flags) == FORM_AT_FLAGS);
static_assert(offsetof(struct form_state, stack) == FORM_AT_STACK);

/**
 * kprobes_form_there() - does the processor have the feature that a form needs?
 * @form: the form; its feature is one of X86_FEATURE_*
 */
bool kprobes_form_there(const struct form *form)
{
	return boot_cpu_has(form->feature);
}

/**
 * kprobes_form_classify() - ask the backend about a form
 * @piece: one of its pieces
 * @class: result
 */
void kprobes_form_classify(const struct form_piece *piece, struct form_class *class)
{
	struct probe_insn insn;
	int ret = probe_classify(piece->insn, MAX_INSN_SIZE, INSN_MODE_KERN, &insn);

	*class = (struct form_class) {
		.len = insn.len,
		.kind = insn.emul,
		.refusal = ret ? probe_refusal_name(insn.refusal) : NULL,
	};
}

static void load_vectors(const struct form_state *image)
{
	const u8 (*v)[32] = image->vectors;

	if (boot_cpu_has(X86_FEATURE_AVX))
		asm volatile("vmovdqu %0, %%ymm0\n"
			     "vmovdqu %1, %%ymm1\n"
			     "vmovdqu %2, %%ymm2\n"
			     "vmovdqu %3, %%ymm3\n"
			     : : "m" (v[0]), "m" (v[1]), "m" (v[2]), "m" (v[3]));
	else if (boot_cpu_has(X86_FEATURE_XMM))
		asm volatile("movups %0, %%xmm0\n"
			     "movups %1, %%xmm1\n"
			     "movups %2, %%xmm2\n"
			     "movups %3, %%xmm3\n"
			     : : "m" (v[0]), "m" (v[1]), "m" (v[2]), "m" (v[3]));
}

static void store_vectors(struct form_state *image)
{
	u8 (*v)[32] = image->vectors;

	if (boot_cpu_has(X86_FEATURE_AVX))
		asm volatile("vmovdqu %%ymm0, %0\n"
			     "vmovdqu %%ymm1, %1\n"
			     "vmovdqu %%ymm2, %2\n"
			     "vmovdqu %%ymm3, %3\n"
			     : "+m" (v[0]), "+m" (v[1]), "+m" (v[2]), "+m" (v[3]));
	else if (boot_cpu_has(X86_FEATURE_XMM))
		asm volatile("movups %%xmm0, %0\n"
			     "movups %%xmm1, %1\n"
			     "movups %%xmm2, %2\n"
			     "movups %%xmm3, %3\n"
			     : "+m" (v[0]), "+m" (v[1]), "+m" (v[2]), "+m" (v[3]));
}

/**
 * kprobes_form_begin() - reserve the vector registers for the following runs
 */
void kprobes_form_begin(void)
{
	kernel_fpu_begin();
}

/**
 * kprobes_form_end() - release the vector registers
 */
void kprobes_form_end(void)
{
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
	struct form_state *image = &kprobes_form_image;

	this_cpu_write(kprobes_form_percpu, image->special);
	kprobes_form_fn = piece->fn;
	load_vectors(image);
	kprobes_form_run();
	store_vectors(image);
	image->special = this_cpu_read(kprobes_form_percpu);
}
