// SPDX-License-Identifier: GPL-2.0
/*
 * Probes by pid come and go while their processes call the probed text, fork, start themselves
 * again, exit and are killed, have threads and signals, are stepped, and unmap, move, protect,
 * advise and write the text; memory is compacted. The module up_process registers the probes.
 *
 * No call has a wrong result, no process dies by itself, each registration is accepted or has one
 * of the errors that the state of the process explains, and nothing is left. One process keeps its
 * text, and has two probes that stay: their hits are its calls.
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
#include "victims.h"

#define NAMES		8

/* The storm goes on until so many probes were registered and all else happened, not for ever. */
#define FEWEST_PROBES	50
#define MOST_SECONDS	60

static unsigned int seconds = 4;

/* --- A debugger ------------------------------------------------------------------------ */

static void step_a_victim(void)
{
	pid_t pid = shared->pids[next_random(VICTIMS + 1)];
	int i;

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		return;
	ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	for (i = 0; i < 20; i++) {
		if (wait_for_stop(pid) < 0 || ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL))
			return;
	}
	if (wait_for_stop(pid) >= 0 && !ptrace(PTRACE_DETACH, pid, NULL, NULL))
		shared->stepped++;
}

static pid_t start_debugger(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		be_nice();
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

static unsigned long hits, added, failed, switched;

/* Errors that the state of the process explains: it ends, or its text is not there just now. */
static bool is_explained(int err)
{
	return err == ESRCH || err == EFAULT || err == EACCES || err == EILSEQ || err == ENOEXEC;
}

static void add_one(const char *name)
{
	static const char *const words[] = { "quiet", "quiet", "quiet return", "quiet self" };
	char text[64];
	char *const places[] = { WRITTEN, MAPPED, HUGE };
	char *at = places[next_random(ARRAY_SIZE(places))];
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
	if (!err && !(++added % (FEWEST_PROBES / 2)))
		compact_memory();
	if (!err)
		return;
	if (is_explained(err))
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
	else if (!on("off", name) && !on("on", name))
		switched++;
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

/* Starts the process that keeps its text, and probes it. */
static int start_keeper(void)
{
	pid_t pid = fork();
	unsigned int i;

	if (!pid)
		_exit(be_keeper());
	shared->pids[VICTIMS] = pid;
	for (i = 0; i < 10000 && shared->keeper_state != IS_MAPPED; i++)
		usleep(1000);
	return make("k", pid, KEPT + code_offsets[1], "quiet") ?: on("add", "k") ?:
	       make("r", pid, KEPT, "return quiet") ?: on("add", "r");
}

static bool all_happened(void)
{
	return added >= FEWEST_PROBES && switched && shared->stepped &&
	       shared->begun == ALL_ACTIONS;
}

/* Returns the status of the process that keeps its text. */
static int storm(void)
{
	unsigned long end;
	unsigned int i;
	pid_t debugger;
	struct timespec now;
	int status, err;

	err = start_keeper();
	if (err)
		complain_of("the process that keeps its text", err);
	shared->keeper_state = IS_PROBED;
	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + seconds;
	for (i = 0; i < VICTIMS; i++)
		start_victim(i);
	debugger = start_debugger();
	/* A slow kernel has not killed a process, nor done all else, in this time. */
	while ((unsigned long)now.tv_sec < end || !killed ||
	       (!all_happened() && (unsigned long)now.tv_sec < end + MOST_SECONDS)) {
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
	return reap(shared->pids[VICTIMS]);
}

int main(int argc, char **argv)
{
	char name[8];
	unsigned int i;
	int status;

	if (!share())
		return 1;
	if (argc > 1 && !strcmp(argv[1], "victim"))
		return be_victim();
	if (getenv("UPROBES_SECONDS"))
		seconds = atoi(getenv("UPROBES_SECONDS"));
	memset((void *)shared, 0, sizeof(*shared));
	seed = getpid();
	ksft_print_header();
	ksft_set_plan(7);
	ksft_print_msg("%u processors, %u seconds, seed %lu\n", processors(), seconds, seed);
	code_file(FILE_PATH, 1);
	status = storm();
	for (i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		forget(name);
	}
	ksft_test_result(!shared->wrong && shared->calls,
			 "all of %lu calls are right: %lu errors\n", shared->calls,
			 shared->wrong);
	ksft_test_result(!died && started > VICTIMS && killed,
			 "%u processes, %u killed, %u died\n", started, killed, died);
	ksft_test_result(added >= FEWEST_PROBES && hits,
			 "%lu probes, %lu hits; %lu were refused\n", added, hits, failed);
	ksft_test_result(switched && shared->stepped && shared->begun == ALL_ACTIONS,
			 "%lu times on and off, %u processes stepped, actions 0x%x of 0x%x\n",
			 switched, shared->stepped, shared->begun, ALL_ACTIONS);
	ksft_test_result(!status && shared->kept_calls &&
			 get("k", HITS) == (long)shared->kept_calls &&
			 get("r", RETURNS) == (long)shared->kept_calls && !get("k", ERRORS) &&
			 !get("r", ERRORS),
			 "probes that stay: %ld hits, %ld returns of %lu calls\n", get("k", HITS),
			 get("r", RETURNS), shared->kept_calls);
	ksft_test_result(!strstr(read_all(LIST), "pid:"), "no probe is left\n");
	ksft_test_result(!command("drop"), "the module goes on\n");
	unlink(SHARED_PATH);
	unlink(FILE_PATH);
	ksft_finished();
}
