/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_FORMS_H
#define _UPROBES_FORMS_H
/*
 * Instruction forms in a program: the tables and the machine are those of the kernel's suites
 * in kernel/kprobes/tests, whose headers under headers/ replace those of the kernel.
 */
#include <linux/types.h>

/* The kernel's header has definitions for C that only the kernel can compile. */
#define __ASSEMBLY__
#ifdef __aarch64__
#include <arm64_forms.h>
#else
#include <x86_forms.h>
#endif
#undef __ASSEMBLY__

#include <form_rows.h>

extern const struct form uprobes_forms_user[], uprobes_forms_user_end[];

/* In place of the dead flags: the form may be refused. */
#define FORM_REFUSABLE		(-1UL)

#ifdef __aarch64__
#define FORM_VECTOR_SIZE	16
#else
#define FORM_VECTOR_SIZE	32
#endif

/* The members before "vectors" are at the offsets that the assembly knows. */
struct form_state {
	__u8 memory[FORM_MEMORY];
	unsigned long regs[FORM_REGS];
	unsigned long flags;
	unsigned long stack[FORM_STACK_BELOW + FORM_STACK_ABOVE];
	unsigned long special;
	__u8 vectors[FORM_VECTORS][FORM_VECTOR_SIZE];
} __attribute__((aligned(64)));

/* A table of forms with its name. */
struct form_table {
	const char *name;
	const struct form *begin, *end;
};

/*
 * The machine of an architecture: forms_x86.c or forms_arm64.c.  form_refused(): the form's
 * instruction cannot be probed.
 */
extern const struct form_table form_tables[];	/* in the last, begin is NULL */
extern const char *const form_registers[FORM_REGS];

bool form_there(const struct form *form);
bool form_refused(const struct form *form);
void form_run(const struct form_piece *piece, void *stack);

/* The state of the current run. */
extern struct form_state kprobes_form_image;

/* Assembly of kernel/kprobes/tests. */
extern void *kprobes_form_fn;
void kprobes_form_run(void);
void kprobes_form_done(void);

#endif /* _UPROBES_FORMS_H */
