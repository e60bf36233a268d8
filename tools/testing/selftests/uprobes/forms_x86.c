// SPDX-License-Identifier: GPL-2.0
/*
 * The machine for instruction forms (x86): features of the processor, vector registers, and
 * the change to the stack of a run.
 */
#include <asm/cpufeatures.h>

#include "forms.h"

const struct form_table form_tables[] = {
	{ "data", kprobes_forms_data, kprobes_forms_data_end },
	{ "flags", kprobes_forms_flags, kprobes_forms_flags_end },
	{ "branch", kprobes_forms_branch, kprobes_forms_branch_end },
	{ "vector", kprobes_forms_vector, kprobes_forms_vector_end },
	{ "user", uprobes_forms_user, uprobes_forms_user_end },
	{ 0 }
};

const char *const form_registers[FORM_REGS] = {
	"ax", "cx", "dx", "bx", "sp", "bp", "si", "di",
#ifdef __x86_64__
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
#endif
};

/* Variables that forms name. */
unsigned long kprobes_form_percpu, this_cpu_off;

static void cpuid(unsigned int leaf, unsigned int subleaf, unsigned int out[4])
{
	asm volatile("cpuid"
		     : "=a" (out[0]), "=b" (out[1]), "=c" (out[2]), "=d" (out[3])
		     : "0" (leaf), "2" (subleaf));
}

/* The leaf, and the register, with the bits of one word of the kernel's features. */
static const struct cpuid_word {
	unsigned int word, leaf, reg;
} words[] = {
	{ 0, 1, 3 },
	{ 1, 0x80000001, 3 },
	{ 4, 1, 2 },
	{ 6, 0x80000001, 2 },
	{ 9, 7, 1 },
	{ 16, 7, 2 },
	{ 18, 7, 3 },
};

#define NR_WORDS	(sizeof(words) / sizeof(*words))

static bool has(unsigned long feature)
{
	unsigned int i, out[4];

	for (i = 0; i < NR_WORDS; i++) {
		if (words[i].word != feature / 32)
			continue;
		cpuid(words[i].leaf & 0x80000000, 0, out);
		if (out[0] < words[i].leaf)
			return false;
		cpuid(words[i].leaf, 0, out);
		return out[words[i].reg] >> feature % 32 & 1;
	}
	return false;
}

/* Vectors of 256 bits need a kernel that saves them. */
static bool has_avx(void)
{
	unsigned int low, high;

	if (!has(X86_FEATURE_AVX) || !has(X86_FEATURE_OSXSAVE))
		return false;
	asm volatile("xgetbv" : "=a" (low), "=d" (high) : "c" (0));
	return (low & 6) == 6;
}

bool form_there(const struct form *form)
{
	if (!has(form->feature))
		return false;
	if (form->feature == X86_FEATURE_AVX || form->feature == X86_FEATURE_AVX2)
		return has_avx();
	return true;
}

/* The tables mark the forms that are refused. */
bool form_refused(const struct form *form)
{
	return false;
}

static void load_vectors(const struct form_state *image)
{
	const __u8 (*v)[FORM_VECTOR_SIZE] = image->vectors;

	if (has_avx())
		asm volatile("vmovdqu (%0), %%ymm0; vmovdqu 32(%0), %%ymm1\n\t"
			     "vmovdqu 64(%0), %%ymm2; vmovdqu 96(%0), %%ymm3"
			     : : "r" (v) : "memory");
	else if (has(X86_FEATURE_XMM))
		asm volatile("movups (%0), %%xmm0; movups 32(%0), %%xmm1\n\t"
			     "movups 64(%0), %%xmm2; movups 96(%0), %%xmm3"
			     : : "r" (v) : "memory");
}

static void store_vectors(struct form_state *image)
{
	__u8 (*v)[FORM_VECTOR_SIZE] = image->vectors;

	if (has_avx())
		asm volatile("vmovdqu %%ymm0, (%0); vmovdqu %%ymm1, 32(%0)\n\t"
			     "vmovdqu %%ymm2, 64(%0); vmovdqu %%ymm3, 96(%0)"
			     : : "r" (v) : "memory");
	else if (has(X86_FEATURE_XMM))
		asm volatile("movups %%xmm0, (%0); movups %%xmm1, 32(%0)\n\t"
			     "movups %%xmm2, 64(%0); movups %%xmm3, 96(%0)"
			     : : "r" (v) : "memory");
}

/* Runs a piece from the state in the image, on the stack that ends at STACK. */
void form_run(const struct form_piece *piece, void *stack)
{
	struct form_state *image = &kprobes_form_image;

	kprobes_form_percpu = image->special;
	kprobes_form_fn = piece->fn;
	load_vectors(image);
#ifdef __x86_64__
	asm volatile("mov %%rsp, %%rbx; mov %0, %%rsp; call kprobes_form_run; mov %%rbx, %%rsp"
		     : "+a" (stack) : : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10",
		       "r11", "memory", "cc");
#else
	asm volatile("mov %%esp, %%ebx; mov %0, %%esp; call kprobes_form_run; mov %%ebx, %%esp"
		     : "+a" (stack) : : "ebx", "ecx", "edx", "memory", "cc");
#endif
	store_vectors(image);
	image->special = kprobes_form_percpu;
}
