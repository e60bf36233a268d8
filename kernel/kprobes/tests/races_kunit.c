// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Races of jump optimization: CPUs execute regions while these become jumps and breakpoints
 * again, in every way in which that happens.
 *
 * Each round changes many regions of one function at once.
 *
 * Also tasks in a region: all of them must have left it before it becomes a jump, unless the
 * region is one instruction.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/moduleparam.h>
#include <linux/sched/task.h>

#include "counted.h"
#include "../internal.h"
#include "entry.h"

/* --- The ladder ------------------------------------------------------------------ */

#define RUNGS		64

/* A rung has two instructions; each of them adds one. */
#define TWO_STEPS	(2 * RUNGS)

int kprobes_ladder(void);

#ifdef CONFIG_X86
#include "asm_case.h"

/* The jump covers a whole rung. */
asm(ASM_FUNCTION(kprobes_ladder,
		 "xor %eax, %eax\n"
		 ".rept " __stringify(RUNGS) "\n"
		 "add $1, %eax\n"
		 "add $1, %eax\n"
		 ".endr\n"
		 ASM_RET));

#define FIRST_RUNG	2
#define STEP		3

static bool is_jump(const void *addr)
{
	return *(const u8 *)addr == 0xe9;
}
#elif defined(CONFIG_ARM64)
/* The branch covers the first instruction of a rung. */
asm(".pushsection .text\n"
	".global kprobes_ladder\n"
	".type kprobes_ladder, %function\n"
	".balign 4\n"
	"kprobes_ladder:\n"
	"	mov	w0, #0\n"
	".rept " __stringify(RUNGS) "\n"
	"	add	w0, w0, #1\n"
	"	add	w0, w0, #1\n"
	".endr\n"
	"	ret\n"
	".size kprobes_ladder, . - kprobes_ladder\n"
	".popsection\n");

#define FIRST_RUNG	4
#define STEP		4

static bool is_jump(const void *addr)
{
	return (le32_to_cpu(*(const __le32 *)addr) & 0xfc000000) == 0x14000000;
}
#endif

static void *rung(unsigned int i)
{
	return text_at(probe_entry(kprobes_ladder), FIRST_RUNG + i * 2 * STEP);
}

static unsigned int count_jumps(void)
{
	unsigned int i, jumps = 0;

	for (i = 0; i < RUNGS; i++)
		jumps += is_jump(rung(i));
	return jumps;
}

/* --- Threads that execute the ladder ------------------------------------------------ */

#define NR_RUNNERS	2

static atomic_t wrong_results;

