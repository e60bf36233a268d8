// SPDX-License-Identifier: GPL-2.0
/*
 * New processes, threads and programs that begin or end in probed code: fork, vfork, clone,
 * exec and exit at a probed system call and in functions whose return is probed.  Every call
 * is counted, in the children, too.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "work.h"
#include "call.h"

#define ROUNDS		20
#define THREADS		4
#define THREAD_CALLS	20
#define KILLS		20

static struct probes probes;
static unsigned long wanted;

static unsigned long total(void)
{
	return probe_count(&probes);
}

/* --- Work in children ------------------------------------------------------ */

static void check_fork(void)
{
	unsigned long before = total(), hits = ROUNDS * work_per_round + work_per_call;
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(work_once(ROUNDS) != wanted);
	status = reap(pid);
	ksft_test_result(!status, "a child computes right\n");
	ksft_test_result(total() - before == hits, "its hits are counted (%lu of %lu)\n",
			 total() - before, hits);
	ksft_test_result(work_once(ROUNDS) == wanted, "so does its parent afterwards\n");
}

static volatile unsigned long thread_errors;

static void thread_calls(void *unused)
{
	unsigned int i;

	for (i = 0; i < THREAD_CALLS; i++) {
		if (work_once(ROUNDS) != wanted)
			thread_errors++;
	}
}

static struct thread threads[THREADS];

/* The function changes a word and restores it, so only one thread may be there at a time. */
static void check_threads(void)
{
	unsigned long calls = (ROUNDS * work_per_round + work_per_call) * THREAD_CALLS * THREADS;
	unsigned long before = total(), hits;
	unsigned int i, failed = 0;

	for (i = 0; i < THREADS; i++) {
		if (thread_start(&threads[i], thread_calls, NULL) < 0)
			failed++;
#ifndef __aarch64__
		thread_wait(&threads[i], 30);
#endif
	}
	for (i = 0; i < THREADS; i++)
		failed += !thread_wait(&threads[i], 30);
	hits = total() - before;
	ksft_test_result(!failed && !thread_errors, "threads compute right\n");
	ksft_test_result(hits == calls, "their hits are counted (%lu of %lu)\n", hits, calls);
}

/* Children die anywhere in probed code. */
static void check_kill(void)
{
	unsigned int i, tries, hit = 0, wrong = 0;
	unsigned long before;
	int status;

	for (i = 0; i < KILLS; i++) {
		pid_t pid;

		before = total();
		pid = fork();

		if (!pid) {
			while (work_once(ROUNDS) == wanted)
				;
			_exit(1);
		}
		usleep(200 + 100 * i);
		/* On a slow or busy machine, it may not have called yet. */
		for (tries = 0; tries < 10000 && total() == before; tries++)
			usleep(1000);
		hit += total() != before;
		kill(pid, SIGKILL);
		wrong += waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status);
	}
	ksft_test_result(!wrong && hit == KILLS, "children are killed in probed code\n");
	ksft_test_result(work_once(ROUNDS) == wanted, "their parent computes right\n");
}

/* --- A probed system call -------------------------------------------------- */

/*
 * Each of these runs in a process of its own, because an implementation without support for
 * such probes crashes it.  They return which checks fail, a bit each.
 */
static struct probes calls;

static unsigned long call_count(void)
{
	return probe_count(&calls);
}

static int call_fork(void)
{
	unsigned long before = call_count();
	long pid;
	int status;

#ifdef __NR_fork
	pid = call0(__NR_fork);
#else
	pid = call3(__NR_clone, SIGCHLD, 0, 0);
#endif
	if (!pid)
		_exit(work_once(ROUNDS) == wanted ? 5 : 6);
	status = reap(pid);
	return (status != 5) | (call_count() - before != 1) << 1;
}

static int call_vfork(void)
{
#ifndef __i386__
	/* The child would overwrite the return address of any other function than named_call(). */
	static const long clone_arguments[5] = { CLONE_VM | CLONE_VFORK | SIGCHLD };
	static const long exit_arguments[5] = { 5 };
	unsigned long before = call_count();
	long pid = named_call(__NR_clone, clone_arguments);
	int status;

	if (!pid)
		named_call(__NR_exit_group, exit_arguments);
	status = reap(pid);
	return (status != 5) | (call_count() - before != 2) << 1;
#else
	return 4;
#endif
}

static int call_exec(void)
{
	static char *const argv[] = { "processes", "child", NULL };
	static char *const envp[] = { NULL };
	unsigned long before = call_count(), work_before = total();
	unsigned long hits = ROUNDS * work_per_round + work_per_call;
	pid_t pid = fork();
	int status;

	if (!pid) {
		call3(__NR_execve, (long)SELF, (long)argv, (long)envp);
		_exit(1);
	}
	status = reap(pid);
	/* The new program calls the function, and exits at the probe. */
	return (status != 7) | (call_count() - before != 2 || total() - work_before != hits) << 1;
}

static void exit_at_call(void *unused)
{
	call3(__NR_exit, 0, 0, 0);
}

