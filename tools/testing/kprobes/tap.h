/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Test Anything Protocol, as far as the host tests need it. */
#ifndef _KPROBES_TEST_TAP_H
#define _KPROBES_TEST_TAP_H

#include <stdbool.h>
#include <linux/compiler.h>

/* A detail of the running test: a comment line before its verdict. */
void tap_note(const char *fmt, ...) __printf(1, 2);

/* A line with bytes, as a detail of the running test. */
void tap_bytes(const unsigned char *bytes, unsigned int len);

/* The verdict of one test; the name is a sentence that is true if it passes. */
void tap_ok(bool ok, const char *fmt, ...) __printf(2, 3);

/* Plan and exit status: 0 if at least one test ran and none failed. */
int tap_done(void);

#endif /* _KPROBES_TEST_TAP_H */
