// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hits: values, lengths, types, changes, the reported address, per-CPU variables.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/percpu.h>

#include "../internal.h"
#include "watched.h"

static unsigned long words[3];
static DEFINE_PER_CPU(unsigned long, per_cpu_word);

/* Hidden, so that no address inside of the function looks like the target of a call. */
static bool is_in(unsigned long addr, void *fn)
{
	OPTIMIZER_HIDE_VAR(fn);
	return addr > (unsigned long)fn && addr < (unsigned long)fn + 64;
}

static void a_write_calls_the_handler(struct kunit *test)
{
	struct watched w = watched_at(&words[1], sizeof(long));

	words[1] = 17;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	write_long(&words[1], 18);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	KUNIT_EXPECT_EQ(test, w.old, 17);
	KUNIT_EXPECT_EQ(test, w.new, 18);
	KUNIT_EXPECT_TRUE(test, is_in(w.ip, write_long));
	write_long(&words[1], ~0UL);
	KUNIT_EXPECT_EQ(test, w.old, 18);
	KUNIT_EXPECT_EQ(test, w.new, ~0UL);
	/* A write of the same value is a write. */
	write_long(&words[1], ~0UL);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 3);
	/* Reads are not, nor are other words. */
	read_long(&words[1]);
	write_long(&words[0], 1);
	write_long(&words[2], 1);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 3);
	KUNIT_EXPECT_EQ(test, w.wp.nmissed, 0);
	unregister_wprobe(&w.wp);
}

static void each_length_watches_its_bytes(struct kunit *test)
{
	unsigned int len, at, i;
	u8 *bytes = (u8 *)words;

	for (len = 1; len <= sizeof(long); len *= 2) {
		for (at = 0; at < sizeof(words); at += len) {
			struct watched w = watched_at(&bytes[at], len);

			memset(words, 0, sizeof(words));
			KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
			for (i = 0; i < sizeof(words); i++) {
				write_byte(&bytes[i], 0x80 + i);
				KUNIT_EXPECT_EQ(test, hits_of(&w),
						clamp((int)(i - at) + 1, 0, (int)len));
			}
			unregister_wprobe(&w.wp);
			if (len == 1)
				KUNIT_EXPECT_EQ(test, w.new, 0x80 + at);
		}
	}
}

static void wide_writes_hit_narrow_watches(struct kunit *test)
{
	u8 *bytes = (u8 *)words;
	unsigned int i;

	for (i = 0; i < sizeof(long); i++) {
		struct watched w = watched_at(&bytes[i], 1);
		unsigned long value = 0;

		memset(&value, 0x41 + i, sizeof(value));
		words[0] = 0;
		KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
		write_long(&words[0], value);
		unregister_wprobe(&w.wp);
		KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
		KUNIT_EXPECT_EQ(test, w.old, 0);
		KUNIT_EXPECT_EQ(test, w.new, 0x41 + i);
	}
}

static void reads_are_hits_if_wanted(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));

	w.wp.type = WPROBE_RW;
	words[0] = 3;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	KUNIT_EXPECT_EQ(test, read_long(&words[0]), 3);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	KUNIT_EXPECT_TRUE(test, is_in(w.ip, read_long));
	KUNIT_EXPECT_EQ(test, w.old, 3);
	KUNIT_EXPECT_EQ(test, w.new, 3);
	write_long(&words[0], 4);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 2);
	KUNIT_EXPECT_EQ(test, w.new, 4);
	unregister_wprobe(&w.wp);
}

static void changes_only_if_wanted(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));

	w.wp.flags = WPROBE_FLAG_CHANGED;
	words[0] = 3;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	write_long(&words[0], 3);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 0);
	write_long(&words[0], 4);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	KUNIT_EXPECT_EQ(test, w.old, 3);
	write_long(&words[0], 4);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	unregister_wprobe(&w.wp);
}

/* --- Changes while another CPU reads ------------------------------------------- */

#define CHANGES	3000

static atomic_t changes;
static bool written;

static void count_change(struct wprobe *wp, struct pt_regs *regs, unsigned long old,
			 unsigned long new)
{
	atomic_inc(&changes);
}

static int write_ascending(void *unused)
{
	unsigned long i;

	for (i = 1; i <= CHANGES; i++)
		WRITE_ONCE(words[0], i);
	/* Pairs with the acquire in a_read_loses_no_change(). */
	smp_store_release(&written, true);
	return 0;
}

