// SPDX-License-Identifier: GPL-2.0
/*
 * Which instructions of the kernel can be probed, and at which of them a probe
 * becomes a jump: tried at addresses that have been drawn by lot.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "bench.h"

/* How many addresses were refused with each errno. */
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
 * bench_coverage() - a probe at each address, one after the other
 *
 * Nothing is known about the addresses; some are executed all the time.  The
 * probes stay, so that user space can ask what has become of them.
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
