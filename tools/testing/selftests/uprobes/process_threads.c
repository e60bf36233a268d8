// SPDX-License-Identifier: GPL-2.0
/*
 * Threads at probes of one process: they call while probes come and go, are in one handler at once,
 * and their handlers register and unregister probes; and tasks that are being killed. The module
 * up_process registers the probes.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "code.h"
#include "process.h"

#define MOST_THREADS	64

static struct thread threads[MOST_THREADS];
static unsigned int nr_threads = MOST_THREADS, nr_calls = 2500;
static volatile unsigned long right;

static void thread_calls(void *unused)
{
	__atomic_fetch_add(&right, call_plain(nr_calls), __ATOMIC_RELAXED);
}

#define NO_PID		99999
#define CHANGES		50
#define MOST_CHANGES	5000

static volatile bool stop;
static volatile unsigned long wrong;

static void thread_calls_on(void *unused)
{
	unsigned long good = 0;

	while (!stop) {
		if (call_plain(100) == 100)
			good++;
		else
			wrong++;
	}
	__atomic_fetch_add(&right, good, __ATOMIC_RELAXED);
}

static void start_threads(void (*function)(void *))
{
	unsigned int i;

	for (i = 0; i < nr_threads; i++)
		thread_start(&threads[i], function, NULL);
}

static void wait_threads(void)
{
	unsigned int i;

	for (i = 0; i < nr_threads; i++)
		thread_wait(&threads[i], 60);
}

static bool any_running(void)
{
	unsigned int i;

	for (i = 0; i < nr_threads; i++) {
		if (threads[i].running)
			return true;
	}
	return false;
}

/* A probe at the same instruction, one at another, and one of the return come and go. */
static int change_once(void)
{
	return on("add", "b") ?: on("add", "c") ?: on("del", "b") ?: on("add", "r") ?:
	       on("del", "c") ?: on("del", "r");
}

static void call_plain_once(void *unused)
{
	call_plain(1);
}

static void call_deep_once(void *unused)
{
	deep(0);
}

static void run_two(void (*first)(void *), void (*second)(void *))
{
	thread_start(&threads[0], first, NULL);
	thread_start(&threads[1], second, NULL);
	thread_wait(&threads[0], 60);
	thread_wait(&threads[1], 60);
}

/* The threads call when it is 1, and again when it is 2. */
static volatile int released;
/* Numbers of threads that wait, and that have called. */
static volatile unsigned int waiting, called;

static void thread_waits(void *unused)
{
	__atomic_fetch_add(&waiting, 1, __ATOMIC_RELAXED);
	while (released < 1)
		usleep(1000);
	call_plain(1);
	__atomic_fetch_add(&called, 1, __ATOMIC_RELAXED);
	while (released < 2)
		usleep(1000);
	call_plain(1);
}

static bool all_are(volatile unsigned int *number)
{
	int i;

	for (i = 0; i < 10000 && *number < nr_threads; i++)
		usleep(1000);
	return *number == nr_threads;
}

/* Threads that exist wait while the probe is registered, and while it is unregistered. */
static void check_return_of_calls(void)
{
	long first;
	int err;

	start_threads(thread_waits);
	if (!all_are(&waiting))
		ksft_print_msg("a thread does not run\n");
	err = add("a", plain, "");
	released = 1;
	ksft_test_result(all_are(&called) && !err && get("a", HITS) == (long)nr_threads,
			 "the next call of each thread is a hit: error %d, %ld hits\n", err,
			 get("a", HITS));
	first = get("a", HITS);
	err = on("del", "a");
	released = 2;
	wait_threads();
	ksft_test_result(!err && get("a", HITS) == first && unchanged(plain),
			 "none is a hit after the removal: error %d\n", err);
	command("drop");
}

/* Two threads are in the handler when the first of them asks for the removal. */
static void check_two_removals(void)
{
	int err = add("s", plain, "meet self");

	run_two(call_plain_once, call_plain_once);
	ksft_test_result(!err && get("s", HITS) == 2 && get("s", CALLBACKS) == 1 &&
			 get("s", ASKED) == -EINPROGRESS && !get("s", RESULT) &&
			 !get("s", REGISTERED),
			 "two handlers unregister one probe: %ld hits, %ld callbacks\n",
			 get("s", HITS), get("s", CALLBACKS));
	command("drop");
}

#define ENDS		20
#define MOST_TRIES	400

