/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The x86 tests, and functions that they share. */
#ifndef _KPROBES_TEST_TESTS_H
#define _KPROBES_TEST_TESTS_H

#include "classify.h"

/* The tests, one file each. */
void test_table(void);
void test_vectors(const char *dir);
void test_rebases(const char *dir);
void test_relocations(const char *dir);
void test_regions(const char *dir);
void test_dead_flags(const char *dir);
void test_user(const char *dir, unsigned long rounds);
void test_user_emulation(void);
void test_user_returns(void);
void test_user_calls(void);
void test_random(unsigned long long seed, unsigned long rounds);
void test_random_regions(unsigned long rounds);
void test_listing(const char *path);
void test_user_listing(const char *path);

struct vector_file;

/* Checks the bytes of a vector in a mode (enum insn_mode). */
typedef void (*check_in_mode_fn)(struct vector_file *vectors, enum insn_mode mode,
				 const unsigned char *bytes, unsigned int len);

/* Calls @check for every vector of dir/name, in each mode that its first column allows. */
void check_in_modes(const char *dir, const char *name, check_in_mode_fn check);

/* Words of the vector files, in the order of the enums. */
extern const char * const action_words[];
extern const char * const emul_words[];
extern const char * const refusal_words[];

/* For test_vectors(): record the row that decides, and count the rows without a vector. */
void table_visit(const unsigned char *bytes, unsigned int len, int mode);
unsigned int table_unvisited(void);

#endif /* _KPROBES_TEST_TESTS_H */
