/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The A64 tests, one file each, and functions that they share. */
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
void test_user_listing(const char *path);

/* Name of the row that decides about a word, or of its group if there is no such row. */
const char *table_name(u32 insn);

/* Changes bits of @insn so that the row of that name decides; false if there is no such row. */
bool table_force(const char *name, u32 *insn);

/* The same with any row, chosen by @dice. */
void table_force_any(u32 dice, u32 *insn);

/* For the vectors: record the row and group that decide; count those without a vector. */
void table_visit(u32 insn);
unsigned int table_unvisited(void);

/* Are action, kind, exclusive role and all other members the same? */
bool same_verdict(const struct probe_insn *a, const struct probe_insn *b);

/* Returns the error in the verdict that a uprobe gets, or NULL. */
const char *broken_uprobe(u32 insn, const struct probe_insn *desc);

/* Words of the vector files, in the order of the enums. */
extern const char * const action_words[];
extern const char * const kind_words[];
extern const char * const refusal_words[];

#endif /* _KPROBES_TEST_ARM64_TESTS_H */
