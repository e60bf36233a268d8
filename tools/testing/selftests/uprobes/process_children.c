// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of one process whose children, and other processes, have the same text: they are not
 * probed, unless a module registers probes for them when they are created.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "tracee.h"
#include "code.h"
#include "process.h"

/* --- Processes --------------------------------------------------------------------- */

static int child_calls(void)
{
	return !(unchanged(plain) && call_plain(3) == 3);
}

static int other_process(void)
{
	/* The parent registers after this child has been made. */
	while (access(FILE_PATH, F_OK))
		usleep(1000);
	return child_calls();
}

static void check_fork(void)
{
	int err = add("a", plain, ""), status;
	pid_t pid;

	status = in_child(child_calls);
	ksft_test_result(!err && !status && !get("a", HITS),
			 "a child has the original text and no hits: %d\n", status);
	ksft_test_result(call_plain(1) == 1 && get("a", HITS) == 1, "the parent still has\n");
	command("drop");

	unlink(FILE_PATH);
	pid = fork();
	if (!pid) {
		limit_child();
		_exit(other_process());
	}
	err = add("a", plain, "");
	close(open(FILE_PATH, O_CREAT | O_WRONLY, 0600));
	status = reap(pid);
	ksft_test_result(!err && !status && !get("a", HITS), "another process is not probed\n");
	unlink(FILE_PATH);
	command("drop");
}

/* The state of a child, which both change. */
static volatile int *step;

static void wait_for_step(int wanted)
{
	int i;

	for (i = 0; i < 10000 && *step != wanted; i++)
		usleep(1000);
}

static int child_calls_twice(void)
{
	int status;

	wait_for_step(1);
	status = child_calls();
	*step = 2;
	wait_for_step(3);
	return status || call_plain(3) != 3;
}

/* The object of a probe gets the pid of a child: first while it is registered, then afterwards. */
static void check_changed_pid(void)
{
	int err, again, status;
	char line[32];
	pid_t pid;

	step = shared_memory(4096);
	pid = fork();
	if (!pid) {
		limit_child();
		_exit(child_calls_twice());
	}
	snprintf(line, sizeof(line), "pid a %d", pid);
	err = add("a", plain, "") ?: command(line);
	again = on("add", "a");
	*step = 1;
	wait_for_step(2);
	ksft_test_result(!err && again == EBUSY && call_plain(1) == 1 && get("a", HITS) == 1 &&
			 get("a", REGISTERED) == 1,
			 "refusal of a registered probe, with the pid of a child: error %d\n",
			 again);
	err = on("del", "a") ?: on("add", "a");
	*step = 3;
	status = reap(pid);
	ksft_test_result(!err && !status && get("a", HITS) == 4 && unchanged(plain),
			 "then it is registered for the child: error %d, status %d\n", err, status);
	command("drop");
	munmap((void *)step, 4096);
}

/* A file that two children map, as a library; low, so that the address is an offset. */
#define LIBRARY		((char *)0x34000000UL)

static int child_calls_library(void)
{
	int i, good = 0;

	wait_for_step(1);
	for (i = 0; i < 3; i++)
		good += code_call(LIBRARY, 0, i);
	return good != 3;
}

/* Reads the code of the library in a process. */
static bool read_library(pid_t pid, char *to)
{
	char path[32];
	bool done;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY);
	done = lseek(fd, (unsigned long)LIBRARY, SEEK_SET) == (off_t)(unsigned long)LIBRARY &&
	       read(fd, to, CODE_SIZE) == (ssize_t)CODE_SIZE;
	close(fd);
	return done;
}

static void check_library(void)
{
	char text[2][64] = { 0 };
	pid_t pids[2];
	int i, fd, err, status;

	step = shared_memory(4096);
	code_file(FILE_PATH, 1);
	fd = open(FILE_PATH, O_RDONLY);
	mmap(LIBRARY, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
	close(fd);
	for (i = 0; i < 2; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			limit_child();
			_exit(child_calls_library());
		}
	}
	err = make("a", pids[0], LIBRARY, "") ?: on("add", "a");
	ksft_test_result(!err && read_library(pids[0], text[0]) &&
			 read_library(pids[1], text[1]) &&
			 memcmp(text[0], code_start, CODE_SIZE) &&
			 !memcmp(text[1], code_start, CODE_SIZE) &&
			 !memcmp(LIBRARY, code_start, CODE_SIZE),
			 "one of two processes that map a file has the breakpoint: error %d\n",
			 err);
	*step = 1;
	status = reap(pids[0]) | reap(pids[1]);
	ksft_test_result(!status && get("a", HITS) == 3, "and the hits: status %d, %ld hits\n",
			 status, get("a", HITS));
	command("drop");
	munmap(LIBRARY, 4096);
	munmap((void *)step, 4096);
	unlink(FILE_PATH);
}