static void a_read_loses_no_change(struct kunit *test)
{
	struct wprobe wp = {
		.addr = &words[0], .len = sizeof(long), .type = WPROBE_RW,
		.flags = WPROBE_FLAG_CHANGED, .handler = count_change,
	};
	struct task_struct *task;

	if (num_online_cpus() == 1)
		kunit_skip(test, "one CPU");
	words[0] = 0;
	written = false;
	atomic_set(&changes, 0);
	task = kthread_create(write_ascending, NULL, "wprobe_writer");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	migrate_disable();
	kthread_bind(task, cpumask_any_but(cpu_online_mask, raw_smp_processor_id()));
	KUNIT_EXPECT_EQ(test, register_wprobe(&wp), 0);
	wake_up_process(task);
	/* Pairs with the release in write_ascending(). */
	while (!smp_load_acquire(&written))
		READ_ONCE(words[0]);
	migrate_enable();
	unregister_wprobe(&wp);
	KUNIT_EXPECT_EQ(test, atomic_read(&changes), CHANGES);
	KUNIT_EXPECT_EQ(test, wp.nmissed, 0);
}

static int probed(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}

static void probed_after(struct kprobe *kp, struct pt_regs *regs, unsigned long flags) { }

/* After the write there is room for a jump. */
static noinline void write_and_continue(unsigned long *p, unsigned long value)
{
	WRITE_ONCE(*p, value);
	asm volatile("nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop");
}

/*
 * Probes every instruction of write_and_continue() that can be probed: at least one hit comes from
 * the copy of the instruction that writes. Sets @jump if that is in a detour.
 */
static void copies_of_kprobes_report_the_original(struct kunit *test, bool post, bool *jump)
{
	void (*write)(unsigned long *p, unsigned long value) = write_and_continue;
	struct watched w = watched_at(&words[0], sizeof(long));
	unsigned long plain;
	unsigned int i, done = 0;

	OPTIMIZER_HIDE_VAR(write);
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	write(&words[0], 1);
	plain = w.ip;
	for (i = 0; i < 64 && (unsigned long)write + i < plain; i++) {
		struct kprobe kp = {
			.addr = (void *)write + i,
			.pre_handler = probed,
			.post_handler = post ? probed_after : NULL,
		};

		if (register_kprobe(&kp))
			continue;
		done++;
		if (jump) {
			wait_for_kprobe_optimizer();
			*jump = kprobe_optimized(&kp);
		}
		write(&words[0], i);
		unregister_kprobe(&kp);
		KUNIT_EXPECT_EQ(test, hits_of(&w), done + 1);
		KUNIT_EXPECT_EQ(test, w.ip, plain);
		KUNIT_EXPECT_EQ(test, w.new, i);
	}
	unregister_wprobe(&w.wp);
	KUNIT_EXPECT_GT(test, done, 0);
}

static void copies_report_the_original(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_KPROBES))
		kunit_skip(test, "no kprobes");
	copies_of_kprobes_report_the_original(test, false, NULL);
}

static void stepped_copies_report_the_original(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_KPROBES))
		kunit_skip(test, "no kprobes");
	copies_of_kprobes_report_the_original(test, true, NULL);
}

static void detours_report_the_original(struct kunit *test)
{
	bool jump = false;

	if (!IS_ENABLED(CONFIG_OPTPROBES))
		kunit_skip(test, "no jumps");
	copies_of_kprobes_report_the_original(test, false, &jump);
	KUNIT_EXPECT_TRUE(test, jump);
}

#ifdef CONFIG_X86
/* After the copy of the first instruction, such a detour calls a function. */
static void detours_with_a_post_handler_report_the_original(struct kunit *test)
{
	bool jump = false;

	if (!IS_ENABLED(CONFIG_OPTPROBES))
		kunit_skip(test, "no jumps");
	copies_of_kprobes_report_the_original(test, true, &jump);
	KUNIT_EXPECT_TRUE(test, jump);
}
#endif

static void write_here(void *value)
{
	this_cpu_write(per_cpu_word, (unsigned long)value);
}

