/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KERNEL_WPROBES_TESTS_WATCHED_H
#define _KERNEL_WPROBES_TESTS_WATCHED_H
/*
 * A probe that counts the calls of its handler and keeps the arguments of the last one, and
 * accesses that the compiler does not change.
 */
#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/ptrace.h>
#include <linux/smp.h>
#include <linux/wprobes.h>

/**
 * struct watched - a probe that counts
 * @wp:		the probe
 * @hits:	calls of its handler
 * @old:	argument of the last call
 * @new:	argument of the last call
 * @ip:		instruction pointer of the last call
 * @cpu:	CPU of the last call
 */
struct watched {
	struct wprobe wp;
	atomic_t hits;
	unsigned long old;
	unsigned long new;
	unsigned long ip;
	int cpu;
};

static __maybe_unused void watched_hit(struct wprobe *wp, struct pt_regs *regs,
				       unsigned long old, unsigned long new)
{
	struct watched *w = container_of(wp, struct watched, wp);

	atomic_inc(&w->hits);
	w->old = old;
	w->new = new;
	w->ip = instruction_pointer(regs);
	w->cpu = raw_smp_processor_id();
}

static inline struct watched watched_at(void *addr, unsigned int len)
{
	return (struct watched) {
		.wp = { .addr = addr, .len = len, .handler = watched_hit },
	};
}

static inline int hits_of(struct watched *w)
{
	return atomic_read(&w->hits);
}

/* More registers than any processor has. */
#define MANY		(WPROBE_SLOTS + 1)

static __maybe_unused noinline void write_long(unsigned long *at, unsigned long value)
{
	WRITE_ONCE(*at, value);
}

static __maybe_unused noinline void write_int(u32 *at, u32 value)
{
	WRITE_ONCE(*at, value);
}

static __maybe_unused noinline void write_byte(u8 *at, u8 value)
{
	WRITE_ONCE(*at, value);
}

static __maybe_unused noinline unsigned long read_long(unsigned long *at)
{
	return READ_ONCE(*at);
}

struct watched_write {
	unsigned long *at;
	unsigned long value;
};

static __maybe_unused void make_watched_write(void *data)
{
	const struct watched_write *write = data;

	write_long(write->at, write->value);
}

/* Is one write of each CPU a hit?  Its register may get the address of the probe later. */
static __maybe_unused void expect_hit_of_each_cpu(struct kunit *test, struct watched *w,
						  unsigned long *at)
{
	int cpu, tries;

	for_each_online_cpu(cpu) {
		struct watched_write write = { .at = at, .value = 5UL + cpu };
		int n = hits_of(w);

		for (tries = 0; tries < 200 && hits_of(w) == n; tries++) {
			smp_call_function_single(cpu, make_watched_write, &write, true);
			msleep(20);
		}
		KUNIT_EXPECT_EQ(test, hits_of(w), n + 1);
	}
}

/* One write of each CPU is a hit, at once. */
static __maybe_unused void expect_hit_of_all_cpus(struct kunit *test, struct watched *w,
						  unsigned long *at)
{
	struct watched_write write = { .at = at, .value = 5 };
	unsigned int n = hits_of(w);

	on_each_cpu(make_watched_write, &write, true);
	KUNIT_EXPECT_EQ(test, hits_of(w), n + num_online_cpus());
}

/* A CPU loses its debug registers, as in a suspend, and gets them back with their watches. */
static __maybe_unused void expect_restored(struct kunit *test, void (*lose)(void),
					   void (*restore)(void))
{
	static unsigned long at[2];
	struct watched w = watched_at(&at[0], sizeof(long));
	struct watched other = watched_at(&at[1], 1);
	unsigned long flags;

	other.wp.type = WPROBE_RW;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	KUNIT_ASSERT_EQ(test, register_wprobe(&other.wp), 0);
	local_irq_save(flags);
	lose();
	write_long(&at[0], 1);
	read_long(&at[1]);
	restore();
	write_long(&at[0], 2);
	read_long(&at[1]);
	local_irq_restore(flags);
	unregister_wprobe(&w.wp);
	unregister_wprobe(&other.wp);
	write_long(&at[0], 3);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	KUNIT_EXPECT_EQ(test, w.new, 2);
	KUNIT_EXPECT_EQ(test, hits_of(&other), 1);
}

#endif /* _KERNEL_WPROBES_TESTS_WATCHED_H */
