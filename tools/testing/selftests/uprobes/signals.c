// SPDX-License-Identifier: GPL-2.0
/*
 * Signals during probed instructions: a timer interrupts a function whose instructions are
 * all probed.  No handler may see an address of the kernel's copies, in the instruction
 * pointer, in another register, or on the stack, and the function must compute the same as
 * without probes.
 *
 *	signals [SECONDS]
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "work.h"
#include "areas.h"

#define ROUNDS		50

/* All that work() has on the stack, and some words of its callers. */
#define STACK_WORDS	16

static unsigned long memory[8];
static struct probes probes;
static unsigned int seconds = 2;

/*
 * The handler reads the clock, not the loop that calls the function: nanoseconds on the stack
 * can look like an address of a 32-bit process.
 */
static struct timespec end;
static volatile bool is_over;

/* Counts of signals, and of wrong values in their handlers. */
static volatile unsigned long signals, in_work, bad_ip, bad_register, bad_stack, an_address;
static bool look_at_stack = true;

static unsigned long one_call(void)
{
	memory[0] = 0x12345679UL;
	return work(ROUNDS, memory);
}

static void on_alarm(int number, siginfo_t *info, struct ucontext *context)
{
	unsigned long ip = CONTEXT_IP(context);
	const unsigned long *registers = (const void *)&context->uc_mcontext;
	const unsigned long *stack = (const void *)CONTEXT_SP(context);
	struct timespec now;
	unsigned int i;

	clock_gettime(CLOCK_MONOTONIC, &now);
	is_over = now.tv_sec > end.tv_sec ||
		  (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec);
	signals++;
	if (ip >= (unsigned long)work && ip < (unsigned long)work_end)
		in_work++;
	if (in_area(ip)) {
		bad_ip++;
		an_address = ip;
	}
	for (i = 0; i < CONTEXT_WORDS; i++) {
		if (in_area(registers[i])) {
			bad_register++;
			an_address = registers[i];
		}
	}
	for (i = 0; look_at_stack && i < STACK_WORDS; i++) {
		if (in_area(stack[i])) {
			bad_stack++;
			an_address = stack[i];
		}
	}
}

/* Calls until a signal arrives after that time; returns how many calls had another result. */
static unsigned long call_for(unsigned int time, unsigned long wanted, unsigned long *calls)
{
	unsigned long wrong = 0;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += time;
	is_over = false;
	while (!is_over) {
		wrong += one_call() != wanted;
		++*calls;
	}
	return wrong;
}

static void reset(void)
{
	signals = 0;
	in_work = 0;
	bad_ip = 0;
	bad_register = 0;
	bad_stack = 0;
	an_address = 0;
}

/* Signals without probes: the handler finds nothing wrong then. */
static void check_bare(unsigned long wanted)
{
	unsigned long calls = 0;

	reset();
	alarm_every(1000);
	ksft_test_result(!call_for(1, wanted, &calls), "bare: results\n");
	alarm_every(0);
	ksft_test_result(signals && in_work, "bare: %lu signals, %lu of them in the function\n",
			 signals, in_work);
}

static void check_probed(unsigned long wanted)
{
	unsigned long calls = 0, before, hits, least;

	ksft_test_result(probe_all(&probes, work_probes, WORK_PROBES, false),
			 "%u instructions are probed\n", WORK_PROBES);
	one_call();
	ksft_test_result(find_areas("/proc/self/maps"), "probed: %u areas\n", nr_areas);
	before = probe_count(&probes);
	ksft_test_result(one_call() == wanted, "probed: a result\n");
	least = ROUNDS * work_per_round + work_per_call;
	hits = probe_count(&probes) - before;
	ksft_test_result(hits == least, "probed: %lu hits of a call, wanted %lu\n", hits, least);

	reset();
	before = probe_count(&probes);
	alarm_every(700);
	ksft_test_result(!call_for(seconds, wanted, &calls), "storm: results\n");
	alarm_every(0);
	hits = probe_count(&probes) - before;
	/* No signal interrupts a copy, whose instruction would be hit again. */
	ksft_test_result(hits == calls * least,
			 "storm: %lu hits in %lu calls\n", hits, calls);
	ksft_test_result(signals && in_work, "storm: %lu signals, %lu of them in the function\n",
			 signals, in_work);
	ksft_test_result(!bad_ip, "storm: no handler sees a copy as its ip (%lu do, %lx)\n",
			 bad_ip, an_address);
	ksft_test_result(!bad_register, "storm: none in a register (%lu do, %lx)\n", bad_register,
			 an_address);
	ksft_test_result(!bad_stack, "storm: none on the stack (%lu do, %lx)\n", bad_stack,
			 an_address);
	probe_remove(&probes);
	ksft_test_result(one_call() == wanted, "after: a result\n");
}

/* With a return probe, the return address may be in an area, but the ip may not. */
static void check_returns(unsigned long wanted)
{
	unsigned long calls = 0, returns;

	probe_return(&probes, work);
	one_call();
	ksft_test_result(find_areas("/proc/self/maps"), "return probe: %u areas\n", nr_areas);
	reset();
	look_at_stack = false;
	alarm_every(700);
	returns = probe_count(&probes);
	ksft_test_result(!call_for(1, wanted, &calls), "return probe: results\n");
	alarm_every(0);
	probe_remove(&probes);
	returns = probe_count(&probes) - returns;
	ksft_test_result(returns == calls, "return probe: %lu returns of %lu calls\n", returns,
			 calls);
	ksft_test_result(!bad_ip, "return probe: no handler sees a copy as its ip (%lu do, %lx)\n",
			 bad_ip, an_address);
}

int main(int argc, char **argv)
{
	unsigned long wanted;

	if (argc > 1)
		seconds = atoi(argv[1]);
	ksft_print_header();
	ksft_set_plan(17);
	on_signal(SIGALRM, on_alarm, SA_RESTART);
	wanted = one_call();
	check_bare(wanted);
	check_probed(wanted);
	check_returns(wanted);
	ksft_finished();
}
