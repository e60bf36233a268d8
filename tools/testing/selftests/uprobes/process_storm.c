// SPDX-License-Identifier: GPL-2.0
/*
 * Probes by pid come and go while their processes call the probed text, fork, start themselves
 * again, exit and are killed, have threads and signals, are stepped, and unmap, move, protect and
 * write the text. The module up_process registers the probes.
 *
 * No call has a wrong result, no process dies by itself, each registration is accepted or has one
 * of the errors that the state of the process explains, and nothing is left.
 *
 *	process_storm		UPROBES_SECONDS in the environment: how long
 *	process_storm victim	one of the processes
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "code.h"
#include "process.h"
#include "tracee.h"

#define LIST		"/sys/kernel/debug/uprobes/list"
#define SHARED_PATH	"/tmp/uprobes-process-storm"
#define VICTIMS		6
#define NAMES		8

/* The same in all processes: text that they have written, another place for it, and a file. */
#define WRITTEN		((char *)0x30000000UL)
#define MOVED		((char *)0x32000000UL)
#define MAPPED		((char *)0x34000000UL)
#define FIXED		(MAP_PRIVATE | MAP_FIXED)

/* A file, because it outlives exec. */
static struct {
	volatile int stop;
	volatile unsigned long wrong;
	volatile unsigned long calls;
	volatile pid_t pids[VICTIMS];
} *shared;

static unsigned int seconds = 4;

static void complain_of(const char *what, int err)
{
	dprintf(1, "# %s: error %d\n", what, err);
	__atomic_fetch_add(&shared->wrong, 1, __ATOMIC_RELAXED);
}

static void complain(const char *what)
{
	complain_of(what, errno);
}

static bool share(void)
{
	int fd = open(SHARED_PATH, O_RDWR | O_CREAT, 0600);

	if (ftruncate(fd, 4096))
		return false;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return shared != MAP_FAILED;
}

/* --- Processes that are probed --------------------------------------------------------- */

static void call_at(char *text, unsigned int times)
{
	unsigned int i;

	for (i = 0; i < times; i++) {
		if (!code_call(text, 0, i))
			complain("a wrong result");
	}
	__atomic_fetch_add(&shared->calls, times, __ATOMIC_RELAXED);
}

static void call_both(void)
{
	call_at(WRITTEN, 20);
	call_at(MAPPED, 20);
}

static void map_file(void)
{
	int fd = open(FILE_PATH, O_RDONLY);

	if (mmap(MAPPED, 4096, PROT_READ | PROT_EXEC, FIXED, fd, 0) != MAPPED)
		complain("mmap of the file");
	close(fd);
}

/* A unit of text that is written at once. */
#ifdef __aarch64__
typedef volatile unsigned int text_unit;
#else
typedef volatile unsigned char text_unit;
#endif

/*
 * Nobody may see a part of an instruction, because a breakpoint is written into text that the
 * program has half written otherwise.
 */
static void write_to(char *place)
{
	text_unit *to = (text_unit *)place;
	const text_unit *from = (const text_unit *)code_start;
	unsigned long i;

	for (i = 0; i < CODE_SIZE / sizeof(*to); i++)
		to[i] = from[i];
	__builtin___clear_cache(place, place + CODE_SIZE);
}

static void write_again(void)
{
	write_to(WRITTEN);
	call_at(WRITTEN, 5);
}

/* The text appears at once. */
static void map_written(void)
{
	char *place = mmap(NULL, 4096, ALL, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	write_to(place);
	if (mremap(place, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, WRITTEN) != WRITTEN)
		complain("mremap of new text");
	call_at(WRITTEN, 5);
}

static void map_again(void)
{
	munmap(MAPPED, 4096);
	map_file();
	call_at(MAPPED, 5);
}

static void move_there_and_back(void)
{
	if (mremap(WRITTEN, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, MOVED) != MOVED)
		complain("mremap");
	call_at(MOVED, 3);
	if (mremap(MOVED, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, WRITTEN) != WRITTEN)
		complain("mremap back");
	call_at(WRITTEN, 3);
}

static void protect(void)
{
	change_protection(MAPPED, 4096, PROT_READ);
	change_protection(MAPPED, 4096, PROT_READ | PROT_EXEC);
	call_at(MAPPED, 5);
}

static void fork_a_child(void)
{
	pid_t pid = fork();

	call_both();
	if (!pid)
		_exit(0);
	if (reap(pid))
		complain("a child");
}

static void thread_of_calls(void *unused)
{
	(void)unused;
	call_both();
}

static void run_threads(void)
{
	static struct thread two[2];
	int i;

	for (i = 0; i < 2; i++) {
		if (thread_start(&two[i], thread_of_calls, NULL) < 0)
			complain("clone");
	}
	call_both();
	for (i = 0; i < 2; i++) {
		if (!thread_wait(&two[i], 60))
			complain("a thread hangs");
	}
}

static void got_alarm(int number, siginfo_t *info, struct ucontext *context)
{
	(void)number;
	(void)info;
	(void)context;
}

static void take_signals(void)
{
	on_signal(SIGALRM, got_alarm, SA_RESTART);
	alarm_every(300);
	call_both();
	alarm_every(0);
}

static void start_again(void)
{
	char *const arguments[] = { "process_storm", "victim", NULL };
	char *const environment[] = { NULL };

	execve(SELF, arguments, environment);
	complain("execve");
}

static void leave(void)
{
	_exit(0);
}

/* Calls are the most frequent. */
static void (*const actions[])(void) = {
	call_both, call_both, call_both, call_both, call_both, call_both, call_both, call_both,
	write_again, map_written, map_again, move_there_and_back, protect, fork_a_child,
	run_threads, take_signals, take_signals, start_again, leave,
};

static int be_victim(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	seed = getpid() * 31 + (shared->calls & 0xffff);
	map_written();
	map_file();
	while (!shared->stop)
		actions[next_random(ARRAY_SIZE(actions))]();
	return 0;
}

/* --- A debugger ------------------------------------------------------------------------ */

static void step_a_victim(void)
{
	pid_t pid = shared->pids[next_random(VICTIMS)];
	int i;

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		return;
	ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	for (i = 0; i < 20; i++) {
		if (wait_for_stop(pid) < 0 || ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL))
			return;
	}
	if (wait_for_stop(pid) >= 0)
		ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

static pid_t start_debugger(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		seed = 7;
		while (!shared->stop) {
			step_a_victim();
			usleep(5000);
		}
		_exit(0);
	}
	return pid;
}

