// SPDX-License-Identifier: GPL-2.0
/*
 * Call a probed function in new processes. In the first, the first allocation of the first hit
 * fails, in the second the second, and so on, until none fails. Each process calls the function
 * again afterwards, with memory.
 *
 *	fail_hits entry|return
 *
 * Prints "FAILED WRONG HITS MISSED": the number of allocations that have failed; the processes
 * that have died or got a wrong result; the hits that are lacking, of two for each process; and,
 * for returns, the calls that the kernel has counted as missed.
 *
 * Status: 0; 1 if the function cannot be probed, or no process has memory; 4 if this kernel cannot
 * let allocations fail.
 */
#include "probe.h"
#include "signals.h"
#include "system.h"

#define MISSED	"/sys/kernel/debug/uprobes/missed"
#define MOST	100

/* Results of a process. */
enum { HAD_MEMORY = 1, LACKED_MEMORY };

static NOINLINE unsigned long probed(unsigned long value)
{
	asm volatile("" : "+r" (value));
	return value * 5 + 2;
}

static void set_nth(int file, int n)
{
	char text[16];

	strcpy(text, itoa(n));
	if (write(file, text, strlen(text)) < 0)
		_exit(0);
}

/* Calls the function; the allocation with number @n fails. */
static int call_twice(int n)
{
	int file = open("/proc/self/fail-nth", O_RDWR);
	unsigned long first, second;
	char left[16] = "";

	set_nth(file, n);
	first = probed(n);
	/* To open the file again would count as an allocation. */
	if (syscall(__NR_pread64, file, left, sizeof(left) - 1, 0, 0) <= 0)
		return 0;
	set_nth(file, 0);
	second = probed(n + 1);
	if (first != n * 5UL + 2 || second != n * 5UL + 7)
		return 0;
	return atoi(left) ? HAD_MEMORY : LACKED_MEMORY;
}

int main(int argc, char **argv)
{
	bool is_return = argc > 1 && !strcmp(argv[1], "return");
	unsigned int n, wrong = 0;
	struct probes probes;
	int status = 0;
	long missed;
	pid_t pid;

	if (access("/proc/self/fail-nth", F_OK))
		return 4;
	if (!(is_return ? probe_return : probe_function)(&probes, probed))
		return 1;
	missed = read_number(MISSED);
	for (n = 1; n <= MOST && status != HAD_MEMORY; n++) {
		pid = fork();
		if (!pid) {
			limit_child();
			_exit(call_twice(n));
		}
		status = reap(pid);
		wrong += status <= 0;
	}
	n--;
	probe_remove(&probes);
	printf("%u %u %ld %ld\n", n - 1, wrong, 2L * n - (long)probe_count(&probes),
	       read_number(MISSED) - missed);
	return status != HAD_MEMORY;
}
