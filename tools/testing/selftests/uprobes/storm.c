// SPDX-License-Identifier: GPL-2.0
/*
 * Everything at once: probes come and go while processes call the probed function, fork, die,
 * start programs, are stepped and stopped, get signals, and map, unmap, move, protect and
 * advise the text.
 *
 * One probe in each page stays all the time.  Between two barriers, before and after all
 * processes run, its hits are the calls that all processes have counted.  Afterwards nothing is
 * left: the memory of this process, which has mapped the text all the time, is as before.
 *
 *	storm [SECONDS]		or UPROBES_SECONDS in the environment
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "code.h"
#include "areas.h"
#include "tracee.h"

#define FILE_NAME	"/tmp/uprobes-storm"
#define CUT_NAME	"/tmp/uprobes-storm-cut"
#define PAGES		16
/* With the page of calls that are not counted, the last one. */
#define MAP_SIZE	((PAGES + 1) * 4096UL)
#define HALF_SIZE	(PAGES / 2 * 4096UL)

/* Advice and flags that are not in every <linux/mman.h>. */
#define ADVICE_COLD	20
#define ADVICE_PAGEOUT	21
#define ADVICE_COLLAPSE	25

/* Shared by all processes. */
static struct {
	volatile int stop;
	volatile unsigned long calls;		/* that have returned */
	volatile unsigned long wrong;		/* wrong results, and errors */
	volatile unsigned long rounds[16];	/* of each kind of process */
} *shared;

static unsigned int seconds = 4;

/* One call that counts.  No process that is killed may be in it. */
static void counted_call(const char *text)
{
	if (!code_call(text, next_random(PAGES), seed))
		__atomic_fetch_add(&shared->wrong, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&shared->calls, 1, __ATOMIC_RELAXED);
}

static void complain(const char *what)
{
	dprintf(1, "# %s: error %d\n", what, errno);
	__atomic_fetch_add(&shared->wrong, 1, __ATOMIC_RELAXED);
}

static char *map_text(void)
{
	char *text = code_map(FILE_NAME, PAGES + 1, PROT_READ | PROT_EXEC, MAP_PRIVATE);

	if (!text) {
		complain("mmap");
		_exit(1);
	}
	return text;
}

/* --- Kinds of processes ---------------------------------------------------- */

static void just_call(void)
{
	static char *text;
	int i;

	if (!text)
		text = map_text();
	for (i = 0; i < 50; i++)
		counted_call(text);
}

/* Threads that call in one process, and one of them unmaps and maps. */
static char *common_text;

static void thread_of_calls(void *unused)
{
	int i;

	for (i = 0; i < 50; i++) {
		/* Not counted_call(): the random number is not for threads. */
		if (!code_call(common_text, i % PAGES, i))
			__atomic_fetch_add(&shared->wrong, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&shared->calls, 1, __ATOMIC_RELAXED);
	}
}

static void threads(void)
{
	static struct thread three[3];
	char *other;
	int i;

	common_text = map_text();
	for (i = 0; i < 3; i++) {
		if (thread_start(&three[i], thread_of_calls, NULL) < 0)
			complain("clone");
	}
	other = map_text();
	counted_call(other);
	munmap(other, MAP_SIZE);
	for (i = 0; i < 3; i++) {
		if (!thread_wait(&three[i], 60))
			complain("a thread hangs");
	}
	munmap(common_text, MAP_SIZE);
}

static void map_and_unmap(void)
{
	char *text = map_text();

	counted_call(text);
	/* Half of it, then the rest. */
	munmap(text + HALF_SIZE, MAP_SIZE - HALF_SIZE);
	if (!code_call(text, 0, 1))
		complain("half a mapping");
	__atomic_fetch_add(&shared->calls, 1, __ATOMIC_RELAXED);
	munmap(text, HALF_SIZE);
}

