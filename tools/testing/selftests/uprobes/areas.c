// SPDX-License-Identifier: GPL-2.0
/*
 * A program unmaps the area in which its probed instructions run.  Its probes go on in another
 * area, and code that it maps at the old address is code like any other.  They also go on if a
 * thread unmaps the area again and again.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "areas.h"

/* Does not depend on its address. */
NOINLINE static long send_signal(long pid)
{
	return syscall(__NR_kill, pid, SIGUSR1);
}

#define SEND_SIZE	256

NOINLINE static unsigned long probed(unsigned long value)
{
	asm volatile("nop" : "+r" (value));
	return value * 3 + 1;
}

/* Returns the address of an area, or 0. */
static unsigned long find_area(void)
{
	unsigned int i, nr = find_areas("/proc/self/maps");

	for (i = 0; i < nr; i++) {
		if (strstr(areas[i].name, "[uprobes]"))
			return areas[i].start;
	}
	return 0;
}

static unsigned long area_size(unsigned long start)
{
	unsigned int i;

	for (i = 0; i < nr_areas; i++) {
		if (areas[i].start == start)
			return areas[i].end - start;
	}
	return 0;
}

/* A slot that is not in use. */
#define FREE_SLOT	(4096 - 64)

static unsigned long free_slot;

/* x86 is after the breakpoint. */
static void on_trap(int number, siginfo_t *info, struct ucontext *context)
{
	_exit(CONTEXT_IP(context) - free_slot > 1);
}

static int jump_to_free_slot(void)
{
	on_signal(SIGTRAP, on_trap, 0);
	/* The child has no area before its first hit. */
	probed(1);
	free_slot = find_area() + FREE_SLOT;
	((void (*)(void))free_slot)();
	return 2;
}

static volatile unsigned long signal_ip;

static void on_user(int number, siginfo_t *info, struct ucontext *context)
{
	signal_ip = CONTEXT_IP(context);
}

/* --- A thread that unmaps the area --------------------------------------------- */

#define CALLS		3000
#define MOST_CALLS	(100 * CALLS)

/* A thread may execute its first instruction again. */
void nothing(void);
asm(".pushsection .text\n"
	".globl nothing\n"
	"nothing: nop\n"
	"ret\n"
	".popsection");

static struct thread unmapper;
static unsigned long target, target_size;
static volatile int stop;
/* How often there was an area to be unmapped. */
static volatile unsigned int unmapped;

static void unmap_often(void *unused)
{
	unsigned int i;

	while (!stop) {
		unmapped += !syscall(__NR_msync, target, target_size, 1 /* MS_ASYNC */);
		munmap((void *)target, target_size);
		for (i = next_random(2000); i; i--)
			asm volatile("" : : : "memory");
	}
}

/* The copy of the instruction is not there any more. */
static void on_fault(int number, siginfo_t *info, struct ucontext *context)
{
	if (CONTEXT_IP(context) - target < target_size)
		CONTEXT_IP(context) = (unsigned long)nothing;
	else if (CONTEXT_IP(context) - (unsigned long)nothing > 4)
		_exit(1);
}

static void check_unmapped_often(void)
{
	struct probes hits;
	unsigned long before;
	unsigned int i;

	probe_function(&hits, nothing);
	nothing();
	target = find_area();
	target_size = area_size(target);
	on_signal(SIGSEGV, on_fault, 0);
	thread_start(&unmapper, unmap_often, NULL);
	/* On one processor, the thread runs when this one lets it. */
	for (i = 0; i < CALLS || (unmapped < 2 && i < MOST_CALLS); i++) {
		nothing();
		if (i >= CALLS)
			sched_yield();
	}
	stop = 1;
	thread_wait(&unmapper, 10);
	before = probe_count(&hits);
	nothing();
	ksft_test_result(target && unmapped >= 2 && before >= i &&
			 probe_count(&hits) == before + 1,
			 "a thread unmaps it %u times: %lu hits of %u calls, then %lu of 1\n",
			 unmapped, before, i + 1, probe_count(&hits) - before);
	probe_remove(&hits);
}

int main(void)
{
	unsigned long area, size, calls = 0;
	struct probes hits;
	char *code;
	long sent;

	ksft_print_header();
	probe_function(&hits, probed);
	calls += probed(5) == 16;
	area = find_area();
	if (!area)
		ksft_exit_skip("this kernel has no areas\n");
	size = area_size(area);
	if (munmap((void *)area, size))
		ksft_exit_skip("this kernel does not let programs unmap areas\n");
	ksft_set_plan(7);
	calls += probed(8) == 25;
	ksft_test_result(calls == 2 && probe_count(&hits) == 2 && find_area() == area,
			 "the area is unmapped, and comes back\n");
	ksft_test_result(!in_child(jump_to_free_slot),
			 "a slot that is not in use raises SIGTRAP\n");
	munmap((void *)area, size);
	code = mmap((void *)area, size, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	ksft_test_result(code == (char *)area, "the area is unmapped, and other code is there\n");
	memcpy(code, send_signal, SEND_SIZE);
	__builtin___clear_cache(code, code + SEND_SIZE);
	on_signal(SIGUSR1, on_user, SA_RESTART);
	sent = ((typeof(send_signal) *)code)(getpid());
	ksft_test_result(!sent && signal_ip - area < SEND_SIZE,
			 "a signal does not move its instruction pointer\n");
	calls += probed(6) == 19;
	calls += probed(7) == 22;
	ksft_test_result(calls == 4 && probe_count(&hits) == 5, "%lu of 5 calls are hits\n",
			 probe_count(&hits));
	ksft_test_result(find_area() && find_area() != area, "there is another area\n");
	probe_remove(&hits);
	check_unmapped_often();
	ksft_finished();
}
