// SPDX-License-Identifier: GPL-2.0
/*
 * Measures system calls, with the clock of the guest.  Results are printed as
 * "bench: key value".
 *
 *	client quiet			a breakpoint of a program, fork, exec, exit, and mappings
 *	client load FILE		the loading of the module FILE
 *	client watch			writes of this program that the module watches
 *	client traps KIND		hits of a kind of probe, marked for traps.awk
 *	client trampolines		hits of BPF programs that BPF trampolines call
 *	client perf|link|tracefs KIND FILE NUMBER
 *					attach and detach that many probes, as tools do it,
 *					at the first addresses of FILE that can be probed
 *
 * perf opens events of the kprobe PMU; link also attaches a BPF program to each of them;
 * tracefs defines events, enables them together, disables them, and removes them.  With
 * the KIND "return" they are return probes; any other KIND is only a part of the key.
 *
 * Built with nolibc.
 */
#include <asm/sigcontext.h>
#include <asm/ucontext.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include "marks.h"
#include "programs.h"
#include "samples.h"

#define PMU		"/sys/bus/event_source/devices/kprobe/"
#define TRACING		"/sys/kernel/tracing/"
#define RUN		"/sys/kernel/debug/kprobe_bench/run"
#define FILE_SIZE_MAX	65536
#define MOST_PROBES	200
/* The least sample is one that no tick of the clock, and no other work, has interrupted. */
#define SAMPLES		65
#define FORKS		512
#define TRAPS		16
#define WRITES		64
/* The module's command "traced" calls it ROUNDS + WARM_UP times, see module/hits.c. */
#define TRACED		"irq_get_nr_irqs"
#define TRACED_CALLS	4112
#define TEXT_SIZE	65536
/* The program that exec starts writes the time to this file. */
#define TIME_FD		9

static __u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void die(const char *reason)
{
	fprintf(stderr, "client: %s: error %d\n", reason, errno);
	exit(1);
}

static void report(const char *name, const char *kind, const char *part, __u64 value)
{
	printf("bench: %s_%s%s %llu\n", name, kind, part, (unsigned long long)value);
}

/*
 * A breakpoint of a program.  Its handler only counts, and steps over the breakpoint if the
 * processor has not done that.
 */
static volatile int traps;

struct kernel_sigaction {
	void (*handler)(int signal, void *info, void *context);
	unsigned long flags;
	void (*restorer)(void);
	__u64 mask;
};

#define SIGNAL_TRAP	5
#define FLAG_INFO	4
#define FLAG_RESTORER	0x04000000

/* Where a handler returns to. */
extern char return_from_signal[];

#ifdef __aarch64__
asm("return_from_signal: mov x8, #139; svc #0");

static inline void trap(void)
{
	asm volatile("brk #0x123");
}

static void skip_trap(struct ucontext *context)
{
	context->uc_mcontext.pc += 4;
}
#else
#ifdef __x86_64__
asm("return_from_signal: mov $15, %eax; syscall");
#else
asm("return_from_signal: mov $173, %eax; int $0x80");
#endif

static inline void trap(void)
{
	asm volatile("int3");
}

static void skip_trap(struct ucontext *context)
{
	(void)context;
}
#endif

static void on_trap(int signal, void *info, void *context)
{
	(void)signal;
	(void)info;
	traps++;
	skip_trap(context);
}

static void measure_trap(void)
{
	struct kernel_sigaction action = {
		.handler = on_trap,
		.flags = FLAG_INFO | FLAG_RESTORER,
		.restorer = (void (*)(void))return_from_signal,
	};
	__u64 least = 0;
	int i, j;

	if (syscall(__NR_rt_sigaction, SIGNAL_TRAP, &action, NULL, sizeof(action.mask)))
		die("rt_sigaction");
	for (i = 0; i < SAMPLES; i++) {
		__u64 start = now();

		for (j = 0; j < TRAPS; j++)
			trap();
		sample(&least, (now() - start) / TRAPS);
	}
	if (traps != SAMPLES * TRAPS)
		die("breakpoints are lost");
	report("quiet", "trap", "", least);
}