static void move(void)
{
	char *text = map_text(), *moved;
	void *place = mmap(NULL, MAP_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	counted_call(text);
	moved = mremap(text, MAP_SIZE, MAP_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	if (moved == MAP_FAILED) {
		complain("mremap");
		moved = text;
	}
	counted_call(moved);
	counted_call(moved);
	munmap(moved, MAP_SIZE);
}

static void protect(void)
{
	char *text = map_text();

	counted_call(text);
	change_protection(text, HALF_SIZE, PROT_READ);
	change_protection(text, HALF_SIZE, PROT_READ | PROT_EXEC);
	counted_call(text);
	change_protection(text, MAP_SIZE, PROT_EXEC);
	counted_call(text);
	munmap(text, MAP_SIZE);
}

/*
 * Advice that may be ignored, or moves pages.  MADV_DONTNEED is not here: it brings back the
 * text of the file, by request.
 */
static void give_advice(void)
{
	static const int advice[] = {
		ADVICE_COLD, ADVICE_PAGEOUT, ADVICE_COLLAPSE, 3 /* WILLNEED */,
		12 /* MERGEABLE */, 14 /* HUGEPAGE */, 15 /* NOHUGEPAGE */,
	};
	char *text = map_text();
	int i;

	for (i = 0; i < 4; i++) {
		advise(text, MAP_SIZE, advice[next_random(ARRAY_SIZE(advice))]);
		counted_call(text);
	}
	munmap(text, MAP_SIZE);
}

/* Moves all pages that can be moved, now and then. */
static void compact(void)
{
	compact_memory();
	usleep(100000);
}

static void forks(void)
{
	char *text = map_text();
	pid_t pid = fork();

	counted_call(text);
	if (!pid) {
		counted_call(text);
		_exit(0);
	}
	if (reap(pid))
		complain("a child");
	munmap(text, MAP_SIZE);
}

static void programs(void)
{
	static char *const argv[] = { "storm", "child", NULL };
	static char *const envp[] = { NULL };
	pid_t pid = fork();

	if (!pid) {
		execve(SELF, argv, envp);
		_exit(1);
	}
	if (reap(pid) != 7)
		complain("a program");
}

/* The program that it starts calls, but its calls are counted here. */
static int program(void)
{
	char *text = code_map(FILE_NAME, PAGES, PROT_READ | PROT_EXEC, MAP_PRIVATE);

	return text && code_call(text, 1, 2) ? 7 : 8;
}

/* Processes that die anywhere.  Their calls are in a page of which no hits are counted. */
static void kills(void)
{
	pid_t pid = fork();
	char *text;

	if (!pid) {
		text = map_text();
		while (1) {
			if (!code_call(text, PAGES, seed))
				complain("a process that is to be killed");
		}
	}
	usleep(1000 + next_random(5000));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Text that vanishes: processes that execute a file while it is truncated and written again. */
static void truncate_text(void)
{
	pid_t pid = fork();
	char *text;
	int i;

	if (!pid) {
		text = code_map(CUT_NAME, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE);
		/* A call of text that is not there just now ends the process. */
		for (i = 0; text && i < 100; i++)
			code_call(text, 0, i);
		_exit(0);
	}
	for (i = 0; i < 10; i++) {
		if (!code_file(CUT_NAME, 1))
			complain("a file");
	}
	waitpid(pid, NULL, 0);
}

/* A debugger that steps, and stops, a process in such calls. */
static void steps(void)
{
	struct tracee_registers registers;
	pid_t pid = fork();
	char *text;
	int i;

	if (!pid) {
		text = map_text();
		while (1) {
			if (!code_call(text, PAGES, 3))
				_exit(1);
		}
	}
	usleep(2000);
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		complain("PTRACE_SEIZE");
	ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	for (i = 0; i < 30; i++) {
		if (wait_for_stop(pid) < 0) {
			complain("a stepped process");
			return;
		}
		get_registers(pid, &registers);
		ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static volatile unsigned long alarms;

static void on_alarm(int number, siginfo_t *info, struct ucontext *context)
{
	alarms++;
}

static void signalled(void)
{
	static char *text;
	int i;

	if (!text) {
		text = map_text();
		on_signal(SIGALRM, on_alarm, SA_RESTART);
	}
	alarm_every(300);
	for (i = 0; i < 50; i++) {
		/* A hit that a signal interrupts is hit again, so these are not counted, either. */
		if (!code_call(text, PAGES, i))
			complain("a process with signals");
	}
	alarm_every(0);
}

/* --- Probes ---------------------------------------------------------------- */

/* All pages at once, of which the last is that of the calls that are not counted. */
static void probe_batch(void)
{
	struct probes probes;

	if (!code_probe(&probes, FILE_NAME, PAGES + 1, 1 + next_random(CODE_ALL_PROBES - 1)))
		complain("a batch of probes");
	else if (next_random(2))
		usleep(next_random(3000));
	probe_remove(&probes);
	close(probes.map);
}

/* A few events. */
static void probe_events(void)
{
	int events[4], i;

	for (i = 0; i < 4; i++) {
		struct event_at at = {
			.path = FILE_NAME,
			.offset = next_random(PAGES + 1) * 4096UL +
				  code_offsets[next_random(CODE_ALL_PROBES)],
			.is_return = false,
		};

		events[i] = event_open(&at);
		if (events[i] < 0)
			complain("an event");
	}
	for (i = 0; i < 4; i++)
		close(events[i]);
}

/* Return probes on the functions. */
static void probe_returns(void)
{
	struct event_at at = {
		.path = FILE_NAME, .offset = next_random(PAGES) * 4096UL, .is_return = true,
	};
	int event = event_open(&at);

	if (event < 0)
		complain("a return event");
	usleep(next_random(2000));
	close(event);
}

static const struct kind {
	const char *name;
	void (*round)(void);
} kinds[] = {
	{ "calls", just_call },
	{ "threads", threads },
	{ "mmap and munmap", map_and_unmap },
	{ "mremap", move },
	{ "mprotect", protect },
	{ "madvise", give_advice },
	{ "compaction", compact },
	{ "fork", forks },
	{ "exec", programs },
	{ "kill", kills },
	{ "truncation", truncate_text },
	{ "ptrace", steps },
	{ "signals", signalled },
	{ "batches of probes", probe_batch },
	{ "events", probe_events },
	{ "return probes", probe_returns },
};

static pid_t start_kind(unsigned int nr)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		seed = seed * 31 + nr;
		while (!shared->stop) {
			kinds[nr].round();
			shared->rounds[nr]++;
		}
		_exit(0);
	}
	return pid;
}

/* --- Memory ---------------------------------------------------------------- */

/* Anonymous memory of this process in kB. */
static long anonymous(void)
{
	static char text[4096];
	char *line;

	if (read_whole("/proc/self/status", text, sizeof(text)) <= 0)
		return -1;
	line = strstr(text, "RssAnon:");
	if (!line)
		return -1;
	/* nolibc's atol() does not skip blanks. */
	for (line += 8; *line == ' ' || *line == '\t'; line++)
		;
	return atol(line);
}

int main(int argc, char **argv)
{
	pid_t pids[ARRAY_SIZE(kinds)];
	unsigned long programs_nr, hits, calls;
	struct probes permanent, cut;
	unsigned int i, idle = 0, died = 0;
	long before, with, after;
	char *text;

	if (argc == 2 && !strcmp(argv[1], "child"))
		return program();
	if (getenv("UPROBES_SECONDS"))
		seconds = atoi(getenv("UPROBES_SECONDS"));
	if (argc == 2)
		seconds = atoi(argv[1]);
	seed = getpid();
	ksft_print_header();
	ksft_set_plan(9);
	shared = shared_memory(4096);
	if (!shared || !code_file(FILE_NAME, PAGES + 1) || !code_file(CUT_NAME, 1))
		ksft_exit_fail_msg("no memory or no file\n");
	text = code_map(FILE_NAME, PAGES, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	for (i = 0; i < PAGES; i++)
		code_call(text, i, 1);
	memset(pids, 0, sizeof(pids));
	anonymous();
	before = anonymous();
	ksft_print_msg("%u processors, %u seconds, seed %lu\n", processors(), seconds, seed);

	ksft_test_result(code_probe(&permanent, FILE_NAME, PAGES, 0), "%u probes that stay\n",
			 PAGES);
	for (i = 0; i < PAGES; i++)
		code_call(text, i, 1);
	with = anonymous();
	ksft_test_result(code_probe(&cut, CUT_NAME, 1, 1), "a probe in a file that is truncated\n");
	hits = probe_count(&permanent);
	ksft_test_result(hits == PAGES, "one hit each (%lu)\n", hits);

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		pids[i] = start_kind(i);
	sleep(seconds);
	shared->stop = 1;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		died += reap(pids[i]) != 0;
		idle += !shared->rounds[i];
		ksft_print_msg("%lu rounds of %s\n", shared->rounds[i], kinds[i].name);
	}
	ksft_test_result(!died && !idle, "%u kinds of processes ran (%u died, %u idle)\n", i, died,
			 idle);
	ksft_test_result(!shared->wrong, "all results are right (%lu are not)\n", shared->wrong);

	/* Each round of "exec" is one call. */
	programs_nr = shared->rounds[8];
	calls = shared->calls + programs_nr;
	hits = probe_count(&permanent) - hits;
	ksft_test_result(hits == calls, "%lu hits of %lu calls\n", hits, calls);

	for (i = 0; i < PAGES; i++)
		code_call(text, i, 1);
	ksft_test_result(probe_count(&permanent) == hits + 2 * PAGES, "one hit each again\n");
	probe_remove(&permanent);
	probe_remove(&cut);
	for (i = 0; i < PAGES; i++)
		code_call(text, i, 1);
	ksft_test_result(probe_count(&permanent) == hits + 2 * PAGES, "none without probes\n");
	/* Pages of the stack and of data may have come in the meantime, those of text must go. */
	after = anonymous();
	ksft_test_result(with - before >= PAGES * 4 && after - before < PAGES * 4 / 2,
			 "the pages of text are given back (%ld kB before, %ld with probes, %ld after)\n",
			 before, with, after);
	unlink(FILE_NAME);
	unlink(CUT_NAME);
	ksft_finished();
}
