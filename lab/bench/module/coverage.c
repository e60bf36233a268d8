// SPDX-License-Identifier: GPL-2.0
/*
 * Count the instructions of the kernel that can be probed, and the probes that
 * become jumps, at random addresses.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "bench.h"

/* Number of addresses that were refused, for each errno. */
static unsigned int refused[MAX_ERRNO + 1];

static void report_refused(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		if (refused[i])
			pr_info("bench: note: %u addresses are refused with %pe\n",
				refused[i], ERR_PTR(-(long)i));
	}
}

/**
 * bench_coverage() - register a probe at each address, one after the other
 *
 * The addresses are arbitrary; some are executed all the time.  The probes stay
 * registered, so that user space can read their state.
 */
int bench_coverage(void)
{
	unsigned int accepted = 0, jumps;
	unsigned long address;
	int ret;

	memset(refused, 0, sizeof(refused));
	while ((ret = bench_register_next(&address)) != -ENOENT) {
		if (!ret) {
			accepted++;
			continue;
		}
		refused[-ret]++;
		pr_info("bench: note: %pS is refused: %pe\n", (void *)address,
			ERR_PTR(ret));
	}
	report_refused();
	bench_report("opt_accepted", accepted);
	ret = bench_settled_jumps(&jumps);
	if (!ret)
		bench_report("opt_optimized", jumps);
	return ret;
}
