/* SPDX-License-Identifier: GPL-2.0-only */
/* The A64 tests, one file each, and what they ask each other. */
#ifndef _KPROBES_TEST_ARM64_TESTS_H
#define _KPROBES_TEST_ARM64_TESTS_H

#include <stdbool.h>
#include <linux/types.h>

struct probe_insn;

void test_table(void);
void test_predicates(void);
void test_vectors(const char *dir);
void test_relocations(const char *dir);
void test_uprobes(void);
void test_random(unsigned long long seed, unsigned long rounds);
void test_listing(const char *path);

/* Name of the row, or else of the group, that decides about a word. */
const char *table_name(u32 insn);

/* Changes the bits that matter, so that the row of that name decides; false if there is none. */
bool table_force(const char *name, u32 *insn);

/* The same with any row; the dice say which. */
void table_force_any(u32 dice, u32 *insn);

/* For the vectors: which rows and groups have decided, and how many have not yet. */
void table_visit(u32 insn);
unsigned int table_unvisited(void);

/* Is the action, kind, exclusive role and so on the same? */
bool same_verdict(const struct probe_insn *a, const struct probe_insn *b);

/* What is wrong about the verdict that a uprobe gets, or NULL. */
const char *broken_uprobe(u32 insn, const struct probe_insn *desc);

/* Words of the vector files, in the order of the enums. */
extern const char * const action_words[];
extern const char * const kind_words[];
extern const char * const refusal_words[];

#endif /* _KPROBES_TEST_ARM64_TESTS_H */
