/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KPROBE_BENCH_H
#define _KPROBE_BENCH_H
/*
 * Declarations shared by the files of the measuring module.  All code in it uses only
 * the public API of kprobes, so that one source measures any implementation.
 */
#include <linux/kprobes.h>
#include <linux/types.h>

/**
 * bench_report() - print one result for the table
 * @key: name of the result, see lab/bench/rows
 * @value: nanoseconds of the guest, or a number
 */
void bench_report(const char *key, u64 value);

/* Prints one of several results of a measurement, with the key @key, "_", and @part. */
void bench_report_part(const char *key, const char *part, u64 value);

/* A pre handler that only counts its calls. */
int bench_count(struct kprobe *kp, struct pt_regs *regs);
extern unsigned long bench_counted;

/* Returns the time of many calls of a function, with interrupts off. */
u64 bench_time_calls(int (*fn)(void));
/* The same; returns -EIO unless each call runs that many handlers that count. */
int bench_time_hits(int (*fn)(void), unsigned int handlers, u64 *time);
/* Reports the additional cost of one call with a probe. */
void bench_report_hit(const char *key, u64 probed, u64 bare);

/**
 * enum bench_text - required state of the text at a probed address before measuring
 * @BENCH_AS_IT_IS:	any
 * @BENCH_SETTLED:	the final state, after the optimizer has finished
 * @BENCH_JUMP:		the final state, which has to be a jump
 *
 * A kernel without jumps is measured as it is, to compare ours with it.  The text at the
 * address is checked, because a kernel may call a probe optimized long before the jump.
 */
enum bench_text {
	BENCH_AS_IT_IS,
	BENCH_SETTLED,
	BENCH_JUMP,
};

/* Waits until the text at a function's entry is in that state. */
int bench_await(int (*fn)(void), enum bench_text text);
/* The same for a function without a probe, where the last probe's jump may still be. */
int bench_await_bare(int (*fn)(void), enum bench_text text);

/* Begins to measure the time until the text has settled. */
void bench_mark(void);

/* Waits until the text at the loaded addresses has settled, and counts the jumps. */
int bench_settled_jumps(unsigned int *jumps);

/* Registers a disabled probe and unregisters it; measures the time to register it. */
int bench_register_other(u64 *time);

/* Functions to be probed; targets.h defines them. */
int bench_plain(void);
int bench_inner(void);
int bench_ftraced(void);

/* Commands that user space may write to "run".  Each returns an errno. */
int bench_hits(void);
int bench_optimized_hits(void);
int bench_oldest(const char *word);
int bench_nesting(void);
int bench_optimized_nesting(void);
int bench_return_nesting(void);
int bench_returns(void);
int bench_optimized_returns(void);
int bench_blocked(void);
int bench_register_returns(unsigned int nr, const char *key);
int bench_load(const char *path);
int bench_register(unsigned int nr, const char *key);
int bench_unregister(const char *key);
int bench_release(const char *key);
int bench_settle(const char *key);
int bench_unftraced(const char *key);
int bench_lock(const char *key);
int bench_coverage(void);
int bench_parallel(void);
int bench_quiet(void);
int bench_watch(void);
int bench_watch_user(const char *word);
int bench_unwatch_user(const char *word);
int bench_traps(const char *word);
#ifdef CONFIG_FPROBE
int bench_rivals(void);
int bench_traced(const char *word);
#else
static inline int bench_rivals(void)
{
	return -EOPNOTSUPP;
}

static inline int bench_traced(const char *word)
{
	return -EOPNOTSUPP;
}
#endif
int bench_single(unsigned int nr, const char *key);

/* Returns the loaded address of index @i, or 0. */
unsigned long bench_point(unsigned int i);
/* Registers a probe at the next address, or drops the address; -ENOENT after the last. */
int bench_register_next(unsigned long *address);
/* Counts probed addresses that have a jump now and had none before. */
unsigned int bench_point_jumps(void);

/* Watches the word that bench_write_word() writes; bench_counted is the number of writes. */
int bench_watch_word(void);
void bench_unwatch_word(void);
int bench_write_word(void);

/* Called when the module is unloaded. */
void bench_traps_exit(void);
void bench_returns_exit(void);
void bench_hits_exit(void);
void bench_registration_exit(void);

#endif /* _KPROBE_BENCH_H */
