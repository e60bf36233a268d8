// SPDX-License-Identifier: GPL-2.0
/*
 * Three modules probe ten processes, at the same addresses. Each module sees each call of each
 * process, also while another module comes, or is unloaded. The modules up_second and up_third,
 * which this program loads, are up_process with other names.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "code.h"
#include "process.h"

#define PROCESSES	10

static const char *const modules[] = { "up_process", "up_second", "up_third" };

#define MODULES		((int)ARRAY_SIZE(modules))

/* --- Modules ---------------------------------------------------------------------------- */

/* Test modules are beside this program. */
static int load_module(const char *program, const char *name)
{
	const char *end = strrchr(program, '/');
	char path[256];
	int fd, err;

	snprintf(path, sizeof(path), "%.*s/test_modules/%s.ko", (int)(end ? end - program : 1),
		 end ? program : ".", name);
	fd = open(path, O_RDONLY);
	err = syscall(__NR_finit_module, fd, "", 0) ? errno : 0;
	close(fd);
	return err;
}

static int unload_module(const char *name)
{
	return syscall(__NR_delete_module, name, O_NONBLOCK) ? errno : 0;
}

/* --- Processes -------------------------------------------------------------------------- */

/* Data that the processes share: the round that they do, and the last one that each has done. */
static struct shared {
	volatile int round;
	volatile int done[PROCESSES];
	volatile int wrong;
} *shared;

#define LAST_ROUND	100

/* Each process calls another number of times, and returns from another number of calls. */
#define HITS_OF(nr)	((nr) + 1L)
#define RETURNS_OF(nr)	(2L * (nr) + 1)

static void call_once_more(int nr)
{
	const unsigned long hits = HITS_OF(nr), depth = RETURNS_OF(nr) - 1;

	if (call_plain(hits) != hits || deep(depth) != depth)
		shared->wrong = 1;
}

static int child_calls(int nr)
{
	int round = 0;

	while (round != LAST_ROUND) {
		if (shared->round == round) {
			/* Modules are loaded meanwhile, which may take long. */
			limit_child();
			usleep(1000);
			continue;
		}
		round = shared->round;
		if (round != LAST_ROUND)
			call_once_more(nr);
		shared->done[nr] = round;
	}
	/* No module has a probe any more. */
	return !unchanged(plain);
}

static void start_processes(pid_t *pids)
{
	int i;

	shared = shared_memory(4096);
	for (i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			limit_child();
			_exit(child_calls(i));
		}
	}
}

/* All processes do their calls. */
static bool do_round(void)
{
	int i, tries;

	shared->round++;
	for (i = 0; i < PROCESSES; i++) {
		for (tries = 0; tries < 20000 && shared->done[i] != shared->round; tries++)
			usleep(1000);
		if (shared->done[i] != shared->round)
			return false;
	}
	return !shared->wrong;
}

/* --- Probes ----------------------------------------------------------------------------- */

/* Registers a probe and a return probe in each process, for the current module. */
static int probe_all_processes(const pid_t *pids)
{
	int i, err = 0;

	for (i = 0; i < PROCESSES; i++)
		err = err ?: make(name_of("p", i), pids[i], plain, "quiet") ?:
		      make(name_of("r", i), pids[i], deep, "return quiet");
	return err ?: command("batch") ?: command("returns");
}

/* Has a module seen the calls of so many rounds, of each process, and nothing else? */
static bool has_seen(const char *name, int rounds)
{
	int i, right = 0;

	module = name;
	for (i = 0; i < PROCESSES; i++)
		right += get(name_of("p", i), HITS) == HITS_OF(i) * rounds &&
			 get(name_of("r", i), RETURNS) == RETURNS_OF(i) * rounds &&
			 get(name_of("r", i), HITS) == RETURNS_OF(i) * rounds &&
			 !get(name_of("r", i), MISSED) && !get(name_of("p", i), ERRORS) &&
			 !get(name_of("r", i), ERRORS);
	if (right != PROCESSES)
		ksft_print_msg("%s has seen all calls of %d processes\n", name, right);
	return right == PROCESSES;
}

/* Modules are registered one after the other; the first ones have seen more rounds. */
static void check_registration(const pid_t *pids)
{
	int i, err = 0;
	bool called;

	for (i = 0; i < MODULES; i++) {
		module = modules[i];
		err = err ?: probe_all_processes(pids);
		called = do_round();
		ksft_test_result(!err && called && has_seen(modules[0], i + 1) &&
				 (i < 1 || has_seen(modules[1], i)) &&
				 (i < 2 || has_seen(modules[2], i - 1)),
				 "%d modules probe %d processes: error %d\n", i + 1, PROCESSES,
				 err);
	}
}

static void check_removal(const char *program, const pid_t *pids)
{
	int err = unload_module("up_second");
	bool called = do_round();

	ksft_test_result(!err && called && has_seen("up_process", 4) && has_seen("up_third", 2) &&
			 access("/sys/kernel/debug/up_second", F_OK),
			 "one module is unloaded, the others have hits: error %d\n", err);
	err = load_module(program, "up_second");
	module = "up_second";
	err = err ?: probe_all_processes(pids);
	called = do_round();
	ksft_test_result(!err && called && has_seen("up_process", 5) && has_seen("up_third", 3) &&
			 has_seen("up_second", 1), "it is loaded again: error %d\n", err);
	module = "up_process";
	err = command("drop") ?: unload_module("up_third");
	called = do_round();
	ksft_test_result(!err && called && has_seen("up_second", 2),
			 "one module stays: error %d\n", err);
	err = unload_module("up_second");
	called = do_round();
	ksft_test_result(!err && called && unchanged(plain), "and none: error %d\n", err);
}

int main(int argc, char **argv)
{
	pid_t pids[PROCESSES];
	int i, err = 0, status = 0;

	ksft_print_header();
	ksft_set_plan(MODULES + 6);
	memcpy(before, plain, sizeof(before));
	for (i = 1; i < MODULES; i++)
		err = err ?: load_module(argc ? argv[0] : "", modules[i]);
	ksft_test_result(!err, "the modules are loaded: error %d\n", err);
	start_processes(pids);
	check_registration(pids);
	check_removal(argv[0], pids);
	shared->round = LAST_ROUND;
	for (i = 0; i < PROCESSES; i++)
		status |= reap(pids[i]);
	ksft_test_result(!status, "the processes have their text at the end: status %d\n", status);
	module = "up_process";
	command("drop");
	/* If a check has failed, they may still be there. */
	for (i = 1; i < MODULES; i++)
		unload_module(modules[i]);
	ksft_finished();
}