/* While a handler asks for the removal of its probe, the callback of another probe removes it. */
static void check_removal_in_callback(void)
{
	long hits = 0, ended = 0, errors = 0, left = 0;
	int i, err = 0;

	for (i = 0; i < ENDS && !err; i++) {
		err = add("b", deep, "sleep self") ?: add("a", plain, "sleep self end=b");
		run_two(call_plain_once, call_deep_once);
		hits += get("b", HITS);
		ended += get("a", CALLBACKS);
		errors += get("b", ERRORS);
		left += get("b", REGISTERED) + get("a", REGISTERED);
		command("drop");
	}
	ksft_test_result(!err && hits && ended == ENDS && !errors && !left,
			 "%ld callbacks remove a probe that ends itself: %ld hits, %ld errors\n",
			 ended, hits, errors);
}

static void call_plain_on(void *unused)
{
	while (!stop)
		call_plain(1);
}

/* Another handler of the hit sleeps, so that the operation is not yet done. */
static void check_removal_of_noted(void)
{
	long left = 0, noted = 0;
	int i, tries, err = 0;

	for (i = 0; (i < ENDS || (!noted && i < MOST_TRIES)) && !err; i++) {
		err = make("n", getpid(), deep, "") ?: add("a", plain, "other=n") ?:
		      add("b", plain, "sleep");
		thread_start(&threads[0], call_plain_once, NULL);
		for (tries = 0; tries < 10000 && !get("b", HITS); tries++)
			usleep(100);
		noted += get("a", ASKED) == -EINPROGRESS && !get("n", CALLBACKS);
		err = err ?: on("del", "n");
		left += get("n", REGISTERED);
		thread_wait(&threads[0], 60);
		left += get("n", REGISTERED);
		command("drop");
	}
	ksft_test_result(!err && noted && !left,
			 "a probe is unregistered that a handler asked for: %d, %ld times, %ld\n",
			 err, noted, left);
}

/* The second probe of an array fails, while the first one is hit, and ends itself. */
static void check_failing_array(void)
{
	long before, during = 0, after = 0;
	int i, err = ESRCH;

	stop = false;
	thread_start(&threads[0], call_plain_on, NULL);
	/* Few arrays are hit before they fail; on a slow machine, perhaps none of the first. */
	for (i = 0; i < (during ? MOST_TRIES : 10 * MOST_TRIES) && err == ESRCH && during < ENDS;
	     i++) {
		err = make("a", getpid(), plain, "quiet self") ?:
		      make("b", NO_PID, plain, "") ?: command("batch");
		before = get("a", CALLBACKS);
		usleep(10000);
		during += before;
		after += get("a", CALLBACKS) - before + get("a", REGISTERED);
		command("drop");
	}
	stop = true;
	thread_wait(&threads[0], 60);
	ksft_test_result(err == ESRCH && during && !after,
			 "an array fails: error %d, %ld callbacks before, %ld after its return\n",
			 err, during, after);
}

/* A handler is not waited for. */
static void check_disabling_handler(void)
{
	int err = add("a", plain, "off");

	ksft_test_result(!err && call_plain(3) == 3 && get("a", HITS) == 1 && !get("a", ASKED) &&
			 get("a", REGISTERED) == 1 && !get("a", CALLBACKS) && unchanged(plain),
			 "a handler disables its probe at once: %ld\n", get("a", ASKED));
	err = on("on", "a");
	ksft_test_result(!err && call_plain(3) == 3 && get("a", HITS) == 2,
			 "and again when it has been enabled: error %d\n", err);
	command("drop");
}

/* Unlike handlers, callbacks need not wait: there is no other callback. */
static void check_registration_in_callback(void)
{
	int err = make("n", getpid(), deep, "") ?: add("a", plain, "self begin=n");

	call_plain(1);
	ksft_test_result(!err && get("a", CALLBACKS) == 1 && !get("a", ASKED) && !deep(0) &&
			 get("n", HITS) == 1 && !get("n", CALLBACKS),
			 "a callback registers a probe at once: %ld\n", get("a", ASKED));
	command("drop");
}

