/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_ASM_CASE_H
#define _KPROBES_TESTS_ASM_CASE_H
/*
 * Functions in assembly with one instruction to be probed, and the tables of them that the
 * x86 suites walk.  Each row is assembled together with its function, so that a case is
 * written once.
 */
#include <asm/asm.h>
#include <asm/ibt.h>
#include <asm/nospec-branch.h>

#include "asm_text.h"

/* The tables, one for each suite. */
extern const struct asm_case kprobes_differential_cases[];
extern const struct asm_case kprobes_differential_cases_end[];
extern const struct asm_case kprobes_fault_path_cases[];
extern const struct asm_case kprobes_fault_path_cases_end[];

/* Functions of the suite of fault paths. */
void kprobes_fault_callee(void);

/* Functions of the suite of jump optimization. */
int kprobes_opt_loop(void);
int kprobes_opt_first_loop(void);
int kprobes_opt_ends(void);
int kprobes_opt_table(void);
int kprobes_opt_data_table(void);
int kprobes_opt_table_back(void);
int kprobes_opt_long_table(void);
int kprobes_opt_biased_table(void);
int kprobes_opt_two_tables(void);
int kprobes_opt_negative_table(void);
int kprobes_opt_r12_table(void);
int kprobes_opt_parted(void);
int kprobes_opt_grouped(void);
int kprobes_opt_aliased(void);
int kprobes_opt_early(void);
int kprobes_opt_hidden(void);
int kprobes_opt_locked(void);
int kprobes_opt_checked(void);
int kprobes_opt_carry(void);
int kprobes_opt_caller_carry(void);
extern char kprobes_opt_carry_mov[], kprobes_opt_carry_adc[];
unsigned long kprobes_opt_dead(unsigned long set);
unsigned long kprobes_opt_live(unsigned long set);
unsigned long kprobes_opt_dead_entry(unsigned long set);
void kprobes_opt_entry(void);
extern char kprobes_opt_dead_mov[], kprobes_opt_live_mov[];

/* Functions of the suite of code that reads text at a probe. */
unsigned long kprobes_text_zeropad(const void *from);
unsigned long kprobes_text_long_zeropad(const void *from);
int kprobes_text_behind(void);
void kprobes_text_caller(void);
void kprobes_text_callee(void);
extern char kprobes_text_load[], kprobes_text_long_load[];
extern char kprobes_text_checked_load[], kprobes_text_checked_fixup[];
extern char kprobes_text_call[], kprobes_text_called[];
extern char kprobes_text_hlt[], kprobes_text_mwait[], kprobes_text_mwaitx[];
extern char kprobes_text_monitor[];

/* Function of the suite of reliable traces, and the variable that it sets. */
void kprobes_long_fill(void *to, unsigned long bytes);
extern char kprobes_long_fill_insn[], kprobes_long_fill_end[];
extern unsigned int kprobes_filling;

/* Functions of the suite of return probes and the stack. */
int kprobes_tail_target(int x);
int kprobes_tail_caller(int x);
long kprobes_catch(long (*fn)(void));
void __noreturn kprobes_throw(void);
extern unsigned long kprobes_caught_sp;

/* Runs a piece of the differential suite, which describes it. */
struct cpu_image;
void kprobes_run_piece(struct cpu_image *image, void *fn);

#define ASM_TABLE_SECTION(table)	".pushsection .rodata." #table ", \"a\"\n"
#define ASM_TABLE_LABEL(table, label)					\
	asm(ASM_TABLE_SECTION(table)					\
	    ".balign " WORD "\n"					\
	    #label ":\n"						\
	    ".popsection\n")

/* Stand before the first and after the last ASM_CASE() of a table. */
#define ASM_TABLE_BEGIN(table)	ASM_TABLE_LABEL(table, table)
#define ASM_TABLE_END(table)	ASM_TABLE_LABEL(table, table##_end)

/* Registers and operands for both word sizes. */
#define ARG	"%" _ASM_ARG1
#define AX	"%" _ASM_AX
#define BX	"%" _ASM_BX
#define CX	"%" _ASM_CX
#define DX	"%" _ASM_DX
#define SP	"%" _ASM_SP
#define BP	"%" _ASM_BP
#define SI	"%" _ASM_SI
#define DI	"%" _ASM_DI
#define WORD	__stringify(__SIZEOF_POINTER__)

#define ASM_FUNCTION(name, body)					\
	".pushsection .text\n"						\
	ASM_FUNC_ALIGN "\n"						\
	".type " #name ", @function\n"					\
	#name ":\n" ASM_ENDBR						\
	body								\
	".size " #name ", . - " #name "\n"				\
	".popsection\n"

/*
 * These functions use the stack and branches as no compiler does. objtool cannot follow
 * them, and unwinders need not, because the functions do not sleep.
 */
#define ASM_UNCHECKED(name)						\
	".pushsection .discard.func_stack_frame_non_standard, \"aw\"\n"	\
	".long " #name " - .\n"						\
	".popsection\n"

/* A label whose address is used, but that is not the target of indirect branches. */
#define ASM_PLACE(label)	#label ":\n" ANNOTATE_NOENDBR "\n"

/* A plain return, for functions that rethunk builds must not convert. */
#define ASM_BARE_RET	ANNOTATE_RETPOLINE_SAFE "\nret\nint3\n"

/*
 * Defines a function and its row: the code @before the probed @insn, the code that @insn
 * may @skip, and the code @after it, with the function's return.  Each consists of lines
 * that end with a newline.
 */
#define ASM_CASE_TEXT(table, name, flags, before, insn, skip, after)	\
	ASM_FUNCTION(name, before					\
		     ASM_PLACE(name##_insn) insn skip			\
		     ASM_PLACE(name##_next) after)			\
	ASM_UNCHECKED(name)						\
	".pushsection .rodata\n"					\
	#name "_name: .asciz \"" #name "\"\n"				\
	".popsection\n"							\
	ASM_TABLE_SECTION(table)					\
	_ASM_PTR " " #name "_name, " #name ", " #name "_insn, "		\
	#name "_next, " __stringify(flags) "\n"				\
	".popsection\n"

#define ASM_CASE(...)	asm(ASM_CASE_TEXT(__VA_ARGS__))

#endif /* _KPROBES_TESTS_ASM_CASE_H */
