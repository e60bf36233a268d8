// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a watched write, and of watching one variable on all processors.  A kernel without
 * watchpoint probes is measured with its hardware breakpoints.
 */
#include <linux/hw_breakpoint.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include "bench.h"

#ifdef CONFIG_WPROBES
#include <linux/wprobes.h>
#endif

#define ROUNDS		4096
#define WARM_UP		16
/* Registrations are measured once each, because their cost is not always the same. */
#define REGISTRATIONS	32

static unsigned long word;

#ifdef CONFIG_WPROBES
static void count_write(struct wprobe *wp, struct pt_regs *regs, unsigned long old,
			unsigned long new)
{
	bench_counted++;
}

static struct wprobe probe = {
	.addr = &word,
	.len = sizeof(word),
	.handler = count_write,
};

static int watch(void)
{
	return register_wprobe(&probe);
}

static void unwatch(void)
{
	unregister_wprobe(&probe);
}
#else
static struct perf_event * __percpu *events;

static void count_write(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	bench_counted++;
}

static int watch(void)
{
	struct perf_event_attr attr;

	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)&word;
	attr.bp_len = sizeof(word);
	attr.bp_type = HW_BREAKPOINT_W;
	events = register_wide_hw_breakpoint(&attr, count_write, NULL);
	return IS_ERR_PCPU(events) ? PTR_ERR_PCPU(events) : 0;
}

static void unwatch(void)
{
	unregister_wide_hw_breakpoint(events);
}
#endif

static u64 time_writes(void)
{
	unsigned long flags;
	u64 start, end;
	int i;

	local_irq_save(flags);
	for (i = 0; i < WARM_UP; i++)
		WRITE_ONCE(word, i);
	start = ktime_get_ns();
	for (i = 0; i < ROUNDS; i++)
		WRITE_ONCE(word, i);
	end = ktime_get_ns();
	local_irq_restore(flags);
	return end - start;
}

/* Registers and unregisters; reports the time of the fastest of each. */
static int time_registrations(void)
{
	u64 start, middle, end, best = U64_MAX, best_un = U64_MAX;
	int i, ret;

	for (i = 0; i < REGISTRATIONS; i++) {
		start = ktime_get_ns();
		ret = watch();
		middle = ktime_get_ns();
		if (ret)
			return ret;
		unwatch();
		end = ktime_get_ns();
		best = min(best, middle - start);
		best_un = min(best_un, end - middle);
	}
	bench_report("watch_register", best);
	bench_report("watch_unregister", best_un);
	return 0;
}

/*
 * bench_watch() - measure watched writes.  On arm64, no breakpoint of the kernel that has a
 * handler of a module ever lets the write complete, so only probes are measured.
 */
int bench_watch(void)
{
	u64 bare = time_writes(), watched;
	int ret;

	if (IS_ENABLED(CONFIG_ARM64) && !IS_ENABLED(CONFIG_WPROBES))
		return time_registrations();
	ret = watch();
	if (ret)
		return ret;
	bench_counted = 0;
	watched = time_writes();
	unwatch();
	if (bench_counted != ROUNDS + WARM_UP) {
		pr_err("bench: %lu writes were seen, not %u\n", bench_counted, ROUNDS + WARM_UP);
		return -EIO;
	}
	bench_report("watch_write", div_u64(watched - bare, ROUNDS));
	return time_registrations();
}