static int climb(void *done)
{
	while (!READ_ONCE(*(bool *)done)) {
		if (kprobes_ladder() != TWO_STEPS)
			atomic_inc(&wrong_results);
		/* In preemptible kernels the optimizer waits for this. */
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

/* --- Ways to remove the jumps and to restore them ------------------------------------ */

static int nothing(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

static struct kprobe racers[RUNGS], neighbours[RUNGS];
static struct kprobe *racer_ptrs[RUNGS], *neighbour_ptrs[RUNGS];

static void set_up(struct kprobe *kps, struct kprobe **ptrs, unsigned int offset)
{
	unsigned int i;

	for (i = 0; i < RUNGS; i++) {
		kps[i] = (struct kprobe) {
			.addr = rung(i) + offset,
			.pre_handler = nothing,
		};
		ptrs[i] = &kps[i];
	}
}

static int turn_the_knob(void)
{
	kprobe_optimizer_allow(false);
	kprobe_optimizer_allow(true);
	return 0;
}

static int register_neighbours(void)
{
	int ret = register_kprobes(neighbour_ptrs, RUNGS);

	if (!ret)
		unregister_kprobes(neighbour_ptrs, RUNGS);
	return ret;
}

/* Only some probes, because each of them takes a synchronisation of its own. */
static int switch_some_probes(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < RUNGS; i += 8)
		ret = ret ?: disable_kprobe(&racers[i]);
	for (i = 0; i < RUNGS; i += 8)
		ret = ret ?: enable_kprobe(&racers[i]);
	return ret;
}

static int register_again(void)
{
	unregister_kprobes(racer_ptrs, RUNGS);
	return register_kprobes(racer_ptrs, RUNGS);
}

static const struct race {
	const char *name;
	int (*again)(void);
} races[] = {
	{ "the knob", turn_the_knob },
	{ "neighbours", register_neighbours },
	{ "disabled and enabled", switch_some_probes },
	{ "unregistered and registered", register_again },
};

KUNIT_ARRAY_PARAM_DESC(race, races, name);

/* --- The race ----------------------------------------------------------------------- */

/* Increase with races_kunit.rounds= on the command line (make check LONG=1). */
static unsigned int rounds = 30;
module_param(rounds, uint, 0);

/* Returns the number of jumps that were seen. */
static unsigned int race_on(struct kunit *test, const struct race *race)
{
	unsigned int i, jumps = 0;

	for (i = 0; i < rounds; i++) {
		KUNIT_EXPECT_EQ(test, race->again(), 0);
		/* In one of three rounds, the change is undone while the optimizer works. */
		if (i % 3)
			wait_for_kprobe_optimizer();
		jumps += count_jumps();
	}
	return jumps;
}

static void regions_are_executed_meanwhile(struct kunit *test)
{
	struct task_struct *runners[NR_RUNNERS];
	bool done = false;
	unsigned int i, jumps;

	atomic_set(&wrong_results, 0);
	set_up(racers, racer_ptrs, 0);
	set_up(neighbours, neighbour_ptrs, STEP);
	for (i = 0; i < NR_RUNNERS; i++) {
		runners[i] = kthread_run(climb, &done, "kprobes-run/%u", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(runners[i]));
		get_task_struct(runners[i]);
	}
	KUNIT_EXPECT_EQ(test, register_kprobes(racer_ptrs, RUNGS), 0);
	jumps = race_on(test, test->param_value);
	unregister_kprobes(racer_ptrs, RUNGS);
	WRITE_ONCE(done, true);
	for (i = 0; i < NR_RUNNERS; i++)
		kthread_stop_put(runners[i]);
	kunit_info(test, "%u rounds, %u jumps came", rounds, jumps);
	KUNIT_EXPECT_EQ(test, atomic_read(&wrong_results), 0);
	KUNIT_EXPECT_GE(test, jumps, rounds / 2 * RUNGS);
}

/* --- Tasks in a region --------------------------------------------------------------- */

#define HOG_SECONDS	10
#define POLL_MS		10
/* Where jumps have to come, until all are there; where none may come, each time. */
#define POLLS		(KPROBE_JUMP_IS_ONE_INSN ? 300 : 50)

static struct {
	bool busy, done;
} hog;

/* Executes nothing that would show that the thread is outside of all regions. */
static int be_busy(void *unused)
{
	unsigned long end = jiffies + HOG_SECONDS * HZ;

	WRITE_ONCE(hog.busy, true);
	while (!READ_ONCE(hog.done) && time_before(jiffies, end))
		cpu_relax();
	WRITE_ONCE(hog.busy, false);
	return 0;
}

/* Binds the caller to its CPU, and keeps another CPU busy. */
static struct task_struct *start_hog(void)
{
	unsigned int here = get_cpu(), there = cpumask_any_but(cpu_online_mask, here);
	struct task_struct *task;

	put_cpu();
	if (set_cpus_allowed_ptr(current, cpumask_of(here)))
		return NULL;
	hog.busy = false;
	hog.done = false;
	task = kthread_run_on_cpu(be_busy, NULL, there, "kprobes-hog/%u");
	if (IS_ERR(task))
		return NULL;
	get_task_struct(task);
	while (!READ_ONCE(hog.busy))
		msleep(POLL_MS);
	return task;
}

static void tasks_in_a_region(struct kunit *test)
{
	struct task_struct *task;
	unsigned int i, jumps;
	bool busy;

	if (num_online_cpus() < 2)
		kunit_skip(test, "one CPU");
	set_up(racers, racer_ptrs, 0);
	kprobe_optimizer_allow(false);
	KUNIT_ASSERT_EQ(test, register_kprobes(racer_ptrs, RUNGS), 0);
	task = start_hog();
	if (!task) {
		unregister_kprobes(racer_ptrs, RUNGS);
		KUNIT_FAIL(test, "there is no other CPU");
		return;
	}
	kprobe_optimizer_allow(true);
	for (i = 0; i < POLLS && count_jumps() < RUNGS; i++)
		msleep(POLL_MS);
	jumps = count_jumps();
	busy = READ_ONCE(hog.busy);
	WRITE_ONCE(hog.done, true);
	kthread_stop_put(task);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, count_jumps(), RUNGS);
	unregister_kprobes(racer_ptrs, RUNGS);
	KUNIT_EXPECT_TRUE(test, busy);
	KUNIT_EXPECT_EQ(test, jumps, KPROBE_JUMP_IS_ONE_INSN ? RUNGS : 0);
}

static int races_init(struct kunit *test)
{
	if (!kprobe_optimization_allowed)
		kunit_skip(test, "debug.kprobes-optimization is off");
	return 0;
}

static struct kunit_case races_cases[] = {
	KUNIT_CASE_PARAM_ATTR(regions_are_executed_meanwhile, race_gen_params,
			      { .speed = KUNIT_SPEED_SLOW }),
	KUNIT_CASE(tasks_in_a_region),
	{}
};

static struct kunit_suite races_suite = {
	.name = "kprobes_races",
	.init = races_init,
	.test_cases = races_cases,
};

kunit_test_suite(races_suite);