/*
 * fork is the time until the child runs, exit the time from the child's last system call
 * until the parent's wait returns.  The time of fork is the median: the least one and the average
 * depend on when the allocators fill their caches.
 */
static void measure_fork(void)
{
	volatile __u64 *child = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static __u64 forked[FORKS];
	__u64 exited = 0, start;
	int i;

	if (child == MAP_FAILED)
		die("mmap");
	for (i = 0; i < FORKS; i++) {
		pid_t pid;

		start = now();
		pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			child[0] = now();
			child[1] = now();
			_exit(0);
		}
		if (waitpid(pid, NULL, 0) != pid)
			die("waitpid");
		sample(&exited, now() - child[1]);
		forked[i] = child[0] - start;
	}
	report("quiet", "fork", "", median(forked, FORKS));
	report("quiet", "exit", "", exited);
}

/* exec is the time until the new program runs. */
static void measure_exec(void)
{
	char *const argv[] = { "client", "now", NULL };
	char *const envp[] = { NULL };
	__u64 times[2], least = 0;
	int i, fds[2];

	if (pipe(fds) || dup2(fds[1], TIME_FD) != TIME_FD)
		die("pipe");
	for (i = 0; i < SAMPLES; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			times[0] = now();
			write(TIME_FD, &times[0], sizeof(times[0]));
			execve("/proc/self/exe", argv, envp);
			_exit(1);
		}
		if (waitpid(pid, NULL, 0) != pid)
			die("waitpid");
		if (read(fds[0], times, sizeof(times)) != sizeof(times))
			die("exec");
		sample(&least, times[1] - times[0]);
	}
	report("quiet", "exec", "", least);
}

/* The program that measure_exec() starts. */
static int write_time(void)
{
	__u64 time = now();

	return write(TIME_FD, &time, sizeof(time)) != sizeof(time);
}

