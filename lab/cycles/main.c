// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the variants of ARCH.c and prints two tables.
 *
 * One round runs all variants, one after the other, so that slow changes of the processor's
 * speed change all of them alike.  A run is short: an interrupt disturbs one run, which
 * changes neither the minimum nor the median.  The clock counts at a constant rate; a chain of
 * additions, one cycle each, converts its ticks to cycles.
 *
 * All is measured twice.  A call that is alone begins after all instructions before it are
 * complete, and is complete before the next instruction: that is the latency.  Calls that
 * follow each other directly overlap, as far as the processor can: that is the throughput.
 */
#define _GNU_SOURCE
#include <err.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"

#define ROUNDS		8001
/* The clock of arm64 may count no faster than 24 MHz. */
#ifdef __x86_64__
#define CALLS		50
#else
#define CALLS		400
#endif
#define MOST_VARIANTS	64

struct result {
	double min, median;
};

static struct {
	struct variant code;
	uint64_t call[ROUNDS], bare[ROUNDS];
} measured[MOST_VARIANTS];
static unsigned int nr_measured;
static uint64_t chain[ROUNDS];
static double cycles_per_tick;

uint64_t hit_count;

static inline uint64_t now(void)
{
#ifdef __x86_64__
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc; lfence" : "=a" (low), "=d" (high) :: "memory");
	return (uint64_t)high << 32 | low;
#else
	uint64_t ticks;

	__asm__ volatile("isb; mrs %0, cntvct_el0; isb" : "=r" (ticks) :: "memory");
	return ticks;
#endif
}

static uint64_t run(void (*caller)(void (*)(void)), void (*function)(void))
{
	uint64_t start = now();
	int i;

	for (i = 0; i < CALLS; i++)
		caller(function);
	return now() - start;
}

static void round_of_all(int round, void (*caller)(void (*)(void)))
{
	unsigned int i;

	chain[round] = run(call_deep, add_chain);
	for (i = 0; i < nr_measured; i++) {
		uint64_t before = hit_count;

		measured[i].call[round] = run(caller, measured[i].code.call);
		if (hit_count - before != (uint64_t)measured[i].code.hits * CALLS)
			errx(1, "variant %u has been hit %ju times in %d calls", i,
			     (uintmax_t)(hit_count - before), CALLS);
		measured[i].bare[round] = run(caller, measured[i].code.bare);
	}
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void sort(uint64_t *ticks)
{
	qsort(ticks, ROUNDS, sizeof(*ticks), compare);
}

static struct result result_of(unsigned int i)
{
	const double scale = cycles_per_tick / CALLS;

	return (struct result) {
		.min	= ((double)measured[i].call[0] - measured[i].bare[0]) * scale,
		.median	= ((double)measured[i].call[ROUNDS / 2] -
			   measured[i].bare[ROUNDS / 2]) * scale,
	};
}

static void add(const struct variant *code)
{
	if (!code->call)
		return;
	if (nr_measured == MOST_VARIANTS)
		errx(1, "more than %d variants", MOST_VARIANTS);
	measured[nr_measured++].code = *code;
}

static void list_variants(void)
{
	const struct pair *pair;
	const struct step *step;

	for (pair = pairs; pair->name; pair++) {
		add(&pair->base);
		add(&pair->ours);
	}
	for (step = steps; step->name; step++)
		add(&step->code);
}

static void measure(void (*caller)(void (*)(void)))
{
	unsigned int i;
	int round;

	/* This round loads the caches. */
	round_of_all(0, caller);
	for (round = 0; round < ROUNDS; round++)
		round_of_all(round, caller);
	for (i = 0; i < nr_measured; i++) {
		sort(measured[i].call);
		sort(measured[i].bare);
	}
	sort(chain);
	cycles_per_tick = (double)CHAIN * CALLS / chain[ROUNDS / 2];
}

static void print_pair(const struct pair *pair, unsigned int *i)
{
	struct result base, ours;
	double ratio;

	if (!pair->base.call) {
		ours = result_of((*i)++);
		printf("%-44s %7s %7s %7.1f %7.1f\n", pair->name, "-", "-", ours.min, ours.median);
		return;
	}
	base = result_of((*i)++);
	ours = result_of((*i)++);
	ratio = ours.median / base.median;
	printf("%-44s %7.1f %7.1f %7.1f %7.1f %7.2f", pair->name, base.min, base.median,
	       ours.min, ours.median, ratio);
	if (pair->bound)
		printf("   %.2f %s", pair->bound, ratio <= pair->bound ? "ok" : "MISSED");
	printf("\n");
}

static void print_tables(const char *title)
{
	const struct pair *pair;
	const struct step *step;
	struct result result;
	unsigned int i = 0;

	printf("%-44s %15s %15s\n", title, "base", "ours");
	printf("%-44s %7s %7s %7s %7s %7s   bound\n", "", "min", "median", "min", "median",
	       "ratio");
	for (pair = pairs; pair->name; pair++)
		print_pair(pair, &i);
	printf("\nour detour, step by step\n");
	for (step = steps; step->name; step++) {
		result = result_of(i++);
		printf("%-60s %7.1f %7.1f\n", step->name, result.min, result.median);
	}
	printf("\n");
}

/* Stays on this processor. */
static void pin(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "sched_setaffinity");
}

int main(void)
{
	pin();
	prepare();
	list_variants();
	measure(call_alone);
	print_tables("cycles of a hit that is alone");
	measure(call_deep);
	print_tables("cycles of a hit, one after the other");
	printf("%d runs of %d calls, minus the same calls of the function without a probe;\n"
	       "%.2f cycles in a tick of the clock; not executed: %s\n",
	       ROUNDS, CALLS, cycles_per_tick, left_out);
	return 0;
}
