// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of hits of probes of one process, in system calls. The module up_process registers the
 * probes.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "code.h"
#include "process.h"

/* Many short rounds: other load of the machine, and interrupts, spare some of them. */
#define ROUNDS		200
#define CALLS		100

static void call_kernel(unsigned int times)
{
	while (times--)
		syscall(__NR_getppid);
}

#ifdef __x86_64__
#define NR_GETPPID_32	64

/* An exception like a hit; the instruction syscall costs less. */
static void trap_into_kernel(unsigned int times)
{
	long result;

	while (times--)
		asm volatile("int $0x80"
			     : "=a" (result)
			     : "0" ((long)NR_GETPPID_32)
			     : "r8", "r9", "r10", "r11", "memory");
}

static int traps_once(void)
{
	trap_into_kernel(1);
	return 0;
}
#else
static void trap_into_kernel(unsigned int times)
{
	call_kernel(times);
}

static int traps_once(void)
{
	return 0;
}
#endif

static void call_probed(unsigned int times)
{
	call_plain(times);
}

/* Shortest times of a round. */
struct times {
	unsigned long calls, traps, probed;
};

static void measure_once(unsigned long *shortest, void (*run)(unsigned int))
{
	unsigned long time = now();

	run(CALLS);
	time = now() - time;
	if (!*shortest || time < *shortest)
		*shortest = time;
}

/* The three take turns, so that they are slowed down alike. */
static struct times measure(void)
{
	struct times times = { 0 };
	int i;

	for (i = 0; i < ROUNDS; i++) {
		measure_once(&times.calls, call_kernel);
		measure_once(&times.traps, trap_into_kernel);
		measure_once(&times.probed, call_probed);
	}
	return times;
}

/* Subtracts the additional cost of an exception over a system call: no probe can avoid it. */
static void check_cost(const char *name, const char *words, int column, long bound)
{
	struct times bare = measure(), times;
	int err = add("a", plain, words);
	long cost;

	times = measure();
	cost = times.probed - bare.probed - (times.traps - times.calls);
	ksft_test_result(!err && get("a", column) == ROUNDS * CALLS &&
			 cost < bound * (long)times.calls,
			 "%s costs less than %ld system calls: %ld ns, %lu for a call, %lu for int\n",
			 name, bound, cost / CALLS, times.calls / CALLS, times.traps / CALLS);
	command("drop");
}

int main(void)
{
	ksft_print_header();
	if (in_child(traps_once))
		ksft_exit_skip("no system calls of 32 bits to compare with\n");
	ksft_set_plan(2);
	/* More than twice their cost under QEMU. */
	check_cost("a hit", "quiet", HITS, 2);
	check_cost("a return", "return quiet", RETURNS, 10);
	ksft_finished();
}
