/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_CROWD_H
#define _KPROBES_TESTS_CROWD_H
/*
 * Threads that wait in one function together, and return probes that count calls, for the
 * suites about the instances of calls.
 */
#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/sched.h>

/* Calls that the return probes of counting() have counted, and threads that wait. */
extern atomic_t crowd_entered, crowd_returned, crowd_waiting;

int crowd_count_entry(struct kretprobe_instance *ri, struct pt_regs *regs);
int crowd_count_return(struct kretprobe_instance *ri, struct pt_regs *regs);

static inline struct kretprobe counting(void *fn, int maxactive)
{
	return (struct kretprobe) {
		.kp.addr = fn,
		.entry_handler = crowd_count_entry,
		.handler = crowd_count_return,
		.maxactive = maxactive,
	};
}

/* Functions in which callers wait until the gate is open: with a breakpoint, and with ftrace. */
int crowd_wait(int x);
int crowd_wait_traced(int x);

typedef int (*crowd_fn)(int x);

int crowd_create(crowd_fn fn, struct task_struct **tasks, int nr);
int crowd_start(crowd_fn fn, int nr);
bool crowd_waits(int nr);
void crowd_open_gate(void);
void crowd_leave(struct kunit *test, int nr);

void expect_instances(struct kunit *test, unsigned int wanted);
unsigned int crowd_settled_instances(void);

int crowd_init(struct kunit *test);
int crowd_init_settled(struct kunit *test);
void crowd_exit(struct kunit *test);

#endif /* _KPROBES_TESTS_CROWD_H */
