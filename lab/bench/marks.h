/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _BENCH_MARKS_H
#define _BENCH_MARKS_H
/*
 * Marks in the emulator's log of exceptions, for traps.awk: a page fault at a known address.
 * Their keys are printed, in their order, as "mark: KEY".  Built with nolibc.
 */

/* This page is mapped by nobody else. */
#define MARK_ADDRESS	0x6d616000UL
#define MARK_SIZE	4096

/* Begins a key, or ends the last one if KEY is "". */
static void mark(const char *key)
{
	char *page;

	if (*key)
		printf("mark: %s\n", key);
	page = mmap((void *)MARK_ADDRESS, MARK_SIZE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (page != (char *)MARK_ADDRESS)
		exit(1);
	*(volatile char *)page = 1;
	munmap(page, MARK_SIZE);
}

#endif /* _BENCH_MARKS_H */
