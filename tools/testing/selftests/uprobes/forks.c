// SPDX-License-Identifier: GPL-2.0
/*
 * Registering and unregistering while many processes that map the file fork without a pause: each
 * takes a bounded time, and every process is probed, or not probed, afterwards.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"

#define ROUNDS		10
#define ENOUGH		60	/* seconds, after which no other round begins */
#define LONGEST		240	/* seconds; the kernel may be a slow one, on a busy machine */
#define MOST_FORKERS	16
/* Mappings of the text in each process: visiting one takes longer than forking it. */
#define MAPS		200
#define WATCH		300	/* seconds, after which the processes stop in any case */
/* The event counts the calls of one processor, on which one line of descent stays. */
#define COUNTED		0

NOINLINE static int probed(int value)
{
	asm volatile("" : "+r" (value));
	return value + 1;
}

struct shared {
	volatile int stop;
	volatile unsigned long forks, wrong, counted;
};

static struct shared *shared;

static void map_often(void)
{
	unsigned long page_size = getauxval(AT_PAGESZ);
	int self = open(SELF, O_RDONLY);
	unsigned int i;

	for (i = 0; i < MAPS; i++)
		mmap(NULL, page_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, self,
		     file_offset(probed) & ~(page_size - 1));
	close(self);
}

static void watch(void)
{
	unsigned int i;

	for (i = 0; i < WATCH * 10 && !shared->stop; i++)
		usleep(100000);
	shared->stop = 1;
	_exit(0);
}

/*
 * Each child is the parent of the next, so that those that are alive have all been forked since
 * the operation began.
 */
static void fork_on(bool counted)
{
	pid_t pid;

	if (counted)
		use_processor(COUNTED);
	while (!shared->stop) {
		if (probed(1) != 2)
			__atomic_fetch_add(&shared->wrong, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&shared->forks, 1, __ATOMIC_RELAXED);
		shared->counted += counted;
		pid = fork();
		if (pid > 0)
			_exit(0);
	}
	_exit(0);
}

/* Waits until a call that begins after this has been made where the event counts. */
static void wait_for_call(void)
{
	unsigned long begin = shared->counted;

	/* The first may be one that has begun before. */
	while (shared->counted < begin + 2 && !shared->stop)
		usleep(100000);
}

static unsigned long seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

int main(void)
{
	const struct event_at at = {
		.path = SELF, .offset = file_offset(probed), .everywhere = true,
	};
	unsigned int i, nr = 2 * processors(), failed = 0, without = 0;
	unsigned long begin, before, slowest = 0, hits = 0;
	pid_t pid;
	int event;

	ksft_print_header();
	if (read_number(UPROBE_PMU "type") < 0)
		ksft_exit_skip("no uprobes in this kernel\n");
	ksft_set_plan(5);
	shared = shared_memory(sizeof(*shared));
	/* All orphans become children of this process, and vanish when they exit. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	set_signal(SIGCHLD, SIG_IGN);
	if (nr > MOST_FORKERS)
		nr = MOST_FORKERS;
	if (!fork())
		watch();
	map_often();
	for (i = 0; i < nr; i++) {
		if (!fork())
			fork_on(!i);
	}
	begin = seconds();
	for (i = 0; i < ROUNDS && !shared->stop && seconds() - begin < ENOUGH; i++) {
		before = seconds();
		event = event_open(&at);
		if (seconds() - before > slowest)
			slowest = seconds() - before;
		if (event < 0) {
			failed++;
			continue;
		}
		wait_for_call();
		if (!shared->stop && !event_count(event))
			without++;
		hits += event_count(event);
		before = seconds();
		close(event);
		if (seconds() - before > slowest)
			slowest = seconds() - before;
	}
	shared->stop = 1;
	do {
		pid = waitpid(-1, NULL, 0);
	} while (pid > 0);
	ksft_print_msg("%u processes forked %lu times; %lu hits; the slowest call took %lu s\n", nr,
		       shared->forks, hits, slowest);
	ksft_test_result(!failed, "the function is probed (%u failures)\n", failed);
	ksft_test_result(slowest <= LONGEST, "no call takes long (%lu s)\n", slowest);
	ksft_test_result(hits && !without, "children of children are probed\n");
	ksft_test_result(shared->forks > nr && !shared->wrong,
			 "the processes go on (%lu forks, %lu wrong)\n", shared->forks,
			 shared->wrong);
	ksft_test_result(probed(1) == 2, "the function works without probes\n");
	ksft_finished();
}
