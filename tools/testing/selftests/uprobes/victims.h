/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_VICTIMS_H
#define _UPROBES_VICTIMS_H
/*
 * The processes that process_storm probes: victims, which change their text in all ways, and are
 * killed; and one that keeps its text, so that its calls can be compared with hits.
 *
 * Include process.h, and the headers that it needs, before.  Built with nolibc.
 */

#define SHARED_PATH	"/tmp/uprobes-process-storm"
#define VICTIMS		6

/* The nice value of other processes than the one that registers probes. */
#define NICE		10

/* The same in all processes: text that they have written, another place for it, and a file. */
#define WRITTEN		((char *)0x30000000UL)
#define MOVED		((char *)0x32000000UL)
#define MAPPED		((char *)0x34000000UL)
/* Text in a huge page, if there are any, and the place where it is written. */
#define HUGE		((char *)0x38000000UL)
#define HUGE_DRAFT	((char *)0x3a000000UL)
#define HUGE_SIZE	0x400000UL
/* The file in the process that keeps its text. */
#define KEPT		((char *)0x36000000UL)
#define FIXED		(MAP_PRIVATE | MAP_FIXED)

/* Advice that is not in every <linux/mman.h>. */
#define ADVICE_DONTNEED	4
#define ADVICE_HUGEPAGE	14
#define ADVICE_COLD	20
#define ADVICE_PAGEOUT	21
#define ADVICE_COLLAPSE	25

/* The process that keeps its text has started, has mapped it, and has probes there. */
enum { STARTED, IS_MAPPED, IS_PROBED };

/* A file, because it outlives exec. */
static struct {
	volatile int stop;
	volatile unsigned long wrong;
	volatile unsigned long calls;
	volatile unsigned int begun;		/* a bit for each of the actions */
	volatile unsigned int stepped;		/* processes through some instructions */
	volatile int keeper_state;
	volatile unsigned long kept_calls;
	volatile pid_t pids[VICTIMS + 1];	/* the last one keeps its text */
} *shared;

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

static void map_file_at(char *place)
{
	int fd = open(FILE_PATH, O_RDONLY);

	if (mmap(place, 4096, PROT_READ | PROT_EXEC, FIXED, fd, 0) != place)
		complain("mmap of the file");
	close(fd);
}

static void map_file(void)
{
	map_file_at(MAPPED);
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

/* The same with text in a huge page. */
static void map_huge(void)
{
	char *place = mmap(HUGE_DRAFT, HUGE_SIZE, ALL, FIXED | MAP_ANONYMOUS, -1, 0);

	advise(place, HUGE_SIZE, ADVICE_HUGEPAGE);
	write_to(place);
	if (mremap(place, HUGE_SIZE, HUGE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, HUGE) != HUGE)
		complain("mremap of a huge page");
	call_at(HUGE, 5);
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

static void protect_at(char *text)
{
	change_protection(text, 4096, PROT_READ);
	change_protection(text, 4096, PROT_READ | PROT_EXEC);
}

static void protect(void)
{
	protect_at(MAPPED);
	call_at(MAPPED, 5);
}

/* Advice that keeps the content of all pages. */
static void advise_at(char *text, size_t size)
{
	static const int advice[] = {
		ADVICE_COLD, ADVICE_PAGEOUT, ADVICE_COLLAPSE, ADVICE_HUGEPAGE,
	};

	advise(text, size, advice[next_random(ARRAY_SIZE(advice))]);
}

/* The breakpoints in the file's text vanish with its pages. */
static void give_advice(void)
{
	advise_at(WRITTEN, 4096);
	advise_at(HUGE, HUGE_SIZE);
	advise_at(MAPPED, 4096);
	advise(MAPPED, 4096, ADVICE_DONTNEED);
	call_both();
	call_at(HUGE, 5);
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
	run_threads, take_signals, take_signals, give_advice, give_advice, map_huge, start_again,
	leave,
};

#define ALL_ACTIONS	((1U << ARRAY_SIZE(actions)) - 1)

static void be_nice(void)
{
	syscall(__NR_setpriority, 0 /* PRIO_PROCESS */, 0, NICE);
}

static int be_victim(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	be_nice();
	seed = getpid() * 31 + (shared->calls & 0xffff);
	map_written();
	map_file();
	map_huge();
	while (!shared->stop) {
		unsigned int nr = next_random(ARRAY_SIZE(actions));

		__atomic_fetch_or(&shared->begun, 1U << nr, __ATOMIC_RELAXED);
		actions[nr]();
	}
	return 0;
}

/* --- A process that keeps its text --------------------------------------------------- */

static void call_kept(void)
{
	call_at(KEPT, 10);
	__atomic_fetch_add(&shared->kept_calls, 10, __ATOMIC_RELAXED);
}

static void thread_of_kept_calls(void *unused)
{
	call_kept();
}

static void call_kept_in_thread(void)
{
	static struct thread one;

	if (thread_start(&one, thread_of_kept_calls, NULL) < 0)
		complain("clone");
	call_kept();
	if (!thread_wait(&one, 60))
		complain("a thread hangs");
}

/* The calls of the child are no hits. */
static void fork_from_kept(void)
{
	pid_t pid = fork();

	if (!pid) {
		call_at(KEPT, 10);
		_exit(0);
	}
	call_kept();
	if (reap(pid))
		complain("a child of the process that keeps its text");
}

static int be_keeper(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	be_nice();
	seed = getpid();
	map_file_at(KEPT);
	shared->keeper_state = IS_MAPPED;
	while (shared->keeper_state != IS_PROBED && !shared->stop)
		usleep(1000);
	on_signal(SIGALRM, got_alarm, SA_RESTART);
	while (!shared->stop) {
		call_kept();
		advise_at(KEPT, 4096);
		call_kept();
		protect_at(KEPT);
		alarm_every(500);
		call_kept();
		alarm_every(0);
		call_kept_in_thread();
		fork_from_kept();
	}
	return 0;
}

#endif /* _UPROBES_VICTIMS_H */