/* A mapping of text, a change of its protection, and its end. */
static void measure_mappings(void)
{
	__u64 mapped = 0, protected = 0, unmapped = 0;
	int i, fd = open("/proc/self/exe", O_RDONLY);

	for (i = 0; i < SAMPLES; i++) {
		__u64 start = now();
		char *text = mmap(NULL, TEXT_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		sample(&mapped, now() - start);
		if (text == MAP_FAILED)
			die("mmap");
		/* The page is there. */
		(void)*(volatile char *)text;
		start = now();
		if (syscall(__NR_mprotect, text, TEXT_SIZE, PROT_READ))
			die("mprotect");
		sample(&protected, now() - start);
		start = now();
		munmap(text, TEXT_SIZE);
		sample(&unmapped, now() - start);
	}
	close(fd);
	report("quiet", "mmap", "", mapped);
	report("quiet", "mprotect", "", protected);
	report("quiet", "munmap", "", unmapped);
}

static int quiet(void)
{
	measure_trap();
	measure_fork();
	measure_exec();
	measure_mappings();
	return 0;
}

/* Writes a command to the module; returns false with errno if it fails. */
static bool command(const char *name, const char *word)
{
	int fd = open(RUN, O_WRONLY), length;
	char line[64];
	bool done;

	if (fd < 0)
		die(RUN);
	length = snprintf(line, sizeof(line), "%s %s", name, word);
	done = write(fd, line, length) == length;
	close(fd);
	return done;
}

/* The time of the fastest of many rounds of writes. */
static __u64 time_writes(volatile unsigned long *word)
{
	__u64 least = 0;
	int i, j;

	for (i = 0; i < SAMPLES; i++) {
		__u64 start = now();

		for (j = 0; j < WRITES; j++)
			*word = j;
		sample(&least, now() - start);
	}
	return least;
}

static int watch(void)
{
	static volatile unsigned long word;
	__u64 bare = time_writes(&word), watched;
	char text[32];

	snprintf(text, sizeof(text), "%lx", (unsigned long)&word);
	if (!command("watch_user", text)) {
		if (errno == EOPNOTSUPP)
			return 0;
		die("watch_user");
	}
	watched = time_writes(&word);
	snprintf(text, sizeof(text), "%d", SAMPLES * WRITES);
	if (!command("unwatch_user", text))
		die("unwatch_user");
	report("watch", "user", "", (watched - bare) / WRITES);
	return 0;
}

/* Hits of a probe of the module, between two marks. */
static int traps_(const char *kind)
{
	char key[32];

	if (!command("traps", kind)) {
		if (errno == EOPNOTSUPP)
			return 0;
		die(kind);
	}
	snprintf(key, sizeof(key), "traps_%s", kind);
	mark(key);
	if (!command("traps", "hit"))
		die("hits are lost");
	mark("");
	if (!command("traps", "remove"))
		die("traps remove");
	return 0;
}

/*
 * The module measures calls of a function without and with a program.  The program does not
 * count, so the kernel counts its runs, in another round of calls because that costs time.
 */
static void measure_trampoline(const char *key, int attach_type, __u32 function)
{
	int program = load_program(BPF_PROG_TYPE_TRACING, attach_type, function);
	int link, statistics;

	if (program < 0)
		die("the program is refused");
	if (!command("traced", "bare"))
		die("traced bare");
	link = link_program(program, 0, attach_type);
	if (link < 0 || !command("traced", key))
		die(key);
	statistics = open_statistics();
	if (statistics < 0 || !command("traced", "rival_counted"))
		die("runs cannot be counted");
	if (counted_runs(program) != TRACED_CALLS)
		die("runs of the program are lost");
	close(statistics);
	close(link);
	close(program);
}

static int trampolines(void)
{
	__u32 function = function_type(TRACED);

	if (!function)
		die("no type of " TRACED);
	measure_trampoline("rival_fentry", BPF_TRACE_FENTRY, function);
	measure_trampoline("rival_fexit", BPF_TRACE_FEXIT, function);
	return 0;
}

static int load(const char *path)
{
	int i, fd = open(path, O_RDONLY);
	__u64 least = 0;

	if (fd < 0)
		die(path);
	for (i = 0; i < SAMPLES; i++) {
		__u64 start = now();

		if (syscall(__NR_finit_module, fd, "", 0))
			die("finit_module");
		sample(&least, now() - start);
		if (syscall(__NR_delete_module, "kprobe_bench_empty", 0))
			die("delete_module");
	}
	report("quiet", "load", "", least);
	return 0;
}

/* An event is one probe; "link" is -1 if no program is attached to it. */
struct event {
	int fd;
	int link;
};

static struct event events[MOST_PROBES];

/* The number of probes. */
static int probes;

/* Reads a text file, which ends with a null byte then. */
static char *read_file(const char *path)
{
	static char text[FILE_SIZE_MAX];
	int fd = open(path, O_RDONLY);
	int length, size = 0;

	if (fd < 0)
		die(path);
	while ((length = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += length;
	close(fd);
	text[size] = 0;
	return text;
}

/* Returns the number after the text PREFIX at the beginning of a file. */
static int read_number(const char *path, const char *prefix)
{
	return atoi(read_file(path) + strlen(prefix));
}

/* Sets *ADDRESS to the next number of the text; returns false at the end. */
static bool next_address(char **text, unsigned long *address)
{
	char *end;

	*address = strtoul(*text, &end, 16);
	if (end == *text)
		return false;
	*text = end;
	return true;
}

static int open_event(int type, __u64 config, unsigned long address)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = type;
	attr.config = config;
	attr.kprobe_addr = address;
	return syscall(__NR_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The same system calls as libbpf's. */
static void close_event(const struct event *event)
{
	if (event->link >= 0)
		ioctl(event->fd, PERF_EVENT_IOC_DISABLE, NULL);
	close(event->fd);
	if (event->link >= 0)
		close(event->link);
}

static void attach(struct event *event, int program)
{
	event->link = -1;
	if (program < 0)
		return;
	event->link = link_program(program, event->fd, BPF_PERF_EVENT);
	if (event->link < 0 || ioctl(event->fd, PERF_EVENT_IOC_ENABLE, NULL))
		die("the program cannot be attached");
}

/* Measures events of the kprobe PMU, with PROGRAM attached to each if it is not -1. */
static int measure_events(const char *tool, const char *kind, const char *path, int program)
{
	int type = read_number(PMU "type", "");
	int bit = read_number(PMU "format/retprobe", "config:");
	__u64 config = strcmp(kind, "return") ? 0 : 1ULL << bit;
	char *text = read_file(path);
	unsigned long address;
	__u64 start, opened, closed;
	int i, nr = 0;

	start = now();
	while (nr < probes && next_address(&text, &address)) {
		events[nr].fd = open_event(type, config, address);
		if (events[nr].fd >= 0)
			attach(&events[nr++], program);
	}
	opened = now() - start;
	if (nr < probes)
		die("too few addresses can be probed");
	start = now();
	for (i = 0; i < nr; i++)
		close_event(&events[i]);
	closed = now() - start;
	report(tool, kind, "_open", opened);
	report(tool, kind, "_close", closed);
	report(tool, kind, "", opened + closed);
	return 0;
}

static int perf(const char *kind, const char *path)
{
	return measure_events("perf", kind, path, -1);
}

static int link_(const char *kind, const char *path)
{
	int program = load_program(BPF_PROG_TYPE_KPROBE, 0, 0);

	if (program < 0)
		die("the program is refused");
	return measure_events("link", kind, path, program);
}

static int write_text(int fd, const char *text)
{
	int length = strlen(text);

	return write(fd, text, length) == length ? 0 : -1;
}

/* Switches all events of the group; returns the time. */
static __u64 enable_all(const char *value)
{
	int fd = open(TRACING "events/bench/enable", O_WRONLY);
	__u64 start = now();

	if (fd < 0 || write_text(fd, value))
		die("the events cannot be switched");
	close(fd);
	return now() - start;
}

static int tracefs(const char *kind, const char *path)
{
	char letter = strcmp(kind, "return") ? 'p' : 'r';
	int fd = open(TRACING "kprobe_events", O_WRONLY | O_APPEND);
	char *text = read_file(path), line[64];
	__u64 start, created, enabled, disabled, removed;
	unsigned long address;
	int i, nr = 0;

	if (fd < 0)
		die("kprobe_events");
	start = now();
	while (nr < probes && next_address(&text, &address)) {
		snprintf(line, sizeof(line), "%c:bench/e%d 0x%lx\n", letter, nr, address);
		nr += !write_text(fd, line);
	}
	created = now() - start;
	if (nr < probes)
		die("too few addresses can be probed");
	enabled = enable_all("1");
	disabled = enable_all("0");
	start = now();
	for (i = 0; i < nr; i++) {
		snprintf(line, sizeof(line), "-:bench/e%d\n", i);
		if (write_text(fd, line))
			die("an event cannot be removed");
	}
	removed = now() - start;
	close(fd);
	report("tracefs", kind, "_create", created);
	report("tracefs", kind, "_enable", enabled);
	report("tracefs", kind, "_disable", disabled);
	report("tracefs", kind, "_remove", removed);
	report("tracefs", kind, "", created + enabled + disabled + removed);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const char *kind, const char *path);
	} tools[] = {
		{ "perf", perf },
		{ "link", link_ },
		{ "tracefs", tracefs },
	};
	unsigned int i;

	if (argc == 2 && !strcmp(argv[1], "quiet"))
		return quiet();
	if (argc == 2 && !strcmp(argv[1], "watch"))
		return watch();
	if (argc == 2 && !strcmp(argv[1], "trampolines"))
		return trampolines();
	if (argc == 3 && !strcmp(argv[1], "traps"))
		return traps_(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "now"))
		return write_time();
	if (argc == 3 && !strcmp(argv[1], "load"))
		return load(argv[2]);
	for (i = 0; argc == 5 && i < ARRAY_SIZE(tools); i++) {
		if (strcmp(argv[1], tools[i].name))
			continue;
		probes = atoi(argv[4]);
		if (probes > 0 && probes <= MOST_PROBES)
			return tools[i].run(argv[2], argv[3]);
	}
	fprintf(stderr, "client: unknown arguments\n");
	return 1;
}
