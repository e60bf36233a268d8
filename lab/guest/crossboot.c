// SPDX-License-Identifier: GPL-2.0
/*
 * The first and only process of a guest that crossboot.sh boots.  It probes its own functions
 * with the engine that the base has for that architecture, through uprobe_events and the uprobe
 * PMU; prints the results, as TAP, on the console; and restarts the machine.
 */
#include "probe.h"

#define EVENTS		"uprobe_events"
#define CALLS		1000
/* The base keeps 64 returns of a thread. */
#define DEEP		40

static int checks;

static void check(bool good, const char *name, long got, long wanted)
{
	printf("%sok %d uprobe: %s\n", good ? "" : "not ", ++checks, name);
	if (!good)
		printf("# got %ld, not %ld\n", got, wanted);
}

static void is(const char *name, long got, long wanted)
{
	check(got == wanted, name, got, wanted);
}

/* Writes TEXT to a file of tracefs; returns 0 or the error. */
static int put(const char *file, const char *text)
{
	char path[128];
	int fd, error = 0;

	snprintf(path, sizeof(path), TRACING "%s", file);
	fd = open(path, O_WRONLY | O_APPEND);
	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		error = errno;
	close(fd);
	return error;
}

/* Reads a file of tracefs; returns its text, which the next call overwrites. */
static const char *get(const char *file)
{
	static char text[256 * 1024];
	size_t length = 0;
	char path[128];
	ssize_t part;
	int fd;

	snprintf(path, sizeof(path), TRACING "%s", file);
	fd = open(path, O_RDONLY);
	while (fd >= 0 && (part = read(fd, text + length, sizeof(text) - 1 - length)) > 0)
		length += part;
	if (fd >= 0)
		close(fd);
	text[length] = '\0';
	return text;
}

/* How often NAME is in TEXT. */
static long occurrences(const char *text, const char *name)
{
	long nr = 0;

	while ((text = strstr(text, name))) {
		text += strlen(name);
		nr++;
	}
	return nr;
}

/* The hits of an event, from the file with one line "FILE NAME HITS MISSED" for each. */
static long hits_of(const char *event)
{
	const char *at = strstr(get("uprobe_profile"), event);

	if (!at)
		return -1;
	for (at += strlen(event); *at == ' '; at++)
		;
	return atol(at);
}

static NOINLINE long leaf(long value)
{
	asm volatile("" : "+r"(value));
	return value + 1;
}

static NOINLINE long nested(long depth);

/* On powerpc, a direct call comes to another entry. */
static long (*volatile call_nested)(long) = nested;

/* Has calls, and a stack frame in which it keeps a value. */
static NOINLINE long nested(long depth)
{
	long below;

	if (!depth)
		return 0;
	below = call_nested(depth - 1);
	asm volatile("" : "+r"(below) : : "memory");
	return below + depth;
}

/* Calls leaf() that often; returns the number of wrong results. */
static long call_leaf(long calls)
{
	long (*volatile function)(long) = leaf;
	long nr, wrong = 0;

	for (nr = 0; nr < calls; nr++)
		wrong += function(nr) != nr + 1;
	return wrong;
}

/* The bytes of a function as this process has them. */
static __u32 text_of(long (*function)(long))
{
	__u32 bytes;

	memcpy(&bytes, (const void *)function, sizeof(bytes));
	return bytes;
}

/* Defines TYPE (p or r), an event NAME at a function. */
static int define(char type, const char *name, long (*function)(long), const char *arguments)
{
	char text[128];

	snprintf(text, sizeof(text), "%c:%s /init:0x%lx %s", type, name,
		 file_offset((const void *)function), arguments);
	return put(EVENTS, text);
}

static void events(void)
{
	__u32 text = text_of(leaf);
	const char *trace;
	int status = -1;
	long depth = DEEP;
	pid_t pid;

	is("an event at an entry", define('p', "entry", leaf, ""), 0);
	is("an event at a return", define('r', "back", leaf, "result=$retval:u32"), 0);
	is("a recursive function", define('p', "deep", nested, ""), 0);
	is("its returns", define('r', "risen", nested, "sum=$retval:u32"), 0);
	is("the text before", text_of(leaf), text);
	is("they are enabled", put("events/uprobes/enable", "1"), 0);
	check(text_of(leaf) != text, "the text has a breakpoint", text_of(leaf), text);

	is("results with probes", call_leaf(CALLS), 0);
	is("hits", hits_of(" entry "), CALLS);
	is("returns", hits_of(" back "), CALLS);
	is("a recursion", call_nested(depth), depth * (depth + 1) / 2);
	is("its hits", hits_of(" deep "), DEEP + 1);
	is("its returns are hits", hits_of(" risen "), DEEP + 1);
	trace = get("trace");
	is("records of entries", occurrences(trace, " entry:"), CALLS);
	is("records of results", occurrences(trace, " result="), CALLS);
	is("a record of the last result", occurrences(trace, " result=1000\n"), 1);
	is("a record of the recursion's result", occurrences(trace, " sum=820\n"), 1);

	pid = fork();
	if (!pid)
		_exit(call_leaf(CALLS) != 0);
	waitpid(pid, &status, 0);
	is("results in a child", status, 0);
	is("its hits", hits_of(" entry "), 2 * CALLS);

	is("they are disabled", put("events/uprobes/enable", "0"), 0);
	is("results without probes", call_leaf(CALLS), 0);
	is("no more hits", hits_of(" entry "), 2 * CALLS);
	is("the text is restored", text_of(leaf), text);
	is("the events are removed", put(EVENTS, "-:entry\n-:back\n-:deep\n-:risen\n"), 0);
	is("no event is left", strlen(get(EVENTS)), 0);
}

static void perf(void)
{
	struct event_at at = { .path = SELF, .offset = file_offset(leaf) };
	int entry, back;

	entry = event_open(&at);
	check(entry >= 0, "perf opens an entry", errno, 0);
	at.is_return = true;
	back = event_open(&at);
	check(back >= 0, "perf opens a return", errno, 0);
	is("results with perf's probes", call_leaf(CALLS), 0);
	is("perf counts entries", event_close(entry), CALLS);
	is("perf counts returns", event_close(back), CALLS);
}

int main(void)
{
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL) || mount("sys", "/sys", "sysfs", 0, NULL) ||
	    mount("trace", TRACING, "tracefs", 0, NULL))
		printf("Bail out! a file system cannot be mounted (error %d)\n", errno);
	printf("TAP version 14\n");
	events();
	perf();
	printf("1..%d\n", checks);
	/* A console that collects lines (s390) would lose the last ones. */
	sleep(1);
	reboot(LINUX_REBOOT_CMD_RESTART);
	return 1;
}