static void per_cpu_variables_are_watched_by_their_cpu(struct kunit *test)
{
	struct watched w = watched_at((void __force *)&per_cpu_word, sizeof(long));
	int cpu, n = 0;

	for_each_possible_cpu(cpu)
		per_cpu(per_cpu_word, cpu) = 100 + cpu;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	for_each_online_cpu(cpu) {
		smp_call_function_single(cpu, write_here, (void *)(200UL + cpu), true);
		KUNIT_EXPECT_EQ(test, hits_of(&w), ++n);
		KUNIT_EXPECT_EQ(test, w.cpu, cpu);
		KUNIT_EXPECT_EQ(test, w.old, 100 + cpu);
		KUNIT_EXPECT_EQ(test, w.new, 200 + cpu);
	}
	unregister_wprobe(&w.wp);
}

static void a_movable_per_cpu_probe_is_called(struct kunit *test)
{
	struct watched w = watched_at((void __force *)&per_cpu_word, sizeof(long));

	w.wp.flags = WPROBE_FLAG_MOVABLE;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	smp_call_function_single(cpumask_first(cpu_online_mask), write_here, (void *)1UL, true);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	unregister_wprobe(&w.wp);
}

/* --- Accesses of handlers are missed, and counted ----------------------------- */

static void write_again(struct wprobe *wp, struct pt_regs *regs, unsigned long old,
			unsigned long new)
{
	watched_hit(wp, regs, old, new);
	write_long(&words[0], new + 100);
	write_long(&words[1], new + 100);
	read_long(&words[1]);
}

static void accesses_of_handlers_are_missed_and_counted(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));
	struct watched other = watched_at(&words[1], sizeof(long));
	int i;

	w.wp.handler = write_again;
	other.wp.type = WPROBE_RW;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	KUNIT_ASSERT_EQ(test, register_wprobe(&other.wp), 0);
	for (i = 1; i <= 10; i++) {
		write_long(&words[0], i);
		KUNIT_EXPECT_EQ(test, words[0], i + 100);
		KUNIT_EXPECT_EQ(test, hits_of(&w), i);
		KUNIT_EXPECT_EQ(test, w.wp.nmissed, i);
		KUNIT_EXPECT_EQ(test, hits_of(&other), 0);
		KUNIT_EXPECT_EQ(test, other.wp.nmissed, 2 * i);
	}
	write_long(&words[1], 1);
	KUNIT_EXPECT_EQ(test, hits_of(&other), 1);
	unregister_wprobe(&w.wp);
	unregister_wprobe(&other.wp);
}

static void read_again(struct wprobe *wp, struct pt_regs *regs, unsigned long old,
		       unsigned long new)
{
	watched_hit(wp, regs, old, new);
	read_long(&words[0]);
}

/* The access of the first handler does not take the change from the second probe. */
static void handlers_take_no_change_from_others(struct kunit *test)
{
	struct watched w[3];
	int i;

	words[0] = 0;
	for (i = 0; i < ARRAY_SIZE(w); i++) {
		w[i] = watched_at(&words[0], sizeof(long));
		w[i].wp.type = WPROBE_RW;
		w[i].wp.flags = i == 1 ? WPROBE_FLAG_CHANGED : 0;
	}
	w[0].wp.handler = read_again;
	for (i = 0; i < ARRAY_SIZE(w); i++)
		KUNIT_ASSERT_EQ(test, register_wprobe(&w[i].wp), 0);
	KUNIT_EXPECT_PTR_EQ(test, w[0].wp.watch, w[2].wp.watch);
	write_long(&words[0], 5);
	for (i = 0; i < ARRAY_SIZE(w); i++) {
		KUNIT_EXPECT_EQ(test, hits_of(&w[i]), 1);
		KUNIT_EXPECT_EQ(test, w[i].old, 0);
		KUNIT_EXPECT_EQ(test, w[i].new, 5);
		/* A read is no change. */
		KUNIT_EXPECT_EQ(test, w[i].wp.nmissed, i == 1 ? 0 : 1);
		unregister_wprobe(&w[i].wp);
	}
}

/* --- A probe that follows an object --------------------------------------------- */

static struct watched mover;
static int retargeted;

static int retarget(struct kprobe *kp, struct pt_regs *regs)
{
	retargeted = wprobe_retarget(&mover.wp, &words[2]);
	return 0;
}

static noinline void moved_here(void)
{
	barrier();
}

static void write_first(void *value)
{
	write_long(&words[0], (unsigned long)value);
}