/* --- Probes ------------------------------------------------------------------------------ */

static unsigned long hits, added, failed;

/* Errors that the state of the process explains: it ends, or its text is not there just now. */
static bool is_explained(int err)
{
	return err == ESRCH || err == EFAULT || err == EACCES || err == EILSEQ || err == ENOEXEC;
}

static void add_one(const char *name)
{
	static const char *const words[] = { "quiet", "quiet", "quiet return", "quiet self" };
	char text[64];
	char *at = next_random(2) ? WRITTEN : MAPPED;
	unsigned int word = next_random(ARRAY_SIZE(words) + 1);
	int err;

	if (word < ARRAY_SIZE(words))
		strcpy(text, words[word]);
	else
		snprintf(text, sizeof(text), "quiet return size=%lu", CODE_SIZE);
	/* Return probes are on the first instruction. */
	if (word < 2 || word == 3)
		at += code_offsets[next_random(CODE_PROBES)];
	err = make(name, shared->pids[next_random(VICTIMS)], at, text) ?: on("add", name);
	if (!err)
		added++;
	else if (is_explained(err))
		failed++;
	else
		complain_of(text, err);
}

static void forget(const char *name)
{
	long seen = get(name, HITS);

	if (seen < 0)
		return;
	hits += seen + get(name, RETURNS);
	if (get(name, ERRORS))
		complain("a handler has seen something wrong");
	if (on("forget", name))
		complain("forget");
}

static void change_one(void)
{
	char name[8];

	snprintf(name, sizeof(name), "p%u", next_random(NAMES));
	if (get(name, HITS) < 0)
		add_one(name);
	else if (next_random(3))
		forget(name);
	else if (!on("off", name))
		on("on", name);
}

/* --- All ----------------------------------------------------------------------------------- */

static unsigned int died, started, killed;

static void start_victim(unsigned int nr)
{
	pid_t pid = fork();

	if (!pid)
		_exit(be_victim());
	shared->pids[nr] = pid;
	started++;
}

static void look_after_victim(unsigned int nr)
{
	int status;

	if (!next_random(20) && !kill(shared->pids[nr], SIGKILL))
		killed++;
	if (waitpid(shared->pids[nr], &status, WNOHANG) != shared->pids[nr])
		return;
	if (WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status) != SIGKILL) {
		ksft_print_msg("a process has died: status 0x%x\n", status);
		died++;
	}
	start_victim(nr);
}

static void storm(void)
{
	unsigned long end;
	unsigned int i;
	pid_t debugger;
	struct timespec now;
	int status;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + seconds;
	for (i = 0; i < VICTIMS; i++)
		start_victim(i);
	debugger = start_debugger();
	/* A slow kernel has not killed a process in this time. */
	while ((unsigned long)now.tv_sec < end || !killed) {
		change_one();
		look_after_victim(next_random(VICTIMS));
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
	shared->stop = 1;
	for (i = 0; i < VICTIMS; i++)
		kill(shared->pids[i], SIGKILL);
	waitpid(debugger, &status, 0);
	for (i = 0; i < VICTIMS; i++)
		waitpid(shared->pids[i], &status, 0);
}

int main(int argc, char **argv)
{
	char name[8];
	unsigned int i;

	if (!share())
		return 1;
	if (argc > 1 && !strcmp(argv[1], "victim"))
		return be_victim();
	if (getenv("UPROBES_SECONDS"))
		seconds = atoi(getenv("UPROBES_SECONDS"));
	memset((void *)shared, 0, sizeof(*shared));
	seed = getpid();
	ksft_print_header();
	ksft_set_plan(5);
	ksft_print_msg("%u processors, %u seconds, seed %lu\n", processors(), seconds, seed);
	code_file(FILE_PATH, 1);
	storm();
	for (i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		forget(name);
	}
	ksft_test_result(!shared->wrong && shared->calls,
			 "all of %lu calls are right: %lu errors\n", shared->calls,
			 shared->wrong);
	ksft_test_result(!died && started > VICTIMS && killed,
			 "%u processes, %u killed, %u died\n", started, killed, died);
	ksft_test_result(added && hits, "%lu probes, %lu hits; %lu were refused\n", added, hits,
			 failed);
	ksft_test_result(!strstr(read_all(LIST), "pid:"), "no probe is left\n");
	ksft_test_result(!command("drop"), "the module goes on\n");
	unlink(SHARED_PATH);
	unlink(FILE_PATH);
	ksft_finished();
}