/* UPROBES_THREADS and UPROBES_CALLS, the calls of each, may be set in the environment. */
static void check_threads(void)
{
	const char *threads_text = getenv("UPROBES_THREADS"), *calls = getenv("UPROBES_CALLS");
	unsigned int changes = 0;
	long wanted;
	int err;

	if (threads_text && atoi(threads_text) <= MOST_THREADS)
		nr_threads = atoi(threads_text);
	if (calls)
		nr_calls = atoi(calls);
	wanted = (long)nr_threads * nr_calls;
	err = add("a", plain, "quiet") ?: make("b", getpid(), plain, "quiet") ?:
	      make("c", getpid(), call_plain, "quiet") ?:
	      make("r", getpid(), plain, "return quiet");
	start_threads(thread_calls);
	while (any_running()) {
		err = err ?: change_once();
		changes++;
	}
	ksft_test_result(!err && (long)right == wanted && get("a", HITS) == wanted && changes &&
			 !get("a", MISSED),
			 "%u threads: %ld hits, %u changes meanwhile, error %d\n", nr_threads,
			 get("a", HITS), changes, err);
	command("drop");
	right = 0;
	start_threads(thread_calls_on);
	err = err ?: add("b", plain, "quiet");
	/* On a busy machine, the threads may not have run yet. */
	for (changes = 0; (changes < CHANGES || !get("b", HITS)) && changes < MOST_CHANGES && !err;
	     changes++)
		err = on("del", "b") ?: on("add", "b");
	err = err ?: on("del", "b");
	stop = true;
	wait_threads();
	ksft_test_result(!err && right && !wrong && get("b", HITS) && unchanged(plain),
			 "a breakpoint comes and goes %u times: %ld hits, error %d\n", changes,
			 get("b", HITS), err);
	command("drop");
}

static void thread_calls_deep(void *unused)
{
	while (!stop)
		deep(0);
}

static int child_unregisters(void)
{
	return on("del", "c");
}

/* Waits for a child at most that many seconds.  Returns its status, or -1. */
static int reap_within(pid_t pid, unsigned int seconds)
{
	unsigned int i;
	int status;

	for (i = 0; i < 10 * seconds; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		usleep(100000);
	}
	return -1;
}

/* Each hit of two threads registers or unregisters a probe after it. */
static void check_busy_handlers(void)
{
	int err, status, i;
	pid_t pid;

	err = make("n", getpid(), plain, "quiet self") ?: add("o", plain, "quiet other=n") ?:
	      make("m", getpid(), deep, "quiet self") ?: add("p", deep, "quiet other=m") ?:
	      add("c", call_plain, "quiet");
	stop = false;
	thread_start(&threads[0], thread_calls_on, NULL);
	thread_start(&threads[1], thread_calls_deep, NULL);
	/* A busy host may let neither thread run for a while. */
	for (i = 0; i < 100 && !(get("n", HITS) > 0 && get("m", HITS) > 0); i++)
		usleep(100000);
	pid = fork();
	if (!pid)
		_exit(child_unregisters());
	status = reap_within(pid, 60);
	stop = true;
	thread_wait(&threads[0], 60);
	thread_wait(&threads[1], 60);
	if (status < 0)
		waitpid(pid, NULL, 0);
	ksft_test_result(!err && !status && get("n", HITS) && get("m", HITS),
			 "a probe is unregistered while others come and go: error %d, status %d\n",
			 err, status);
	command("drop");
}

/* --- Probes of the kernel ------------------------------------------------------------- */

#define KERNEL_CALLS	100

static void thread_calls_some(void *unused)
{
	__atomic_fetch_add(&right, call_plain(KERNEL_CALLS), __ATOMIC_RELAXED);
}

/* Handlers of many threads call a function of the kernel that has a kprobe and the like. */
static void check_kernel(void)
{
	const long calls = (long)nr_threads * KERNEL_CALLS;
	int err = command("kernel clear") ?: command("kernel on") ?:
		  add("a", plain, "quiet calls") ?: add("r", plain, "quiet return calls");

	right = 0;
	start_threads(thread_calls_some);
	wait_threads();
	ksft_test_result(!err && right == (unsigned long)calls && get("a", HITS) == calls &&
			 get("r", RETURNS) == calls && !get("r", MISSED) &&
			 kernel_calls_are(2 * calls) && !command("kernel off"),
			 "%u threads in handlers call a function with probes: error %d, %ld hits\n",
			 nr_threads, err, get("a", HITS));
	command("drop");
}

/* --- Callers that are being killed --------------------------------------------------- */

static bool is_killed(const char *line)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid)
		_exit(command(line));
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status);
}

