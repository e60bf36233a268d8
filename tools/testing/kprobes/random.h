/* SPDX-License-Identifier: GPL-2.0-only */
/* What random tests share; the seed is set, and printed, by test_random(). */
#ifndef _KPROBES_TEST_RANDOM_H
#define _KPROBES_TEST_RANDOM_H

#include <linux/types.h>

void random_seed(u64 seed);
u64 random_next(void);

/* The end of a readable page before an unreadable one. */
unsigned char *page_end(void);

/* Bytes that are more often instructions than chance makes them. */
void random_bytes(unsigned char *bytes, unsigned int len);

#endif /* _KPROBES_TEST_RANDOM_H */
