/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_STARVE_H
#define _UPROBES_STARVE_H
/*
 * Attempts in each of which another allocation of this task fails: in the first attempt the first
 * one, in the second attempt the second, and so on, until an attempt has fewer allocations, so that
 * none fails.  The kernel has FAULT_INJECTION, see starve() of functions.sh.
 *
 * Include system.h before.
 */

#define MOST		2000
#define MOST_WRONG	5

/* Results of an attempt: no allocation has failed, or one has; both as the documents say. */
enum { HAD_MEMORY = 1, LACKED_MEMORY, WRONG };

static int fail_nth = -1;

/* Each task has its own; to open it again would count as an allocation. */
static void open_fail_nth(void)
{
	close(fail_nth);
	fail_nth = open("/proc/self/fail-nth", O_RDWR);
}

/* The allocation with this number fails; 0: none. */
static void fail_at(int n)
{
	char text[16];

	strcpy(text, itoa(n));
	write(fail_nth, text, strlen(text));
}

/* Has it failed? No other one does from now on. */
static bool has_failed(void)
{
	char left[16] = "1";

	syscall(__NR_pread64, fail_nth, left, sizeof(left) - 1, 0, 0);
	fail_at(0);
	return !atoi(left);
}

static int result_of(bool right, bool lacked, int err)
{
	if (right && (!err || (lacked && err == ENOMEM)))
		return lacked ? LACKED_MEMORY : HAD_MEMORY;
	ksft_print_msg("error %d, %s\n", err, right ? "which is wrong" : "and the state is wrong");
	return WRONG;
}

static int (*attempt_in_child)(int n);
static int attempt_number;

static int run_attempt(void)
{
	open_fail_nth();
	return attempt_in_child(attempt_number);
}

static int new_process(int n)
{
	attempt_number = n;
	return in_child(run_attempt);
}

/* At least @fewest allocations must fail. */
static void each_fails(const char *name, int fewest, int (*attempt)(int n))
{
	int n, wrong = 0, result = LACKED_MEMORY;
	long start = time(NULL);

	for (n = 1; n <= MOST && wrong < MOST_WRONG && result != HAD_MEMORY; n++) {
		result = attempt(n);
		if (result == HAD_MEMORY || result == LACKED_MEMORY)
			continue;
		ksft_print_msg("%s: allocation %d fails: result %d\n", name, n, result);
		wrong++;
	}
	/* In the last attempt none has failed. */
	n -= 2;
	ksft_print_msg("%s: %d allocations, %ld s\n", name, n, (long)time(NULL) - start);
	ksft_test_result(result == HAD_MEMORY && !wrong && n >= fewest,
			 "%s: %d allocations fail, %d results are wrong\n", name, n, wrong);
}

static void each_fails_in_child(const char *name, int fewest, int (*attempt)(int n))
{
	attempt_in_child = attempt;
	each_fails(name, fewest, new_process);
}

#endif /* _UPROBES_STARVE_H */
