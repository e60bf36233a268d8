// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of watched accesses, and of watching words of the kernel on all processors, or a word
 * of a process.  A kernel without watchpoint probes is measured with its hardware breakpoints.
 */
#include <linux/cache.h>
#include <linux/hw_breakpoint.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/sched.h>

#include "bench.h"

#ifdef CONFIG_WPROBES
#include <linux/wprobes.h>
#endif

#define ROUNDS		4096
#define WARM_UP		16
/* Registrations are measured once each, because their cost is not always the same. */
#define REGISTRATIONS	32
/* Processors have at least that many registers. */
#define WORDS		4

/* Each word needs a register of its own. */
static struct {
	unsigned long value;
} words[WORDS] ____cacheline_aligned;

#ifdef CONFIG_WPROBES
static void count_access(struct wprobe *wp, struct pt_regs *regs, unsigned long old,
			 unsigned long new)
{
	bench_counted++;
}

static struct wprobe probes[WORDS], user_probe;
static struct wprobe *const pointers[WORDS] = {
	&probes[0], &probes[1], &probes[2], &probes[3],
};

/* Watches the first @nr words: writes, or reads, too. */
static int watch(unsigned int nr, bool reads)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		probes[i] = (struct wprobe) {
			.addr = &words[i].value,
			.len = sizeof(words[i].value),
			.type = reads ? WPROBE_RW : WPROBE_WRITE,
			.handler = count_access,
		};
	}
	return nr == 1 ? register_wprobe(&probes[0]) :
			 register_wprobes((struct wprobe **)pointers, nr);
}

static void unwatch(unsigned int nr)
{
	if (nr == 1)
		unregister_wprobe(&probes[0]);
	else
		unregister_wprobes((struct wprobe **)pointers, nr);
}

static int watch_user(unsigned long address)
{
	user_probe = (struct wprobe) {
		.pid = task_tgid_vnr(current),
		.addr = (void *)address,
		.len = sizeof(long),
		.handler = count_access,
	};
	return register_wprobe(&user_probe);
}

static void unwatch_user(void)
{
	unregister_wprobe(&user_probe);
}
#else
static struct perf_event * __percpu *events[WORDS];
static struct perf_event *user_event;

static void count_access(struct perf_event *event, struct perf_sample_data *data,
			 struct pt_regs *regs)
{
	bench_counted++;
}

static void describe(struct perf_event_attr *attr, unsigned long address, bool reads)
{
	hw_breakpoint_init(attr);
	attr->bp_addr = address;
	attr->bp_len = sizeof(long);
	attr->bp_type = reads ? HW_BREAKPOINT_RW : HW_BREAKPOINT_W;
}

static void unwatch(unsigned int nr)
{
	while (nr--)
		unregister_wide_hw_breakpoint(events[nr]);
}

static int watch(unsigned int nr, bool reads)
{
	struct perf_event_attr attr;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		describe(&attr, (unsigned long)&words[i].value, reads);
		events[i] = register_wide_hw_breakpoint(&attr, count_access, NULL);
		if (IS_ERR_PCPU(events[i])) {
			unwatch(i);
			return PTR_ERR_PCPU(events[i]);
		}
	}
	return 0;
}

static int watch_user(unsigned long address)
{
	struct perf_event_attr attr;

	describe(&attr, address, false);
	user_event = register_user_hw_breakpoint(&attr, count_access, NULL, current);
	return PTR_ERR_OR_ZERO(user_event);
}

static void unwatch_user(void)
{
	unregister_hw_breakpoint(user_event);
}
#endif

static void write_word(int i)
{
	WRITE_ONCE(words[0].value, i);
}

static void read_word(int i)
{
	(void)READ_ONCE(words[0].value);
}

/* Returns the time of many accesses. */
static __always_inline u64 time_accesses(void (*access)(int i))
{
	unsigned long flags;
	u64 start, end;
	int i;

	local_irq_save(flags);
	for (i = 0; i < WARM_UP; i++)
		access(i);
	start = ktime_get_ns();
	for (i = 0; i < ROUNDS; i++)
		access(i);
	end = ktime_get_ns();
	local_irq_restore(flags);
	return end - start;
}

/* Measures accesses, all of which have to be seen. */
static __always_inline int measure(const char *key, void (*access)(int i), bool reads)
{
	u64 bare = time_accesses(access), watched;
	int ret = watch(1, reads);

	if (ret)
		return ret;
	bench_counted = 0;
	watched = time_accesses(access);
	unwatch(1);
	if (bench_counted != ROUNDS + WARM_UP) {
		pr_err("bench: %lu accesses were seen, not %u\n", bench_counted, ROUNDS + WARM_UP);
		return -EIO;
	}
	bench_report(key, div_u64(watched - bare, ROUNDS));
	return 0;
}

/* Registers and unregisters @nr watches; reports the time of the fastest of each. */
static int time_registrations(const char *key, unsigned int nr)
{
	u64 start, middle, end, best = U64_MAX, best_un = U64_MAX;
	int i, ret;

	for (i = 0; i < REGISTRATIONS; i++) {
		start = ktime_get_ns();
		ret = watch(nr, false);
		middle = ktime_get_ns();
		if (ret)
			return ret;
		unwatch(nr);
		end = ktime_get_ns();
		best = min(best, middle - start);
		best_un = min(best_un, end - middle);
	}
	bench_report_part(key, "register", best);
	bench_report_part(key, "unregister", best_un);
	return 0;
}

/*
 * True if watched accesses complete.  On arm64, no breakpoint of the kernel that has a handler
 * of a module ever lets the access complete.
 */
static bool accesses_complete(void)
{
	return IS_ENABLED(CONFIG_WPROBES) || !IS_ENABLED(CONFIG_ARM64);
}

/**
 * bench_watch() - measure watched accesses of the kernel, and registrations
 */
int bench_watch(void)
{
	int ret = 0;

	if (accesses_complete())
		ret = measure("watch_write", write_word, false) ?:
		      measure("watch_read", read_word, true);
	return ret ?: time_registrations("watch", 1) ?: time_registrations("watch_4", WORDS);
}

/**
 * bench_watch_word() - watch writes of bench_write_word()
 *
 * Returns -EOPNOTSUPP if such a write would never complete.
 */
int bench_watch_word(void)
{
	return accesses_complete() ? watch(1, false) : -EOPNOTSUPP;
}

void bench_unwatch_word(void)
{
	unwatch(1);
}

int bench_write_word(void)
{
	write_word(0);
	return 0;
}

/**
 * bench_watch_user() - watch writes of a word of the calling process
 * @word: its address, in hexadecimal digits
 */
int bench_watch_user(const char *word)
{
	unsigned long address;
	int ret = kstrtoul(word, 16, &address);

	if (ret)
		return ret;
	if (!accesses_complete())
		return -EOPNOTSUPP;
	bench_counted = 0;
	return watch_user(address);
}

/**
 * bench_unwatch_user() - end that
 * @word: the number of writes that have to have been seen
 */
int bench_unwatch_user(const char *word)
{
	unsigned long writes;
	int ret = kstrtoul(word, 10, &writes);

	unwatch_user();
	if (ret || bench_counted == writes)
		return ret;
	pr_err("bench: %lu writes were seen, not %lu\n", bench_counted, writes);
	return -EIO;
}