static int call_exit(void)
{
	unsigned long before = call_count();

	thread_start(&threads[0], exit_at_call, NULL);
	return (!thread_wait(&threads[0], 10)) | (call_count() - before != 1) << 1;
}

/* A signal's handler sees the next instruction, or this one if the call is to be restarted. */
static volatile unsigned long handler_ip;

static void on_user(int number, siginfo_t *info, struct ucontext *context)
{
	handler_ip = CONTEXT_IP(context);
}

static int call_kill(void)
{
	unsigned long before = call_count();

	on_signal(SIGUSR1, on_user, 0);
	call3(__NR_kill, getpid(), SIGUSR1, 0);
	return (handler_ip != (unsigned long)named_call_after) |
	       (call_count() - before != 1) << 1;
}

static const struct call_check {
	const char *name;
	int (*check)(void);
} call_checks[] = {
	{ "fork", call_fork },
	{ "vfork and exit", call_vfork },
	{ "exec and exit", call_exec },
	{ "exit of a thread", call_exit },
	{ "a signal to itself", call_kill },
};

static void check_calls(void)
{
	const struct call_check *check;
	int status;

	ksft_test_result(probe_function(&calls, named_call_insn), "a system call is probed\n");
	for (check = call_checks; check < call_checks + ARRAY_SIZE(call_checks); check++) {
		status = in_child(check->check);
		if (status == 4) {
			ksft_test_result_skip("probed system call: %s: not for this processor\n",
					      check->name);
			ksft_test_result_skip("probed system call: %s: hits\n", check->name);
			continue;
		}
		ksft_test_result(!(status & 1), "probed system call: %s (%d)\n", check->name,
				 status);
		ksft_test_result(!(status & 2), "probed system call: %s: hits\n", check->name);
	}
	probe_remove(&calls);
}

/* --- Functions whose return is probed -------------------------------------- */

NOINLINE static pid_t fork_inside(void)
{
	pid_t pid = fork();

	asm volatile("" : "+r" (pid));
	return pid;
}

NOINLINE static void exit_inside(int status)
{
	asm volatile("");
	_exit(status);
}

NOINLINE static void thread_exit_inside(void *unused)
{
	syscall(__NR_exit, 0);
}

NOINLINE static int exec_inside(void)
{
	static char *const argv[] = { "processes", "child", NULL };
	static char *const envp[] = { NULL };

	return execve(SELF, argv, envp) + 1;
}

NOINLINE static pid_t fork_deep(unsigned int depth)
{
	pid_t pid = depth ? fork_deep(depth - 1) : fork_inside();

	asm volatile("" : "+r" (pid));
	return pid;
}

static void check_returns(void)
{
	struct probes inside, deep, ends, thread, exec;
	bool ends_probed, thread_probed, exec_probed;
	unsigned long returns;
	pid_t pid;
	int status;

	probe_return(&inside, fork_inside);
	probe_return(&deep, fork_deep);
	ends_probed = probe_return(&ends, exit_inside);
	thread_probed = probe_return(&thread, thread_exit_inside);
	exec_probed = probe_return(&exec, exec_inside);

	pid = fork_inside();
	if (!pid)
		_exit(4);
	status = reap(pid);
	returns = probe_count(&inside);
	ksft_test_result(status == 4 && returns == 2,
			 "parent and child return from a function (%d, %lu returns)\n", status,
			 returns);

	pid = fork_deep(10);
	if (!pid)
		_exit(4);
	status = reap(pid);
	returns = probe_count(&deep);
	ksft_test_result(status == 4 && returns == 22,
			 "they return from a deep recursion (%d, %lu returns)\n", status, returns);

	pid = fork();
	if (!pid)
		exit_inside(3);
	status = reap(pid);
	ksft_test_result(ends_probed && status == 3 && probe_count(&ends) == 0,
			 "a process exits in such a function (%d)\n", status);

	thread_start(&threads[0], thread_exit_inside, NULL);
	ksft_test_result(thread_wait(&threads[0], 10) && thread_probed &&
			 probe_count(&thread) == 0,
			 "a thread exits in such a function\n");

	pid = fork();
	if (!pid)
		_exit(exec_inside());
	status = reap(pid);
	ksft_test_result(exec_probed && status == 7 && probe_count(&exec) == 0,
			 "a process starts a program in such a function (%d)\n", status);
	probe_remove(&inside);
	probe_remove(&deep);
	probe_remove(&ends);
	probe_remove(&thread);
	probe_remove(&exec);
}

int main(int argc, char **argv)
{
	wanted = work_once(ROUNDS);
	if (argc == 2 && !strcmp(argv[1], "child")) {
		/* The program that the tests start. */
		call3(__NR_exit_group, wanted ? 7 : 8, 0, 0);
	}
	ksft_print_header();
	ksft_set_plan(24);
	if (!probe_all(&probes, work_probes, WORK_PROBES, false))
		ksft_exit_fail_msg("the probes are refused: error %d\n", errno);
	check_fork();
	check_threads();
	check_kill();
	check_calls();
	check_returns();
	probe_remove(&probes);
	ksft_test_result(work_once(ROUNDS) == wanted, "the function works without probes\n");
	ksft_finished();
}
