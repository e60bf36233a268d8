/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _BENCH_SAMPLES_H
#define _BENCH_SAMPLES_H
/*
 * Several measurements of one thing: the least, or the median.
 */
#include <linux/types.h>

/* Sets *LEAST to SAMPLE if that is less; *LEAST is 0 before the first sample. */
static void sample(__u64 *least, __u64 sample)
{
	if (!*least || sample < *least)
		*least = sample;
}

/* Returns the median of NR times, and sorts them. */
static __u64 median(__u64 *times, int nr)
{
	__u64 time;
	int i, j;

	for (i = 1; i < nr; i++) {
		time = times[i];
		for (j = i; j && times[j - 1] > time; j--)
			times[j] = times[j - 1];
		times[j] = time;
	}
	return times[nr / 2];
}

#endif /* _BENCH_SAMPLES_H */
