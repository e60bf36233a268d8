/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions shared by the random tests; test_random() sets and prints the seed. */
#ifndef _KPROBES_TEST_RANDOM_H
#define _KPROBES_TEST_RANDOM_H

#include <linux/types.h>

void random_seed(u64 seed);
u64 random_next(void);

/* The end of a readable page that is followed by an unreadable one. */
unsigned char *page_end(void);

/* Random bytes that are more often valid instructions than by chance alone. */
void random_bytes(unsigned char *bytes, unsigned int len);

#endif /* _KPROBES_TEST_RANDOM_H */
