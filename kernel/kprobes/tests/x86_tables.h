/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_X86_TABLES_H
#define _KPROBES_TESTS_X86_TABLES_H
/*
 * Functions with jump tables, for the suite of regions only.
 */
#include "asm_case.h"
#include "opt_functions.h"

/*
 * A jump through a table with @entries entries.  The index selects the last entry, which leads
 * to the end as the others do, except the first, which leads to the label @first.  The
 * displacement is @bias entries less than the address of the table.
 */
#define TABLE_FUNCTION_IN(section, name, first, entries, bias)		\
	asm(ASM_FUNCTION(name,						\
			 "xor %eax, %eax\n"				\
			 ASM_PLACE(1) "add $2, %eax\n"			\
			 "mov $(" #entries " - 1 + " #bias "), %ecx\n"	\
			 ANNOTATE_RETPOLINE_SAFE "\n"			\
			 "jmp *3f-" #bias "*" WORD "(," CX ", " WORD ")\nint3\n" \
			 "2: " ASM_ENDBR "add $1, %eax\n"		\
			 ASM_RET)					\
	    ASM_UNCHECKED(name)						\
	    ".pushsection " section "\n"				\
	    ".balign " WORD "\n"					\
	    ".skip 32*" WORD "\n"					\
	    "3: " _ASM_PTR " " #first "\n"				\
	    ".rept " #entries " - 1\n"					\
	    _ASM_PTR " 2b\n"						\
	    ".endr\n"							\
	    ".skip 32*" WORD "\n"					\
	    ".popsection\n")

#define TABLE_FUNCTION(name, first, entries, bias)			\
	TABLE_FUNCTION_IN(".rodata", name, first, entries, bias)

TABLE_FUNCTION(kprobes_opt_table, 2b, 4, 0);
/* Only read-only data is read. */
TABLE_FUNCTION_IN(".data", kprobes_opt_data_table, 2b, 4, 0);
TABLE_FUNCTION(kprobes_opt_table_back, 1b, 4, 0);
/* More entries than the optimizer reads. */
TABLE_FUNCTION(kprobes_opt_long_table, 2b, 1100, 0);
/* Compilers that know the lowest index generate such a bias. */
TABLE_FUNCTION(kprobes_opt_biased_table, 2b, 4, 100);
/* The lowest index is negative: the table begins far before the displacement. */
TABLE_FUNCTION(kprobes_opt_negative_table, 1b, 24, -20);

/*
 * Two jumps.  The compiler has biased the table of the second one into that of the first one.  A
 * few other words follow the first table.
 */
asm(ASM_FUNCTION(kprobes_opt_two_tables,
		 "xor %eax, %eax\n"
		 ASM_PLACE(1) "add $2, %eax\n"
		 "mov $3, %ecx\n"
		 ANNOTATE_RETPOLINE_SAFE "\n"
		 "jmp *3f(," CX ", " WORD ")\nint3\n"
		 "2: " ASM_ENDBR "mov $11, %ecx\n"
		 ANNOTATE_RETPOLINE_SAFE "\n"
		 "jmp *3f+2*" WORD "(," CX ", " WORD ")\nint3\n"
		 "4: " ASM_ENDBR "add $1, %eax\n"
		 ASM_RET)
	ASM_UNCHECKED(kprobes_opt_two_tables)
	".pushsection .rodata\n"
	".balign " WORD "\n"
	".skip 32*" WORD "\n"
	"3: " _ASM_PTR " 2b, 2b, 2b, 2b\n"
	".skip 5*" WORD "\n"
	_ASM_PTR " 1b, 4b, 4b, 4b, 4b\n"
	".skip 32*" WORD "\n"
	".popsection\n");

#ifdef CONFIG_X86_64
/* The number of the register with the index has a bit in a prefix. */
asm(ASM_FUNCTION(kprobes_opt_r12_table,
		 "xor %eax, %eax\n"
		 ASM_PLACE(1) "add $2, %eax\n"
		 "mov %r12, %r8\n"
		 "mov $3, %r12d\n"
		 ANNOTATE_RETPOLINE_SAFE "\n"
		 "jmp *3f(, %r12, 8)\nint3\n"
		 "2: " ASM_ENDBR "mov %r8, %r12\n"
		 "add $1, %eax\n"
		 ASM_RET)
	ASM_UNCHECKED(kprobes_opt_r12_table)
	".pushsection .rodata\n"
	".balign 8\n"
	".skip 32*8\n"
	"3: .quad 1b, 2b, 2b, 2b\n"
	".skip 32*8\n"
	".popsection\n");
#endif

#endif /* _KPROBES_TESTS_X86_TABLES_H */
