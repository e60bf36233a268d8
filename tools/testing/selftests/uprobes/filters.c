// SPDX-License-Identifier: GPL-2.0
/*
 * Events that are opened for single processes: only these processes hit, from the moment at
 * which the event has been opened to that at which it has been closed, although they have
 * been running before, and although other processes have the event, too.  The event counts the
 * hits of one process; the event's profile in tracefs counts those of all.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "areas.h"

#define EVENTS_FILE	TRACING "uprobe_events"
#define ID_FILE		TRACING "events/uprobes/filters_test/id"
#define PROFILE_FILE	TRACING "uprobe_profile"
#define PROCESSES	3
#define CALLS		10

NOINLINE static int probed(int value)
{
	asm volatile("" : "+r" (value));
	return value + 1;
}

/* A process that calls the function CALLS times for each byte that it reads. */
static struct process {
	pid_t pid;
	int to, from;
} servants[PROCESSES];

static void serve(int in, int out)
{
	char byte;
	int i;

	while (read(in, &byte, 1) == 1) {
		for (i = 0; i < CALLS; i++) {
			if (probed(i) != i + 1)
				byte = 'x';
		}
		write(out, &byte, 1);
	}
	_exit(0);
}

static void start(struct process *process)
{
	int there[2], back[2];

	pipe(there);
	pipe(back);
	process->pid = fork();
	if (!process->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		close(there[1]);
		serve(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	process->to = there[1];
	process->from = back[0];
}

/* True if the process has called, with the right results. */
static bool let_call(const struct process *process)
{
	char byte = 'c';

	return write(process->to, &byte, 1) == 1 && read(process->from, &byte, 1) == 1 &&
	       byte == 'c';
}

static bool let_all_call(void)
{
	bool good = true;
	int i;

	for (i = 0; i < PROCESSES; i++)
		good &= let_call(&servants[i]);
	return good;
}

static int write_line(const char *line)
{
	int fd = open(EVENTS_FILE, O_WRONLY | O_APPEND), ret;

	ret = write(fd, line, strlen(line)) == (ssize_t)strlen(line);
	close(fd);
	return ret;
}

static bool define_event(void)
{
	char line[256], path[200];
	int length = readlink(SELF, path, sizeof(path) - 1);

	if (length < 0)
		return false;
	path[length] = 0;
	snprintf(line, sizeof(line), "p:filters_test %s:0x%lx\n", path, file_offset(probed));
	return write_line(line);
}

static int open_for(pid_t pid)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = read_number(ID_FILE);
	return syscall(__NR_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Returns the hits of all processes since the event was defined, or ~0 if they are unknown. */
static unsigned long all_hits(void)
{
	static const char name[] = " filters_test ";
	const char *line;

	if (read_whole(PROFILE_FILE, maps, sizeof(maps)) <= 0)
		return ~0UL;
	line = strstr(maps, name);
	return line ? strtoul(line + sizeof(name) - 1, NULL, 10) : ~0UL;
}

/* Processes whose calls were to be hits, each time, of all checks so far. */
static unsigned int nr_hitting;

/* The event is to have counted WANTED hits; since the last check, NR processes were to hit. */
static void check(const char *name, bool good, int event, unsigned long wanted, unsigned int nr)
{
	unsigned long count = event >= 0 ? event_count(event) : 0, all = all_hits();

	nr_hitting += nr;
	ksft_test_result(good && count == wanted && all == nr_hitting * CALLS,
			 "%s: %lu hits, wanted %lu; %lu of all processes, wanted %u\n", name, count,
			 wanted, all, nr_hitting * CALLS);
}

int main(void)
{
	int events[PROCESSES], i;

	ksft_print_header();
	ksft_set_plan(11);
	for (i = 0; i < PROCESSES; i++)
		start(&servants[i]);
	ksft_test_result(define_event(), "an event is defined\n");
	check("no event is open", let_all_call(), -1, 0, 0);

	events[0] = open_for(servants[0].pid);
	check("the first process", let_all_call(), events[0], CALLS, 1);
	events[1] = open_for(servants[1].pid);
	check("the second process", let_all_call(), events[1], CALLS, 2);
	check("the first one again", true, events[0], 2 * CALLS, 0);
	events[2] = open_for(servants[2].pid);
	check("the third process", let_all_call(), events[2], CALLS, 3);
	close(events[0]);
	check("the second one, when the first event is closed", let_all_call(), events[1],
	      3 * CALLS, 2);
	close(events[1]);
	check("the third one, when it is alone", let_all_call(), events[2], 3 * CALLS, 1);
	close(events[2]);
	events[0] = open_for(servants[0].pid);
	check("the first one, opened anew", let_all_call(), events[0], CALLS, 1);
	close(events[0]);
	check("no event is open any more", let_all_call(), -1, 0, 0);
	ksft_test_result(write_line("-:filters_test\n") && let_all_call(),
			 "the event is removed\n");
	for (i = 0; i < PROCESSES; i++) {
		kill(servants[i].pid, SIGKILL);
		waitpid(servants[i].pid, NULL, 0);
	}
	ksft_finished();
}
