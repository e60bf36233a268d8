// SPDX-License-Identifier: GPL-2.0
/*
 * System calls at probes: calls that block, and are interrupted and restarted; their
 * addresses in /proc; programs that may make few calls, with probes that need one of the kernel's
 * own.
 */
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "work.h"
#include "areas.h"
#include "call.h"

#define ROUNDS	10

/* Shared by the processes of a check. */
static struct {
	volatile unsigned long handler_ip;
	volatile long result;
} *shared;

static struct probes calls;
static int pipe_ends[2];
static unsigned long wanted;

/* --- Blocking calls -------------------------------------------------------- */

static void on_user(int number, siginfo_t *info, struct ucontext *context)
{
	shared->handler_ip = CONTEXT_IP(context);
}

/* Reads one byte at the probe. */
static pid_t reading_child(unsigned long flags)
{
	pid_t pid = fork();

	if (!pid) {
		char byte;

		limit_child();
		on_signal(SIGUSR1, on_user, flags);
		shared->result = call3(__NR_read, pipe_ends[0], (long)&byte, 1);
		_exit(0);
	}
	return pid;
}

/* Waits until a process sleeps, at most ten seconds. */
static bool sleeps(pid_t pid)
{
	char path[64], text[512], *state;
	int tries = 1000;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (tries--) {
		usleep(10000);
		if (read_whole(path, text, sizeof(text)) <= 0)
			return false;
		state = strrchr(text, ')');
		if (state && state[2] == 'S')
			return true;
	}
	return false;
}

static int restarted(void)
{
	unsigned long before = probe_count(&calls);
	pid_t pid = reading_child(SA_RESTART);
	int wrong = !sleeps(pid);

	kill(pid, SIGUSR1);
	usleep(50000);
	wrong |= !sleeps(pid);
	write(pipe_ends[1], "x", 1);
	wrong |= reap(pid) != 0 || shared->result != 1;
	/* The restarted instruction is another hit. */
	return wrong | (shared->handler_ip != (unsigned long)named_call_insn) << 1 |
	       (probe_count(&calls) - before != 2) << 2;
}

static int interrupted(void)
{
	unsigned long before = probe_count(&calls);
	pid_t pid = reading_child(0);
	int wrong = !sleeps(pid);

	kill(pid, SIGUSR1);
	wrong |= reap(pid) != 0 || shared->result != -EINTR;
	return wrong | (shared->handler_ip != (unsigned long)named_call_after) << 1 |
	       (probe_count(&calls) - before != 1) << 2;
}

static int sleeping_child(void)
{
	/* Not every kernel has the calls with times of 32 bits. */
	struct __kernel_timespec time = { .tv_sec = 2 };
	const long arguments[5] = { CLOCK_MONOTONIC, 0, (long)&time };

#ifdef __NR_clock_nanosleep_time64
	return named_call(__NR_clock_nanosleep_time64, arguments) != 0;
#else
	return named_call(__NR_clock_nanosleep, arguments) != 0;
#endif
}

/* A stop, and no handler: the kernel restarts the sleep with another number of call. */
static int stopped(void)
{
	unsigned long before = probe_count(&calls);
	pid_t pid = fork();
	int wrong;

	if (!pid) {
		limit_child();
		_exit(sleeping_child());
	}
	wrong = !sleeps(pid);
	kill(pid, SIGSTOP);
	usleep(50000);
	kill(pid, SIGCONT);
	wrong |= reap(pid) != 0;
	return wrong | (probe_count(&calls) == before) << 2;
}

/* /proc/PID/syscall ends with the stack pointer and the ip. */
static int shown(void)
{
	char path[64], text[512], *last;
	pid_t pid = reading_child(0);
	unsigned long ip = 0;
	int wrong = !sleeps(pid);

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	wrong |= read_whole(path, text, sizeof(text)) <= 0;
	last = strrchr(text, ' ');
	if (last)
		ip = strtoul(last + 1, NULL, 16);
	write(pipe_ends[1], "x", 1);
	wrong |= reap(pid) != 0;
	return wrong | (ip != (unsigned long)named_call_after) << 1;
}

static const struct {
	const char *name;
	int (*check)(void);
	const char *detail[2];
} blocking[] = {
	{ "a read is restarted", restarted, { "the handler's ip is the call", "two hits" } },
	{ "a read is interrupted", interrupted, { "the handler's ip is after it", "one hit" } },
	{ "a sleep is stopped and continued", stopped, { NULL, "hits" } },
	{ "a read is shown in /proc/PID/syscall", shown, { "with the ip after it", NULL } },
};

static void check_blocking(void)
{
	unsigned int i, j;

	ksft_test_result(probe_function(&calls, named_call_insn), "a system call is probed\n");
	pipe(pipe_ends);
	for (i = 0; i < ARRAY_SIZE(blocking); i++) {
		int status;

		memset(shared, 0, sizeof(*shared));
		status = in_child(blocking[i].check);
		ksft_test_result(!(status & 1), "%s (result %ld, ip %lx)\n", blocking[i].name,
				 shared->result, shared->handler_ip);
		for (j = 0; j < 2; j++) {
			if (blocking[i].detail[j])
				ksft_test_result(!(status >> (j + 1) & 1), "%s: %s\n",
						 blocking[i].name, blocking[i].detail[j]);
		}
	}
	probe_remove(&calls);
}

/* --- Sandboxes ------------------------------------------------------------- */

#define ALLOW(number)	\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Any other system call than these kills the process. */
static bool enter_filter(void)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		ALLOW(__NR_write),
		ALLOW(__NR_exit),
		ALLOW(__NR_exit_group),
		ALLOW(__NR_rt_sigreturn),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog filter = { .len = ARRAY_SIZE(program), .filter = program };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
}

static int in_filter(void)
{
	if (!enter_filter())
		return 2;
	return work_once(ROUNDS) != wanted;
}

/* In strict mode only exit() of the thread is left. */
static int in_strict_mode(void)
{
	long wrong;

	if (syscall(__NR_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL))
		return 2;
	wrong = work_once(ROUNDS) != wanted;
	syscall(__NR_exit, wrong);
	return 3;
}

static void check_sandbox(const char *name, int (*function)(void))
{
	struct probes inside, returns;
	unsigned long before;
	int status;

	status = in_child(function);
	ksft_test_result(!status, "%s, no probe (%d)\n", name, status);

	probe_all(&inside, work_probes, WORK_PROBES, false);
	before = probe_count(&inside);
	status = in_child(function);
	ksft_test_result(!status, "%s, probed instructions (%d)\n", name, status);
	ksft_test_result(probe_count(&inside) - before == ROUNDS * work_per_round + work_per_call,
			 "%s, %lu hits\n", name, probe_count(&inside) - before);

	probe_return(&returns, work);
	before = probe_count(&returns);
	status = in_child(function);
	ksft_test_result(!status && probe_count(&returns) - before == 1,
			 "%s, return probe (%d)\n", name, status);
	probe_remove(&inside);
	status = in_child(function);
	ksft_test_result(!status && probe_count(&returns) - before == 2,
			 "%s, only a return probe (%d)\n", name, status);
	probe_remove(&returns);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(21);
	shared = shared_memory(4096);
	wanted = work_once(ROUNDS);
	check_blocking();
	check_sandbox("system-call filter", in_filter);
	check_sandbox("strict mode", in_strict_mode);
	ksft_finished();
}