/* --- Many processes ------------------------------------------------------------------ */

#define MANY	10

static int child_calls_both(void)
{
	wait_for_step(1);
	return !(call_plain(3) == 3 && deep(4) == 4);
}

/* Two probes in each process. */
static void make_many(const pid_t *pids)
{
	int i;

	for (i = 0; i < MANY; i++) {
		make(name_of("p", i), pids[i], plain, "quiet");
		make(name_of("d", i), pids[i], deep, "quiet");
	}
}

/* An array has probes of all processes. */
static void check_many(void)
{
	int i, err, status = 0, good = 0, registered = 0;
	pid_t pids[MANY];

	step = shared_memory(4096);
	for (i = 0; i < MANY; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			limit_child();
			_exit(child_calls_both());
		}
	}
	make_many(pids);
	make("bad", 99999, plain, "");
	err = command("batch");
	for (i = 0; i < MANY; i++)
		registered += get(name_of("p", i), REGISTERED) + get(name_of("d", i), REGISTERED);
	ksft_test_result(err == ESRCH && !registered,
			 "an array with a process that does not exist is refused: error %d\n", err);
	command("drop");
	make_many(pids);
	err = command("batch");
	*step = 1;
	for (i = 0; i < MANY; i++)
		status |= reap(pids[i]);
	for (i = 0; i < MANY; i++)
		good += get(name_of("p", i), HITS) == 3 && get(name_of("d", i), HITS) == 5;
	ksft_test_result(!err && !status && good == MANY,
			 "an array of %d processes: error %d, status %d, %d have their hits\n",
			 MANY, err, status, good);
	command("drop");
	munmap((void *)step, 4096);
}

/* Forks a child with that pid, which is free. Returns the result of fork(). */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD, .set_tid = pointer(&pid), .set_tid_size = 1,
	};

	return syscall(__NR_clone3, &args, sizeof(args));
}

/* The number of a process that has ended is that of another one. */
static void check_number(void)
{
	int err, status;
	pid_t pid;

	step = shared_memory(4096);
	pid = fork();
	if (!pid) {
		limit_child();
		_exit(child_calls_both());
	}
	err = make("a", pid, plain, "") ?: on("add", "a");
	*step = 1;
	status = reap(pid);
	*step = 0;
	if (fork_as(pid) == 0) {
		limit_child();
		_exit(child_calls_twice());
	}
	ksft_test_result(!err && !status && get("a", HITS) == 3 && !get("a", REGISTERED) &&
			 !on("del", "a"), "a process ends: error %d, status %d\n", err, status);
	*step = 1;
	wait_for_step(2);
	err = on("add", "a");
	*step = 3;
	status = reap(pid);
	ksft_test_result(!err && !status && get("a", HITS) == 6,
			 "another one has its number: error %d, status %d, %ld hits\n", err, status,
			 get("a", HITS));
	command("drop");
	munmap((void *)step, 4096);
}

/* --- Fork and exec ---------------------------------------------------------------------- */

static char *written;

static int child_calls_written(void)
{
	return !(!memcmp(written, code_start, CODE_SIZE) && code_call(written, 0, 3));
}

static void check_fork_of_written(void)
{
	int err, status;

	written = jit();
	err = add("a", written, "");
	status = in_child(child_calls_written);
	ksft_test_result(!err && !status && !get("a", HITS) && code_call(written, 0, 3) &&
			 get("a", HITS) == 1, "the same with written text: error %d, status %d\n",
			 err, status);
	command("drop");
	munmap(written, 4096);
}

/* The action of the executed program: "exit", or "stop" before it. */
static char *after_exec = "exit";

static int child_execs(void)
{
	char *const arguments[] = { "/proc/self/exe", after_exec, NULL };
	char *const environment[] = { NULL };

	if (call_plain(3) != 3)
		return 1;
	execve(arguments[0], arguments, environment);
	return 2;
}

