// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads that wait in one function together, and return probes that count calls.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "../kretprobe_instance.h"
#include "crowd.h"

atomic_t crowd_entered, crowd_returned, crowd_waiting;

static DECLARE_WAIT_QUEUE_HEAD(gate);
static bool gate_open;
static atomic_t left;

int crowd_count_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	raw_atomic_inc(&crowd_entered);
	return 0;
}
NOKPROBE_SYMBOL(crowd_count_entry);

int crowd_count_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	raw_atomic_inc(&crowd_returned);
	return 0;
}
NOKPROBE_SYMBOL(crowd_count_return);

#define DEFINE_WAIT_FUNCTION(name, attribute)					\
noinline __noclone attribute int name(int x)					\
{										\
	atomic_inc(&crowd_waiting);						\
	wait_event(gate, READ_ONCE(gate_open));					\
	return x + 1;								\
}

DEFINE_WAIT_FUNCTION(crowd_wait, notrace)
DEFINE_WAIT_FUNCTION(crowd_wait_traced, /* nothing */)

static int thread(void *fn)
{
	((crowd_fn)fn)(1);
	atomic_inc(&left);
	return 0;
}

/* Creates threads that will call @fn; the caller wakes them up.  Returns their number. */
int crowd_create(crowd_fn fn, struct task_struct **tasks, int nr)
{
	int i, created = 0;

	for (i = 0; i < nr; i++) {
		tasks[created] = kthread_create(thread, fn, "kprobe_crowd/%d", i);
		if (!IS_ERR(tasks[created]))
			created++;
	}
	return created;
}

/* Creates threads that call @fn, and wakes them up together.  Returns their number. */
int crowd_start(crowd_fn fn, int nr)
{
	struct task_struct **tasks = kcalloc(nr, sizeof(*tasks), GFP_KERNEL);
	int i, created = tasks ? crowd_create(fn, tasks, nr) : 0;

	preempt_disable();
	for (i = 0; i < created; i++)
		wake_up_process(tasks[i]);
	preempt_enable();
	kfree(tasks);
	return created;
}

/* Waits until @count is @wanted, for at most a minute. */
static bool reaches(atomic_t *count, int wanted)
{
	int i;

	for (i = 0; i < 3000 && atomic_read(count) != wanted; i++)
		msleep(20);
	return atomic_read(count) == wanted;
}

/* Returns true as soon as @nr threads wait, or false after a minute. */
bool crowd_waits(int nr)
{
	return reaches(&crowd_waiting, nr);
}

void crowd_open_gate(void)
{
	WRITE_ONCE(gate_open, true);
	wake_up_all(&gate);
}

/* Opens the gate, and expects that @nr threads end. */
void crowd_leave(struct kunit *test, int nr)
{
	crowd_open_gate();
	KUNIT_EXPECT_TRUE(test, reaches(&left, nr));
}

/* Waits until there are @wanted instances.  Workers free their memory after grace periods. */
static void await_instances(unsigned int wanted)
{
	int i;

	for (i = 0; i < 3000 && kretprobe_instances() != wanted; i++)
		msleep(20);
}

void expect_instances(struct kunit *test, unsigned int wanted)
{
	await_instances(wanted);
	KUNIT_EXPECT_EQ(test, kretprobe_instances(), wanted);
}

/*
 * Waits for instances that earlier cases have not freed yet, and returns the number of all
 * instances.  At boot there are no other probes.
 */
unsigned int crowd_settled_instances(void)
{
	await_instances(0);
	return kretprobe_instances();
}

/* kunit_suite::init of suites whose cases call crowd_settled_instances() if they need it. */
int crowd_init(struct kunit *test)
{
	atomic_set(&crowd_entered, 0);
	atomic_set(&crowd_returned, 0);
	atomic_set(&crowd_waiting, 0);
	atomic_set(&left, 0);
	WRITE_ONCE(gate_open, false);
	return 0;
}

/* kunit_suite::init of suites whose cases compare numbers of instances. */
int crowd_init_settled(struct kunit *test)
{
	crowd_settled_instances();
	return crowd_init(test);
}

/* kunit_suite::exit.  Releases the threads that wait at a gate that a failed case left closed. */
void crowd_exit(struct kunit *test)
{
	crowd_open_gate();
}
