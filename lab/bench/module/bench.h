/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KPROBE_BENCH_H
#define _KPROBE_BENCH_H
/*
 * What the files of the measuring module share.  Everything here uses the
 * public API of kprobes only, so that one source measures any implementation.
 */
#include <linux/kprobes.h>
#include <linux/types.h>

/**
 * bench_report() - one result, for the table
 * @key: which, see lab/bench/rows
 * @value: nanoseconds of the guest, or a number
 */
void bench_report(const char *key, u64 value);

/* The same for one of several results of one thing: the key is @key, "_", and @part. */
void bench_report_part(const char *key, const char *part, u64 value);

/* Counts its calls, and does nothing else. */
int bench_count(struct kprobe *kp, struct pt_regs *regs);
extern unsigned long bench_counted;

/* How long many calls of a function take, with interrupts off. */
u64 bench_time_calls(int (*fn)(void));
/* The same; -EIO if not each of them runs that many handlers that count. */
int bench_time_hits(int (*fn)(void), unsigned int handlers, u64 *time);
/* What one call costs more than without a probe. */
void bench_report_hit(const char *key, u64 probed, u64 bare);

/**
 * enum bench_text - what has to be at a probed address before hits are measured
 * @BENCH_AS_IT_IS:	nothing is waited for
 * @BENCH_SETTLED:	what the optimizer makes of it in the end
 * @BENCH_JUMP:		the same, and that has to be a jump
 *
 * A kernel without jumps is measured as it is: that is what ours is compared with.
 * The text at the address tells.  A kernel may call a probe optimized long before.
 */
enum bench_text {
	BENCH_AS_IT_IS,
	BENCH_SETTLED,
	BENCH_JUMP,
};

/* Waits until the text at a function's entry is like that. */
int bench_await(int (*fn)(void), enum bench_text text);
/* The same while it has no probe: the jump of the last one may still be there. */
int bench_await_bare(int (*fn)(void), enum bench_text text);

/* From here on it is measured how long the text takes to settle. */
void bench_mark(void);

/* Waits until the text at the loaded addresses is settled; how many are jumps. */
int bench_settled_jumps(unsigned int *jumps);

/* Registers a disabled probe and unregisters it; how long the former took. */
int bench_register_other(u64 *time);

/* Functions to be probed; what they look like is in targets.h. */
int bench_plain(void);
int bench_inner(void);
int bench_ftraced(void);

/* Commands: what user space may write into "run".  Each returns an errno. */
int bench_hits(void);
int bench_optimized_hits(void);
int bench_oldest(const char *what);
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
int bench_lock(const char *key);
int bench_coverage(void);
int bench_parallel(void);
int bench_single(unsigned int nr, const char *key);

/* Address @i of those that have been loaded, or 0. */
unsigned long bench_point(unsigned int i);
/* Registers a probe on the next of them, or else drops it; -ENOENT after the last. */
int bench_register_next(unsigned long *address);
/* At how many of those that have been probed a jump is now, and none was before. */
unsigned int bench_point_jumps(void);

/* When the module goes. */
void bench_returns_exit(void);
void bench_hits_exit(void);
void bench_registration_exit(void);

#endif /* _KPROBE_BENCH_H */