static void handlers_of_kprobes_retarget_a_probe(struct kunit *test)
{
	struct kprobe kp = { .addr = (void *)moved_here, .pre_handler = retarget };

	if (!IS_ENABLED(CONFIG_KPROBES))
		kunit_skip(test, "no kprobes");
	mover = watched_at(&words[0], sizeof(long));
	KUNIT_ASSERT_EQ(test, register_wprobe(&mover.wp), 0);
	KUNIT_EXPECT_EQ(test, wprobe_retarget(&mover.wp, &words[2]), -EINVAL);
	unregister_wprobe(&mover.wp);
	mover.wp.flags = WPROBE_FLAG_MOVABLE;
	KUNIT_EXPECT_EQ(test, wprobe_retarget(&mover.wp, &words[2]), -EINVAL);
	KUNIT_ASSERT_EQ(test, register_wprobe(&mover.wp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	KUNIT_EXPECT_EQ(test, wprobe_retarget(&mover.wp, (void *)&words[1] + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, wprobe_retarget(&mover.wp, (void *)0x1000), -EINVAL);
	words[2] = 3;

	/* This CPU watches the new address at once, and not the old one. */
	preempt_disable();
	moved_here();
	write_long(&words[0], 1);
	/* The registers of other CPUs have not moved yet. */
	smp_call_function_many(cpu_online_mask, write_first, (void *)2UL, true);
	write_long(&words[2], 4);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, retargeted, 0);
	KUNIT_EXPECT_EQ(test, hits_of(&mover), 1);
	KUNIT_EXPECT_EQ(test, mover.old, 3);
	KUNIT_EXPECT_EQ(test, mover.new, 4);

	/* The others follow. */
	expect_hit_of_each_cpu(test, &mover, &words[2]);
	unregister_kprobe(&kp);
	unregister_wprobe(&mover.wp);
}

/* As soon as the probe is enabled, all CPUs watch the new address. */
static void a_disabled_probe_is_retargeted(struct kunit *test)
{
	struct watched w = watched_at(&words[0], sizeof(long));

	w.wp.flags = WPROBE_FLAG_MOVABLE;
	KUNIT_ASSERT_EQ(test, register_wprobe(&w.wp), 0);
	KUNIT_EXPECT_EQ(test, disable_wprobe(&w.wp), 0);
	words[2] = 3;
	KUNIT_EXPECT_EQ(test, wprobe_retarget(&w.wp, &words[2]), 0);
	write_long(&words[0], 1);
	write_long(&words[2], 4);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 0);
	KUNIT_EXPECT_EQ(test, enable_wprobe(&w.wp), 0);
	write_long(&words[0], 2);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 0);
	write_long(&words[2], 5);
	KUNIT_EXPECT_EQ(test, hits_of(&w), 1);
	KUNIT_EXPECT_EQ(test, w.old, 4);
	KUNIT_EXPECT_EQ(test, w.new, 5);
	expect_hit_of_all_cpus(test, &w, &words[2]);
	KUNIT_EXPECT_EQ(test, w.wp.nmissed, 0);
	unregister_wprobe(&w.wp);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_write_calls_the_handler),
	KUNIT_CASE(each_length_watches_its_bytes),
	KUNIT_CASE(wide_writes_hit_narrow_watches),
	KUNIT_CASE(reads_are_hits_if_wanted),
	KUNIT_CASE(changes_only_if_wanted),
	KUNIT_CASE(a_read_loses_no_change),
	KUNIT_CASE(copies_report_the_original),
	KUNIT_CASE(stepped_copies_report_the_original),
	KUNIT_CASE(detours_report_the_original),
#ifdef CONFIG_X86
	KUNIT_CASE(detours_with_a_post_handler_report_the_original),
#endif
	KUNIT_CASE(per_cpu_variables_are_watched_by_their_cpu),
	KUNIT_CASE(a_movable_per_cpu_probe_is_called),
	KUNIT_CASE(accesses_of_handlers_are_missed_and_counted),
	KUNIT_CASE(handlers_take_no_change_from_others),
	KUNIT_CASE(handlers_of_kprobes_retarget_a_probe),
	KUNIT_CASE(a_disabled_probe_is_retargeted),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_hit",
	.test_cases = cases,
};
kunit_test_suite(suite);
