/* SPDX-License-Identifier: GPL-2.0-only */
/* Test Anything Protocol, as much of it as the host tests need. */
#ifndef _KPROBES_TEST_TAP_H
#define _KPROBES_TEST_TAP_H

#include <stdbool.h>
#include <linux/compiler.h>

/* A detail of the running test: a comment line before its verdict. */
void tap_note(const char *fmt, ...) __printf(1, 2);

/* A line of bytes, as a detail of the running test. */
void tap_bytes(const unsigned char *bytes, unsigned int len);

/* The verdict of one test; the name is a sentence that is true if it passes. */
void tap_ok(bool ok, const char *fmt, ...) __printf(2, 3);

/* Plan and exit status: 0 if at least one test ran and none failed. */
int tap_done(void);

/* The tests, one file each. */
void test_table(void);
void test_vectors(const char *dir);
void test_relocate(const char *dir);
void test_moves(const char *dir);
void test_regions(const char *dir);
void test_random(unsigned long long seed, unsigned long rounds);
void test_random_regions(unsigned long rounds);
void test_listing(const char *path);

/* For test_vectors(): which table row decides, and whether all have been seen. */
struct probe_insn;
void table_visit(const unsigned char *bytes, unsigned int len, int mode);
unsigned int table_unvisited(void);

#endif /* _KPROBES_TEST_TAP_H */