/* The executed program has the text of the probe, too. */
static int executed(const char *word)
{
	if (!strcmp(word, "stop"))
		kill(getpid(), SIGSTOP);
	return call_plain(3) == 3 ? 33 : 34;
}

/*
 * Calls a function in a child, which executes this program. Returns how often the probe is
 * registered while the program lives, or -1.
 */
static long registered_after_exec(int (*function)(void), int *status)
{
	long registered = -1;
	pid_t pid;

	after_exec = "stop";
	pid = fork();
	if (!pid) {
		limit_child();
		_exit(function());
	}
	after_exec = "exit";
	if (wait_for_stop(pid) == SIGSTOP) {
		registered = get("f", REGISTERED);
		kill(pid, SIGCONT);
	}
	*status = reap(pid);
	return registered;
}

static void check_follow(void)
{
	int err = make("f", getpid(), plain, "") ?: on("follow", "f"), status;
	long registered = registered_after_exec(child_execs, &status);

	ksft_test_result(!err && status == 33 && get("f", HITS) == 3 && !get("f", RESULT),
			 "a child is probed before it runs: status %d, %ld hits, result %ld\n",
			 status, get("f", HITS), get("f", RESULT));
	ksft_test_result(!strcmp(read_all(EVENTS), "1 1 1 0\n"), "fork, exec and exit are seen: %s",
			 read_all(EVENTS));
	ksft_test_result(!registered && !get("f", REGISTERED) && !on("del", "f"),
			 "exec has unregistered the probe: %ld registered before the exit\n",
			 registered);
	command("drop");
}

static void exec_in_thread(void *unused)
{
	syscall(__NR_exit_group, child_execs());
}

/* The second thread calls, and executes a program; the first one waits. */
static int child_execs_in_thread(void)
{
	static struct thread second;

	thread_start(&second, exec_in_thread, NULL);
	for (;;)
		usleep(100000);
	return 0;
}

static void check_follow_thread(void)
{
	int err = make("f", getpid(), plain, "") ?: on("follow", "f"), status;
	long registered = registered_after_exec(child_execs_in_thread, &status);

	ksft_test_result(!err && status == 33 && get("f", HITS) == 3 && !registered &&
			 !on("del", "f") && !strcmp(read_all(EVENTS), "2 2 2 0\n"),
			 "a thread that executes a program unregisters: status %d, events %s",
			 status, read_all(EVENTS));
	command("drop");
}

static void check_follow_vfork(void)
{
	char seen[64];
	int err = make("f", getpid(), plain, "") ?: on("follow", "f"), status;
	long pid;

	strcpy(seen, read_all(EVENTS));
	pid = vfork();
	if (!pid) {
		plain(1);
		_exit(5);
	}
	status = reap(pid);
	ksft_test_result(!err && status == 5 && !get("f", REGISTERED) && !get("f", HITS) &&
			 !strcmp(read_all(EVENTS), seen),
			 "a child in the memory of its parent is no fork: %s", read_all(EVENTS));
	command("drop");
}

#define NO_NAMESPACES	50

#ifndef CLONE_NEWPID
#define CLONE_NEWPID	0x20000000
#endif

/* Follows a process whose children have other pids in their own namespace. */
static int follow_in_namespace(void)
{
	volatile int *go = shared_memory(4096);
	int err, status;
	pid_t pid;

	if (syscall(__NR_unshare, CLONE_NEWPID) < 0)
		return NO_NAMESPACES;
	pid = fork();
	if (!pid) {
		limit_child();
		while (!*go)
			usleep(1000);
		_exit(in_child(child_execs));
	}
	err = make("f", pid, plain, "") ?: on("follow", "f");
	*go = 1;
	status = reap(pid);
	return err || status != 33 || get("f", HITS) != 3 || get("f", RESULT);
}

static void check_namespace(void)
{
	int status = in_child(follow_in_namespace);

	if (status == NO_NAMESPACES)
		ksft_test_result_skip("no pid namespaces here\n");
	else
		ksft_test_result(!status, "a child in a pid namespace is probed: %d, result %ld\n",
				 status, get("f", RESULT));
	command("drop");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return executed(argv[1]);
	ksft_print_header();
	ksft_set_plan(18);
	memcpy(before, plain, sizeof(before));
	check_fork();
	check_changed_pid();
	check_library();
	check_many();
	check_number();
	check_fork_of_written();
	check_follow();
	check_follow_thread();
	check_follow_vfork();
	check_namespace();
	ksft_finished();
}