/* They cannot remove the breakpoint, so that the kernel has to do that later, nor write it. */
static void check_killed(void)
{
	int err = add("p", plain, "");
	bool killed = is_killed("dying on p");

	ksft_test_result(!err && killed && call_plain(2) == 2 && get("p", HITS) == 2,
			 "a killed caller enables a probe that is enabled: error %d\n", err);
	killed = is_killed("dying del p");
	ksft_test_result(killed && !get("p", REGISTERED) && unchanged(plain) &&
			 call_plain(2) == 2 && get("p", HITS) == 2,
			 "a killed caller unregisters a probe\n");
	command("drop");
}

/* The result of a killed caller's command, which the caller does not see, must be the truth. */
static bool result_is_right(bool done)
{
	long result = atol(read_all(module_file("result")));

	if (result == (done ? 0 : -EINTR))
		return true;
	ksft_print_msg("done: %d, but the result is %ld\n", done, result);
	return false;
}

static void check_results_of_killed(void)
{
	int err = make("p", getpid(), plain, "");
	bool killed = is_killed("dying add p");
	long hits;

	ksft_test_result(!err && killed && result_is_right(get("p", REGISTERED)) &&
			 call_plain(1) == 1 && get("p", HITS) == get("p", REGISTERED),
			 "a killed caller registers a probe, or gets EINTR: %ld registered\n",
			 get("p", REGISTERED));
	if (!get("p", REGISTERED))
		err = on("add", "p");
	err = err ?: on("off", "p");
	hits = get("p", HITS);
	killed = is_killed("dying on p");
	ksft_test_result(!err && killed && call_plain(1) == 1 &&
			 result_is_right(get("p", HITS) == hits + 1),
			 "a killed caller enables a probe, or gets EINTR: error %d\n", err);
	command("drop");
}

/* The handler kills its process, and asks for operations. */
static void check_killing_handler(void)
{
	pid_t pid = fork();
	char line[16];
	int status = 0;

	if (!pid) {
		limit_child();
		_exit(make("n", getpid(), deep, "") ?: add("a", plain, "kill other=n self") ?:
		      (int)call_plain(1));
	}
	waitpid(pid, &status, 0);
	snprintf(line, sizeof(line), "pid:%d:", pid);
	ksft_test_result(WIFSIGNALED(status) && get("a", HITS) == 1 &&
			 get("a", ASKED) == -EINPROGRESS && !strstr(read_all(LIST), line),
			 "a handler kills its process, which has no probes then\n");
	ksft_test_result(get("a", CALLBACKS) == 1 && !get("a", RESULT) && !get("a", REGISTERED),
			 "its probe has been unregistered: %ld callbacks\n", get("a", CALLBACKS));
	/* A registration may need memory, which a killed process does not get. */
	ksft_test_result(get("n", CALLBACKS) == 1 && !get("n", REGISTERED) &&
			 (!get("n", RESULT) || get("n", RESULT) == -EINTR),
			 "another one has been registered, or refused: %ld callbacks, %ld\n",
			 get("n", CALLBACKS), get("n", RESULT));
	command("drop");
}

/* --- Notifiers ------------------------------------------------------------------------ */

#define MODPROBE	"/proc/sys/kernel/modprobe"

/* A notifier may wait for all handlers. */
static void check_notifier_in_handler(void)
{
	int err = add("n", plain, "notify");

	call_plain(1);
	ksft_test_result(!err && get("n", RESULT) == -EINVAL,
			 "a handler cannot register a notifier: error %d, result %ld\n", err,
			 get("n", RESULT));
	command("drop");
}

static bool write_to(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY);
	bool done = write(fd, text, len) == (ssize_t)len;

	close(fd);
	return done;
}

/* The kernel starts a helper for an unknown file system; its program is not there. */
static void check_helper(void)
{
	char path[256];
	bool asked;

	strlcpy(path, read_all(MODPROBE), sizeof(path));
	asked = *path && write_to(MODPROBE, "/nowhere", 8) &&
		mount("none", "/tmp", "kprobes-no-such-fs", 0, NULL) && errno == ENODEV;
	write_to(MODPROBE, path, strlen(path));
	ksft_test_result(asked && strstr(read_all(EVENTS), " 0\n"),
			 "an exit without memory is not reported: %s", read_all(EVENTS));
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(22);
	memcpy(before, plain, sizeof(before));
	check_threads();
	check_return_of_calls();
	check_two_removals();
	check_removal_in_callback();
	check_removal_of_noted();
	check_failing_array();
	check_disabling_handler();
	check_registration_in_callback();
	check_busy_handlers();
	check_kernel();
	check_killed();
	check_results_of_killed();
	check_killing_handler();
	check_notifier_in_handler();
	check_helper();
	ksft_finished();
}
