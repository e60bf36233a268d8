/* SPDX-License-Identifier: GPL-2.0-only */
/* The x86 tests, and functions that they share. */
#ifndef _KPROBES_TEST_TESTS_H
#define _KPROBES_TEST_TESTS_H

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
void test_random(unsigned long long seed, unsigned long rounds);
void test_random_regions(unsigned long rounds);
void test_listing(const char *path);

/* For test_vectors(): record the row that decides, and count the rows without a vector. */
void table_visit(const unsigned char *bytes, unsigned int len, int mode);
unsigned int table_unvisited(void);

#endif /* _KPROBES_TEST_TESTS_H */
