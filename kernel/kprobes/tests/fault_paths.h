/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_FAULT_PATHS_H
#define _KPROBES_TESTS_FAULT_PATHS_H
/*
 * Instructions that fault: declarations shared by the suite, which is for all
 * architectures, and the file with the instructions of an architecture.
 *
 * A row is a function with an instruction that has an exception table entry.  It returns
 * FAULT_GOOD with a good argument, and FAULT_FIXED after the fix-up.  If a handler skips
 * the instruction, it returns the value that the handler has stored as the result.
 */
#include <linux/types.h>

#include "asm_text.h"

struct kunit;
struct pt_regs;

#define FAULT_FIXED	77
#define FAULT_SKIPPED	33
#define FAULT_GOOD	20

/* Kinds of bad arguments. */
enum fault_bad {
	BAD_UNMAPPED,		/* a kernel address without a page */
	BAD_NON_CANONICAL,
	BAD_NULL,		/* the address of a member of a structure at NULL */
	NR_BAD,
};

extern const struct asm_table kprobes_fault_table;

/* A load without an exception table entry: only a fault handler can resolve its fault. */
unsigned long kprobes_fault_bare(unsigned long address);
extern char kprobes_fault_bare_insn[], kprobes_fault_bare_next[];

int kprobes_fault_init(struct kunit *test);
bool kprobes_fault_there(const struct asm_case *c);
bool kprobes_fault_applies(const struct asm_case *c, enum fault_bad bad, bool helped);
bool kprobes_fault_leaves(const struct asm_case *c);
bool kprobes_fault_hits_again(const struct asm_case *c);
unsigned long kprobes_fault_bad(const struct asm_case *c, enum fault_bad bad,
				unsigned long guard_page);
unsigned long kprobes_fault_good(const struct asm_case *c);
bool kprobes_fault_is(const struct asm_case *c, enum fault_bad bad, int trapnr);
void kprobes_fault_repair(struct pt_regs *regs, unsigned long argument);

#endif /* _KPROBES_TESTS_FAULT_PATHS_H */
